/**
 * Checks criteria that a model wrote, before any answer is graded by them. A criterion that fails a check is named with
 * its reason and never dropped in silence. The checks of wording know English only; in other languages only equal
 * criteria are found.
 */
import type { PromptCriterion } from './rubric-set.ts';

export const REJECTIONS = {
  empty: 'it has no words',
  duplicate: 'it says what another criterion says',
  negation: 'it is the negation of another criterion',
  about_length: 'an answer can meet it by its length',
  not_in_the_answer: 'an answer alone does not show it',
} as const;

export type RejectionReason = keyof typeof REJECTIONS;

/** A criterion that was left out. `of`: the description of the criterion that it repeats or negates. */
export type RejectedCriterion = {
  readonly criterion: PromptCriterion;
  readonly reason: RejectionReason;
  readonly of: string | null;
};

export type CheckedCriteria = {
  readonly criteria: readonly PromptCriterion[];
  readonly rejected: readonly RejectedCriterion[];
};

/**
 * Divides criteria into those to use and those to leave out.
 * @param existing criteria that the prompt has or had.
 */
export function checkCriteria(
  made: readonly PromptCriterion[],
  existing: readonly Pick<PromptCriterion, 'polarity' | 'description'>[],
): CheckedCriteria {
  const known = existing.map(contentOf);
  const criteria: PromptCriterion[] = [];
  const rejected: RejectedCriterion[] = [];
  for (const criterion of made) {
    const content = contentOf(criterion);
    const found = flawOf(content, known);
    if (found !== null) {
      rejected.push({ criterion, ...found });
      continue;
    }
    criteria.push(criterion);
    known.push(content);
  }
  return { criteria, rejected };
}

/** A criterion by its words. */
type Content = {
  readonly description: string;
  /** All words, folded, in order. */
  readonly text: string;
  /** Words with a meaning of their own, without negations. */
  readonly words: ReadonlySet<string>;
  /** Whether the criterion is met by an answer that says the words: negated once by its wording or its polarity. */
  readonly affirms: boolean;
  readonly polarity: PromptCriterion['polarity'];
};

/** Two criteria that share so many of their words say the same. */
const SAME_SHARE = 0.8;

function flawOf(content: Content, known: readonly Content[]): Omit<RejectedCriterion, 'criterion'> | null {
  if (content.text === '') return { reason: 'empty', of: null };
  const same = known.find((other) => isSame(content, other));
  if (same !== undefined) {
    const isNegation = same.polarity !== content.polarity || same.affirms !== content.affirms;
    return { reason: isNegation ? 'negation' : 'duplicate', of: same.description };
  }
  if (ABOUT_LENGTH.some((pattern) => pattern.test(content.text))) return { reason: 'about_length', of: null };
  if (NOT_IN_THE_ANSWER.some((pattern) => pattern.test(content.text))) return { reason: 'not_in_the_answer', of: null };
  return null;
}

function isSame(one: Content, other: Content): boolean {
  if (one.text === other.text) return true;
  if (one.words.size === 0 || other.words.size === 0) return false;
  // Another number is another fact, however many words are equal.
  if (numbersOf(one) !== numbersOf(other)) return false;
  let shared = 0;
  for (const word of one.words) if (other.words.has(word)) shared++;
  return shared / (one.words.size + other.words.size - shared) >= SAME_SHARE;
}

function numbersOf({ words }: Content): string {
  return [...words]
    .filter((word) => /\p{N}/u.test(word))
    .sort()
    .join(' ');
}

function contentOf({ polarity, description }: Pick<PromptCriterion, 'polarity' | 'description'>): Content {
  const text = description
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/(?<=\p{N})[,.' ](?=\p{N}{3}(?!\p{N}))/gu, '')
    .replaceAll(/n['’]t\b/gu, ' not')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
    .join(' ');
  const all = text.split(' ');
  const negations = all.filter((word) => NEGATIONS.has(word)).length;
  const words = new Set(
    all.filter((word) => word !== '' && !NEGATIONS.has(word) && !EMPTY_WORDS.has(word)).map(stemOf),
  );
  return { description, text, words, affirms: negations % 2 === 0, polarity };
}

/** `states`, `stating` and `state` are one word here; the stem is only compared. */
function stemOf(word: string): string {
  return word.length < 5 ? word : word.replace(/(?:ings?|ed|es|s|e)$/u, '');
}

const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never without neither nor fails fail failing failed omits omit omitting omitted lacks lack lacking misses miss missing ignores ignore neglects neglect'.split(
    ' ',
  ),
);

const EMPTY_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the of in on at by to for from with as is are was were be been being it its that this these those and or ' +
    'answer response text does do did done has have had can should must may will would there which who whose when where ' +
    'states state stating mentions mention mentioning gives give giving says say saying names name naming includes include ' +
    'including provides provide providing explains explain notes note identifies identify reports report correctly any ' +
    'explicitly clearly also'
  ).split(' '),
);

/** What makes an answer longer or shorter meets these. */
const ABOUT_LENGTH: readonly RegExp[] = [
  /\b(?:at least|at most|more than|less than|fewer than|up to|under|over|exactly|minimum of|maximum of) (?:\p{N}+|one|two|three|four|five|six|ten|several) (?:\p{L}+ )?(?:words?|sentences?|paragraphs?|characters?|lines?|pages?|bullet|bullets|points?|items?|examples?|sections?|citations?|sources|references?)\b/u,
  /\b(?:word count|word limit|length of the|too long|too short|long enough|longer than|shorter than|verbose|verbosity|lengthy|concise|concisely|brevity|succinct|in detail|detailed enough|comprehensive|exhaustive|thorough)\b/u,
];

/** What a grader of one answer cannot see. */
const NOT_IN_THE_ANSWER: readonly RegExp[] = [
  /\b(?:other|another|previous|competing|remaining) (?:answers?|responses?|samples?|candidates?)\b/u,
  /\b(?:better|worse|more|less) (?:\p{L}+ )?than (?:the )?(?:other|others|answer|response)\b/u,
  /\b(?:searches|searched|search queries|tool calls?|thought process|chain of thought|reasoning steps|before answering)\b/u,
  /\b(?:readers?|users?) (?:feels?|is satisfied|are satisfied|would like|enjoys?|prefers?)\b/u,
];
