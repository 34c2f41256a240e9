/**
 * Trains a seed with GRPO: the policy answers, a Worker scores and records each group, and the policy learns from the
 * advantages of the reply. Saved every few steps; an interrupted seed continues there, with the same answers.
 */
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { RunError } from '../../cli/shared/exit.ts';
import type { Client } from '../../clients/typescript/client.ts';
import { createDraws } from '../demo-run/draws.ts';
import { figuresOfAnswer } from './answers.ts';
import type { BasePolicy } from './base-policy.ts';
import type { Answer, Policy } from './policy.ts';
import { makeRow, type Row, type RowKind } from './rows.ts';
import { type CitationStyle, fieldsOf } from './style.ts';

export type Seed = {
  /** Id of the run in the Worker. */
  readonly run: string;
  readonly seed: number;
  readonly steps: number;
  readonly rows: RowKind | readonly Row[];
  readonly style: CitationStyle;
  readonly recipe: string | Readonly<Record<string, unknown>>;
  readonly judge: string;
  readonly learningRate: number;
  /** Path of its files, without an extension. */
  readonly files: string;
  /** Date.now() after which no step begins; `null` = each does. */
  readonly end_ms: number | null;
};

const sampleSchema = z.strictObject({
  step: z.int(),
  group: z.string(),
  sample: z.string(),
  reward: z.number().nullable(),
  text: z.string(),
  right: z.boolean(),
  attributed: z.boolean(),
  citations: z.int(),
  ids: z.int(),
  single: z.int(),
  singleRight: z.int(),
  copies: z.boolean(),
  words: z.int(),
  shape: z.string(),
});

/** An answer of the policy with its reward and figures. */
export type Sample = z.infer<typeof sampleSchema>;

const stateSchema = z.strictObject({ steps: z.int(), skipped: z.int(), samples: z.array(sampleSchema) });

export const PROMPTS = 16;
export const SAMPLES = 8;
/** Concurrent groups: the local Worker with its lexical judge is one process. */
const CONCURRENCY = 4;

export type Trained = {
  readonly samples: readonly Sample[];
  /** Steps whose gradient was not finite. */
  readonly skipped: number;
  /** Steps that the seed has, which its end may make fewer than were asked for. */
  readonly steps: number;
};

/** Trains a seed to its end. @param onStep progress. @throws RunError if a group cannot be scored. */
export async function trainSeed(
  client: Client,
  policy: Policy,
  base: BasePolicy,
  seed: Seed,
  onStep: (step: number, samples: readonly Sample[]) => void,
): Promise<Trained> {
  const [stateFile, weights] = [`${seed.files}.state.json`, `${seed.files}${policy.extension}`];
  const isKept = existsSync(stateFile);
  const state = isKept ? stateSchema.parse(JSON.parse(await readFile(stateFile, 'utf8'))) : null;
  const samples: Sample[] = [...(state?.samples ?? [])];
  let skipped = state?.skipped ?? 0;
  let saved = state?.steps ?? 0;
  const first = state?.steps ?? 0;
  if (first >= seed.steps)
    return { samples: samples.filter(({ step }) => step < seed.steps), skipped, steps: seed.steps };
  // The weights are saved before the state that names their step.
  await policy.load(isKept ? `${weights}.${first}` : base.file, isKept);
  const isOver = (step: number): boolean => step >= seed.steps || (seed.end_ms !== null && Date.now() >= seed.end_ms);
  let ended = false;
  for (let step = first; !ended; step++) {
    const rows = rowsOf(seed, step);
    const answers = await policy.sample(rows, SAMPLES, seed.seed, step);
    const groups = await scored(client, seed, step, rows, answers);
    const { skipped: isSkipped } = await policy.learn(
      groups.map(({ advantages }) => advantages),
      seed.learningRate,
    );
    if (isSkipped) skipped++;
    const fresh = groups.flatMap((group) => group.samples);
    samples.push(...fresh);
    onStep(step, fresh);
    ended = isOver(step + 1);
    if ((step + 1) % policy.savedEvery === 0 || ended) {
      await policy.save(`${weights}.${step + 1}`);
      const kept: z.infer<typeof stateSchema> = { steps: step + 1, skipped, samples };
      await writeFile(`${stateFile}.part`, JSON.stringify(kept));
      await rename(`${stateFile}.part`, stateFile);
      await rm(`${weights}.${saved}`, { force: true });
      saved = step + 1;
    }
  }
  return { samples, skipped, steps: saved };
}

/**
 * Scores an answer to a row of the first step, outside of any run: a recipe may refuse such rows, which is better known
 * before minutes of training.
 * @throws RunError if the Worker refuses it.
 */
export async function tryFirstRow(
  client: Client,
  seed: Pick<Seed, 'seed' | 'rows' | 'recipe' | 'judge'>,
): Promise<void> {
  const { recipe, judge } = seed;
  const [row] = rowsOf(seed, 0);
  if (row === undefined) return;
  const response = { response: 'It', finish_reason: 'stop' as const };
  const reply = await client.group({
    ...fieldsOf(row),
    responses: [response, response],
    recipe,
    judge,
    detail: 'reward',
  });
  if (!reply.ok) throw new RunError(`such rows cannot be scored: ${JSON.stringify(reply.failure)}`);
}

function rowsOf({ seed, rows }: Pick<Seed, 'seed' | 'rows'>, step: number): Row[] {
  const draws = createDraws('red team', seed, step);
  return Array.from({ length: PROMPTS }, (_, n) =>
    typeof rows === 'string' ? makeRow(rows, draws.of(n)) : draws.pick(rows, n),
  );
}

type ScoredGroup = { readonly advantages: readonly number[]; readonly samples: readonly Sample[] };

/** Scores the groups of a step, a few at a time. */
async function scored(
  client: Client,
  seed: Seed,
  step: number,
  rows: readonly Row[],
  answers: readonly (readonly Answer[])[],
): Promise<ScoredGroup[]> {
  const groups: ScoredGroup[] = [];
  for (let at = 0; at < rows.length; at += CONCURRENCY) {
    const part = rows.slice(at, at + CONCURRENCY);
    groups.push(
      ...(await Promise.all(
        part.map((row, n) => scoredGroup(client, seed, step, String(at + n), row, answers[at + n] ?? [])),
      )),
    );
  }
  return groups;
}

async function scoredGroup(
  client: Client,
  seed: Seed,
  step: number,
  group: string,
  row: Row,
  answers: readonly Answer[],
): Promise<ScoredGroup> {
  const { style, recipe, judge, run } = seed;
  const read = answers.map(({ text, cut }) => ({ text, cut, figures: figuresOfAnswer(text, row, style) }));
  const reply = await client.group({
    ...fieldsOf(row),
    responses: read.map(({ text, cut, figures: { right, attributed } }) => ({
      response: text,
      finish_reason: cut ? ('length' as const) : ('stop' as const),
      outcome: right ? 1 : 0,
      metrics: { attributed: attributed ? 1 : 0 },
    })),
    recipe,
    judge,
    advantages: 'trl',
    run: { id: run, step, group },
    store_text: true,
    detail: 'reward',
  });
  if (!reply.ok) throw new RunError(`step ${step}, group ${group}: ${JSON.stringify(reply.failure)}`);
  const { rewards, advantages } = reply.body;
  return {
    // A masked sample teaches nothing.
    advantages: answers.map((_, n) => advantages[n]?.advantage ?? 0),
    samples: read.map(({ text, figures }, n) => ({
      step,
      group,
      sample: String(n),
      reward: rewards[n] ?? null,
      text,
      ...figures,
    })),
  };
}
