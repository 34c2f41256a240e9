/**
 * Measures the canned answers to rows of training data, an answer that each row ought to pay for, and the samples of a
 * policy that the rows have. The result holds facts and no text, so that a report under any recipe needs no judge.
 */
import type { SourceReader } from '../citations/recent-sources.ts';
import { sourcesOf } from '../citations/sources.ts';
import type { Source } from '../citations/types.ts';
import { BUILT_IN, type Facts, type Recipe } from '../families/composers.ts';
import { type BuiltInTypes, familyOf } from '../families/registry.ts';
import type { ResolvedRecipe } from '../families/resolve.ts';
import type { AnswerForm } from '../family/answer-form.ts';
import type { Family } from '../family/family.ts';
import type { Rollout } from '../family/rollout.ts';
import type { InputProblem } from '../input-problem.ts';
import type { ObtainedJudgment, ObtainOptions, ObtainTimings } from '../judgments/obtain.ts';
import type { JudgeFailure } from '../judgments/protocol/failure.ts';
import { estimateTokens } from '../judgments/protocol/token-estimate.ts';
import { type AnswerText, type AnswerWords, createWordCounter } from '../lexical/index.ts';
import { MAX_FILLED_CHARS, MAX_PROBE_COMPARISONS } from '../limits.ts';
import type { Result } from '../result.ts';
import { type ScoredRollout, scoreGroup } from '../scoring/score-rollouts.ts';
import { splitSentences } from '../text/sentences.ts';
import { CANNED_ANSWERS, type CannedAnswerName, cannedAnswer, type NotGiven } from './canned-answers.ts';
import { type CitedClaim, citedTexts, sentencesThatMeet, sourceSentences } from './good-answer.ts';
import { criteriaMet } from './observed.ts';
import { originOfRow, ownCriteria, type ProbeRow, type Prompt } from './probe-row.ts';

/** Where the best known answer of a row comes from, best first. */
export const KNOWN_ORIGINS = ['reference', 'sample', 'constructed'] as const;

export type KnownOrigin = (typeof KNOWN_ORIGINS)[number];

/** A row whose answers are measured. */
export type ProbedRow = {
  readonly id: ProbeRow['id'];
  /** The row's own positive criteria. */
  readonly own_criteria: number;
  /** The answer that the others are compared with; `null` = the row has no reference, no sample and no useful source. */
  readonly best_known: { readonly from: KnownOrigin; readonly facts: Facts } | null;
  readonly answers: readonly MeasuredAnswer[];
  readonly samples: readonly MeasuredSample[];
};

/** A canned answer, or why it could not be given. */
export type MeasuredAnswer =
  | { readonly name: CannedAnswerName; readonly facts: Facts }
  | { readonly name: CannedAnswerName; readonly not_given: NotGiven };

export type MeasuredSample = {
  readonly facts: Facts;
  readonly outcome: number | null;
  /** Words of the answer, and those in spans that a source contains; `null` = the family does not read the answer. */
  readonly words: number | null;
  readonly copied: number | null;
};

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

export type ProbeResult =
  | {
      readonly status: 'done';
      readonly rows: readonly ProbedRow[];
      /** A failure behind an answer without a reward. */
      readonly failure: JudgeFailure | null;
      readonly obtained: readonly ObtainedJudgment[];
      readonly timings: ObtainTimings;
    }
  | Exclude<Awaited<ReturnType<typeof scoreGroup>>, { readonly status: 'done' }>;

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

/** Rows whose judgments are obtained at the same time. */
const ROWS_AT_ONCE = 4;

/**
 * Measures the answers of a plan. The deadline of the options spans all rows: answers without a judgment by then are
 * unscored. Problems name the row (`rows[2].question`).
 *
 * @param readSources reads tool output; default `parseSources`.
 */
export async function measureProbe(
  { rows, recipe }: ProbePlan,
  options: ObtainOptions,
  readSources?: SourceReader,
): Promise<ProbeResult> {
  const score = (rollouts: readonly Rollout[], limited: ObtainOptions) => {
    const reader = readSources === undefined ? {} : { readSources };
    // Measures what no weight of the recipe reads, too: replays may change the weight.
    return scoreGroup({ rollouts, recipe, plan: { measureAll: true }, ...reader }, limited);
  };
  const started = options.elapsed();
  const limited = (): ObtainOptions => ({
    ...options,
    deadline_ms: Math.max(0, options.deadline_ms - (options.elapsed() - started)),
  });
  const probed: ProbedRow[] = [];
  const members: ScoredRollout[] = [];
  let timings = NO_TIME;
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const ends = await Promise.all(some.map((row) => measureRow(row, recipe.recipe, score, limited)));
    for (const [n, end] of ends.entries()) {
      if (end.status === 'missing') return end;
      if (end.status === 'invalid')
        return { ...end, problems: end.problems.map((problem) => ofRow(problem, from + n)) };
      probed.push(end.row);
      members.push(...end.members);
      timings = sumOf(timings, end.timings);
    }
  }
  const failure = members.find((member) => member.failure !== null)?.failure ?? null;
  const obtained = members.flatMap((member) => member.obtained);
  return { status: 'done', rows: probed, failure, obtained, timings };
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

