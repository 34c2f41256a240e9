/**
 * Describes a wrong input to the caller: one entry for each wrong field. An entry never repeats a value, but it repeats
 * the name of an unknown field, cut to MAX_ECHOED_NAME_CHARS.
 */
import type * as z from 'zod';
import { MAX_ECHOED_NAME_CHARS } from './limits.ts';

/** One wrong field of a request. The caller must fix it: over HTTP it is part of a 422 reply. */
export type InputProblem = {
  /** Field names and array indexes, from the request down to the wrong field. */
  readonly path: readonly (string | number)[];
  /** The expectation that the value fails. */
  readonly message: string;
};

/** The message of a field that the schema does not have. The last step of its path is a name that the caller chose. */
export const UNKNOWN_FIELD = 'unknown field';

type Issue = z.core.$ZodIssue;
type Path = InputProblem['path'];

/** Converts the issues of a failed zod parse of `input`. `prefix` is the path of `input` in the request. */
export function problemsOfIssues(issues: readonly Issue[], input: unknown, prefix: Path = []): InputProblem[] {
  return issues.flatMap((issue) => problemsOfIssue(issue, input, prefix));
}

function problemsOfIssue(issue: Issue, input: unknown, prefix: Path): InputProblem[] {
  const at = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const path = [...prefix, ...at];
  const one = (message: string): InputProblem[] => [{ path, message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, shortened(key)], message: UNKNOWN_FIELD }));
    case 'invalid_type': {
      const value = valueAt(input, at);
      if (value === undefined) return one(`required: ${expectedName(issue.expected)}`);
      return one(`expected ${expectedName(issue.expected)}, got ${typeName(value)}`);
    }
    case 'invalid_value':
      return one(`expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`);
    case 'too_small':
      return one(`expected at least ${issue.minimum}${unitOf(issue.origin)}`);
    case 'too_big':
      return one(`expected at most ${issue.maximum}${unitOf(issue.origin)}`);
    case 'invalid_union':
      return problemsOfUnion(issue.errors, valueAt(input, at), path);
    case 'not_multiple_of':
      return one(`expected a multiple of ${issue.divisor}`);
    case 'invalid_format':
      return one(`expected the format ${issue.format}`);
    case 'invalid_key':
    case 'invalid_element':
      return one('expected another key or element');
    case 'custom':
      // A refinement of one of our schemas. Its message is a constant.
      return one(issue.message);
  }
}

/**
 * Reports the problems of the only branch of a union whose type fits the value, or else all types that are accepted.
 */
function problemsOfUnion(branches: readonly (readonly Issue[])[], value: unknown, path: Path): InputProblem[] {
  const refusedByType = (branch: readonly Issue[]): boolean =>
    branch.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type');
  const meant = branches.filter((branch) => !refusedByType(branch));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return problemsOfIssues(only, value, path);
  const expected = branches.flatMap((branch) =>
    branch.flatMap((issue) => (issue.code === 'invalid_type' ? [expectedName(issue.expected)] : [])),
  );
  const wanted = [...new Set(expected)].join(' or ');
  return [
    { path, message: value === undefined ? `required: ${wanted}` : `expected ${wanted}, got ${typeName(value)}` },
  ];
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function expectedName(expected: string): string {
  switch (expected) {
    case 'int':
      return 'an integer';
    case 'number':
      return 'a finite number';
    case 'array':
    case 'object':
      return `an ${expected}`;
    case 'record':
      return 'an object';
    default:
      return `a ${expected}`;
  }
}

/** The type of a JSON value in words. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'number') return `a ${typeof value}`;
  if (!Number.isFinite(value)) return 'a number beyond the range of a double';
  return Number.isInteger(value) ? 'an integer' : 'a fraction';
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  if (origin === 'array') return ' entries';
  return '';
}

function shortened(name: string): string {
  const cut = name.length > MAX_ECHOED_NAME_CHARS ? `${name.slice(0, MAX_ECHOED_NAME_CHARS)}…` : name;
  return cut.toWellFormed();
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Prints a path for callers: `positive_rubrics[0].weight`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!IDENTIFIER.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
