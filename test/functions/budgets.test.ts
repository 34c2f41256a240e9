/** Daily budgets of projects and rate limits of keys: what is refused, until when, and that nothing is overspent. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BudgetLeases } from '../../functions/desk/budget-leases.ts';
import { ProjectTable } from '../../functions/projects/project-table.ts';
import { StorageError } from '../../service/storage-error.ts';
import { batchSchema } from '../../src/wire/batches/batch.ts';
import { fileSchema } from '../../src/wire/files.ts';
import { projectSchema } from '../../src/wire/projects.ts';
import { createdKeySchema } from '../../src/wire/stored-keys.ts';
import { ORIGIN, post, problemOf, ROLLOUT, scoreOf, send } from './api.ts';
import { line } from './batch-api.ts';
import { counting, countingBackends, resetCounting } from './desk-judge.ts';
import { replaceParts } from './worker.ts';

/** Requests that the rate limit of each tier still admits. */
const room = { standard: Number.POSITIVE_INFINITY, high: Number.POSITIVE_INFINITY };
const limiter = (tier: 'standard' | 'high'): RateLimit => ({ limit: async () => ({ success: room[tier]-- > 0 }) });

replaceParts({
  backendsOf: countingBackends,
  environmentOf: (environment) => ({
    ...environment,
    RATE_LIMIT_STANDARD: limiter('standard'),
    RATE_LIMIT_HIGH: limiter('high'),
  }),
});

let projects = 0;
let replicate = 0;
const NOON = Date.UTC(2027, 0, 1, 12);

beforeEach(() => {
  resetCounting();
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
});

afterEach(() => {
  vi.useRealTimers();
});

type Budgets = { readonly judge_calls_per_day?: number | null; readonly judge_tokens_per_day?: number | null };

/** A new project with budgets: its key, and requests with it. */
async function project(budgets: Budgets, tier = 'standard') {
  const name = `budgets-${projects++}`;
  const change = { method: 'PATCH', body: JSON.stringify(budgets), headers: { 'content-type': 'application/json' } };
  expect((await send(new Request(`${ORIGIN}/v1/projects/${name}`, change))).status).toBe(200);
  const scopes = ['score', 'batch'];
  const made = await send(post('/v1/api-keys', { label: name, project: name, scopes, tier }));
  const { key } = createdKeySchema.parse(await made.json());
  const headers = { authorization: `Bearer ${key}` };
  return {
    name,
    headers,
    score: (body: object) => send(post('/v1/score', body, headers)),
    described: async () =>
      projectSchema.parse(await (await send(new Request(`${ORIGIN}/v1/projects/${name}`, { headers }))).json()),
  };
}

/** A rollout that needs two judgments which are not stored. */
// Other files judge the same rollout in this Worker, which remembers judgments: these replicates are only of this file.
const fresh = (fields: object = {}) => ({ ...ROLLOUT, replicate: 20_000 + ++replicate, ...fields });

