/**
 * Plans a probe: writes canned answers to rows of training data, and an answer that each row ought to pay for. Its work
 * and texts are known and limited before they are made.
 */
import { sourcesOf } from '../citations/sources.ts';
import type { Source } from '../citations/types.ts';
import type { Recipe } from '../families/composers.ts';
import { type BuiltInTypes, familyOf } from '../families/registry.ts';
import type { ResolvedRecipe } from '../families/resolve.ts';
import type { AnswerForm } from '../family/answer-form.ts';
import type { Family } from '../family/family.ts';
import type { Rollout } from '../family/rollout.ts';
import type { InputProblem } from '../input-problem.ts';
import { estimateTokens } from '../judgments/protocol/token-estimate.ts';
import { MAX_FILLED_CHARS, MAX_PROBE_COMPARISONS } from '../limits.ts';
import type { Result } from '../result.ts';
import { splitSentences } from '../text/sentences.ts';
import { CANNED_ANSWERS, type CannedAnswerName, cannedAnswer, type NotGiven } from './canned-answers.ts';
import { type CitedClaim, citedTexts, sentencesThatMeet, sourceSentences } from './good-answer.ts';
import { originOfRow, ownCriteria, type ProbeRow, type Prompt } from './probe-row.ts';

/** Where the best known answer of a row comes from, best first. */
export const KNOWN_ORIGINS = ['reference', 'sample', 'constructed'] as const;

export type KnownOrigin = (typeof KNOWN_ORIGINS)[number];

export type ProbeRequest = {
  /** At least one. */
  readonly rows: readonly ProbeRow[];
  readonly recipe: ResolvedRecipe;
  /** Draws the random sentences. */
  readonly seed: number;
};

/** The answers to measure. */
export type ProbePlan = {
  readonly recipe: ResolvedRecipe;
  readonly rows: readonly PlannedRow[];
};

/**
 * Writes the canned answers to rows. Refuses a recipe whose family reads no answer over sources,
 * and rows whose answers would take too much work or text: known before they are written.
 */
export function planProbe({ rows, recipe, seed }: ProbeRequest): Result<ProbePlan, readonly InputProblem[]> {
  const family = familyOf(recipe.recipe);
  const form = family.answerForm;
  if (form === undefined) {
    const message = `recipes of the ${family.name} family read no answer over sources, so no canned answer applies`;
    return { ok: false, error: [{ path: ['recipe'], message }] };
  }
  const read = rows.map((row) => readRow(row, family));
  const busy = firstBeyond(read, comparisonsOf, MAX_PROBE_COMPARISONS);
  if (busy !== null) return tooMuch(busy, 'the comparisons of criteria and reference with the sources');
  const citing = form.citing(recipe.recipe);
  const prepared = read.map(prepare);
  const material = prepared.map((row, n) => {
    const other = prepared[(n + 1) % rows.length];
    const next = other === undefined || other === row ? null : other.good;
    return { ...row, canned: cannedClaims(row, next, citing !== null, seed) };
  });
  const long = firstBeyond(material, (row, most) => writtenChars(row, citing, most), MAX_FILLED_CHARS);
  if (long !== null) return tooMuch(long, 'the characters of all canned answers');
  const written = material.map((row) => ({
    row: row.row,
    own_criteria: row.criteria.length,
    ...writtenAnswers(row, form, citing, recipe.recipe),
  }));
  return { ok: true, value: { recipe, rows: written } };
}

/** The first row with which a sum over the rows is above a limit. @param amountOf may stop counting above `most`. */
function firstBeyond<T>(
  rows: readonly T[],
  amountOf: (row: T, most: number) => number,
  limit: number,
): { readonly row: number; readonly limit: number } | null {
  let left = limit;
  for (const [row, one] of rows.entries()) {
    left -= amountOf(one, left);
    if (left < 0) return { row, limit };
  }
  return null;
}

function tooMuch({ row, limit }: { row: number; limit: number }, what: string): Result<never, readonly InputProblem[]> {
  const message = `with this row, ${what} are more than ${limit}; send fewer rows at a time, or shorter texts`;
  return { ok: false, error: [{ path: ['rows', row], message }] };
}

/** The texts that are measured: canned answers, best known ones and samples. */
export function plannedResponses({ rows }: ProbePlan): readonly string[] {
  return rows.flatMap(({ row, good, canned }) => [
    ...(good === null ? [] : [good.rollout.response]),
    ...canned.flatMap((one) => ('rollout' in one ? [one.rollout.response] : [])),
    ...row.samples.map(({ rollout }) => rollout.response),
  ]);
}

/** A row with the texts that its answers are made of. */
type ReadRow = {
  readonly row: ProbeRow;
  /** The prompt with the sources of its samples, and what a trainer reports of a finished response. */
  readonly prompt: Prompt;
  readonly sources: readonly Source[];
  readonly sentences: readonly CitedClaim[];
  readonly criteria: readonly string[];
  /** The sentences of a reference that is a text. */
  readonly said: readonly string[];
  /** Whether they are all that a good answer says. */
  readonly isSaid: boolean;
};

