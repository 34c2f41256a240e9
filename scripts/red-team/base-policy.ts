/**
 * Trains the base policy, which the seeds start from: it imitates answers to rows of a kind, with habits. It is kept in
 * the cache folder under a digest of its settings.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { createDraws } from '../demo-run/draws.ts';
import { type AnswerFigures, figuresOfAnswer } from './answers.ts';
import { type Habits, NO_FAULTS, target } from './habits.ts';
import type { Policy, Shape } from './policy.ts';
import { answerText, batchOf, MAX_SOURCES, promptTexts } from './prompts.ts';
import { makeRow, type Row, type RowKind, rowTexts } from './rows.ts';
import type { CitationStyle } from './style.ts';
import { tokensOf, Vocabulary } from './words.ts';

export type WarmUp = {
  readonly steps: number;
  readonly habits: Habits;
  readonly style: CitationStyle;
  readonly kind: RowKind;
  /** A user's rows, which are half of what the policy imitates; none for rows of the kind alone. */
  readonly rows: readonly Row[];
};

/** Share of the steps that imitate right, well cited answers: the policy learns to attribute before its habits. */
const FAULTLESS = 0.7;
const PROMPTS = 48;
const LEARNING_RATE = 3e-3;
/** Of a policy that can answer plain rows: a high rate would make it forget them. */
const LATER_LEARNING_RATE = 1e-3;
const RISING_STEPS = 50;
/** Longest answer in tokens. */
export const ANSWER_TOKENS = 36;
/** Each length is compiled once, and shorter ones compute less. */
const SHORT_TARGET_TOKENS = 20;
const TRIED_PROMPTS = 64;
const TRIED_SAMPLES = 4;
const SIZE = { layers: 3, width: 64, heads: 4 } as const;

const triedSchema = z.strictObject({
  right: z.number(),
  /** Share of the citations of one id that name a source of an asked fact; by chance, `chance`. */
  attribution: z.number(),
  chance: z.number(),
});

/** What the base policy can before it learns from rewards, on rows that it has not imitated. */
export type Tried = z.infer<typeof triedSchema>;

export type BasePolicy = {
  /** The file with its weights. */
  readonly file: string;
  readonly vocabulary: Vocabulary;
  readonly shape: Shape;
  readonly tried: Tried;
};

/**
 * Returns the base policy, and trains it if the folder does not have it; that of other kinds starts as that of plain
 * rows. @param onStep progress.
 */
export async function basePolicy(
  policy: Policy,
  warmUp: WarmUp,
  folder: string,
  onStep: (step: number, loss: number | null) => void,
): Promise<BasePolicy> {
  const { style, rows, kind } = warmUp;
  // More sources are learned in a few hundred steps after three, and hardly at once.
  const start =
    kind === 'plain' || rows.length > 0 ? null : await basePolicy(policy, { ...warmUp, kind: 'plain' }, folder, onStep);
  const own = rows.flatMap(({ question, sources, facts }) => [question, ...sources, ...facts.map((f) => f.answer)]);
  const vocabulary = new Vocabulary([...rowTexts(), ...promptTexts(style), ...own]);
  const shape = { vocabulary: vocabulary.size, sources: MAX_SOURCES, ...SIZE };
  const settings = {
    v: 1,
    shape,
    tokens: vocabulary.tokens,
    ...warmUp,
    style: style.mark(0),
    samples: exampleDigest(warmUp),
    ...(start === null ? {} : { start: basename(start.file) }),
  };
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 12);
  const file = join(folder, `${digest}.npz`);
  const figures = join(folder, `${digest}.json`);
  await policy.open(shape, 1);
  if (existsSync(figures)) {
    return { file, vocabulary, shape, tried: triedSchema.parse(JSON.parse(await readFile(figures, 'utf8'))) };
  }
  await mkdir(folder, { recursive: true });
  if (start !== null) await policy.load(start.file, false);
  const highest = start === null ? LEARNING_RATE : LATER_LEARNING_RATE;
  for (let step = 0; step < warmUp.steps; step++) {
    const draws = createDraws('red team warm-up', step);
    const habits = step < warmUp.steps * FAULTLESS ? { ...NO_FAULTS, copies: warmUp.habits.copies } : warmUp.habits;
    const isOwn = rows.length > 0 && draws.share('own') < 0.5;
    const chosen = Array.from({ length: PROMPTS }, (_, n) =>
      isOwn ? draws.pick(rows, 'row', n) : makeRow(warmUp.kind, draws.of('row', n)),
    );
    const targets = chosen.map((row, n) =>
      vocabulary.encode(tokensOf(target(row, habits, style, draws.of('target', n)))),
    );
    const falling = 0.5 * (1 + Math.cos((Math.PI * step) / warmUp.steps));
    const rate = highest * Math.min(1, (step + 1) / RISING_STEPS) * (0.02 + 0.98 * falling);
    const isShort = targets.every(({ length }) => length < SHORT_TARGET_TOKENS);
    const length = isShort ? SHORT_TARGET_TOKENS : ANSWER_TOKENS;
    const { loss } = await policy.imitate(
      batchOf(chosen, vocabulary, length),
      targets.map((one) => [one]),
      rate,
    );
    onStep(step, loss);
  }
  const tried = await tryBase(policy, vocabulary, warmUp);
  await policy.save(file);
  await writeFile(figures, JSON.stringify(tried));
  return { file, vocabulary, shape, tried };
}

/** Changes with the templates and habits, so that a base policy of an earlier version is not taken. */
function exampleDigest({ kind, habits, style }: WarmUp): string {
  const examples = Array.from({ length: 40 }, (_, n) => {
    const row = makeRow(kind, createDraws('example', n));
    return [row, target(row, habits, style, createDraws('example target', n))];
  });
  return createHash('sha256').update(JSON.stringify(examples)).digest('hex');
}

async function tryBase(policy: Policy, vocabulary: Vocabulary, { kind, style, rows: own }: WarmUp): Promise<Tried> {
  const draws = createDraws('red team tried');
  const rows = Array.from({ length: TRIED_PROMPTS }, (_, n) =>
    own.length > 0 ? draws.pick(own, n) : makeRow(kind, draws.of(n)),
  );
  const answers = await policy.sample(batchOf(rows, vocabulary, ANSWER_TOKENS), TRIED_SAMPLES, 1, 0);
  const figures = answers.flatMap((group, n): AnswerFigures[] => {
    const row = rows[n];
    if (row === undefined) throw new Error('tryBase: more answers than rows');
    return group.map((ids) => figuresOfAnswer(answerText(ids, vocabulary), row, style));
  });
  const sum = (of: (one: AnswerFigures) => number): number => figures.reduce((total, one) => total + of(one), 0);
  const chances = rows.map(({ facts, sources }) => new Set(facts.map(({ source }) => source)).size / sources.length);
  return {
    right: sum(({ right }) => (right ? 1 : 0)) / figures.length,
    attribution:
      sum(({ singleRight }) => singleRight) /
      Math.max(
        1,
        sum(({ single }) => single),
      ),
    chance: chances.reduce((total, one) => total + one, 0) / chances.length,
  };
}