describe('a budget of judge calls', () => {
  it('refuses what would exceed it, with its name, what is used and when it renews', async () => {
    const { score, described } = await project({ judge_calls_per_day: 4 });
    const first = fresh();
    const { reward } = await scoreOf(await score(first));
    await scoreOf(await score(fresh()));
    const reply = await score(fresh());
    expect(reply.headers.get('retry-after')).toBe(String(12 * 60 * 60));
    const problem = await problemOf(reply, 429, 'judge_budget_exhausted');
    const budget = { name: 'judge_calls_per_day', limit: 4, used: 4, renews_at: '2027-01-02T00:00:00.000Z' };
    expect(problem).toMatchObject({ retryable: true, budget });
    expect(counting.calls).toHaveLength(4);
    const { used_today, reserved, renews_at } = await described();
    expect(used_today.judge_calls + reserved.judge_calls).toBe(4);
    expect(renews_at).toBe('2027-01-02T00:00:00.000Z');
    // Stored judgments cost nothing.
    expect((await scoreOf(await score(first))).reward).toBe(reward);
  });

  it('is never a number', async () => {
    const { score } = await project({ judge_calls_per_day: 1 });
    const scored = await scoreOf(await score(fresh({ on_judge_failure: 'null' })));
    expect(scored).toMatchObject({ reward: null, status: 'unscored', reason: 'judge_budget_exhausted' });
  });

  it('renews at midnight, and is noticed when it is raised', async () => {
    const { name, score } = await project({ judge_calls_per_day: 2 });
    await scoreOf(await score(fresh()));
    await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
    vi.setSystemTime(NOON + 12 * 60 * 60 * 1000);
    await scoreOf(await score(fresh()));
    await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
    await new ProjectTable(env.DB).setBudgets(name, { judge_calls_per_day: 100, judge_tokens_per_day: null });
    vi.setSystemTime(Date.now() + 60_000);
    await scoreOf(await score(fresh()));
  });

  it('that was lowered, raised or removed binds the calls of five seconds later', { timeout: 40_000 }, async () => {
    const { name, score, described } = await project({ judge_calls_per_day: 10_000 });
    await scoreOf(await score(fresh()));
    const change = async (judge_calls_per_day: number | null) => {
      await new ProjectTable(env.DB).setBudgets(name, { judge_calls_per_day, judge_tokens_per_day: null });
      vi.setSystemTime(Date.now() + 5_000);
    };
    await change(2);
    counting.calls = [];
    await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
    expect(counting.calls).toEqual([]);
    // The other desks give back what they hold of the earlier budget.
    await vi.waitFor(async () => expect((await described()).reserved.judge_calls).toBe(0), { timeout: 20_000 });
    await change(4);
    await scoreOf(await score(fresh()));
    await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
    await change(null);
    await scoreOf(await score(fresh()));
  });

  it('given to a project that had none counts what was used before', { timeout: 40_000 }, async () => {
    const { name, score, described } = await project({});
    await scoreOf(await score(fresh()));
    await scoreOf(await score(fresh()));
    await vi.waitFor(async () => expect((await described()).used_today.judge_calls).toBe(4), {
      timeout: 20_000,
      interval: 200,
    });
    await new ProjectTable(env.DB).setBudgets(name, { judge_calls_per_day: 4, judge_tokens_per_day: null });
    vi.setSystemTime(Date.now() + 5_000);
    await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
  });

  it('is not exceeded by all desks together, and hardly left unused', async () => {
    const { score } = await project({ judge_calls_per_day: 200 });
    const replies = await Promise.all(Array.from({ length: 150 }, () => score(fresh())));
    const refused = replies.filter(({ status }) => status === 429).length;
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(refused).toBeGreaterThanOrEqual(50);
    expect(counting.calls.length).toBeLessThanOrEqual(200);
    expect(counting.calls.length).toBeGreaterThan(200 - 200 / 16);
  });

  it('does not refuse a project that joins the call of another', async () => {
    const [poor, rich] = [await project({ judge_calls_per_day: 1 }), await project({ judge_calls_per_day: null })];
    await poor.score(fresh());
    counting.calls = [];
    const same = fresh();
    const [refused, scored] = await Promise.all([poor.score(same), rich.score(same)]);
    expect((await scoreOf(scored)).reward).not.toBeNull();
    expect([200, 429]).toContain(refused.status);
    expect(counting.calls).toHaveLength(2);
  });

  it('makes the lines of a batch wait', async () => {
    const { score, headers } = await project({ judge_calls_per_day: 2 });
    await scoreOf(await score(fresh()));
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([`${line('1', fresh())}\n`]), 'in.jsonl');
    const sent = await send(new Request(`${ORIGIN}/v1/files`, { method: 'POST', headers, body: form }));
    const { id: input_file_id } = fileSchema.parse(await sent.json());
    const request = { input_file_id, endpoint: '/v1/score', completion_window: '24h' };
    const { id } = batchSchema.parse(await (await send(post('/v1/batches', request, headers))).json());
    await vi.waitFor(
      async () => {
        const reply = await send(new Request(`${ORIGIN}/v1/batches/${id}`, { headers }));
        const { progress, request_counts } = batchSchema.parse(await reply.json());
        expect(progress.chunks).toMatchObject({ waiting: 1, dead: 0 });
        expect(request_counts).toEqual({ total: 1, completed: 0, failed: 0 });
      },
      { timeout: 20_000, interval: 50 },
    );
  });
});

describe('a budget of judge tokens', () => {
  it('counts what the server reports, and is exceeded by the calls in progress at most', {
    timeout: 40_000,
  }, async () => {
    const { score, described } = await project({ judge_tokens_per_day: 1000 });
    const statuses: number[] = [];
    // The estimates of calls are far above their tokens, so desks reserve more at first than they use.
    const isUsedUp = async () => {
      vi.setSystemTime(Date.now() + 5_000);
      statuses.push((await score(fresh())).status);
      expect((await described()).used_today.judge_tokens).toBeGreaterThanOrEqual(1000);
    };
    await vi.waitFor(isUsedUp, { timeout: 30_000, interval: 200 });
    expect(statuses).toContain(200);
    // The judge reports 110 tokens for each call.
    expect(counting.calls.length).toBeGreaterThanOrEqual(9);
    expect(counting.calls.length).toBeLessThanOrEqual(12);
    const problem = await problemOf(await score(fresh()), 429, 'judge_budget_exhausted');
    expect(problem.budget).toMatchObject({ name: 'judge_tokens_per_day', limit: 1000 });
  });
});

