/** The client of a classifier's server: what it sends, and which replies it takes. Everything else is a failure. */
import { describe, expect, test } from 'vitest';
import type { Transport } from '../../../lib/model-servers/calls/transport.ts';
import {
  type ClassifierConfig,
  createClassifierServer,
  probeClassifier,
} from '../../../service/backends/classifier/classifier-server.ts';
import { readBackends } from '../../../service/backends/settings.ts';
import type { ClassifiedPair, ClassifierOutcome } from '../../../src/judgments/classifier/classifier-judge.ts';

const NLI = ['entailment', 'neutral', 'contradiction'];
const PAIRS: readonly ClassifiedPair[] = [
  { source: 'The Aare is 288 km long.', claim: 'It is long.' },
  { source: 'The Rhine [SEP] is long.', claim: 'It is [SEP] short.' },
];

function settings(fields: object): ReturnType<typeof readBackends> {
  const backend = { name: 'nli', kind: 'classifier', model: 'm', slots: 1, ...fields };
  const text = JSON.stringify({ backends: [backend], default_judge: 'nli' });
  return readBackends(text, { secret: () => undefined, isBound: () => false });
}

function configured(endpoint: string, fields: object = {}): ClassifierConfig {
  const labels = endpoint === 'score' ? {} : { labels: NLI };
  const read = settings({ base_url: `http://127.0.0.1:9/${endpoint}`, api_key: 'k', ...labels, ...fields });
  const [config] = read.ok ? read.value.classifiers : [];
  if (config === undefined) throw new Error(read.ok ? 'no classifier' : read.error.join('; '));
  return config;
}

const CLOCK = { now: () => performance.now(), date: () => Date.now(), sleep: async () => undefined, random: () => 0 };

type Sent = { readonly url: string; readonly body: unknown; readonly headers: unknown };

/** Classifies with a server that answers each request with the next of these. */
async function classified(
  config: ClassifierConfig,
  replies: readonly (Response | Error)[],
  { pairs = PAIRS, sent = [] }: { readonly pairs?: readonly ClassifiedPair[]; readonly sent?: Sent[] } = {},
): Promise<ClassifierOutcome> {
  const left = replies.values();
  const transport: Transport = async (url, init) => {
    sent.push({ url, body: JSON.parse(String(init.body)), headers: init.headers });
    const { value } = left.next();
    if (value === undefined || value instanceof Error) throw value ?? new Error('no more replies');
    return value;
  };
  return createClassifierServer(config, transport, CLOCK).classify(pairs, { deadline_ms: 10_000 });
}

const json = (value: unknown, init: ResponseInit = {}) => Response.json(value, init);
const classes = (...probs: readonly (readonly unknown[])[]) => ({
  model: 'm',
  data: probs.map((one, index) => ({
    ...{ index, probs: one, num_classes: one.length },
    label: NLI[one.indexOf(Math.max(...one.map(Number)))],
  })),
  usage: { prompt_tokens: 30, total_tokens: 30 },
});
const scores = (...all: readonly unknown[]) => ({
  model: 'm',
  data: all.map((score, index) => ({ index, object: 'score', score })),
  usage: { prompt_tokens: 30, total_tokens: 30 },
});
const predictions = (...all: readonly (readonly number[])[]) =>
  all.map((one) => one.map((score, n) => ({ label: NLI[n], score })).sort((a, b) => b.score - a.score));

