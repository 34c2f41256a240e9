/** Scores the groups of a demo run step by step and records them in the ledger of a deployment. */
import { mapInOrder } from '../../cli/shared/in-order.ts';
import type { Client, GroupInput } from '../../clients/typescript/client.ts';
import type { GroupResponse } from '../../src/wire/groups.ts';
import { problemSchema } from '../../src/wire/problem.ts';
import { runDetailSchema } from '../../src/wire/runs.ts';
import { makeSample } from './policy.ts';
import { makePrompts, type Prompt } from './prompts.ts';

export type RunShape = {
  /** Seed of all random draws. */
  readonly seed: string;
  readonly run: string;
  readonly recipe: string;
  readonly steps: number;
  readonly prompts: number;
  /** Samples per prompt and step. */
  readonly samples: number;
};

/** The settings of `npm run demo:run`; the README and docs/demo-run.md show its replay. */
export const DEMO_RUN: RunShape = {
  seed: 'citeward demo run 1',
  run: 'demo-synthetic-1',
  recipe: 'refiner-gpt54-instance-rubric',
  steps: 12,
  prompts: 32,
  samples: 8,
};

export type ScoredStep = {
  readonly step: number;
  readonly groups: readonly GroupResponse[];
  readonly seconds: number;
};

/** Concurrent groups: the Worker with its lexical judge is one process. */
const CONCURRENCY = 4;

/**
 * Scores the missing steps in order.
 * @param done steps that are completely recorded.
 * @throws Error if a group cannot be scored.
 */
export async function* recordRun(
  client: Client,
  shape: RunShape,
  done: ReadonlySet<number>,
): AsyncGenerator<ScoredStep> {
  const prompts = makePrompts(shape.seed, shape.prompts);
  for (let step = 0; step < shape.steps; step++) {
    if (done.has(step)) continue;
    const started = performance.now();
    const groups: GroupResponse[] = [];
    const scoring = mapInOrder(each(prompts), CONCURRENCY, (prompt) => scoreGroup(client, shape, prompt, step));
    for await (const group of scoring) groups.push(group);
    yield { step, groups, seconds: (performance.now() - started) / 1000 };
  }
}

/** The body of `POST /v1/groups` for one prompt at one step. */
export function groupRequest(
  { seed, run, recipe, steps, samples }: RunShape,
  prompt: Prompt,
  step: number,
): GroupInput {
  const { group, question, tool_output, positive_rubrics, negative_rubrics } = prompt;
  const progress = steps === 1 ? 1 : step / (steps - 1);
  return {
    question,
    tool_output,
    positive_rubrics: [...positive_rubrics],
    negative_rubrics: [...negative_rubrics],
    responses: Array.from({ length: samples }, (_, sample) => makeSample(seed, prompt, step, progress, sample)),
    recipe,
    run: { id: run, step, group },
    store_text: true,
    receipt: true,
  };
}

async function scoreGroup(client: Client, shape: RunShape, prompt: Prompt, step: number): Promise<GroupResponse> {
  const reply = await client.group({ ...groupRequest(shape, prompt, step), detail: 'full' });
  if (!reply.ok) throw new Error(`step ${step}, ${prompt.group}: ${JSON.stringify(reply.failure)}`);
  return reply.body;
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/**
 * Returns the steps that are completely recorded; none if the run is unknown.
 * @param rollouts number of rollouts of a complete step.
 * @throws Error if the Worker answers with another problem.
 */
export async function recordedSteps(url: string, run: string, rollouts: number): Promise<ReadonlySet<number>> {
  const reply = await fetch(`${url}/v1/runs/${run}`);
  const body: unknown = await reply.json();
  if (!reply.ok) {
    const problem = problemSchema.parse(body);
    if (reply.status === 404 && problem.reason !== 'route_unknown') return new Set();
    throw new Error(`GET /v1/runs/${run}: ${problem.reason}: ${problem.detail}`);
  }
  const { steps } = runDetailSchema.parse(body);
  return new Set(steps.flatMap((one) => (one.step !== null && one.rollouts === rollouts ? [one.step] : [])));
}