type RowEnd =
  | {
      readonly status: 'done';
      readonly row: ProbedRow;
      readonly members: readonly ScoredRollout[];
      readonly timings: ObtainTimings;
    }
  | Exclude<ProbeResult, { readonly status: 'done' }>;

const NO_TIME: ObtainTimings = { store_read: 0, judge: 0, store_write: 0 };

type Score = (rollouts: readonly Rollout[], options: ObtainOptions) => ReturnType<typeof scoreGroup>;

/** @param limited the options with the time that is left. */
async function measureRow(
  { row, own_criteria, good, canned }: PlannedRow,
  recipe: Recipe,
  score: Score,
  limited: () => ObtainOptions,
): Promise<RowEnd> {
  const given = canned.flatMap((one) => ('rollout' in one ? [one.rollout] : []));
  const answered = await score([...(good === null ? [] : [good.rollout]), ...given], limited());
  if (answered.status !== 'done') return answered;
  const rollouts = row.samples.map(({ rollout }) => rollout);
  const sampled =
    rollouts.length === 0
      ? ({ status: 'done', members: [], timings: NO_TIME } as const)
      : await score(rollouts, limited());
  if (sampled.status !== 'done') return sampled;
  const inOrder = answered.members.values();
  const facts = (): Facts => {
    const { value } = inOrder.next();
    if (value === undefined) throw new Error('probeRow: fewer scores than answers');
    return value.facts;
  };
  const known = good === null ? null : { from: good.from, facts: facts() };
  const countWords = createWordCounter();
  const samples = sampled.members.map((member, n) =>
    measuredSample(member, row.samples[n]?.outcome ?? null, countWords),
  );
  return {
    status: 'done',
    row: {
      id: row.id,
      own_criteria,
      best_known: bestKnown(known, samples, recipe),
      answers: canned.map(({ name, ...one }) =>
        'not_given' in one ? { name, not_given: one.not_given } : { name, facts: facts() },
      ),
      samples,
    },
    members: [...answered.members, ...sampled.members],
    timings: sumOf(answered.timings, sampled.timings),
  };
}

/**
 * The reference if the row has one. Else the best sample, unless the constructed answer meets more of the row's own
 * criteria, or as many and earns more.
 */
function bestKnown(
  made: ProbedRow['best_known'],
  samples: readonly MeasuredSample[],
  recipe: Recipe,
): ProbedRow['best_known'] {
  const worthOf = (facts: Facts): number[] => [
    criteriaMet(facts) ?? 0,
    BUILT_IN.compose(facts, recipe).reward ?? Number.NEGATIVE_INFINITY,
  ];
  const [best] = samples
    .map(({ facts, outcome }) => ({ facts, by: [outcome ?? 0, ...worthOf(facts)] }))
    .sort((a, b) => compared(b.by, a.by));
  if (best === undefined || made?.from === 'reference') return made;
  if (made !== null && compared(worthOf(made.facts), worthOf(best.facts)) > 0) return made;
  return { from: 'sample', facts: best.facts };
}

/** Above 0 if the first numbers that differ are larger in `a`. */
function compared(a: readonly number[], b: readonly number[]): number {
  const place = a.findIndex((value, n) => value !== b[n]);
  return place === -1 ? 0 : (a[place] ?? 0) > (b[place] ?? 0) ? 1 : -1;
}

function measuredSample(
  { facts, answer }: ScoredRollout,
  outcome: number | null,
  countWords: (text: AnswerText) => AnswerWords,
): MeasuredSample {
  if (answer === undefined) return { facts, outcome, words: null, copied: null };
  const { words, copied } = answer === null ? NO_WORDS : countWords(answer);
  return { facts, outcome, words, copied };
}

const NO_WORDS = { words: 0, copied: 0 };

function sumOf(one: ObtainTimings, other: ObtainTimings): ObtainTimings {
  return {
    store_read: one.store_read + other.store_read,
    judge: one.judge + other.judge,
    store_write: one.store_write + other.store_write,
  };
}

function ofRow({ path, message }: InputProblem, row: number): InputProblem {
  return { path: ['rows', row, ...path], message };
}