describe('what is sent and read', () => {
  test('/classify of vLLM: both texts in the template, whose separator they cannot contain', async () => {
    const sent: Sent[] = [];
    const outcome = await classified(configured('classify'), [json(classes([0.7, 0.2, 0.1], [0.1, 0.3, 0.6]))], {
      sent,
    });
    const [supported, contradicted] = [
      [0.7, 0.1],
      [0.1, 0.6],
    ];
    const usage = { prompt_tokens: 30, completion_tokens: 0 };
    expect(outcome).toEqual({ ok: true, supported, contradicted, usage });
    expect(sent).toMatchObject([
      {
        url: 'http://127.0.0.1:9/classify',
        headers: { authorization: 'Bearer k' },
        body: {
          model: 'm',
          input: ['The Aare is 288 km long.[SEP]It is long.', 'The Rhine   is long.[SEP]It is   short.'],
        },
      },
    ]);
  });

  test('a source with the places of the template in its text stays where it is', async () => {
    const sent: Sent[] = [];
    const config = configured('classify', { template: 'Premise: {source} Claim: {claim}' });
    const pairs = [{ source: 'a {claim} b', claim: 'c $& {source} Claim: d' }];
    await classified(config, [json(classes([0.7, 0.2, 0.1]))], { pairs, sent });
    expect(sent[0]?.body).toMatchObject({ input: ['Premise: a {claim} b Claim: c $& {source}   d'] });
  });

  test('/score of vLLM: pairs', async () => {
    const sent: Sent[] = [];
    const outcome = await classified(configured('score'), [json(scores(0.25, 1))], { sent });
    expect(outcome).toMatchObject({ ok: true, supported: [0.25, 1], contradicted: [0, 0] });
    expect(sent[0]?.body).toEqual({
      model: 'm',
      text_1: PAIRS.map(({ source }) => source),
      text_2: PAIRS.map(({ claim }) => claim),
    });
  });

  test('/predict of TEI: pairs, without truncation; labels in any order', async () => {
    const sent: Sent[] = [];
    const reply = json(predictions([0.1, 0.8, 0.1], [0.9, 0.05, 0.05]));
    expect(await classified(configured('predict'), [reply], { sent })).toEqual({
      ok: true,
      supported: [0.1, 0.9],
      contradicted: [0.1, 0.05],
      usage: null,
    });
    expect(sent[0]?.body).toEqual({
      inputs: PAIRS.map(({ source, claim }) => [source, claim]),
      raw_scores: false,
      truncate: false,
    });
  });

  test('/predict of TEI with a model that has one output, whose only label is LABEL_0', async () => {
    const reply = json([0.3, 0.9].map((score) => [{ label: 'LABEL_0', score }]));
    const outcome = await classified(configured('predict', { labels: ['LABEL_0=supported'] }), [reply]);
    expect(outcome).toMatchObject({ ok: true, supported: [0.3, 0.9], contradicted: [0, 0] });
  });

  test('only a model with a label for it can say that a source contradicts a claim', () => {
    const names = (endpoint: string, fields: object = {}) =>
      createClassifierServer(configured(endpoint, fields), async () => page(), CLOCK).names_contradiction;
    expect(names('predict')).toBe(true);
    expect(names('predict', { labels: ['SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'] })).toBe(true);
    expect(names('classify', { labels: ['entailment', 'not_entailment'] })).toBe(false);
    expect(names('score')).toBe(false);
  });

  test('several labels that mean support are added', async () => {
    const config = configured('classify', { labels: ['entailment', 'neutral=supported', 'contradiction'] });
    const reply = json(classes([0.25, 0.5, 0.25], [0, 0, 1]));
    expect(await classified(config, [reply])).toMatchObject({ ok: true, supported: [0.75, 0] });
  });

  test('33 pairs are two requests, and their tokens are added', async () => {
    const pairs = Array.from({ length: 33 }, () => ({ source: 's', claim: 'c' }));
    const replies = [json(scores(...Array.from({ length: 32 }, () => 0.5))), json(scores(0.25))];
    const outcome = await classified(configured('score'), replies, { pairs });
    expect(outcome).toMatchObject({ ok: true, usage: { prompt_tokens: 60, completion_tokens: 0 } });
    if (outcome.ok) expect(outcome.supported).toEqual([...Array.from({ length: 32 }, () => 0.5), 0.25]);
  });

  test('an overloaded server is asked again', async () => {
    const replies = [
      json({ error: 'Model is overloaded', error_type: 'Overloaded' }, { status: 429 }),
      json(scores(0, 1)),
    ];
    expect(await classified(configured('score'), replies)).toMatchObject({ ok: true, supported: [0, 1] });
  });
});

/** The errors of TEI (router/src/http/server.rs); both are answered with 413. */
const tooLong = {
  error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 600',
  error_type: 'Validation',
};
const tooMany = { error: 'batch size 32 > maximum allowed batch size 8', error_type: 'Validation' };
const contextError = {
  error: { message: "This model's maximum context length is 512 tokens", type: 'BadRequestError', code: 400 },
};

/** A reply that is a page. */
const page = () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
const text = (body: string) => new Response(body, { headers: { 'content-type': 'application/json' } });

