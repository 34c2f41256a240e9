/**
 * `POST /v1/refine` in workerd: candidates as JSON and as events, the reasons to stop a policy, and refused requests.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { MAX_QUEUED_POLICY_BYTES } from '../../functions/http/event-stream.ts';
import { problemSchema } from '../../src/wire/problem.ts';
import { refineEventSchemas, refineResponseSchema } from '../../src/wire/refine.ts';
import { post, problemOf, ROLLOUT, send, sha256Hex, TOOL_OUTPUT, wrongFields } from './api.ts';
import { batchOf, batchRequest, ended, inputFile, line, outputLines, submit } from './batch-api.ts';
import { ModelServer, type Says, sendTo } from './model-server.ts';

const ASKED = { question: ROLLOUT.question, tool_output: TOOL_OUTPUT };
const SCORED = { recipe: ROLLOUT.recipe, positive_rubrics: ROLLOUT.positive_rubrics };

const GOOD = ['<answer><snippet id=S1>The Aare is ', '288 kilometres long.', '</snippet></answer>'];
const INVENTED = ['<answer><snippet id=S1>Long.</snippet> ', '<snippet id=S9>And', ' deep.</snippet>', '</answer>'];

function model(says: (call: number, body: { readonly n: number }) => Says): ModelServer {
  return new ModelServer(says);
}

function refine(fields: object, server?: ModelServer): Promise<Response> {
  return sendTo(post('/v1/refine', { ...ASKED, ...fields }), server?.environment);
}

async function refined(reply: Response) {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return refineResponseSchema.parse(JSON.parse(text));
}

function isEventName(name: string | undefined): name is keyof typeof refineEventSchemas {
  return name !== undefined && Object.hasOwn(refineEventSchemas, name);
}

/** Reads events as they come, each checked against the schema of its name. */
class Events {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #arrived: EventSourceMessage[] = [];
  readonly #parser = createParser({ onEvent: (message) => this.#arrived.push(message) });
  readonly #decoder = new TextDecoder();
  bytes = 0;

  constructor(reply: Response) {
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    if (reply.body === null) throw new Error('no body');
    this.#reader = reply.body.getReader();
  }

