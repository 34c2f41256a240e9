/** Prepares a grader object: reads its templates and its formula once, before a sample is graded. */

import type { InputProblem } from '../../../input-problem.ts';
import { parsedJson } from '../../../json.ts';
import type { GraderMessage, GraderRequest } from '../../../judgments/kinds/grader/grader.ts';
import type { Asking } from '../../../judgments/protocol/asking.ts';
import type { Result } from '../../../result.ts';
import { contains } from '../../../text/contains.ts';
import { type Formula, formulaValue, parseFormula, variablesOf } from './formula.ts';
import { GRADER_LIMITS, type Grader, type MultiGrader, type SingleGrader } from './schema.ts';
import {
  FILLED_TOO_LONG,
  type FillProblem,
  readTemplate,
  type TemplateFiller,
  type TemplatePart,
  type TemplateValues,
} from './template.ts';

type Path = InputProblem['path'];

type PreparedMessage = { readonly role: GraderMessage['role']; readonly parts: readonly TemplatePart[] };

type PreparedCheck = {
  readonly kind: 'check';
  readonly operation: Extract<SingleGrader, { type: 'string_check' }>['operation'];
  readonly input: readonly TemplatePart[];
  readonly reference: readonly TemplatePart[];
};

type PreparedModel = {
  readonly kind: 'model';
  readonly model: string;
  readonly messages: readonly PreparedMessage[];
  readonly output: GraderRequest['output'];
  /** The score of each label; `null` = the verdict is the score. */
  readonly scores: readonly number[] | null;
  readonly asking: Asking;
  readonly replicate: number;
};

/** A grader without others in it, and where it is in the request. */
export type PreparedSingle = (PreparedCheck | PreparedModel) & { readonly name: string; readonly path: Path };

export type PreparedGrader = {
  readonly graders: readonly PreparedSingle[];
  /** `null` = the score of the only grader is the reward. */
  readonly formula: Formula | null;
};

type Problems = readonly InputProblem[];

/** @param path of the grader in the request. */
export function prepareGrader(grader: Grader, path: Path = ['grader']): Result<PreparedGrader, Problems> {
  if (grader.type === 'multi') return prepareMulti(grader, path);
  const prepared = prepareSingle(grader, grader.name, path);
  return prepared.ok ? { ok: true, value: { graders: [prepared.value], formula: null } } : prepared;
}

function prepareMulti({ graders, calculate_output }: MultiGrader, path: Path): Result<PreparedGrader, Problems> {
  const named = isSingle(graders) ? [[graders.name, graders, ['graders']] as const] : mapped(graders);
  if (named.length === 0 || named.length > GRADER_LIMITS.graders) {
    return invalid([...path, 'graders'], `expected 1 to ${GRADER_LIMITS.graders} graders`);
  }
  const prepared = named.map(([name, grader, at]) => prepareSingle(grader, name, [...path, ...at]));
  const problems = prepared.flatMap((one) => (one.ok ? [] : one.error));
  const at = [...path, 'calculate_output'];
  const formula = parseFormula(calculate_output);
  if (!formula.ok) return { ok: false, error: [...problems, { path: at, message: formula.error }] };
  const known = new Set(named.map(([name]) => name));
  if (variablesOf(formula.value).some((name) => !known.has(name))) {
    problems.push({ path: at, message: `a name is no grader; there are ${[...known].join(', ')}` });
  }
  if (problems.length > 0) return { ok: false, error: problems };
  return {
    ok: true,
    value: { graders: prepared.flatMap((one) => (one.ok ? [one.value] : [])), formula: formula.value },
  };
}

function isSingle(graders: MultiGrader['graders']): graders is SingleGrader {
  return typeof graders.type === 'string';
}

function mapped(graders: Readonly<Record<string, SingleGrader>>) {
  return Object.entries(graders).map(([name, grader]) => [name, grader, ['graders', name]] as const);
}

function prepareSingle(grader: SingleGrader, name: string, path: Path): Result<PreparedSingle, Problems> {
  const problems: InputProblem[] = [];
  const read = (text: string, at: Path): readonly TemplatePart[] => {
    const template = readTemplate(text);
    if (template.ok) return template.value;
    problems.push({ path: [...path, ...at], message: template.error });
    return [];
  };
  const prepared = preparedBy(grader, read);
  if (problems.length > 0) return { ok: false, error: problems };
  return { ok: true, value: { ...prepared, name, path } };
}