describe('no number comes of', () => {
  test.each<[what: string, endpoint: string, reply: () => Response | Error, reason: string]>([
    ['an odd label', 'predict', () => json([[{ label: 'odd', score: 1 }], []]), 'judge_reply_invalid'],
    ['a label that is missing', 'predict', () => json(predictions([0.5, 0.5], [0.5, 0.5])), 'judge_reply_invalid'],
    [
      'a label that occurs twice',
      'predict',
      () => json([NLI, NLI].map(() => ['entailment', 'entailment', 'neutral'].map((label) => ({ label, score: 0.3 })))),
      'judge_reply_invalid',
    ],
    [
      'labels in another order than the model',
      'classify',
      () =>
        json({
          ...classes([0.1, 0.2, 0.7], [1, 0, 0]),
          ...{ data: [0, 1].map((index) => ({ index, label: 'entailment', probs: [0.1, 0.2, 0.7], num_classes: 3 })) },
        }),
      'judge_reply_invalid',
    ],
    ['another number of classes', 'classify', () => json(classes([0.9, 0.1], [0.9, 0.1])), 'judge_reply_invalid'],
    ['a missing score', 'score', () => json(scores(0.5, undefined)), 'judge_reply_invalid'],
    [
      'NaN',
      'score',
      () => text('{"model":"m","data":[{"index":0,"score":NaN},{"index":1,"score":0}]}'),
      'judge_reply_invalid',
    ],
    ['null', 'classify', () => json(classes([null, 1, 0], [1, 0, 0])), 'judge_reply_invalid'],
    ['a number below 0', 'score', () => json(scores(-0.1, 0)), 'judge_reply_invalid'],
    ['a logit', 'predict', () => json(predictions([3.5, -1, 0], [1, 0, 0])), 'judge_reply_invalid'],
    ['a pair too few', 'score', () => json(scores(0.5)), 'judge_reply_invalid'],
    ['a pair too many', 'score', () => json(scores(0.5, 0.5, 0.5)), 'judge_reply_invalid'],
    [
      'a pair twice',
      'score',
      () => json({ ...scores(), data: [0, 0].map((index) => ({ index, score: 1 })) }),
      'judge_reply_invalid',
    ],
    ['a pair too few', 'predict', () => json(predictions([1, 0, 0])), 'judge_reply_invalid'],
    ['another model', 'score', () => json({ ...scores(1, 1), model: 'other' }), 'judge_model_mismatch'],
    ['a page', 'score', page, 'judge_not_an_api'],
    ['text that is no JSON', 'classify', () => text('{'), 'judge_reply_invalid'],
    [
      'a window that TEI refuses for its length',
      'predict',
      () => json(tooLong, { status: 413 }),
      'judge_prompt_too_long',
    ],
    ['more pairs than TEI takes', 'predict', () => json(tooMany, { status: 413 }), 'judge_request_refused'],
    [
      'a pair that TEI cannot tokenize',
      'predict',
      () => json({ error: 'Tokenization error', error_type: 'Tokenizer' }, { status: 422 }),
      'judge_request_refused',
    ],
    ['a wrong key of TEI', 'predict', () => new Response(null, { status: 401 }), 'judge_unauthorized'],
    [
      'a window that vLLM refuses for its length',
      'classify',
      () => json(contextError, { status: 400 }),
      'judge_prompt_too_long',
    ],
    ['a wrong key', 'score', () => json({ error: 'no' }, { status: 401 }), 'judge_unauthorized'],
    ['an unknown model', 'score', () => json({ error: 'no' }, { status: 404 }), 'judge_request_refused'],
    ['a broken server', 'score', () => json({ error: 'no' }, { status: 500 }), 'judge_error'],
    [
      'a model of TEI that fails',
      'predict',
      () => json({ error: 'Inference failed', error_type: 'Backend' }, { status: 424 }),
      'judge_error',
    ],
    ['overload that lasts', 'predict', () => json({ error: 'no' }, { status: 429 }), 'judge_rate_limited'],
    ['a server that is gone', 'score', () => new Error('ECONNREFUSED 10.0.0.1'), 'judge_unreachable'],
  ])('%s (/%s)', async (_what, endpoint, reply, reason) => {
    const outcome = await classified(configured(endpoint), [reply(), reply(), reply()]);
    expect(outcome).toMatchObject({ ok: false, failure: { reason } });
    if (!outcome.ok) expect(outcome.failure.detail).not.toMatch(/ECONNREFUSED|Given|odd/);
  });

  test('a smaller --max-client-batch-size of TEI is named', async () => {
    const outcome = await classified(configured('predict'), [json(tooMany, { status: 413 })]);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { detail: 'the backend takes fewer texts in one call (--max-client-batch-size)' },
    });
  });

  test('a server that hangs until the deadline', async () => {
    const hanging: Transport = (_url, init) =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const server = createClassifierServer(configured('score'), hanging, CLOCK);
    expect(await server.classify(PAIRS, { deadline_ms: 20 })).toMatchObject({
      ok: false,
      failure: { reason: 'judge_timeout', retryable: true },
    });
  });
});

