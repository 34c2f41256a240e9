/** The labels of a classifier, and what each of them says about a claim and a source. */
import type { Result } from '../../result.ts';

const MEANINGS = ['supported', 'contradicted', 'neither'] as const;

/** `neither`: the source neither supports the claim nor contradicts it, or the model has no label for contradiction. */
type Meaning = (typeof MEANINGS)[number];

export type ClassifierLabel = { readonly name: string; readonly means: Meaning };

/** How usual names of labels begin, in lower case and without `-`, `_` and spaces; `not…` and `un…` mean neither. */
const USUAL_NAMES: readonly (readonly [Meaning, RegExp])[] = [
  ['neither', /^(not?|un|neutral|nei|inconsistent|false)/],
  ['contradicted', /^(contradict|refute)/],
  ['supported', /^(entail|support|consistent|factual|faithful|attributable|grounded|yes|true)/],
];

/**
 * Reads the labels of a model, each as `name` if the name is a usual one, else as `name=meaning`:
 * `["LABEL_0=neither", "LABEL_1=supported"]`.
 */
export function readLabels(written: readonly string[]): Result<readonly ClassifierLabel[], string> {
  const labels: ClassifierLabel[] = [];
  for (const [position, text] of written.entries()) {
    const at = text.lastIndexOf('=');
    const name = at === -1 ? text : text.slice(0, at);
    const means = at === -1 ? usualMeaning(name) : MEANINGS.find((one) => one === text.slice(at + 1));
    if (means === undefined) {
      const forms = MEANINGS.map((one) => `NAME=${one}`).join(', ');
      return failed(`the meaning of label ${position + 1} is unknown: write it as one of ${forms}`);
    }
    if (labels.some((label) => label.name === name)) return failed(`label ${position + 1} has an earlier label's name`);
    labels.push({ name, means });
  }
  if (!labels.some(({ means }) => means === 'supported')) return failed('expected a label that means supported');
  return { ok: true, value: labels };
}

/** The labels as `readLabels` reads them. */
export function labelsText(labels: readonly ClassifierLabel[]): string {
  return labels.map(({ name, means }) => `${name}=${means}`).join(',');
}

function usualMeaning(name: string): Meaning | undefined {
  const plain = name.toLowerCase().replace(/[-_ ]/g, '');
  return USUAL_NAMES.find(([, usual]) => usual.test(plain))?.[0];
}

function failed(error: string): Result<never, string> {
  return { ok: false, error };
}
