/**
 * The fault matrix: each fault of a model server, over real sockets, through the whole Worker. Each fault becomes its
 * typed reason. None becomes a number, nothing is stored, and no text of the server is passed on.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { DEFAULT_RETRY_AFTER_S } from '../../src/wire/problem-entry.ts';
import { DIALECTS, STUB_CANARY, STUB_MODEL } from '../contract/backend-faults.ts';
import { familyScoreOf, post, problemOf, type RefinerScore, ROLLOUT, scoreOf, send } from './api.ts';
import { ALL_FAULTS, DOOR_FAULTS } from './matrix-rows.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: stubBackends });

describe('a fault of a model server', () => {
  it.concurrent.each(ALL_FAULTS)('%s', async (judge, { reason, retryable, status, retry_after, retry_after_slack }) => {
    const replicate = ALL_FAULTS.findIndex(([name]) => name === judge);
    const body = { ...ROLLOUT, judge, replicate };
    const refused = await send(post('/v1/score', body));
    const text = await refused.clone().text();
    expect(await problemOf(refused, status, reason)).toMatchObject({ retryable });
    const retryAfter = refused.headers.get('retry-after');
    if (retryable) {
      const off = Number(retryAfter) - (retry_after ?? DEFAULT_RETRY_AFTER_S);
      expect(Math.abs(off)).toBeLessThanOrEqual(retry_after_slack ?? 0);
    } else expect(retryAfter).toBeNull();
    expect(text).not.toContain(STUB_CANARY);

    const unscored = await scoreOf(await send(post('/v1/score', { ...body, on_judge_failure: 'null' })));
    expect(unscored).toMatchObject({ reward: null, base: null, status: 'unscored', reason, decided_by: null });
    expectNoNumber(unscored);
    expect(unscored.judgments.map(({ failure }) => failure)).toMatchObject([
      { reason, retryable },
      { reason, retryable },
    ]);
    expect(JSON.stringify(unscored)).not.toContain(STUB_CANARY);

    await problemOf(await send(post('/v1/score', { ...body, judgments: 'only' })), 409, 'judgment_missing');
    for (const { key } of unscored.judgments) expect(await env.JUDGMENTS.get(`${key}`)).toBeNull();
  });

  it('leaves nothing in the store', async () => {
    const { keys } = await env.JUDGMENTS.list();
    expect(keys.length).toBe(0);
  });
});

const TRACE = {
  recipe: 'longtrace-rl',
  question: 'Which river flows through Bern?',
  reference: 'the Aare',
  entities: ['Aare'],
};
const TULU = {
  recipe: 'dr-tulu',
  question: 'How long is the Aare?',
  rubrics: [{ description: 'States 288 km', weight: 1 }],
};
const TRANSCRIPT =
  '<snippet id="S1">It is 288 km long.</snippet><answer><cite id="S1">It has 288 km.</cite> And so on and on it goes.</answer>';

describe.each([
  ['long-trace', TRACE, { response: 'The Aare.', finish_reason: 'stop' }],
  ['dr-tulu', TULU, { response: TRANSCRIPT }],
] as const)('the same faults under %s', (family, shared, sample) => {
  it.concurrent.each(DOOR_FAULTS)('%s', async (judge, { status, reason }) => {
    const how = { judge, replicate: 10_000 + DOOR_FAULTS.findIndex(([name]) => name === judge) };
    await problemOf(await send(post('/v1/score', { ...shared, ...sample, ...how })), status, reason);
    const asNull = { ...shared, ...sample, ...how, on_judge_failure: 'null' };
    const unscored = await familyScoreOf(family, await send(post('/v1/score', asNull)));
    expect(unscored).toMatchObject({ reward: null, base: null, status: 'unscored', reason });
    const reply = await send(post('/v1/groups', { ...shared, ...how, responses: [sample] }));
    const group = groupResponseSchema.parse(await reply.json());
    expect(group).toMatchObject({
      rewards: [null],
      advantages: [{ advantage: 0, masked: true }],
      mean: null,
      valid: 0,
    });
  });
});

describe('a good reply', () => {
  it('is the same judgment in every dialect', async () => {
    const scores = await Promise.all(
      DIALECTS.map(async (judge, position) =>
        scoreOf(await send(post('/v1/score', { ...ROLLOUT, judge, replicate: 1_000 + position }))),
      ),
    );
    for (const [position, scored] of scores.entries()) {
      expect(scored.reward, DIALECTS[position]).toBe(scores[0]?.reward);
      expect(scored.reward).not.toBeNull();
      expect(scored.judgments.map(({ model, stored }) => [model, stored])).toEqual([
        [STUB_MODEL, true],
        [STUB_MODEL, true],
      ]);
    }
    const usage = (dialect: (typeof DIALECTS)[number]) => scores[DIALECTS.indexOf(dialect)]?.judgments[0]?.usage;
    expect(usage('vllm')).toEqual({ prompt_tokens: 120, completion_tokens: 30 });
    for (const dialect of ['vllm_without_usage', 'comments_between', 'reset_after_finish'] as const) {
      expect(usage(dialect)).toBeNull();
    }
  });
});

/** Whatever a judge would have said is null; what needs none may be there. */
function expectNoNumber(unscored: RefinerScore): void {
  const { rubric, citation } = unscored.components;
  for (const judged of [rubric, citation]) expect(judged).toMatchObject({ value: null, contribution: null });
  for (const { score } of unscored.criteria) expect(score).toBeNull();
  // The copied claim and the invented id are settled without a judge.
  expect(unscored.claims.map(({ support }) => support)).toEqual([null, 1, 0]);
  for (const { needs_citation } of unscored.statements) expect(needs_citation).toBeNull();
}

describe('judges in turn', () => {
  const scoreBy = (judge: readonly string[], more: object = {}) =>
    send(post('/v1/score', { ...ROLLOUT, judge, replicate: 2_000, ...more }));

  it('the next one judges the rollout where the one before fails, and the reply says who did', async () => {
    const scored = await scoreOf(await scoreBy(['http_401', 'vllm']));
    expect(scored.reward).not.toBeNull();
    expect(scored.judgments.map(({ model, cached }) => [model, cached])).toEqual([
      [STUB_MODEL, false],
      [STUB_MODEL, false],
    ]);
    const replayed = await scoreOf(await scoreBy(['http_401', 'vllm'], { judgments: 'only' }));
    expect(replayed.reward).toBe(scored.reward);
  });

  it('all of them failing is the failure of the last, never a number', async () => {
    const judges = ['http_401', 'http_404_model'];
    await problemOf(await scoreBy(judges, { replicate: 2_001 }), 503, 'judge_request_refused');
    const unscored = await scoreOf(await scoreBy(judges, { replicate: 2_002, on_judge_failure: 'null' }));
    expect(unscored).toMatchObject({ reward: null, reason: 'judge_request_refused' });
  });

  it('one that is not configured is named before any is asked', async () => {
    await problemOf(await scoreBy(['vllm', 'nobody']), 422, 'judge_unknown');
    await problemOf(await scoreBy([]), 422, 'input_invalid');
  });
});