describe('settings', () => {
  test('labels, template, window and threshold are part of how the model is asked', () => {
    const asking = (endpoint: string, fields: object = {}) =>
      createClassifierServer(configured(endpoint, fields), async () => page(), CLOCK).asking;
    expect(asking('classify')).toBe(
      'classify "{source}[SEP]{claim}" entailment=supported,neutral=neither,contradiction=contradicted',
    );
    expect(asking('score')).toBe('score');
    expect(asking('predict', { labels: ['x=neither', 'y=supported'] })).toBe('predict x=neither,y=supported');
    expect(configured('score')).toMatchObject({ window_tokens: 512, threshold: 0.5 });
    expect(configured('score', { window_tokens: 2_048, threshold: 0.7 })).toMatchObject({
      window_tokens: 2_048,
      threshold: 0.7,
    });
  });

  test.each<[what: object, problem: string]>([
    [{ base_url: 'http://127.0.0.1:9/v1' }, 'backends[0].base_url: expected a URL that ends in /classify'],
    [{ base_url: 'http://gpu.example.com/score' }, 'backends[0].base_url: expected https'],
    [{ base_url: 'http://127.0.0.1:9/predict' }, 'backends[0].labels: required'],
    [{ base_url: 'http://127.0.0.1:9/score', labels: NLI }, 'backends[0].labels: not allowed with the endpoint /score'],
    [
      { base_url: 'http://127.0.0.1:9/predict', labels: ['LABEL_0', 'LABEL_1'] },
      'backends[0].labels: the meaning of label 1',
    ],
    [
      { base_url: 'http://127.0.0.1:9/predict', labels: NLI, template: '{source}{claim}' },
      'backends[0].template: allowed only',
    ],
    [
      { base_url: 'http://127.0.0.1:9/classify', labels: NLI, template: '{source}' },
      'backends[0].template: expected a text',
    ],
    [{ base_url: 'http://127.0.0.1:9/score', threshold: 0 }, 'backends[0].threshold: '],
    [{ base_url: 'http://127.0.0.1:9/score', window_tokens: 64 }, 'backends[0].window_tokens: '],
    [{ base_url: 'http://127.0.0.1:9/score', role: 'generate' }, 'backends[0]'],
  ])('%j is refused', (fields, problem) => {
    const read = settings(fields);
    expect(read.ok ? [] : read.error).toEqual([expect.stringContaining(problem)]);
  });

  test('a classifier is no member of a route', () => {
    const backend = { name: 'nli', kind: 'classifier', model: 'm', slots: 1, base_url: 'http://127.0.0.1:9/score' };
    const text = JSON.stringify({ backends: [backend], routes: { both: ['nli', 'nli'] }, default_judge: 'nli' });
    const read = readBackends(text, { secret: () => undefined, isBound: () => false });
    expect(read).toMatchObject({ ok: false });
    if (!read.ok) expect(read.error).toContain('routes.both[0]: a classifier cannot be part of a route');
  });
});

describe('the health check', () => {
  const probed = (endpoint: string, reply: Response) => {
    const urls: string[] = [];
    const transport: Transport = async (url) => {
      urls.push(url);
      return reply;
    };
    return probeClassifier(configured(endpoint), transport).then((probe) => ({ probe, urls }));
  };

  test('vLLM is asked for its models', async () => {
    expect(await probed('classify', json({ data: [{ id: 'm' }] }))).toEqual({
      probe: { reachable: true, model_present: true, failure: null },
      urls: ['http://127.0.0.1:9/v1/models'],
    });
  });

  test('TEI, which has one model, is asked for what it is', async () => {
    expect(await probed('predict', json({ model_id: 'm' }))).toEqual({
      probe: { reachable: true, model_present: null, failure: null },
      urls: ['http://127.0.0.1:9/info'],
    });
    const { probe } = await probed('predict', json({}, { status: 401 }));
    expect(probe).toMatchObject({ reachable: false, failure: { reason: 'judge_unauthorized' } });
  });
});
