/**
 * Finds claims that no source can support: a question or a list of words, which states nothing, and the remark that the
 * sources do not answer.
 */
import { createAskedWords, hasContentWord } from '../lexical/index.ts';
import { splitSentences } from '../text/sentences.ts';

/** A list of this many single words is no sentence. Lists within sentences have longer items at their ends. */
const LISTED_WORDS = 8;

const WORD_LIST = new RegExp(`^\\S+(?:, \\S+){${LISTED_WORDS - 1},}$`, 'u');

/** Longer claims state something besides. */
const MAX_ABSTENTION_CHARS = 200;

/** An abstention speaks of its writer or of all sources, unlike a claim about what one document leaves out. */
const ABSTENTIONS = [
  "i (?:do not|don['’]t) know\\b",
  "i (?:cannot|can['’]t|could not|am unable to) (?:answer|determine|find|say)\\b",
  'the (?:available |cited |given |provided )?(?:documents|passages|search results|snippets|sources) ' +
    "(?:do not|don['’]t) (?:explicitly )?(?:answer|contain|give|mention|provide|say|specify|state|tell)\\b",
  'no (?:document|passage|source)s? (?:answer|contain|give|mention|provide|say|specif|state|tell)[a-z]*',
].join('|');

/** At the start of a sentence. */
const ABSTENTION = new RegExp(`^(?:${ABSTENTIONS})`, 'iu');
/** Anywhere in a text. Most texts have none, and need not be split into sentences. */
const ANY_ABSTENTION = new RegExp(ABSTENTIONS, 'iu');

/** Returns whether the text of a claim states nothing. Linear; reads most claims only at their ends. */
export function statesNothing(claim: string): boolean {
  return isQuestion(claim) || WORD_LIST.test(claim);
}

/** Returns whether the text of a claim says that the sources or its writer do not know the answer. */
export function abstains(claim: string): boolean {
  return claim.length <= MAX_ABSTENTION_CHARS && ABSTENTION.test(claim);
}

/** Words of an abstention that tell nothing: what is missing, and from where. */
const TELLING_NOTHING = new RegExp(
  '\\b(?:answers?|anything|available|details?|documents?|enough|given|information|passages?|provided|questions?|' +
    'results?|search|snippets?|sources?|sufficient)\\b',
  'giu',
);

/**
 * Returns whether each sentence of a text abstains and has no content word besides that the question lacks: "The sources
 * do not say how long it is" abstains alone, "The sources do not say that it is red" does not. Linear.
 *
 * @param isAsked whether all content words of a text are in the question.
 */
export function onlyAbstains(text: string, isAsked: (text: string) => boolean): boolean {
  const sentences = sentencesOf(text);
  return (
    sentences.length > 0 &&
    sentences.every((sentence) => {
      if (!abstains(sentence)) return false;
      const rest = sentence.replace(ABSTENTION, '').replace(TELLING_NOTHING, '');
      return !hasContentWord(rest) || isAsked(rest);
    })
  );
}

/**
 * Returns whether a sentence of a text says that the sources do not answer the question, and a cited claim says something
 * else. A part of the question that they do not answer looks the same. Linear.
 */
export function hedges(text: string, claims: readonly string[], question: string): boolean {
  if (!ANY_ABSTENTION.test(text)) return false;
  const isAsked = createAskedWords(question);
  return (
    sentencesOf(text).some((sentence) => onlyAbstains(sentence, isAsked)) &&
    claims.flatMap(sentencesOf).some((sentence) => hasContentWord(sentence) && !abstains(sentence))
  );
}

function sentencesOf(text: string): string[] {
  return splitSentences(text).map(({ start, end }) => text.slice(start, end).trim());
}

function isQuestion(claim: string): boolean {
  const last = claim.at(-1);
  return (last === '?' || last === '？' || last === '؟') && splitSentences(claim).length === 1;
}
