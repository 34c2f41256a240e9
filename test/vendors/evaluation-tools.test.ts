/** The evaluators in the packages of their tools: autoevals (Braintrust), langsmith and openevals. */
import type { Score, Scorer } from 'autoevals';
import type { EvaluatorT } from 'langsmith/evaluation';
import { runMultiturnSimulation } from 'openevals';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { braintrustScorer, createClient, langSmithEvaluator } from '../../clients/typescript/index.ts';
import { endServers, KEY, startServers } from './served.ts';

let working = '';
let broken = '';

beforeAll(async () => {
  ({ working, broken } = await startServers());
});

afterAll(endServers);

const optionsOf = (origin: string) => ({
  client: createClient({ url: new URL(origin), key: KEY, transport: { attempts: 1 } }),
  recipe: 'refiner-gpt54-instance-only' as const,
});

const QUESTION = 'How long is the Aare?';
const ANSWER = '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>';
const ROW = {
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  positive_rubrics: ['Says that the Aare is 288 kilometres long'],
};

describe('autoevals', () => {
  type Row = { input: string; metadata: object };
  const scored = (origin: string): Score | Promise<Score> => {
    const scorer: Scorer<string, Row> = braintrustScorer(optionsOf(origin));
    return scorer({ input: QUESTION, output: ANSWER, metadata: ROW });
  };

  it('takes the scorer for one of its own', async () => {
    expect(await scored(working)).toMatchObject({ name: 'citeward', score: 1 });
  });

  it('gets null where the judge is down', async () => {
    expect(await scored(broken)).toMatchObject({ score: null, metadata: { unscored_reason: 'judge_unreachable' } });
  });
});

describe('langsmith', () => {
  it('takes the evaluator for one of its own', async () => {
    const evaluator = langSmithEvaluator(optionsOf(working)) satisfies EvaluatorT;
    const example = { inputs: { question: QUESTION }, outputs: { answer: ANSWER }, referenceOutputs: ROW };
    expect(await evaluator(example)).toMatchObject({ key: 'citeward', score: 1 });
  });
});

describe('openevals', () => {
  const simulated = (origin: string) =>
    runMultiturnSimulation({
      app: () => ({ role: 'assistant', content: ANSWER, id: '1' }),
      user: [QUESTION],
      maxTurns: 1,
      trajectoryEvaluators: [langSmithEvaluator(optionsOf(origin))],
      referenceOutputs: { question: QUESTION, ...ROW },
    });

  it('scores the trajectory', async () => {
    expect((await simulated(working)).evaluatorResults).toMatchObject([{ key: 'citeward', score: 1 }]);
  });

  it('has no result where the judge is down', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    expect((await simulated(broken)).evaluatorResults).toEqual([]);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('judge_unreachable'));
    said.mockRestore();
  });
});
