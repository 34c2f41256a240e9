/**
 * Makes an answer that a row ought to pay for from its sources: its reference with citations, or the sentences that say
 * most of its criteria.
 */
import type { Source } from '../citations/types.ts';
import { coverageOfEach, indexSources } from '../lexical/index.ts';
import { splitSentences } from '../text/sentences.ts';

/** A text with the sources that it cites. */
export type CitedClaim = { readonly text: string; readonly sources: readonly Source[] };

/** Sentences of one row that are compared: more are a document, of which the first ones are enough. */
const MAX_SENTENCES = 2_000;

/** The sentences of all sources, in reading order. Each cites its own source. */
export function sourceSentences(sources: readonly Source[]): readonly CitedClaim[] {
  const sentences: CitedClaim[] = [];
  for (const source of sources) {
    for (const { start, end } of splitSentences(source.text)) {
      if (sentences.length === MAX_SENTENCES) return sentences;
      const text = source.text.slice(start, end).replace(/\s+/gu, ' ').trim();
      if (text !== '') sentences.push({ text, sources: [source] });
    }
  }
  return sentences;
}

/** Texts as claims; each cites the source of the sentence that has most of its words. */
export function citedTexts(texts: readonly string[], sentences: readonly CitedClaim[]): readonly CitedClaim[] {
  const closest = closestOf(sentences);
  return texts.map((text) => ({ text, sources: closest(text)?.sources ?? [] }));
}

/**
 * For each criterion the sentence that has most of its words, and most of the question's words among equals. A sentence
 * that is chosen twice is stated once. If no sentence shares a word with a criterion, the one that has most of the
 * question's words; empty if there is none.
 */
export function sentencesThatMeet(
  criteria: readonly string[],
  question: string,
  sentences: readonly CitedClaim[],
): readonly CitedClaim[] {
  const closest = closestOf(sentences, question);
  const met = [...new Set(criteria.flatMap((criterion) => closest(criterion) ?? []))];
  return met.length > 0 ? met : [closest(question) ?? []].flat();
}

/** Finds the sentence that covers most of a text by weight of its words; `null` = none has a word of it. */
function closestOf(sentences: readonly CitedClaim[], question = ''): (text: string) => CitedClaim | null {
  const index = indexSources(sentences);
  const all = sentences.map((_, position) => position);
  const coverages = (text: string): readonly number[] => coverageOfEach(index, text, all);
  const ofQuestion = question === '' ? [] : coverages(question);
  return (text) => {
    const ofText = coverages(text);
    let best: number | null = null;
    for (const position of all) {
      const own = ofText[position] ?? 0;
      const most = best === null ? 0 : (ofText[best] ?? 0);
      const isCloser = own === most && best !== null && (ofQuestion[position] ?? 0) > (ofQuestion[best] ?? 0);
      if (own > most || isCloser) best = position;
    }
    return best === null ? null : (sentences[best] ?? null);
  };
}
