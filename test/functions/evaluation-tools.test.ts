/**
 * The evaluators for Braintrust, LangSmith and promptfoo against the Worker: what they read of an example, scores from
 * 0 to 1, and a judge that fails, which is no score. test/vendors runs them in the tools' packages.
 */
import { describe, expect, it } from 'vitest';
import { ROW_FIELDS } from '../../clients/typescript/evaluation.ts';
import {
  braintrustScorer,
  createClient,
  type EvaluationOptions,
  langSmithEvaluator,
  promptfooAssertion,
  UnscoredError,
} from '../../clients/typescript/index.ts';
import { LABEL_FIELD_NAMES } from '../../src/wire/adapters/request.ts';
import { ORIGIN, ROLLOUT, score, send } from './api.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

replaceParts({
  backendsOf() {
    const stub = stubBackends();
    return { ...stub, default: stub.named.find(({ judge }) => judge.name === 'lexical') ?? null };
  },
});

const client = createClient({
  url: new URL(ORIGIN),
  key: null,
  transport: { fetch: (url, init) => send(new Request(url, init)), attempts: 1 },
});

const { question, response, recipe, ...row } = ROLLOUT;
const OPTIONS: EvaluationOptions = { client, recipe };
const DOWN = { ...OPTIONS, judge: 'http_500' };

/** The reward of the answer as a share of the recipe's range, which is 0 to 10. */
const expected = async (): Promise<number> => ((await score(ROLLOUT)).reward ?? Number.NaN) / 10;

describe('braintrustScorer', () => {
  it('reads the row from input, expected and metadata', async () => {
    const score = await expected();
    const scorer = braintrustScorer(OPTIONS);
    expect(scorer.name).toBe('citeward');
    const inMetadata = await scorer({ input: question, output: response, expected: 'ignored', metadata: row });
    expect(inMetadata).toMatchObject({ name: 'citeward', score, metadata: { components: expect.any(Object) } });
    expect(await scorer({ input: { question, ...row }, output: { response } })).toMatchObject({ score });
    expect(await scorer({ input: { question }, output: { answer: response }, expected: row })).toMatchObject({ score });
    const messages = [
      { role: 'user', content: question },
      { role: 'assistant', content: response },
    ];
    expect(await scorer({ input: { question, ...row }, output: { messages } })).toMatchObject({ score });
    expect(await scorer({ input: { question, ...row }, output: messages })).toMatchObject({ score });
  });

  it('gives null where the judge fails or the Worker is not reached', async () => {
    const failed = await braintrustScorer({ ...DOWN, name: 'cited' })({
      input: question,
      output: response,
      metadata: row,
    });
    expect(failed).toEqual({ name: 'cited', score: null, metadata: { unscored_reason: 'judge_error' } });
    const fetch = () => Promise.reject(new TypeError('fetch failed'));
    const lost = createClient({ url: new URL(ORIGIN), key: null, transport: { fetch, attempts: 1 } });
    const unreachable = braintrustScorer({ client: lost, recipe });
    expect(await unreachable({ input: question, output: response, metadata: row })).toMatchObject({
      ...{ score: null, metadata: { unscored_reason: 'unreachable' } },
    });
  });

  it('throws for a wrong row, recipe or output', async () => {
    const wrong = (example: Parameters<ReturnType<typeof braintrustScorer>>[0], options = OPTIONS) =>
      expect(braintrustScorer(options)(example)).rejects;
    await wrong({ output: response, metadata: row }).toThrow('question');
    await wrong({ input: question, output: response, metadata: { ...row, positive_rubrics: 3 } }).toThrow(
      'positive_rubrics',
    );
    await wrong({ input: question, output: 3, metadata: row }).toThrow('expected the output');
    await wrong({ input: question, output: '', metadata: row }, { ...OPTIONS, judge: 'nobody' }).toThrow('judge');
  });
});

describe('langSmithEvaluator', () => {
  it('gives a key and a score, from either spelling of the reference', async () => {
    const score = await expected();
    const evaluator = langSmithEvaluator(OPTIONS);
    const result = await evaluator({ inputs: { question }, outputs: { output: response }, referenceOutputs: row });
    expect(result).toMatchObject({ key: 'citeward', score, comment: expect.stringContaining('rubric') });
    expect(await evaluator({ inputs: question, outputs: response, reference_outputs: row })).toMatchObject({ score });
  });

  it('throws where nothing was scored', async () => {
    const failing = langSmithEvaluator(DOWN)({ inputs: { question }, outputs: response, referenceOutputs: row });
    await expect(failing).rejects.toBeInstanceOf(UnscoredError);
    await expect(failing).rejects.toMatchObject({
      reason: 'judge_error',
      message: expect.stringContaining('no score of 0'),
    });
  });
});

describe('promptfooAssertion', () => {
  const vars = { question, ...row, positive_rubrics: JSON.stringify(row.positive_rubrics) };

  it('passes from the threshold on, with the components as named scores', async () => {
    const score = await expected();
    const assertion = promptfooAssertion({ ...OPTIONS, threshold: score });
    const result = await assertion(response, { prompt: 'The prompt', vars });
    expect(result).toMatchObject({ pass: true, score });
    expect(Object.keys(result.namedScores)).toContain('citeward rubric');
    const strict = promptfooAssertion({ ...OPTIONS, threshold: score + 0.01 });
    expect(await strict(response, { vars })).toMatchObject({ pass: false, score });
  });

  it('takes the prompt for the question where the test has none', async () => {
    const { question: _question, ...others } = vars;
    const result = await promptfooAssertion(OPTIONS)(response, { prompt: question, vars: others });
    expect(result.score).toBe(await expected());
  });

  it('throws where nothing was scored, because promptfoo has no other way', async () => {
    await expect(promptfooAssertion(DOWN)(response, { vars })).rejects.toBeInstanceOf(UnscoredError);
    await expect(promptfooAssertion(OPTIONS)(response)).rejects.toThrow('question');
  });
});

it('read only fields that rows have', () => {
  expect(LABEL_FIELD_NAMES).toEqual(expect.arrayContaining([...ROW_FIELDS]));
});