describe('what is shown as used', () => {
  const none = { judge_calls: 0, judge_tokens: 0 };

  it.each([
    ['without a budget', {}],
    ['with both budgets', { judge_calls_per_day: 6_400, judge_tokens_per_day: 1_000_000 }],
  ])('is what was used, %s; what is reserved is apart, and given back', { timeout: 40_000 }, async (_, budgets) => {
    const { score, described } = await project(budgets);
    for (let n = 0; n < 4; n++) await scoreOf(await score(fresh()));
    const { used_today, reserved } = await described();
    expect(used_today.judge_calls).toBeLessThanOrEqual(8);
    expect(reserved.judge_tokens > 0).toBe('judge_tokens_per_day' in budgets);
    vi.setSystemTime(Date.now() + 10_000);
    // The judge reports 110 tokens for each call.
    const all = { used_today: { judge_calls: 8, judge_tokens: 880 }, reserved: none };
    await vi.waitFor(async () => expect(await described()).toMatchObject(all), { timeout: 20_000, interval: 200 });
  });

  it('is of the project default, too', { timeout: 40_000 }, async () => {
    const described = async () =>
      projectSchema.parse(await (await send(new Request(`${ORIGIN}/v1/projects/default`))).json());
    const before = (await described()).used_today.judge_calls;
    await scoreOf(await send(post('/v1/score', fresh())));
    const all = { used_today: { judge_calls: before + 2 }, reserved: none };
    await vi.waitFor(async () => expect(await described()).toMatchObject(all), { timeout: 20_000, interval: 200 });
  });
});

describe('a reservation', () => {
  const payer = { project: 'reserving', budgets: { judge_calls_per_day: 64_000, judge_tokens_per_day: null } };

  it('outlives a database that does not answer', async () => {
    const table = new ProjectTable(env.DB);
    let fails = false;
    const exchange: ProjectTable['exchange'] = (...args) =>
      fails ? Promise.reject(new StorageError('d1', 'projects_exchange', null)) : table.exchange(...args);
    const leases = new BudgetLeases({ table: { exchange }, now: () => Date.now() });
    const unlimited = { project: 'no-limit', budgets: { judge_calls_per_day: null, judge_tokens_per_day: null } };
    for (const one of [payer, unlimited]) expect((await leases.admit(one, 10, 4)).ok).toBe(true);
    fails = true;
    vi.setSystemTime(Date.now() + 60_000);
    for (const one of [payer, unlimited]) expect((await leases.admit(one, 10, 4)).ok).toBe(true);
    const unread = await leases.admit({ ...unlimited, project: 'unread' }, 10, 4);
    expect(unread).toMatchObject({ ok: false, failure: { reason: 'judge_capacity' } });
    expect((await leases.admit({ ...unlimited, project: 'default' }, 10, 4)).ok).toBe(true);
  });

  it('costs one query for many calls, and what is unused is given back', async () => {
    const table = new ProjectTable(env.DB);
    let queries = 0;
    const counted = {
      exchange: (...args: Parameters<ProjectTable['exchange']>) => {
        queries++;
        return table.exchange(...args);
      },
    };
    vi.useRealTimers();
    const leases = new BudgetLeases({ table: counted, now: () => Date.now(), reportMs: 5 });
    for (let n = 0; n < 400; n++) {
      const admitted = await leases.admit(payer, 10, 4);
      if (!admitted.ok) throw new Error(admitted.failure.reason);
      if (n === 0) admitted.allowance.cancel();
      else admitted.allowance.spend(7);
    }
    expect(queries).toBe(1);
    const day = new Date().toISOString().slice(0, 10);
    await vi.waitFor(async () => {
      const used = { calls: 399, tokens: 399 * 7 };
      expect(await table.use('reserving', day)).toEqual({ used, reserved: { calls: 0, tokens: 0 } });
    }, 20_000);
  });
});

describe('a rate limit', () => {
  afterEach(() => {
    room.standard = Number.POSITIVE_INFINITY;
    room.high = Number.POSITIVE_INFINITY;
  });

  it('belongs to the tier of the key, and says when to retry', async () => {
    const standard = await project({});
    const high = await project({}, 'high');
    room.standard = 2;
    const described = (headers: Record<string, string>) => send(new Request(`${ORIGIN}/v1/recipes`, { headers }));
    expect((await described(standard.headers)).status).toBe(200);
    expect((await described(standard.headers)).status).toBe(200);
    const reply = await described(standard.headers);
    expect(reply.headers.get('retry-after')).toBe('10');
    await problemOf(reply, 429, 'rate_limited');
    expect((await described(high.headers)).status).toBe(200);
    expect((await send(new Request(`${ORIGIN}/healthz`))).status).toBe(200);
  });
});
