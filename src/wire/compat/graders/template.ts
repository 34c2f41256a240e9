/**
 * The templates of OpenAI's graders: text with `{{ item.… }}` and `{{ sample.… }}`. A placeholder is a path and nothing
 * else; filters and expressions are refused.
 */
import { MAX_FILLED_CHARS } from '../../../limits.ts';
import type { Result } from '../../../result.ts';

/** A step into a value: a name, or an index of a list. */
type Step = string | number;

export type TemplatePart = { readonly text: string } | { readonly path: readonly [Namespace, ...Step[]] };

type Namespace = 'item' | 'sample';

/** What placeholders are filled from. `output_json` is absent if the sample is no JSON. */
export type TemplateValues = {
  readonly item: unknown;
  readonly sample: { readonly output_text: string; readonly output_json?: unknown };
};

const STEP = /(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,9})\]|\["([^"\]]{1,200})"\]|\['([^'\]]{1,200})'\])/y;
const SAMPLE_FIELDS = ['output_text', 'output_json'] as const;

/** Reads a template, or says what is wrong with a placeholder. Linear in the text. */
export function readTemplate(text: string): Result<readonly TemplatePart[], string> {
  const parts: TemplatePart[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf('{{', at);
    if (open === -1) break;
    const close = text.indexOf('}}', open + 2);
    if (close === -1) return { ok: false, error: 'a placeholder lacks its closing }}' };
    if (open > at) parts.push({ text: text.slice(at, open) });
    const path = readPath(text.slice(open + 2, close).trim());
    if (path === null) {
      const error = 'expected placeholders such as {{ item.answer }} or {{ sample.output_text }}, without filters';
      return { ok: false, error };
    }
    const [namespace, field] = path;
    if (namespace === 'sample' && !SAMPLE_FIELDS.some((known) => known === field)) {
      return { ok: false, error: `of sample only ${SAMPLE_FIELDS.join(' and ')} can be used` };
    }
    parts.push({ path });
    at = close + 2;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return { ok: true, value: parts };
}

function readPath(text: string): readonly [Namespace, ...Step[]] | null {
  const namespace = text.startsWith('item') ? 'item' : text.startsWith('sample') ? 'sample' : null;
  if (namespace === null) return null;
  const steps: Step[] = [];
  STEP.lastIndex = namespace.length;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (found === null) return null;
    const [, name, index, quoted, single] = found;
    steps.push(index === undefined ? (name ?? quoted ?? single ?? '') : Number(index));
  }
  return [namespace, ...steps];
}

/** A part with its value in place of its path. */
export type FilledPart = { readonly text: string } | { readonly data: string };

/** Why a template cannot be filled. `missing`: the path that the values lack. */
export type FillProblem = { readonly missing: string } | { readonly too_long: true };

/** What to do about `too_long`. */
export const FILLED_TOO_LONG =
  `the filled templates are longer than ${MAX_FILLED_CHARS} characters together; ` +
  'use fewer placeholders, or shorter values';

/**
 * Fills templates from the values of one sample. A placeholder may repeat a long value, so the lengths of all filled
 * texts are added up before one of them is built, and a text beyond the limit is refused.
 */
export class TemplateFiller {
  readonly #values: TemplateValues;
  readonly #json = new Map<unknown, string>();
  /** UTF-16 code units that are left for all texts together. */
  #left: number;

  constructor(values: TemplateValues, maxChars = MAX_FILLED_CHARS) {
    this.#values = values;
    this.#left = maxChars;
  }

  /** Fills the placeholders: the parts refer to the values and copy none. Stops at the first problem. */
  parts(parts: readonly TemplatePart[]): Result<readonly FilledPart[], FillProblem> {
    const filled: FilledPart[] = [];
    for (const part of parts) {
      const value = this.#filled(part);
      if (value === null) return { ok: false, error: { missing: 'path' in part ? pathText(part.path) : '' } };
      this.#left -= 'text' in value ? value.text.length : value.data.length;
      if (this.#left < 0) return { ok: false, error: { too_long: true } };
      filled.push(value);
    }
    return { ok: true, value: filled };
  }

  /** The filled template as one text. */
  text(parts: readonly TemplatePart[]): Result<string, FillProblem> {
    const filled = this.parts(parts);
    if (!filled.ok) return filled;
    return { ok: true, value: filled.value.map((part) => ('text' in part ? part.text : part.data)).join('') };
  }

  /** `null` = the values lack the path. */
  #filled(part: TemplatePart): FilledPart | null {
    if ('text' in part) return part;
    const value = valueAt(this.#values, part.path);
    if (value === undefined) return null;
    return { data: typeof value === 'string' ? value : this.#jsonOf(value) };
  }

  /** Each value is serialised once, however often templates name it. */
  #jsonOf(value: unknown): string {
    const known = this.#json.get(value);
    if (known !== undefined) return known;
    const json = JSON.stringify(value);
    this.#json.set(value, json);
    return json;
  }
}

/** Only own members count: `item.constructor` is no value. */
function valueAt(values: TemplateValues, path: readonly Step[]): unknown {
  let value: unknown = values;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    if (Array.isArray(value) && typeof step !== 'number') return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function pathText([namespace, ...steps]: readonly Step[]): string {
  return `${namespace}${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`;
}
