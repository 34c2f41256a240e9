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
export const REJECTION_REASONS = Object.keys(REJECTIONS).filter((name): name is RejectionReason => name in REJECTIONS);

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
export function checkCriteria(made: readonly PromptCriterion[], existing: readonly Described[]): CheckedCriteria {
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
  // The same words in another order may say the opposite: who is upstream of whom.
  if (one.words.size === other.words.size && [...one.words].every((word) => other.words.has(word))) {
    return [...one.words].join(' ') === [...other.words].join(' ');
  }
  let shared = 0;
  for (const word of one.words) if (other.words.has(word)) shared++;
  return shared / (one.words.size + other.words.size - shared) >= SAME_SHARE;
}

/** Whether the other criterion, of the same polarity, has nearly all words of this one and more, and all its numbers. */
export function overlaps(one: Described, other: Described): boolean {
  const [narrow, wide] = [contentOf(one), contentOf(other)];
  if (narrow.polarity !== wide.polarity || narrow.affirms !== wide.affirms) return false;
  const words = [...narrow.words];
  if (words.length < LEAST_OVERLAP || words.length >= wide.words.size) return false;
  if (words.some((word) => /\p{N}/u.test(word) && !wide.words.has(word))) return false;
  return words.filter((word) => wide.words.has(word)).length / words.length >= SAME_SHARE;
}

/** Words that two criteria on one subject share anyway, such as its name. */
const LEAST_OVERLAP = 4;

function numbersOf({ words }: Content): string {
  return [...words]
    .filter((word) => /\p{N}/u.test(word))
    .sort()
    .join(' ');
}

type Described = Pick<PromptCriterion, 'polarity' | 'description'>;

/** The words of a criterion in order, in lower case, with numbers without separators. */
export function wordsOf(description: string): string[] {
  return description
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/(?<=\p{N})[,.' ](?=\p{N}{3}(?!\p{N}))/gu, '')
    .replaceAll(/n['’]t\b/gu, ' not')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');
}

function contentOf({ polarity, description }: Described): Content {
  const all = wordsOf(description);
  const text = all.join(' ');
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

/** Units of which a longer answer has more. */
const UNITS =
  '(?:words?|sentences?|paragraphs?|characters?|lines?|pages?|bullets?|bullet points?|points?|items?|examples?|sections?|citations?|sources|references?|details?|facts|aspects)';
const NUMBER = String.raw`(?:\p{N}+|one|two|three|four|five|six|seven|eight|nine|ten|several|many|numerous|multiple|enough)`;
/** The answer itself, as the subject or object of a criterion; not a river or a treaty. */
const ANSWER = '(?:answer|response|text|reply|summary|explanation|it)';

/** What makes an answer longer or shorter meets these. */
const ABOUT_LENGTH: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:at least|at most|more than|less than|fewer than|up to|exactly|a minimum of|a maximum of) ${NUMBER} (?:\p{L}+ )?${UNITS}\b`,
    'u',
  ),
  new RegExp(String.raw`\b${NUMBER} or (?:more|fewer|less) (?:\p{L}+ )?${UNITS}\b`, 'u'),
  // "Contains several citations", but not "Cites the several sources of the Nile".
  new RegExp(
    String.raw`^(?:the ${ANSWER} )?(?:lists|has|gives|contains|includes|uses|cites|provides|offers|adds|quotes) (?:several|many|numerous|multiple|enough|plenty of|a lot of|a wide range of|lots of)\b`,
    'u',
  ),
  new RegExp(
    String.raw`\b(?:length of the|long) ${ANSWER}\b|\b${ANSWER} (?:is|are) (?:too |very |sufficiently )?(?:long|short|longer|shorter|verbose|lengthy|concise|brief|succinct|detailed|comprehensive|exhaustive|thorough)\b`,
    'u',
  ),
  /^(?:is|are|stays|remains) (?:too |very |sufficiently )?(?:long|short|longer|shorter|verbose|lengthy|concise|brief|succinct|detailed|comprehensive|exhaustive|thorough)\b/u,
  /^(?:gives|provides|offers|contains|includes|presents) (?:a |an )?(?:comprehensive|exhaustive|thorough|detailed|in depth|long|brief|concise) (?:overview|answer|response|explanation|summary|discussion|account|description|list|treatment)\b/u,
  /\b(?:word count|word limit|verbosity|long enough|in great detail|detailed enough)\b/u,
];

/** What a grader of one answer cannot see. */
const NOT_IN_THE_ANSWER: readonly RegExp[] = [
  /\b(?:other|another|previous|competing|remaining) (?:answers|responses|samples|candidates)\b/u,
  new RegExp(
    String.raw`\b(?:better|worse|more \p{L}+|less \p{L}+) than (?:the )?(?:other|another) (?:${ANSWER}|one)s?\b`,
    'u',
  ),
  /^(?:the (?:answer|response|model|assistant|agent) )?(?:searches|searched|queries|looks up|calls a tool|uses the search)\b/u,
  /\b(?:search queries|tool calls?|thought process|chain of thought|reasoning steps|before answering)\b/u,
  /\b(?:readers?|users?) (?:feels?|is satisfied|are satisfied|would like|enjoys?|prefers?)\b/u,
];
