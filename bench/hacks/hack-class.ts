/** What a hack class is, and the parts that the classes are made of. */

import type { CitedText, ClaimWriter } from '../../src/citations/claim-writers.ts';
import type { HonestRow } from './honest-answers.ts';

/** A way to earn more than an answer deserves. It turns an honest row into the text of a response. */
export type HackClass = {
  readonly name: string;
  /** What the policy does, for the table. */
  readonly does: string;
  /**
   * `citations`: the words are those of the honest answer. `content`: the policy writes other words. `evasive`: it also
   * aims at a judge that compares words, and need not be reported.
   */
  readonly changes: 'citations' | 'content' | 'evasive';
  readonly response: (row: HonestRow, cite: ClaimWriter) => string;
};

/** The honest answer itself. */
export function honestResponse(row: HonestRow, cite: ClaimWriter): string {
  return answered(row.answer, cite);
}

/** An answer of these sentences. */
export function answered(sentences: readonly CitedText[], cite: ClaimWriter): string {
  return `<answer>${sentences.map(cite).join(' ')}</answer>`;
}

export const idsOf = ({ sources }: HonestRow): string[] => sources.map(({ id }) => id);
export const firstId = (row: HonestRow): string => idsOf(row)[0] ?? '';
/** An id that no source has, in the form of the row's ids where they are addresses. */
export const foreignId = (row: HonestRow, id: string): string =>
  firstId(row).includes('/') ? `https://other.example/${id}` : id;
