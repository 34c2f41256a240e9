/**
 * `POST /v1/compare` and NeMo Gym's `genrm_compare` in workerd, with judges of scripted preferences: rewards, position
 * bias, outages, stored judgments.
 */
import { describe, expect, it } from 'vitest';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import { genRmReplySchema } from '../../src/wire/adapters/nemo-gym-compare.ts';
import { compareResponseSchema } from '../../src/wire/compare.ts';
import { GENRM_BODY } from './adapters-trainers.ts';
import { post, problemOf, send, TOOL_OUTPUT, wrongFields } from './api.ts';
import { ended, line, outputLines, submit } from './batch-api.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

type Reply = Awaited<ReturnType<ChatBackend['complete']>>;

/** The two answers in the order of showing. */
function shownIn(prompt: string): readonly [string, string] {
  const [, first = '', second = ''] =
    /shown="first">\n([\s\S]*?)\n<\/answer-[\s\S]*?shown="second">\n([\s\S]*?)\n<\/answer-/.exec(prompt) ?? [];
  return [first, second];
}

let calls = 0;

/** A judge that prefers by a rule. */
function scripted(name: string, rule: (first: string, second: string) => 'first' | 'second' | 'tie' | null) {
  const complete: ChatBackend['complete'] = async ({ messages }): Promise<Reply> => {
    calls++;
    const better = rule(...shownIn(messages[1]?.content ?? ''));
    if (better === null) return { ok: false, failure: { reason: 'judge_timeout', detail: 'as told', retryable: true } };
    return { ok: true, completion: { text: JSON.stringify({ reason: 'so', better }), model: name, usage: null } };
  };
  const judge = createModelJudge({ name, model: name, context_tokens: 8_192, complete }, () => 0);
  const health = async () => ({ reachable: true, model_present: true, last_error: null, routes: [] });
  return { judge, runs_in: 'caller', slots: 8, timeout_ms: 60_000, health } satisfies JudgeBackend;
}

const longer = (first: string, second: string) =>
  first.length === second.length ? 'tie' : first.length > second.length ? 'first' : 'second';

/** The judges; `broken` fails on pairs in which the mark X is shown first. */
const JUDGES: readonly JudgeBackend[] = [
  scripted('longest', longer),
  scripted('place', () => 'first'),
  scripted('citing', (first) => (first.includes('snippet id="bridge"›It opened.') ? 'first' : 'second')),
  scripted('last', () => 'second'),
  scripted('broken', (first, second) => (first.includes('X') ? null : longer(first, second))),
  scripted('half', (first, second) =>
    first.includes('X') ? null : second.includes('X') ? 'tie' : longer(first, second),
  ),
];

replaceParts({
  backendsOf() {
    const stub = stubBackends();
    return { ...stub, named: [...stub.named, ...JUDGES] };
  },
  adapterRetryWindowMs: 0,
});

const ANSWERS = ['aaa', 'a', 'aaaa', 'aa'];

const requestOf = (mark: string, fields: object = {}) => ({
  question: `Which one? ${mark}`,
  responses: ANSWERS,
  judge: 'longest',
  ...fields,
});

async function compared(body: object) {
  const reply = await send(post('/v1/compare', body));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return compareResponseSchema.parse(JSON.parse(text));
}

