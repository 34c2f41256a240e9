/**
 * Finds claims that no source can support because they state nothing: a question, a list of words, or the remark that
 * the sources do not answer. Such a claim cites a source for the sake of its citation.
 */
import { splitSentences } from '../text/sentences.ts';

/** A list of this many single words is no sentence. Lists within sentences have longer items at their ends. */
const LISTED_WORDS = 8;

const WORD_LIST = new RegExp(`^\\S+(?:, \\S+){${LISTED_WORDS - 1},}$`, 'u');

/** Longer claims state something besides their refusal. */
const MAX_REFUSAL_CHARS = 200;

/** A refusal speaks of its writer or of all sources, unlike a claim about what one document leaves out. */
const REFUSAL = new RegExp(
  [
    "^i (?:do not|don['’]t) know\\b",
    "^i (?:cannot|can['’]t|could not|am unable to) (?:answer|determine|find|say)\\b",
    '^the (?:available |cited |given |provided )?(?:documents|passages|search results|snippets|sources) ' +
      "(?:do not|don['’]t) (?:answer|contain|give|mention|provide|say|state|tell)\\b",
  ].join('|'),
  'iu',
);

/** Returns whether the text of a claim states nothing. Linear; reads most claims only at their ends. */
export function statesNothing(claim: string): boolean {
  if (isQuestion(claim)) return true;
  return WORD_LIST.test(claim) || (claim.length <= MAX_REFUSAL_CHARS && REFUSAL.test(claim));
}

function isQuestion(claim: string): boolean {
  const last = claim.at(-1);
  return (last === '?' || last === '？' || last === '؟') && splitSentences(claim).length === 1;
}
