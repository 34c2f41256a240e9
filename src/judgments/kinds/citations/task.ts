/** What a judge of citations is asked: the task of its prompt. */
import type { Asking } from '../../protocol/asking.ts';

/** Part of the key of every judgment of this kind: a change of a word is another question. */
const TEXTS = {
  citationsTask: [
    'TASK: check each numbered claim against the sources that it cites, and each numbered statement for whether it needs a',
    'citation.',
    'For each claim give, in this order: "reason"; "quote", the shortest passage of a cited source, copied word for word,',
    'that carries the support, or "" if there is none; "support", "full" if the cited sources together state everything the',
    'claim says, "partial" if they state part of it, "none" if they do not or contradict it; "relevant", one true or false',
    'for each cited source in the order listed: whether that source helps to support the claim.',
    'Numbers, dates, names and negations must agree; a claim that changes one is not fully supported.',
    'For each statement give "reason", then "needs_citation": true if it asserts a fact about the world that a reader would',
    'want to check, false for transitions, opinions marked as such, summaries of the cited claims, and remarks about what',
    'the sources do or do not say.',
  ].join('\n'),
} as const;

/** The task of a judge that also says which claims the sources contradict. */
const CONTRADICTION_TEXTS = {
  citationsTask: [
    'TASK: check each numbered claim against the sources that it cites, and each numbered statement for whether it needs a',
    'citation.',
    'For each claim give, in this order: "reason"; "quote", the shortest passage of a cited source, copied word for word,',
    'that supports or contradicts the claim, or "" if there is none; "unsupported", the words of the claim that no cited',
    'source states, copied word for word from the claim, or "" if there are none; "support", "full" if the cited sources',
    'together state everything the claim says, "partial" if they state part of it and deny nothing, "contradicted" if they',
    'say otherwise: another number, date or name, or the opposite, "none" if they say neither; "relevant", one true or',
    'false for each cited source in the order listed: whether that source helps to support the claim.',
    'What a source does not mention is not contradicted.',
    'For each statement give "reason", then "needs_citation": true if it asserts a fact about the world that a reader would',
    'want to check, false for transitions, opinions marked as such, summaries of the cited claims, and remarks about what',
    'the sources do or do not say.',
  ].join('\n'),
} as const;

/** The task for a question that is asked in this way. */
export const textsOf = ({ contradiction }: Asking = {}) => (contradiction === undefined ? TEXTS : CONTRADICTION_TEXTS);