describe('POST /v1/compare', () => {
  it('answers lines of a batch as it answers their requests', async () => {
    const body = requestOf('batch');
    await compared(body);
    const wrong = requestOf('batch', { recipe: 'refiner-rl-balanced' });
    const lines = [line('good', body, '/v1/compare'), line('bad', wrong, '/v1/compare')].join('\n');
    const done = await ended((await submit(lines, '/v1/compare')).id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { completed: 1, failed: 1 } });
    const [good] = await outputLines(done.output_file_id);
    expect(good?.response?.body).toEqual(await compared(body));
    const [bad] = await outputLines(done.error_file_id);
    expect(JSON.stringify(bad)).toContain('recipe');
  });

  it('turns known preferences into win rates and advantages', async () => {
    const reply = await compared(requestOf('known', { advantages: 'mean' }));
    expect(reply.rewards).toEqual([2 / 3, 0, 1, 1 / 3]);
    expect(reply).toMatchObject({ reward_range: [0, 1], mean: 0.5, valid: 4, degenerate: null });
    reply.advantages.forEach(({ advantage, masked }, n) => {
      expect(masked).toBe(false);
      expect(advantage).toBeCloseTo((reply.rewards[n] ?? Number.NaN) - 0.5, 12);
    });
    expect(reply.members[2]).toEqual({ reward: 1, wins: 3, ties: 0, losses: 0, reason: null, missing: [] });
    expect(reply.pairs.map(({ responses }) => responses)).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 2],
      [1, 3],
      [2, 3],
    ]);
    expect(reply.position_bias).toEqual({ compared: 6, disagreed: 0, first: 0, second: 0 });
    expect(reply.judges).toMatchObject([{ kind: 'comparison', model: 'longest', judgments: 12, cut: 0 }]);
  });

  it.each([
    ['place', 'first'],
    ['last', 'second'],
  ] as const)('counts what the judge %s gives to a place as ties and as bias', async (judge, place) => {
    const reply = await compared(requestOf(judge, { judge }));
    expect(reply.rewards).toEqual([0.5, 0.5, 0.5, 0.5]);
    expect(reply.degenerate).toMatchObject({ reason: 'all_equal' });
    expect(reply.position_bias).toEqual({ compared: 6, disagreed: 6, first: 0, second: 0, [place]: 6 });
  });

  it('leaves answers with a missing comparison unscored, and only those', async () => {
    const responses = ['aaaaX', 'a', 'aaaa', 'aa'];
    const schedule = { opponents: 2 };
    const reply = await compared(requestOf('outage', { responses, judge: 'broken', schedule }));
    const met = reply.pairs.flatMap(({ responses: [a, b] }) => (a === 0 ? [b] : []));
    expect(met).toHaveLength(2);
    reply.members.forEach(({ reward, reason, missing }, answer) => {
      const isOpen = answer === 0 || met.includes(answer);
      expect(reward === null).toBe(isOpen);
      expect(reason).toBe(isOpen ? 'judge_timeout' : null);
      expect(missing).toEqual(answer === 0 ? met : isOpen ? [0] : []);
      expect(reply.advantages[answer]?.masked).toBe(isOpen);
    });
    const whole = await compared(requestOf('outage', { responses, schedule }));
    reply.rewards.forEach((reward, answer) => {
      if (reward !== null) expect(reward).toBe(whole.rewards[answer]);
    });
    expect(reply.valid).toBe(1);
  });

  it("shows the judge a vendor's answer with the ids of the request's sources", async () => {
    const citations = [{ type: 'page_location', document_index: 0, document_title: 'B', cited_text: 'It opened.' }];
    const responses = ['b', { cited_answer: [{ type: 'text', text: 'It opened.', citations }] }];
    const sources = [{ id: 'bridge', text: 'It opened.' }];
    const reply = await compared(requestOf('cited', { responses, sources, judge: 'citing' }));
    expect(reply.rewards).toEqual([0, 1]);
  });

  it('settles a pair by one tie, whatever the missing judgment would say', async () => {
    const responses = ['aaaX', 'a', 'aa'];
    const reply = await compared(requestOf('half', { responses, judge: 'half' }));
    expect(reply.rewards).toEqual([0.5, 0.25, 0.75]);
    expect(reply.pairs[0]).toMatchObject({ better: 'tie', orders: [{ better: null }, { better: 'tie' }] });
    expect(reply.pairs[0]?.orders[0].failure).toMatchObject({ reason: 'judge_timeout' });
    expect(reply.position_bias).toMatchObject({ compared: 1 });
  });

  it('answers 503 for an outage on request, and lets the next judge compare all pairs', async () => {
    const responses = ['aaaX', 'a', 'aaaa'];
    const body = requestOf('next', { responses, judge: 'broken', on_judge_failure: 'error' });
    await problemOf(await send(post('/v1/compare', body)), 503, 'judge_timeout');
    const reply = await compared({ ...body, judge: ['broken', 'longest'] });
    expect(reply.judges.map(({ model, judgments }) => [model, judgments])).toEqual([['longest', 6]]);
    expect(reply.rewards).toEqual([0.75, 0, 0.75]);
  });

  it('serves stored judgments, also for a subset of the group; replicates are judged anew', async () => {
    const body = requestOf('stored');
    await problemOf(await send(post('/v1/compare', { ...body, judgments: 'only' })), 409, 'judgment_missing');
    const first = await compared(body);
    const before = calls;
    const again = await compared({ ...body, judgments: 'only' });
    expect(again.rewards).toEqual(first.rewards);
    const keysOf = ({ pairs }: typeof first) => pairs.flatMap(({ orders }) => orders.map(({ key }) => key));
    expect(keysOf(again)).toEqual(keysOf(first));
    expect(new Set(keysOf(first)).size).toBe(12);
    const some = await compared({ ...body, responses: ANSWERS.slice(1, 3), judgments: 'only' });
    expect(some.rewards).toEqual([0, 1]);
    expect(calls).toBe(before);
    await compared({ ...body, replicate: 1 });
    expect(calls).toBe(before + 12);
    const skipped = await compared({ ...body, judgments: 'skip' });
    expect(skipped.rewards).toEqual([null, null, null, null]);
    expect(skipped.members.map(({ reason }) => reason)).toEqual(Array.from({ length: 4 }, () => 'judgment_skipped'));
  });

  it('shows the judge what follows the thinking, and cuts long answers alike in both orders', async () => {
    const thought = await compared(
      requestOf('think', { responses: ['<think>aaaaaaaaaa</think>a', 'aa', '<think>aaa'] }),
    );
    expect(thought.rewards).toEqual([0.5, 1, 0]);
    const [long, longest] = ['b '.repeat(60_000), 'c '.repeat(70_000)];
    const cut = await compared(requestOf('long', { responses: [long, longest, 'short'] }));
    expect(cut.judges).toMatchObject([{ judgments: 6, cut: 6 }]);
    expect(cut.members[2]?.losses).toBe(2);
  });

  it('compares by words without a model: by criteria, or by question and citations', async () => {
    const responses = ['The Aare is 288 km long.', 'I would rather not say.'];
    const lexical = { question: 'How long is the Aare?', judge: 'lexical', responses };
    expect((await compared({ ...lexical, criteria: ['States that the Aare is 288 km long'] })).rewards).toEqual([1, 0]);
    expect((await compared(lexical)).rewards).toEqual([1, 0]);
    const cited = responses.map((text) => `<snippet id=S1>${text}</snippet>`);
    const reply = await compared({ ...lexical, tool_output: TOOL_OUTPUT, responses: [...cited, ...responses] });
    expect(reply.rewards[0]).toBe(1);
    expect(reply.position_bias.disagreed).toBe(0);
  });

  it('compares a large group in a circle', async () => {
    const responses = Array.from({ length: 16 }, (_, n) => 'a'.repeat(n + 1));
    const reply = await compared(requestOf('circle', { responses, schedule: { seed: 3 } }));
    expect(reply.pairs).toHaveLength(32);
    expect(reply.rewards[15]).toBe(1);
    expect(reply.rewards[0]).toBe(0);
    expect(reply.members.every(({ wins, losses }) => wins + losses === 4)).toBe(true);
  });

  it('refuses what it cannot compare, by field', async () => {
    const refused = async (fields: object) => wrongFields(await send(post('/v1/compare', requestOf('no', fields))));
    expect(await refused({ responses: ['alone'] })).toEqual(['responses']);
    expect(await refused({ responses: Array.from({ length: 17 }, () => 'a') })).toEqual(['responses']);
    expect(await refused({ responses: Array.from({ length: 7 }, () => 'a'), schedule: { opponents: 3 } })).toEqual([
      'schedule.opponents',
    ]);
    expect(await refused({ sources: [], tool_output: 'x' })).toEqual(['tool_output']);
    expect(await refused({ advantages: 'trl-gdpo' })).toEqual(['advantages']);
    expect(await refused({ recipe: 'refiner-rl-balanced' })).toEqual(['recipe']);
  });
});

