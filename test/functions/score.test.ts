/** Scoring through the API: caching, replay, which judge calls are made, and failures of the store. */
import { env, exports } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { createPlatformFactory, uncachedJudgments } from '../../functions/platform.ts';
import { createKvJudgmentStore, createRecentJudgments, JUDGMENT_KV_PREFIX } from '../../lib/kv-store.ts';
import { FaultyKv } from '../contract/faulty-kv.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, scoreOf, send, TOOL_OUTPUT } from './api.ts';

/** Each test its own replicate: the isolate remembers judgments. */
let replicate = 100;
let rollout: typeof ROLLOUT & { replicate: number };
beforeEach(() => {
  rollout = { ...ROLLOUT, replicate: replicate++ };
});

const BASE = 'refiner-gpt54-instance-rubric';

describe('POST /v1/score', () => {
  it('gives a reward with all its parts', async () => {
    const scored = await score(rollout);
    expect(scored).toMatchObject({ status: 'scored', reason: null, decided_by: 'components', family: 'refiner' });
    expect(scored.recipe).toMatchObject({ name: BASE, reward_range: [0, 10] });
    const { rubric, citation } = scored.components;
    expect(scored.reward).toBeCloseTo((rubric.contribution ?? Number.NaN) + (citation.contribution ?? Number.NaN), 9);
    expect(scored.reward).toBeGreaterThan(0);
    expect(scored.reward).toBeLessThanOrEqual(10);
    expect(scored.criteria.map(({ key, origin, polarity, weight }) => [key, origin, polarity, weight])).toEqual([
      ['c1', 'instance', 'positive', 1],
      ['c2', 'instance', 'positive', 1],
      ['c3', 'instance', 'negative', 0.5],
      ['c4', 'static', 'positive', 1],
      ['c5', 'static', 'negative', 1],
      ['c6', 'static', 'negative', 1],
    ]);
    for (const criterion of scored.criteria) expect(criterion.score).not.toBeNull();
    // The verbatim claim is settled without a judge, the invented id supports nothing, the paraphrase was judged.
    expect(scored.claims.map(({ support, relevant }) => [support === null, relevant])).toEqual([
      [false, [true]],
      [false, [true]],
      [false, [false]],
    ]);
    expect(scored.claims[1]?.support).toBe(1);
    expect(scored.claims[2]).toMatchObject({ support: 0, findings: ['citation_id_unknown'] });
    expect(scored.statements.map(({ needs_citation }) => needs_citation)).not.toContain(null);
    expect(scored.judgments.map(({ kind, cached, stored, failure }) => [kind, cached, stored, failure])).toEqual([
      ['rubric', false, true, null],
      ['citations', false, true, null],
    ]);
  });

  it('leaves the static set out of the log with instance_rubrics_only', async () => {
    const { criteria } = await score({ ...rollout, recipe: 'refiner-gpt54-instance-only' });
    expect(criteria.map(({ key }) => key)).toEqual(['c1', 'c2', 'c3']);
  });

  it('earns zero, scored, without an answer, and asks no judge', async () => {
    const scored = await score({ ...rollout, response: 'I would rather not say.' });
    expect(scored).toMatchObject({ reward: 0, status: 'scored', decided_by: 'no_answer', judgments: [] });
    expect(scored.finding_counts.no_answer).toBe(1);
  });

  it('says where the time went, and lets nothing be cached on the way', async () => {
    const reply = await send(post('/v1/score', rollout, { 'x-request-id': 'trace-1' }));
    expect(reply.headers.get('server-timing')).toMatch(
      /^body;dur=[\d.]+, store_read;dur=[\d.]+, judge;dur=.*store_write/,
    );
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('x-request-id')).toBe('trace-1');
    await scoreOf(reply);
  });

  it('takes sources one by one as it takes tool output', async () => {
    const { tool_output: _, ...rest } = rollout;
    const sources = [...TOOL_OUTPUT.matchAll(/id=(\w+)>([^<]*)</g)].map(([, id, text]) => ({ id, text }));
    const [one, other] = [await score({ ...rest, sources }), await score(rollout)];
    expect(one.reward).toBe(other.reward);
    expect(one.judgments.map(({ key }) => key)).toEqual(other.judgments.map(({ key }) => key));
  });
});

