/**
 * The templates of OpenAI's graders: text with `{{ item.… }}` and `{{ sample.… }}`. A placeholder is a path and nothing
 * else; filters and expressions are refused.
 */
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

/** Fills the placeholders, or names the first path that the values lack. */
export function filledParts(
  parts: readonly TemplatePart[],
  values: TemplateValues,
): Result<readonly FilledPart[], string> {
  const filled: FilledPart[] = [];
  for (const part of parts) {
    if ('text' in part) {
      filled.push(part);
      continue;
    }
    const value = valueAt(values, part.path);
    if (value === undefined) return { ok: false, error: pathText(part.path) };
    filled.push({ data: typeof value === 'string' ? value : JSON.stringify(value) });
  }
  return { ok: true, value: filled };
}

/** The filled template as one text. */
export function filledText(parts: readonly TemplatePart[], values: TemplateValues): Result<string, string> {
  const filled = filledParts(parts, values);
  if (!filled.ok) return filled;
  return { ok: true, value: filled.value.map((part) => ('text' in part ? part.text : part.data)).join('') };
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
