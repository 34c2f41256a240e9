/** Training of the demo policy: reproducible, indifferent to masked samples, and it learns what is rewarded. */
import { describe, expect, it } from 'vitest';
import { UNTRAINED } from '../../../scripts/demo-run/actions.ts';
import { type DemoRun, demoRuns, RUN_NAMES } from '../../../scripts/demo-run/runs.ts';
import { type ScoredGroup, type ScoreGroup, type TrainedStep, train } from '../../../scripts/demo-run/train.ts';
import { groupRequestSchema } from '../../../src/wire/groups.ts';
import { scoringInProcess } from '../../house/demo-run.ts';

const SIZE = { steps: 3, prompts: 3, samples: 4, distinct: 6 };

function small(name: DemoRun['name'], size: Partial<DemoRun['size']> = {}): DemoRun {
  const run = demoRuns().find((one) => one.name === name);
  if (run === undefined) throw new Error('no run');
  return { ...run, size: { ...SIZE, ...size } };
}

async function steps<S extends ScoredGroup>(run: DemoRun, scoreGroup: ScoreGroup<S>): Promise<TrainedStep<S>[]> {
  const trained: TrainedStep<S>[] = [];
  for await (const step of train(run, scoreGroup)) trained.push({ ...step, seconds: 0 });
  return trained;
}

/** Rewards short answers, without Citeward. */
const rewardShort: ScoreGroup<ScoredGroup> = async ({ responses }) => {
  const rewards = responses.map((sample) => (typeof sample === 'string' ? 0 : -(sample.response ?? '').length / 1_000));
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  return { rewards, advantages: rewards.map((reward) => ({ advantage: reward - mean, masked: false })) };
};

describe('a run', () => {
  it.each(RUN_NAMES)('%s sends requests that the API takes, and is the same for the same seed', async (name) => {
    const run = small(name);
    const trained = await steps(run, scoringInProcess(run));
    expect(await steps(run, scoringInProcess(run))).toEqual(trained);
    expect(trained).toHaveLength(SIZE.steps);
    for (const { step, groups } of trained) {
      for (const { request, prompt } of groups) {
        const read = groupRequestSchema.parse(request);
        expect(read.run).toEqual({ id: `demo-${name}`, step, group: prompt.group });
        expect(read.responses).toHaveLength(SIZE.samples);
      }
    }
    const prompts = trained.map(({ groups }) => groups.map(({ prompt }) => prompt.group));
    expect(prompts[0]).not.toEqual(prompts[1]);
    expect(prompts[2]).toEqual(prompts[0]);
  });

  it('has another id and other rows with another seed', () => {
    const [one, other] = [demoRuns(), demoRuns(7)];
    expect(other.map(({ id }) => id)).toEqual(one.map(({ id }) => `${id}-seed-7`));
    expect(other[0]?.rows(other[0].seed, 3)).not.toEqual(one[0]?.rows(one[0].seed, 3));
  });

  it('is the same in whatever order the groups of a step are scored', async () => {
    let calls = 0;
    const delayed: ScoreGroup<ScoredGroup> = async (request) => {
      if (calls++ % 2 === 0) await new Promise((done) => setTimeout(done, 2));
      return rewardShort(request);
    };
    const run = small('learns-to-cite');
    expect((await steps(run, delayed)).at(-1)).toEqual((await steps(run, rewardShort)).at(-1));
  });

  it('learns what is rewarded', async () => {
    const trained = await steps(small('learns-to-cite', { steps: 20, samples: 8 }), rewardShort);
    const length = (step: TrainedStep | undefined): number =>
      (step?.groups ?? []).flatMap(({ samples }) => samples).reduce((sum, { text }) => sum + text.length, 0);
    expect(length(trained.at(-1))).toBeLessThan(0.5 * length(trained[0]));
  });

  it('learns nothing from masked samples', async () => {
    const masked: ScoreGroup<ScoredGroup> = async ({ responses }) => ({
      rewards: responses.map(() => null),
      advantages: responses.map(() => ({ advantage: 0, masked: true })),
    });
    expect((await steps(small('learns-to-cite'), masked)).at(-1)?.preferences).toEqual(UNTRAINED);
  });
});