describe('judgments', () => {
  it('are cached: the same request gives the same reward from the store', async () => {
    const first = await score(rollout);
    const second = await score(rollout);
    expect(second.judgments.map(({ cached, stored }) => [cached, stored])).toEqual([
      [true, true],
      [true, true],
    ]);
    const steady = ({ judgments: _, ...rest }: typeof first) => rest;
    expect(steady(second)).toEqual(steady(first));
  });

  it('stand in KV under their key, without any text', async () => {
    const { judgments } = await score(rollout);
    for (const { key, kind } of judgments) {
      const text = await env.JUDGMENTS.get(JUDGMENT_KV_PREFIX + key);
      expect(JSON.parse(text ?? 'null')).toMatchObject({ v: 2, key, preimage: { kind } });
      expect(text).not.toMatch(/Aare|Rhine|swimmers/);
    }
  });

  it('replay under another recipe with "only", with no judge', async () => {
    const first = await score(rollout);
    const recipe = { base: BASE, citation_weight: 0.7, mix: 'additive', static_weight: 0.25 };
    const replayed = await score({ ...rollout, recipe, judgments: 'only' });
    expect(replayed.judgments.map(({ key, cached }) => [key, cached])).toEqual(
      first.judgments.map(({ key }) => [key, true]),
    );
    expect(replayed.reward).not.toBe(first.reward);
    expect(replayed.recipe).toMatchObject({ name: null, reward_range: [0, 17] });
    expect(replayed.recipe.digest).not.toBe(first.recipe.digest);
    expect(replayed).toMatchObject({ reward: (await score({ ...rollout, recipe })).reward });
  });

  it('are named when missing under "only", and none is judged', async () => {
    const problem = await problemOf(
      await send(post('/v1/score', { ...rollout, judgments: 'only' })),
      409,
      'judgment_missing',
    );
    expect(problem.missing?.map(({ kind }) => kind)).toEqual(['rubric', 'citations']);
    const keys = (problem.missing ?? []).map(({ key }) => key);
    for (const key of keys) expect(await env.JUDGMENTS.get(JUDGMENT_KV_PREFIX + key)).toBeNull();
    expect((await score(rollout)).judgments.map(({ key }) => key)).toEqual(keys);
  });

  it('are skipped on request: keys are named, the reward is null', async () => {
    const skipped = await score({ ...rollout, judgments: 'skip' });
    expect(skipped).toMatchObject({
      reward: null,
      base: null,
      status: 'unscored',
      reason: 'judgment_skipped',
      decided_by: null,
    });
    expect(skipped.components.rubric).toMatchObject({ status: 'unscored', value: null, contribution: null });
    expect(skipped.claims.map(({ support }) => support)).toEqual([null, 1, 0]);
    const judged = await score(rollout);
    expect(judged.judgments.map(({ key, cached }) => [key, cached])).toEqual(
      skipped.judgments.map(({ key }) => [key, false]),
    );
  });

  it('have keys that follow the inputs, the judge and the replicate, and no compose field', async () => {
    const keys = async (changes: Record<string, unknown>) =>
      (await score({ ...rollout, judgments: 'skip', ...changes })).judgments.map(({ key }) => key);
    const [rubric, citations] = await keys({});
    for (const change of [
      { recipe: 'refiner-rl-balanced' },
      { recipe: { base: BASE, verification_reward: 1, citation_metric: 'claim_f1', unverified_quote: 'zero' } },
      { finish_reason: 'length' },
      { reasoning: 'Let me think.' },
      {
        positive_rubrics: rollout.positive_rubrics.map((one) =>
          typeof one === 'string' ? { description: one, weight: 3 } : one,
        ),
      },
    ]) {
      expect(await keys(change), JSON.stringify(change)).toEqual([rubric, citations]);
    }
    const [otherRubric, sameCitations] = await keys({ negative_rubrics: [] });
    expect(otherRubric).not.toBe(rubric);
    expect(sameCitations).toBe(citations);
    const replicated = await keys({ replicate: 99_999 });
    expect(replicated).not.toContain(rubric);
    expect(replicated).not.toContain(citations);
    expect(await keys({ recipe: { base: BASE, judge_static: false } })).not.toContain(rubric);
  });

  it('are not asked for where they cannot change the reward', async () => {
    const only = await score({ ...rollout, recipe: { base: BASE, citation_weight: 0 } });
    expect(only.judgments.map(({ kind }) => kind)).toEqual(['rubric']);
    expect(only.components.citation).toMatchObject({ status: 'unscored', weight: 0, reason: 'not_measured' });
    expect(only.reward).not.toBeNull();
  });
});

describe('without a default judge', () => {
  const strict = (body: unknown) =>
    createApp(createPlatformFactory({ judgmentStoreOf: uncachedJudgments })).request(
      post('/v1/score', body),
      undefined,
      { ...env, ALLOW_LEXICAL_JUDGE: 'false' },
    );

  it('a score that needs one is refused, or null where the request says so', async () => {
    const reply = await strict(rollout);
    expect(reply.headers.get('retry-after')).toBeNull();
    expect(await problemOf(reply, 503, 'judge_unconfigured')).toMatchObject({ retryable: false });
    const unscored = await scoreOf(await strict({ ...rollout, on_judge_failure: 'null' }));
    expect(unscored).toMatchObject({ reward: null, status: 'unscored', reason: 'judge_unconfigured' });
    expect(unscored.judgments[0]).toMatchObject({ key: null, model: null, failure: { reason: 'judge_unconfigured' } });
  });

  it('a named judge answers, and what needs none is scored', async () => {
    expect((await scoreOf(await strict({ ...rollout, judge: 'lexical' }))).reward).not.toBeNull();
    expect(await scoreOf(await strict({ ...rollout, response: 'No.' }))).toMatchObject({ reward: 0, status: 'scored' });
    expect(await scoreOf(await strict({ ...rollout, judgments: 'skip' }))).toMatchObject({
      reward: null,
      reason: 'judgment_skipped',
    });
  });
});

