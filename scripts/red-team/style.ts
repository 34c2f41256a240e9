/** How the policy writes citations under a recipe, and how a row is sent. */
import type { GroupInput } from '../../clients/typescript/client.ts';
import { CLAIM_WRITERS, type ClaimWriter } from '../../src/citations/claim-writers.ts';
import type { Recipe } from '../../src/families/composers.ts';
import { familyOf } from '../../src/families/registry.ts';
import type { Row } from './rows.ts';

export type CitationStyle = {
  /** The mark that cites a source, by its position: one token. */
  readonly mark: (source: number) => string;
  /** The token that closes a cited claim; `null` = the mark follows its claim. */
  readonly close: string | null;
};

/** Stands for a claim where a writer is tried. */
const CLAIM = '…';

/** The style that the recipe reads; `null` = its family reads no sources. A family without citations gets `[S1]`. */
export function styleOf(recipe: Recipe): CitationStyle | null {
  const form = familyOf(recipe).answerForm;
  if (form === undefined) return null;
  const { write, idOf } = form.citing(recipe) ?? { write: CLAIM_WRITERS.bracket, idOf: ({ id }) => id };
  const parts = (source: number): readonly string[] =>
    partsOf(write, idOf({ ...sourceOf(source, ''), span: { start: 0, end: 0 } }));
  const [before = ''] = parts(0);
  if (before === '') return { mark: (source) => parts(source)[1] ?? '', close: null };
  return { mark: (source) => parts(source)[0] ?? '', close: parts(0)[1] ?? '' };
}

function partsOf(write: ClaimWriter, id: string): readonly string[] {
  return write({ text: CLAIM, ids: [id] })
    .split(CLAIM)
    .map((part) => part.trim());
}

/** Writes a sentence that cites sources; without sources, the sentence alone. */
export function cited(style: CitationStyle, sentence: string, sources: readonly number[]): string {
  if (sources.length === 0) return sentence;
  const marks = sources.map(style.mark).join(' ');
  return style.close === null ? `${sentence} ${marks}` : `${marks} ${sentence} ${style.close}`;
}

function sourceOf(source: number, text: string) {
  return { id: `S${source + 1}`, url: `https://s${source + 1}.example/page`, text };
}

/** The row with the fields of every family, without responses. */
export function fieldsOf(row: Row): Omit<GroupInput, 'responses' | 'recipe'> {
  const { question, positive, negative, facts } = row;
  const answers = facts.map(({ answer }) => answer);
  const criteria = [
    ...positive.map((description) => ({ description, weight: 1 })),
    ...negative.map((description) => ({ description, weight: -1 })),
  ];
  return {
    question,
    sources: row.sources.map((text, n) => sourceOf(n, text)),
    positive_rubrics: [...positive],
    negative_rubrics: [...negative],
    rubrics: criteria,
    reference: answers.join(' and ') || 'The sources do not say',
    ...(facts.length === 0
      ? {}
      : {
          entities: answers,
          entity_rubrics: facts.map(({ sentence, answer }) => sentence.replace(answer, '<E0>')),
        }),
  };
}
