/** Scores the groups of a demo run, step by step, so that they stand in the ledger of a deployment. */
import { mapInOrder } from '../../cli/shared/in-order.ts';
import type { Client, GroupInput } from '../../clients/typescript/client.ts';
import type { GroupResponse } from '../../src/wire/groups.ts';
import { makeSample } from './policy.ts';
import { makePrompts, type Prompt } from './prompts.ts';

export type RunShape = {
  /** Of everything that is drawn. */
  readonly seed: string;
  readonly run: string;
  readonly recipe: string;
  readonly steps: number;
  readonly prompts: number;
  /** Of each prompt at each step. */
  readonly samples: number;
};

export type ScoredStep = {
  readonly step: number;
  readonly groups: readonly GroupResponse[];
  readonly seconds: number;
};

/** Groups under way at a time: the Worker is one process, and so is its lexical judge. */
const CONCURRENCY = 4;

/**
 * Scores what is not there yet, in the order of the steps.
 * @param done steps that are recorded in full.
 * @throws Error if a group could not be scored: here everything is there that scoring needs.
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

/** The body of `POST /v1/groups` of one prompt at one step. */
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
  const reply = await client.group(groupRequest(shape, prompt, step));
  if (!reply.ok) throw new Error(`step ${step}, ${prompt.group}: ${JSON.stringify(reply.failure)}`);
  return reply.body;
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