/** The same with citations. */
type PreparedRow = Omit<ReadRow, 'criteria' | 'said' | 'isSaid'> & {
  readonly criteria: readonly CitedClaim[];
  readonly good: readonly CitedClaim[];
};

/** One round of tools, as verl counts turns. */
const FINISHED = { finish_reason: 'stop', num_turns: 4 } as const;

function readRow(row: ProbeRow, family: Family<BuiltInTypes>): ReadRow {
  const { reference } = row.prompt;
  const origin = originOfRow(row);
  const sources = origin === null ? [] : sourcesOf(origin).list;
  const said = reference === undefined || isResponse(reference) ? [] : sentencesOf(reference);
  return {
    row,
    prompt: { ...row.prompt, ...origin, ...FINISHED },
    sources,
    sentences: sourceSentences(sources),
    criteria: ownCriteria(family, row),
    said,
    // A family whose rows have one right answer takes it as the reference, and reads criteria besides.
    isSaid: said.length > 0 && !family.hasReference,
  };
}

/** Texts times sentences. Criteria are compared twice, and the question with them. */
function comparisonsOf({ sentences, criteria, said }: ReadRow): number {
  return sentences.length * (said.length + 2 * (criteria.length + 1));
}

function prepare({ criteria, said, isSaid, ...read }: ReadRow): PreparedRow {
  const { prompt, sentences } = read;
  const met = isSaid ? [] : sentencesThatMeet(criteria, prompt.question ?? '', sentences);
  return { ...read, criteria: citedTexts(criteria, sentences), good: [...citedTexts(said, sentences), ...met] };
}

/** Whether a reference is a whole response of a policy instead of a text. */
function isResponse(reference: string): boolean {
  return reference.includes('<answer>');
}

function sentencesOf(text: string): string[] {
  return splitSentences(text).map(({ start, end }) => text.slice(start, end));
}

/** A row with its written answers. */
export type PlannedRow = {
  readonly row: ProbeRow;
  readonly own_criteria: number;
  /** The answer that the row ought to pay for; `null` = none is known without samples. */
  readonly good: { readonly from: KnownOrigin; readonly rollout: Rollout } | null;
  readonly canned: readonly (
    | { readonly name: CannedAnswerName; readonly rollout: Rollout }
    | { readonly name: CannedAnswerName; readonly not_given: NotGiven }
  )[];
};

/** What each canned answer says, or why it cannot be given. */
type CannedClaims = readonly {
  readonly name: CannedAnswerName;
  readonly claims: readonly CitedClaim[] | NotGiven;
}[];

function cannedClaims(
  { prompt, ...material }: PreparedRow,
  other: readonly CitedClaim[] | null,
  cites: boolean,
  seed: number,
): CannedClaims {
  const { question = '' } = prompt;
  return CANNED_ANSWERS.map((name) => ({
    name,
    claims: cannedAnswer(name, { ...material, question, other, seed }, cites),
  }));
}

/** The characters that the answers of a row will have at least. Stops counting above `most`. */
function writtenChars(
  { good, canned }: PreparedRow & { readonly canned: CannedClaims },
  citing: Citing,
  most: number,
): number {
  let chars = 0;
  for (const claims of [good, ...canned.flatMap((one) => (typeof one.claims === 'string' ? [] : [one.claims]))]) {
    for (const { text, sources } of claims) {
      chars += text.length;
      for (const source of sources) if (chars <= most) chars += 1 + (citing?.idOf(source).length ?? 0);
    }
  }
  return chars;
}

type Citing = ReturnType<AnswerForm<Recipe>['citing']>;

function writtenAnswers(
  { prompt, good, canned }: PreparedRow & { readonly canned: CannedClaims },
  form: AnswerForm<Recipe>,
  citing: Citing,
  recipe: Recipe,
): Pick<PlannedRow, 'good' | 'canned'> {
  const rollout = (claims: readonly CitedClaim[]): Rollout => {
    const texts = claims.map(({ text, sources }) =>
      citing === null ? text : citing.write({ text, ids: sources.map(citing.idOf) }),
    );
    return withTokens(form.answered(prompt, texts.join(' '), recipe));
  };
  const { reference } = prompt;
  const isWritten = reference !== undefined && isResponse(reference);
  const from = reference === undefined ? 'constructed' : 'reference';
  return {
    good: isWritten
      ? { from, rollout: withTokens({ ...prompt, response: reference }) }
      : good.length === 0
        ? null
        : { from, rollout: rollout(good) },
    canned: canned.map(({ name, claims }) =>
      typeof claims === 'string' ? { name, not_given: claims } : { name, rollout: rollout(claims) },
    ),
  };
}

/** A trainer reports the tokens of a response; recipes with a length term read them. */
function withTokens(rollout: Rollout): Rollout {
  return { ...rollout, response_tokens: estimateTokens(rollout.response) };
}
