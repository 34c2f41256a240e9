/**
 * Trains the demo policy as a GRPO trainer does: samples answers, sends each group to the server, and learns from the
 * advantages of the reply.
 */
import { mapInOrder } from '../../cli/shared/in-order.ts';
import type { GroupInput } from '../../clients/typescript/client.ts';
import type { GroupResponse } from '../../src/wire/groups.ts';
import { DECISIONS, type Decision, probabilitiesOf, SampledChoices, UNTRAINED } from './actions.ts';
import { createDraws } from './draws.ts';
import type { Prompt } from './prompts.ts';
import type { DemoRun } from './runs.ts';
import { type Choice, type Experience, type Preferences, SoftmaxPolicy } from './softmax.ts';
import { type WrittenAnswer, writeAnswer } from './writing.ts';

/** The part of a reply of `POST /v1/groups` that training reads. */
export type ScoredGroup = Pick<GroupResponse, 'rewards' | 'advantages'>;

/** Scores one group: over HTTP, in this process, or from a ledger. */
export type ScoreGroup<S extends ScoredGroup> = (request: GroupInput) => Promise<S>;

type Sample = WrittenAnswer & { readonly choices: readonly Choice<Decision>[] };

type TrainedGroup<S extends ScoredGroup> = {
  readonly prompt: Prompt;
  readonly samples: readonly Sample[];
  readonly request: GroupInput;
  readonly scored: S;
};

export type TrainedStep<S extends ScoredGroup = ScoredGroup> = {
  readonly step: number;
  readonly groups: readonly TrainedGroup<S>[];
  /** The policy after the step. */
  readonly preferences: Preferences<Decision>;
  readonly seconds: number;
};

/** Large steps, because a run has only 24 of them; short memories, because the gradient changes quickly. */
const OPTIMIZER = { learningRate: 0.2, beta1: 0.8, beta2: 0.95, epsilon: 0.01 };

/** Concurrent groups: the local Worker with its lexical judge is one process. */
const CONCURRENCY = 4;

/**
 * Trains step by step. The same run and the same advantages give the same answers, wherever they are scored.
 * @throws what `scoreGroup` throws.
 */
export async function* train<S extends ScoredGroup>(
  run: DemoRun,
  scoreGroup: ScoreGroup<S>,
): AsyncGenerator<TrainedStep<S>> {
  const { steps, prompts, distinct } = run.size;
  const rows = run.rows(run.seed, distinct);
  const policy = new SoftmaxPolicy(UNTRAINED, DECISIONS, OPTIMIZER);
  for (let step = 0; step < steps; step++) {
    const started = performance.now();
    const chosen = Array.from({ length: prompts }, (_, n) => rows[(step * prompts + n) % rows.length]);
    const probabilities = probabilitiesOf(policy.preferences);
    const groups: TrainedGroup<S>[] = [];
    const scoring = mapInOrder(each(chosen), CONCURRENCY, async (prompt) => {
      if (prompt === undefined) throw new RangeError('train: the run has no rows');
      const samples = sampleAnswers(run, prompt, step, probabilities);
      const request = groupRequest(run, prompt, step, samples);
      return { prompt, samples, request, scored: await scoreGroup(request) };
    });
    for await (const group of scoring) groups.push(group);
    policy.learn(groups.flatMap(experiencesOf));
    yield { step, groups, preferences: policy.preferences, seconds: (performance.now() - started) / 1000 };
  }
}

function sampleAnswers(
  run: DemoRun,
  prompt: Prompt,
  step: number,
  probabilities: Preferences<Decision>,
): readonly Sample[] {
  return Array.from({ length: run.size.samples }, (_, n) => {
    const labels = [run.seed, 'sample', step, prompt.group, n] as const;
    const sampled = new SampledChoices(probabilities, ...labels, 'choices');
    const answer = writeAnswer(prompt, sampled.decide, createDraws(...labels, 'words'));
    return { ...answer, choices: sampled.choices };
  });
}

/** The body of `POST /v1/groups`, as a trainer sends it. */
function groupRequest(run: DemoRun, prompt: Prompt, step: number, samples: readonly Sample[]): GroupInput {
  const { group, question, tool_output, positive_rubrics, negative_rubrics } = prompt;
  return {
    question,
    tool_output,
    positive_rubrics: [...positive_rubrics],
    negative_rubrics: [...negative_rubrics],
    responses: samples.map(({ text }) => ({ response: text, finish_reason: 'stop' })),
    recipe: run.recipe,
    advantages: 'trl',
    run: { id: run.id, step, group },
    store_text: true,
    receipt: true,
  };
}

/** Unscored samples are masked and teach nothing. */
function experiencesOf({ samples, scored }: TrainedGroup<ScoredGroup>): Experience<Decision>[] {
  return samples.flatMap(({ choices }, n) => {
    const sample = scored.advantages[n];
    if (sample === undefined || sample.masked || sample.advantage === null) return [];
    return [{ choices, advantage: sample.advantage }];
  });
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
