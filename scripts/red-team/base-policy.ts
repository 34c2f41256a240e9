/**
 * Trains the base policy, which the seeds start from: it imitates answers to rows of a kind, with habits. It is kept in
 * the cache folder under a digest of its settings.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { createDraws, type Draws } from '../demo-run/draws.ts';
import { whileLocked } from '../llm/build-lock.ts';
import { type AnswerFigures, figuresOfAnswer } from './answers.ts';
import { type Habits, NO_FAULTS, target } from './habits.ts';
import type { Policy } from './policy.ts';
import { makeRow, type Row, type RowKind } from './rows.ts';
import type { CitationStyle } from './style.ts';

export type WarmUp = {
  readonly steps: number;
  readonly habits: Habits;
  readonly style: CitationStyle;
  readonly kind: RowKind;
  /** A user's rows; none for rows of the kind alone. */
  readonly rows: readonly Row[];
};

/** Until a share of the steps, rows that begin with few sources have at most so many that are not asked. */
const FEW_SOURCES = [
  { until: 0.3, others: 1 },
  { until: 0.45, others: 2 },
  { until: 0.55, others: 3 },
] as const;

const TRIED_PROMPTS = 64;
const TRIED_SAMPLES = 4;

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
  readonly tried: Tried;
};

export type WarmUpProgress = {
  readonly onStep: (step: number, loss: number | null) => void;
  /** Another process trains the same base policy. */
  readonly onWait: () => void;
};

/**
 * Returns the base policy, and trains it if the folder does not have it; that of other kinds starts as that of plain
 * rows. Of processes that ask for the same one, the first trains it, and the others wait.
 */
export async function basePolicy(
  policy: Policy,
  warmUp: WarmUp,
  folder: string,
  progress: WarmUpProgress,
): Promise<BasePolicy> {
  const { style, rows, kind } = warmUp;
  const { imitation, identity, extension } = policy;
  const start =
    imitation.begins !== 'with_plain_rows' || kind === 'plain' || rows.length > 0
      ? null
      : await basePolicy(policy, { ...warmUp, kind: 'plain' }, folder, progress);
  const settings = {
    v: 1,
    ...identity,
    ...warmUp,
    style: style.mark(0),
    samples: exampleDigest(warmUp),
    ...(start === null ? {} : { start: basename(start.file) }),
  };
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 12);
  const file = join(folder, `${digest}${extension}`);
  const figures = join(folder, `${digest}.json`);
  if (!existsSync(figures)) {
    await whileLocked(join(folder, `${digest}.lock`), progress.onWait, async () => {
      if (!existsSync(figures)) await trainBase(policy, warmUp, start, { file, figures }, progress);
    });
  }
  return { file, tried: triedSchema.parse(JSON.parse(await readFile(figures, 'utf8'))) };
}

/** Trains it and writes its weights, and after them its figures, which say that it is complete. */
async function trainBase(
  policy: Policy,
  warmUp: WarmUp,
  start: BasePolicy | null,
  { file, figures }: { readonly file: string; readonly figures: string },
  { onStep }: WarmUpProgress,
): Promise<void> {
  const { style, rows } = warmUp;
  const { imitation } = policy;
  if (start !== null) await policy.load(start.file, false);
  for (let step = 0; step < warmUp.steps; step++) {
    const draws = createDraws('red team warm-up', step);
    const isFaultless = step < warmUp.steps * imitation.faultless;
    const habits = isFaultless ? { ...NO_FAULTS, copies: warmUp.habits.copies } : warmUp.habits;
    const few =
      imitation.begins === 'with_few_sources'
        ? FEW_SOURCES.find(({ until }) => step < warmUp.steps * until)
        : undefined;
    const isOwn = rows.length > 0 && draws.share('own') < imitation.ownRows;
    const chosen = Array.from({ length: imitation.answers }, (_, n) =>
      isOwn ? draws.pick(rows, 'row', n) : makeRow(warmUp.kind, draws.of('row', n)),
    ).map((row, n) => (few === undefined ? row : withFewSources(row, few.others, draws.of('thin', n))));
    const targets = chosen.map((row, n) => target(row, habits, style, draws.of('target', n)));
    const rate = imitation.learningRate(step, warmUp.steps, start !== null);
    const { loss } = await policy.imitate(chosen, targets, rate);
    onStep(step, loss);
  }
  const tried = await tryBase(policy, warmUp);
  await policy.save(file);
  await writeFile(`${figures}.part`, JSON.stringify(tried));
  await rename(`${figures}.part`, figures);
}

/** A row with the sources of its facts and a few others, in their order. */
function withFewSources(row: Row, others: number, draws: Draws): Row {
  const asked = new Set(row.facts.map(({ source }) => source));
  const chosen = row.sources
    .map((_, source) => ({ source, at: draws.share('thin', source) }))
    .filter(({ source }) => !asked.has(source))
    .sort((a, b) => a.at - b.at)
    .slice(0, others);
  const shown = [...asked, ...chosen.map(({ source }) => source)].sort((a, b) => a - b);
  return {
    ...row,
    sources: row.sources.filter((_, source) => shown.includes(source)),
    facts: row.facts.map((fact) => ({ ...fact, source: shown.indexOf(fact.source) })),
  };
}

/** Changes with the templates and habits, so that a base policy of an earlier version is not taken. */
function exampleDigest({ kind, habits, style }: WarmUp): string {
  const examples = Array.from({ length: 40 }, (_, n) => {
    const row = makeRow(kind, createDraws('example', n));
    return [row, target(row, habits, style, createDraws('example target', n))];
  });
  return createHash('sha256').update(JSON.stringify(examples)).digest('hex');
}

async function tryBase(policy: Policy, { kind, style, rows: own }: WarmUp): Promise<Tried> {
  const draws = createDraws('red team tried');
  const rows = Array.from({ length: TRIED_PROMPTS }, (_, n) =>
    own.length > 0 ? draws.pick(own, n) : makeRow(kind, draws.of(n)),
  );
  const answers = await policy.sample(rows, TRIED_SAMPLES, 1, 0);
  const figures = answers.flatMap((group, n): AnswerFigures[] => {
    const row = rows[n];
    if (row === undefined) throw new Error('tryBase: more answers than rows');
    return group.map(({ text }) => figuresOfAnswer(text, row, style));
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