  async next() {
    for (;;) {
      const message = this.#arrived.shift();
      if (message !== undefined) {
        const { event, data } = message;
        if (!isEventName(event)) throw new Error(`an event called ${event}`);
        return { event, data: refineEventSchemas[event].parse(JSON.parse(data)) };
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.bytes += value.byteLength;
      this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    }
  }

  async rest() {
    const events = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

describe('candidates', () => {
  it('of a model come verified, with everything said that was sampled', async () => {
    const server = model(() => GOOD);
    const reply = await refined(await refine({ sampling: { seed: 7 } }, server));
    expect(server.calls.map(({ body }) => body)).toMatchObject([
      { model: 'refiner-4b', n: 1, temperature: 1, top_p: 1, top_k: -1, seed: 7, max_completion_tokens: 1_024 },
    ]);
    expect(reply).toMatchObject({
      ...{ generator: 'model', model: 'refiner-4b', prompt_tokens: 6_144, cut: null },
      usage: { prompt_tokens: 100, completion_tokens: 20 },
      candidates: [{ index: 0, response: GOOD.join(''), finish_reason: 'stop', aborted: null }],
    });
    expect(reply.candidates[0]?.verification).toMatchObject({ format: { answer_only: 1 }, ratios: { claims: 1 } });
    expect(reply).not.toHaveProperty('group');
  });

  it('are scored as /v1/groups scores them, best first, with its advantages', async () => {
    const texts = ['I would rather not say.', GOOD.join(''), INVENTED.join('')];
    const server = model(() => texts.map((text, choice) => [choice, text] as const));
    const reply = await refined(await refine({ ...SCORED, n: 3, advantages: 'slime' }, server));
    expect(server.calls.map(({ body }) => body.n)).toEqual([3]);
    const responses = texts.map((response) => ({ response, finish_reason: 'stop' }));
    const group = await (
      await send(post('/v1/groups', { ...ASKED, ...SCORED, responses, advantages: 'slime' }))
    ).json();
    const byIndex = reply.candidates.toSorted((a, b) => a.index - b.index);
    expect(group).toMatchObject({
      rewards: byIndex.map(({ reward }) => reward),
      advantages: byIndex.map(({ advantage, masked }) => ({ advantage, masked })),
      ...reply.group,
    });
    const rewards = reply.candidates.map(({ reward }) => reward ?? Number.NaN);
    expect(rewards).toEqual(rewards.toSorted((a, b) => b - a));
    expect(reply.candidates[0]?.index).toBe(1);
    expect(reply.recipe).toMatchObject({ name: ROLLOUT.recipe });
  });

  it('are judged by several judges', async () => {
    const server = model(() => [[0, GOOD.join('')] as const]);
    const panel = { judges: { members: ['lexical', { judge: 'lexical', replicate: 1 }] } };
    const { candidates } = await refined(await refine({ ...SCORED, ...panel }, server));
    const [alone] = (await refined(await refine(SCORED, server))).candidates;
    expect(candidates).toMatchObject([{ reward: alone?.reward, score: { panel: { vote: 'majority' } } }]);
  });

  it('are unscored, never zero, where the judge is missing; what needs none is scored', async () => {
    const server = model(() => [[0, GOOD.join('')] as const, [1, 'No.'] as const]);
    const variables = { ...server.environment, ALLOW_LEXICAL_JUDGE: 'false' };
    const body = { ...ASKED, ...SCORED, n: 2 };
    expect((await refined(await sendTo(post('/v1/refine', body), variables))).candidates).toMatchObject([
      { index: 1, reward: 0, status: 'scored' },
      { index: 0, reward: null, status: 'unscored', reason: 'judge_unconfigured', masked: true },
    ]);
    const strict = post('/v1/refine', { ...body, on_judge_failure: 'error' });
    await problemOf(await sendTo(strict, variables), 503, 'judge_unconfigured');
  });

  it('come from the extractive refiner where it is named, and say so', async () => {
    const reply = await refined(await refine({ generator: 'extractive', n: 2, evidence: 'lexical' }));
    expect(reply).toMatchObject({ generator: 'extractive', model: 'citeward-extractive-1', usage: null });
    for (const { verification } of reply.candidates) {
      expect(verification.format.answer_only).toBe(1);
      expect(verification.ratios.copied_share).toBe(1);
    }
  });
});

describe('a stream', () => {
  it('has the pieces, what is certain of them, and in the end the whole reply', async () => {
    const events = await new Events(
      await refine(
        { stream: true, ...SCORED },
        model(() => GOOD),
      ),
    ).rest();
    expect(events.map(({ event }) => event)).toEqual([
      ...['start', 'delta', 'delta', 'delta', 'claim', 'candidate', 'done'],
    ]);
    expect(events[0]?.data).toMatchObject({ generator: 'model', n: 1, cut: null });
    const whole = await refined(
      await refine(
        SCORED,
        model(() => GOOD),
      ),
    );
    expect(events.at(-1)?.data).toMatchObject({ candidates: [{ response: GOOD.join('') }], usage: whole.usage });
    expect(refineResponseSchema.parse(events.at(-1)?.data).candidates[0]?.reward).toBe(whole.candidates[0]?.reward);
  });

  it('says that tool output was cut, before anything else', async () => {
    const tool_output = Array.from({ length: 900 }, (_, n) => `<snippet id=S${n}>Fact number ${n}.</snippet>`).join(
      '\n',
    );
    const events = new Events(
      await refine(
        { tool_output, stream: true },
        model(() => GOOD),
      ),
    );
    expect(await events.next()).toMatchObject({
      event: 'start',
      data: { cut: { kept_chars: expect.any(Number), chars: tool_output.length } },
    });
    await events.leave();
  });

  it('ends with an error and nothing whole where the server breaks off', async () => {
    const events = await new Events(
      await refine(
        { stream: true },
        model(() => 'breaks off'),
      ),
    ).rest();
    expect(events.map(({ event }) => event)).toEqual(['start', 'error']);
    expect(problemSchema.parse(events.at(-1)?.data)).toMatchObject({
      ...{ reason: 'generator_interrupted', status: 503, retryable: true },
    });
    const later = await new Events(
      await refine(
        { stream: true, ...SCORED, judgments: 'only', question: 'How deep?' },
        model(() => GOOD),
      ),
    ).rest();
    expect(later.at(-1)).toMatchObject({ event: 'error', data: { reason: 'judgment_missing', status: 409 } });
  });

  it('is written no faster than it is read', async () => {
    function* endless(): Iterable<string> {
      for (;;) yield 'word '.repeat(200);
    }
    const server = model(() => endless());
    const events = new Events(await refine({ stream: true, sampling: { max_tokens: 16_384 } }, server));
    await events.next();
    const settled = async (): Promise<number> => {
      let before = -1;
      await vi.waitUntil(
        () => {
          const taken = server.calls[0]?.taken ?? 0;
          const isStill = taken === before && taken > 0;
          before = taken;
          return isStill;
        },
        { interval: 100, timeout: 20_000 },
      );
      return before;
    };
    const waiting = await settled();
    expect(waiting * 1_000).toBeLessThan(2 * MAX_QUEUED_POLICY_BYTES);
    for (let read = 0; read < 100; read++) await events.next();
    expect(await settled()).toBeGreaterThan(waiting + 50);
    await events.leave();
    await vi.waitFor(() => expect(server.calls[0]?.cancelled).toBe(true), 20_000);
  });
});

describe('a policy is stopped', () => {
  it('in the piece that makes an invented citation certain', async () => {
    for (const stream of [true, false]) {
      const server = model(() => [...INVENTED, ...Array.from({ length: 50 }, () => ' and on')]);
      const reply = await refine({ on_invented_citation: 'abort', stream }, server);
      const whole = stream
        ? refineResponseSchema.parse((await new Events(reply).rest()).at(-1)?.data)
        : await refined(reply);
      expect(server.calls).toMatchObject([{ taken: 2, signal: { aborted: true } }]);
      expect(whole.candidates).toMatchObject([
        {
          ...{ response: INVENTED.slice(0, 2).join(''), finish_reason: null },
          aborted: { reason: 'invented_citation', id: 'S9' },
        },
      ]);
    }
  });

  it('alone among n, unscored, and behind the others', async () => {
    const server = model((call) => (call === 1 ? INVENTED : GOOD));
    const reply = await refined(await refine({ ...SCORED, n: 3, on_invented_citation: 'abort' }, server));
    expect(server.calls.map(({ body, signal, taken }) => [body.n, signal.aborted, taken])).toEqual([
      [1, true, 3],
      [1, true, 2],
      [1, true, 3],
    ]);
    expect(reply.candidates.map(({ aborted }) => aborted?.id)).toEqual([undefined, undefined, 'S9']);
    expect(reply.candidates[2]).toMatchObject({ reward: null, reason: 'aborted', masked: true, score: null });
    expect(reply.group?.valid).toBe(2);
  });

  it('when its caller leaves, also in the middle of a silence', async () => {
    const server = model((call) => (call === 0 ? GOOD : 'nothing'));
    const events = new Events(await refine({ n: 2, on_invented_citation: 'abort', stream: true }, server));
    for (let event = await events.next(); event?.event !== 'candidate'; event = await events.next()) {
      expect(event).not.toBeNull();
    }
    expect(server.calls[1]?.signal.aborted).toBe(false);
    await events.leave();
    await vi.waitFor(() => expect(server.calls[1]?.signal.aborted).toBe(true), 20_000);
  });
});

describe('before anything is generated', () => {
  const server = model(() => GOOD);
  const keyOf = (name: string): string => `cw_${name.padEnd(43, '0')}`;
  let keys = '';

  beforeAll(async () => {
    const scopes = {
      writer: ['generate'],
      scorer: ['score', 'verify', 'batch', 'admin'],
      both: ['generate', 'score'],
      sender: ['generate', 'batch'],
    };
    const entries = Object.entries(scopes).map(async ([name, of]) => [
      name,
      { sha256: await sha256Hex(keyOf(name)), scopes: of },
    ]);
    keys = JSON.stringify(Object.fromEntries(await Promise.all(entries)));
  });

  it.each([true, false])('what is wrong is a plain problem (stream: %s)', async (stream) => {
    const refused = (fields: object) => refine({ stream, ...fields }, server);
    expect(await wrongFields(await refused({ n: 65, sampling: { temprature: 1 } }))).toEqual([
      'n',
      'sampling.temprature',
    ]);
    expect(await wrongFields(await refused({ judge: 'lexical' }))).toEqual(['judge']);
    expect(await wrongFields(await refused({ judges: { members: ['lexical', 'other'] } }))).toEqual(['judges']);
    const twoWays = { ...SCORED, judge: 'lexical', judges: { members: ['lexical', 'other'] } };
    expect(await wrongFields(await refused(twoWays))).toEqual(['judges']);
    expect(await wrongFields(await refused({ recipe: 'refinr' }))).toEqual(['recipe']);
    expect(
      await wrongFields(await refused({ sampling: { max_tokens: 16_384 }, question: 'why '.repeat(4_000) })),
    ).toEqual(['question']);
    expect((await problemOf(await refused({ generator: 'gpt' }), 422, 'generator_unknown')).errors).toEqual([
      { path: 'generator', message: 'expected one of model, extractive' },
    ]);
    expect((await problemOf(await refused({ ...SCORED, judge: 'gpt' }), 422, 'judge_unknown')).errors).toHaveLength(1);
    await problemOf(await refine({ stream }), 503, 'generator_unconfigured');
    expect(server.calls).toHaveLength(0);
  });

  it.each([
    ['scorer', 403],
    ['writer', 200],
  ])('the key needs the scope generate: %s gets %i', async (name, status) => {
    const authorization = `Bearer ${keyOf(name)}`;
    const request = post('/v1/refine', { ...ASKED, generator: 'extractive' }, { authorization });
    expect((await sendTo(request, { ALLOW_ANONYMOUS: 'false', API_KEYS: keys })).status).toBe(status);
  });

  it.each([true, false])('with a recipe the key needs the scope score, too (stream: %s)', async (stream) => {
    const scored = (name: string) => {
      const authorization = `Bearer ${keyOf(name)}`;
      const request = post('/v1/refine', { ...ASKED, ...SCORED, stream, generator: 'extractive' }, { authorization });
      return sendTo(request, { API_KEYS: keys });
    };
    const { detail } = await problemOf(await scored('writer'), 403, 'scope_missing');
    expect(detail).toMatch(/"recipe".*"score"/);
    const reply = await scored('both');
    expect(reply.status).toBe(200);
    await reply.text();
  });

  it('the lines of a batch need the scopes of their route from the key that created the batch', async () => {
    const body = { ...ASKED, generator: 'extractive' };
    const lines = [line('plain', body, '/v1/refine'), line('scored', { ...body, ...SCORED }, '/v1/refine')];
    const request = batchRequest(await inputFile(lines.join('\n')), '/v1/refine');
    const created = (name: string) => {
      const authorized = new Request(request.clone());
      authorized.headers.set('authorization', `Bearer ${keyOf(name)}`);
      return sendTo(authorized, { API_KEYS: keys });
    };
    const { detail } = await problemOf(await created('scorer'), 403, 'scope_missing');
    expect(detail).toMatch(/\/v1\/refine.*"generate"/);
    const done = await ended((await batchOf(await created('sender'))).id);
    expect((await outputLines(done.output_file_id)).map(({ custom_id }) => custom_id)).toEqual(['plain']);
    const [refusal] = await outputLines(done.error_file_id);
    expect(refusal).toMatchObject({
      custom_id: 'scored',
      response: { status_code: 403 },
      error: { code: 'scope_missing' },
    });
    expect(refusal?.error?.message).toMatch(/Line 2.*\/v1\/refine.*"recipe".*"score"/);
    expect(refusal?.response?.body).not.toHaveProperty('candidates');
  });
});

it.each([
  [401, 502, 'generator_unauthorized'],
  [503, 503, 'generator_overloaded'],
] as const)('a server that answers %i is a %i', async (from, status, reason) => {
  const says = () => Response.json({ error: 'no' }, { status: from, headers: { 'retry-after': '9' } });
  const reply = await refine({}, model(says));
  expect(reply.headers.get('retry-after')).toBe(status === 503 ? '9' : null);
  await problemOf(reply, status, reason);
});

it('a batch of refinements is answered line by line, without streams', async () => {
  const body = { ...ASKED, generator: 'extractive' };
  const lines = [
    line('plain', body, '/v1/refine'),
    line('scored', { ...body, ...SCORED, n: 2 }, '/v1/refine'),
    line('stream', { ...body, stream: true }, '/v1/refine'),
    line('unconfigured', ASKED, '/v1/refine'),
    line('fifth', body, '/v1/refine'),
  ];
  const done = await ended((await submit(lines.join('\n'), '/v1/refine')).id);
  expect(done).toMatchObject({
    request_counts: { total: 5, completed: 3, failed: 2 },
    progress: { chunks: { total: 2 } },
  });
  const output = await outputLines(done.output_file_id);
  expect(output.map(({ custom_id }) => custom_id).sort()).toEqual(['fifth', 'plain', 'scored']);
  for (const { response } of output) refineResponseSchema.parse(response?.body);
  const errors = await outputLines(done.error_file_id);
  expect(errors.map(({ custom_id, error }) => [custom_id, error?.code])).toEqual([
    ['stream', 'input_invalid'],
    ['unconfigured', 'generator_unconfigured'],
  ]);
  expect(errors[0]?.error?.message).toContain('stream: expected false');
});