describe('POST /v1/adapters/nemo-gym/compare', () => {
  const url = '/v1/adapters/nemo-gym/compare';

  async function gym(body: object, judge = 'lexical') {
    const reply = await send(post(`${url}?judge=${judge}`, body));
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    return { text, reply: genRmReplySchema.parse(JSON.parse(text)) };
  }

  it('answers in the shape and on the scale of genrm_compare', async () => {
    const { text, reply } = await gym(GENRM_BODY);
    expect(reply.rewards[0]).toBe(5);
    expect(reply.rewards[1]).toBe(Math.min(...reply.rewards));
    expect(text).toContain('"rewards":[5.0,');
    expect(reply.comparison_results.map(({ response_i, response_j }) => [response_i, response_j])).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
    expect(reply.comparison_results[0]).toMatchObject({ judge_idx: 0, score_1: 5, score_2: 1, ranking: 2 });
    // As Gym aggregates: the mean of the scores of an answer.
    reply.rewards.forEach((reward, answer) => {
      const scores = reply.comparison_results.flatMap(({ response_i, response_j, score_1, score_2 }) =>
        response_i === answer ? [score_1] : response_j === answer ? [score_2] : [],
      );
      expect(reward).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / scores.length, 12);
    });
    expect(reply.metrics).toMatchObject({ mean_individual_score: 3, position_disagreement_rate: 0 });
  });

  it('answers an outage with an error status, never with a default score', async () => {
    const [first, ...others] = GENRM_BODY.response_objs;
    const broken = { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'X' }] }] };
    const body = { ...GENRM_BODY, response_objs: [broken, first, ...others] };
    await problemOf(await send(post(`${url}?judge=broken`, body)), 503, 'judge_timeout');
  });

  it('refuses fewer than two answers, and items that cannot be read', async () => {
    const wrong = async (fields: object) => wrongFields(await send(post(url, { ...GENRM_BODY, ...fields })));
    expect(await wrong({ response_objs: GENRM_BODY.response_objs.slice(1, 2) })).toEqual(['response_objs']);
    expect(await wrong({ response_objs: [{ output: [] }, { output: [{ type: 'message', content: 7 }] }] })).toEqual([
      expect.stringMatching(/^response_objs\[?\.?1/),
    ]);
  });

  it('takes an empty output as an empty answer', async () => {
    const { reply } = await gym({ ...GENRM_BODY, response_objs: [{ output: [] }, ...GENRM_BODY.response_objs] });
    // It ties with both answers that say nothing, and loses to the one that answers.
    expect(reply.rewards).toEqual([1 + 4 / 3, 5, 1 + 4 / 3, 1 + 4 / 3]);
  });
});