function preparedBy(
  grader: SingleGrader,
  read: (text: string, at: Path) => readonly TemplatePart[],
): PreparedCheck | PreparedModel {
  if (grader.type === 'string_check') {
    const { operation, input, reference } = grader;
    return { kind: 'check', operation, input: read(input, ['input']), reference: read(reference, ['reference']) };
  }
  const { model, input, sampling_params: { temperature, seed } = {} } = grader;
  const messages = input.map(({ role, content }, n) => {
    const texts = Array.isArray(content) ? content : [content];
    const parts = texts.flatMap((part) => read(typeof part === 'string' ? part : part.text, ['input', n, 'content']));
    return { role, parts };
  });
  const asking = temperature == null ? {} : { temperature };
  const shared = { kind: 'model', model, messages, asking, replicate: seed ?? 0 } as const;
  if (grader.type === 'score_model') {
    return { ...shared, output: { range: grader.range ?? [0, 1] }, scores: null };
  }
  const { labels, passing_labels } = grader;
  return { ...shared, output: { labels }, scores: labels.map((label) => (passing_labels.includes(label) ? 1 : 0)) };
}

/** The values of the templates of one sample. */
export function templateValues(model_sample: string, item: unknown): TemplateValues {
  const parsed = parsedJson(model_sample);
  return { item, sample: { output_text: model_sample, ...(parsed === undefined ? {} : { output_json: parsed }) } };
}

/** What a grader needs for one sample: nothing more, or a judgment. */
export type GraderStep =
  | { readonly kind: 'scored'; readonly score: number }
  | { readonly kind: 'asked'; readonly request: GraderRequest; readonly grader: PreparedModel };

/**
 * Fills the templates of a grader, and scores what needs no judge.
 * @param filler one for all graders of a request, which share its limit.
 */
export function graderStep(grader: PreparedSingle, filler: TemplateFiller): Result<GraderStep, Problems> {
  if (grader.kind === 'check') {
    const [input, reference] = [filler.text(grader.input), filler.text(grader.reference)];
    if (!input.ok) return unfilled([...grader.path, 'input'], input.error);
    if (!reference.ok) return unfilled([...grader.path, 'reference'], reference.error);
    const score = isMatch(grader.operation, input.value, reference.value) ? 1 : 0;
    return { ok: true, value: { kind: 'scored', score } };
  }
  const messages: GraderMessage[] = [];
  for (const [n, { role, parts }] of grader.messages.entries()) {
    const filled = filler.parts(parts);
    if (!filled.ok) return unfilled([...grader.path, 'input', n, 'content'], filled.error);
    messages.push({ role, parts: filled.value });
  }
  const usual = { kind: 'grader', messages, output: grader.output } as const;
  const isUsual = grader.asking.temperature === undefined;
  const request = isUsual ? usual : { ...usual, asking: grader.asking };
  return { ok: true, value: { kind: 'asked', request, grader } };
}

function unfilled(path: Path, problem: FillProblem): Result<never, Problems> {
  if ('too_long' in problem) return invalid(path, FILLED_TOO_LONG);
  const [namespace] = problem.missing.split(/[.[]/u, 1);
  return invalid(path, `a placeholder names a value that ${namespace === 'item' ? 'item' : 'the sample'} lacks`);
}

function invalid(path: Path, message: string): Result<never, Problems> {
  return { ok: false, error: [{ path, message }] };
}

function isMatch(operation: PreparedCheck['operation'], input: string, reference: string): boolean {
  switch (operation) {
    case 'eq':
      return input === reference;
    case 'ne':
      return input !== reference;
    case 'like':
      return contains(input, reference);
    case 'ilike':
      return contains(input.toLowerCase(), reference.toLowerCase());
  }
}

/** The score of a verdict. @throws Error if the verdict does not answer the grader. */
export function verdictScore({ scores }: PreparedModel, value: number): number {
  const score = scores === null ? value : scores[value];
  if (score === undefined) throw new Error('verdictScore: a label that was not asked for');
  return score;
}

/** The reward of the graders' scores; `null` = the formula has no finite value. */
export function rewardOf({ formula }: PreparedGrader, scores: ReadonlyMap<string, number>): number | null {
  if (formula !== null) return formulaValue(formula, scores);
  const [only] = scores.values();
  return only ?? null;
}