function noMemory() {
  return createRecentJudgments({ entries: 0, chars: 0 });
}

describe('when the store fails', () => {
  const kv = new FaultyKv();
  const app = createApp(createPlatformFactory({ judgmentStoreOf: () => createKvJudgmentStore(kv, noMemory()) }));
  const request = async (body: unknown) => app.request(post('/v1/score', body), undefined, { ...env });
  beforeEach(() => {
    kv.fault = 'none';
    kv.values.clear();
  });

  it('judges anew what cannot be read, and reports it', async () => {
    const first = await scoreOf(await request(rollout));
    kv.fault = 'reads_fail';
    const second = await scoreOf(await request(rollout));
    expect(second.reward).toBe(first.reward);
    for (const judgment of second.judgments) {
      expect(judgment).toMatchObject({
        cached: false,
        stored: true,
        store_problem: { reason: 'judgment_store_failed' },
      });
    }
  });

  it('does not take a failed read for a missing judgment', async () => {
    await request(rollout);
    kv.fault = 'reads_fail';
    const reply = await request({ ...rollout, judgments: 'only' });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(await problemOf(reply, 503, 'judgment_store_failed')).toMatchObject({ retryable: true });
    const unscored = await scoreOf(await request({ ...rollout, judgments: 'only', on_judge_failure: 'null' }));
    expect(unscored).toMatchObject({ reward: null, reason: 'judgment_store_failed' });
  });

  it('answers the score although it cannot be stored, and says so', async () => {
    kv.fault = 'writes_fail';
    const scored = await scoreOf(await request(rollout));
    expect(scored.reward).not.toBeNull();
    for (const judgment of scored.judgments) {
      expect(judgment).toMatchObject({
        cached: false,
        stored: false,
        failure: null,
        store_problem: { reason: 'judgment_store_failed' },
      });
    }
    expect(kv.values.size).toBe(0);
  });

  it('judges twice on a stale miss, to the same end', async () => {
    const first = await scoreOf(await request(rollout));
    kv.fault = 'stale_miss';
    const second = await scoreOf(await request(rollout));
    expect([second.reward, second.judgments[0]?.cached]).toEqual([first.reward, false]);
  });

  it('never uses an invalid record: judged anew and replaced with "use", refused with "only"', async () => {
    const { reward, judgments } = await scoreOf(await request(rollout));
    const spoil: readonly ((text: string) => string)[] = [
      () => 'not JSON',
      (text) => text.replaceAll('"score":', '"grade":'),
      // Well formed, under its own key, and yet no answer to the request.
      (text) =>
        text
          .replace(/"criteria":\[[^\]]*\]/, '"criteria":[]')
          .replace(/"claims":\[.*\],"statements"/, '"claims":[],"statements"'),
    ];
    for (const change of spoil) {
      for (const [name, text] of kv.values) kv.values.set(name, change(text));
      const refused = await problemOf(await request({ ...rollout, judgments: 'only' }), 503, 'judgment_record_invalid');
      expect(refused.retryable).toBe(false);
      const again = await scoreOf(await request(rollout));
      expect(again.reward).toBe(reward);
      expect(again.judgments[0]).toMatchObject({
        key: judgments[0]?.key,
        cached: false,
        stored: true,
        store_problem: { reason: 'judgment_record_invalid' },
      });
      expect((await scoreOf(await request({ ...rollout, judgments: 'only' }))).reward).toBe(reward);
    }
  });
});

describe('the Worker', () => {
  it('touches no store for a verification', async () => {
    const judgmentStoreOf = () => {
      throw new Error('no store here');
    };
    const app = createApp(createPlatformFactory({ judgmentStoreOf }));
    const body = { response: ROLLOUT.response, tool_output: TOOL_OUTPUT };
    expect((await app.request(post('/v1/verify?evidence=lexical', body), undefined, { ...env })).status).toBe(200);
  });

  it('scores requests that arrive together', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () =>
        exports.default.fetch(new Request(`${ORIGIN}/v1/score`, post('/v1/score', rollout))),
      ),
    );
    const rewards = await Promise.all(replies.map(async (reply) => (await scoreOf(reply)).reward));
    expect(new Set(rewards).size).toBe(1);
  });
});
