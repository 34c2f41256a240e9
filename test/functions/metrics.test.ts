/** `GET /metrics`: what desks, isolates and ledgers report, and that totals only grow. */
import {
  createExecutionContext,
  evictAllDurableObjects,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import worker from '../../functions/index.ts';
import { METRICS } from '../../functions/metrics/catalogue.ts';
import { Counts, MAX_SERIES } from '../../functions/metrics/counts.ts';
import { FigureTotals } from '../../functions/metrics/figure-totals.ts';
import type { Backends } from '../../service/backends/configured.ts';
import type { JudgeReply } from '../../src/judgments/judge.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, sha256Hex } from './api.ts';
import {
  COUNTING,
  counting,
  countingBackends,
  onSharedKv,
  resetCounting,
  runDeskAlarms,
  sharedKv,
} from './desk-judge.ts';
import { type Page, readPage } from './open-metrics.ts';
import { replaceParts } from './worker.ts';

/** The counting judge over one connection for each call, as a judge behind a server. */
function connectedBackends(): Backends {
  const { default: backend, ...others } = countingBackends();
  if (backend === null) throw new Error('the counting judge is the default');
  const connected: Backends['default'] = {
    ...backend,
    judge: {
      ...backend.judge,
      context_tokens: null,
      async judge(request, options): Promise<JudgeReply> {
        const leave = await options.connections?.enter();
        leave?.();
        return backend.judge.judge(request, options);
      },
    },
  };
  return { ...others, named: [connected], default: connected };
}

/** What was written into the dataset that stands in for Analytics Engine. */
const points: AnalyticsEngineDataPoint[] = [];
const ANALYTICS: AnalyticsEngineDataset = { writeDataPoint: (point) => points.push(point ?? {}) };

replaceParts({
  backendsOf: connectedBackends,
  environmentOf: (environment) => ({ ...onSharedKv(environment), ANALYTICS }),
});

let replicate = 0;

// The clock stands still, so no isolate sends its counts on its own while a test compares two pages.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});

afterAll(() => {
  vi.useRealTimers();
});

beforeEach(() => {
  resetCounting();
  sharedKv.refusesWrites = false;
});

/** `text()` warns of every media type that it does not know. */
async function textOf(reply: Response): Promise<string> {
  return new TextDecoder().decode(await reply.arrayBuffer());
}

async function page(): Promise<Page> {
  const reply = await send(new Request(`${ORIGIN}/metrics`));
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  return readPage(await textOf(reply));
}

/** How much each sample grew during the work. */
async function growth(work: () => Promise<unknown>): Promise<(sample: string) => number> {
  const before = await page();
  await work();
  const after = await page();
  return (sample) => after.value(sample) - before.value(sample);
}

function fresh(): object {
  return { ...ROLLOUT, replicate: replicate++ };
}

describe('the page', () => {
  it('has every family, also before anything was counted', async () => {
    const { types } = await page();
    expect([...types]).toEqual(Object.entries(METRICS).map(([name, { type }]) => [name, type]));
  });

  it('counts judge calls, tokens, times and where judgments came from', async () => {
    const body = fresh();
    const grown = await growth(async () => {
      await score(body);
      await score(body);
    });
    const judge = `judge="${COUNTING}"`;
    expect(grown(`citeward_judge_calls_total{${judge},outcome="ok"}`)).toBe(2);
    expect(grown(`citeward_judge_tokens_total{${judge},direction="prompt"}`)).toBe(200);
    expect(grown(`citeward_judge_tokens_total{${judge},direction="completion"}`)).toBe(20);
    for (const times of ['call', 'header', 'slot_wait', 'connection_wait']) {
      expect(grown(`citeward_judge_${times}_seconds_count{${judge}}`), times).toBe(2);
      expect(grown(`citeward_judge_${times}_seconds_bucket{${judge},le="+Inf"}`), times).toBe(2);
    }
    expect(grown('citeward_desk_lookups_total{source="judge"}')).toBe(2);
    expect(grown('citeward_rollouts_total{outcome="scored"}')).toBe(2);
    expect(grown('citeward_requests_total{route="/v1/score",status="200",reason=""}')).toBe(2);
    // The page counts itself, once its reply exists.
    expect(grown('citeward_requests_total{route="/metrics",status="200",reason=""}')).toBe(1);
  });

  it('shows failures by reason and open breakers', async () => {
    counting.answer = async () => ({
      ok: false,
      failure: { reason: 'judge_unreachable', detail: 'as the test wants', retryable: true },
    });
    const grown = await growth(async () => {
      for (let n = 0; n < 24; n++) await (await send(post('/v1/score', fresh()))).arrayBuffer();
    });
    const judge = `judge="${COUNTING}"`;
    const refused = grown(`citeward_judge_calls_total{${judge},outcome="judge_circuit_open"}`);
    const unreachable = grown(`citeward_judge_calls_total{${judge},outcome="judge_unreachable"}`);
    expect(refused).toBeGreaterThan(0);
    expect(unreachable).toBeGreaterThanOrEqual(5);
    expect(refused + unreachable).toBe(grown('citeward_desk_lookups_total{source="judge"}'));
    const { value, samplesOf } = await page();
    expect(value(`citeward_judge_breakers_open{${judge}}`)).toBeGreaterThan(0);
    expect(value(`citeward_judge_running{${judge}}`)).toBe(0);
    expect(value(`citeward_judge_slots{${judge}}`)).toBe(counting.slots);
    const failed = samplesOf('citeward_requests').filter((sample) => sample.includes('reason="judge'));
    expect(failed.length).toBeGreaterThan(0);
    // A circuit that is open for other tests would refuse their calls.
    await evictAllDurableObjects();
  });

  it('shows the backlog while KV refuses writes', async () => {
    // The platform may run the alarms of desks, too, so the figures are waited for.
    const backlogIs = (size: number) =>
      vi.waitFor(
        async () => {
          await runDeskAlarms();
          const { value } = await page();
          expect(value('citeward_desk_kv_backlog')).toBe(size);
          expect(value('citeward_desk_kv_backlog_highest') > 0).toBe(size > 0);
        },
        { timeout: 20_000, interval: 200 },
      );
    await backlogIs(0);
    const grown = await growth(async () => {
      sharedKv.refusesWrites = true;
      await score(fresh());
      await backlogIs(2);
      await vi.waitFor(async () => {
        expect((await page()).value('citeward_kv_writes_total{outcome="failed"}')).toBeGreaterThan(0);
      }, 20_000);
      sharedKv.refusesWrites = false;
      await backlogIs(0);
    });
    expect(grown('citeward_kv_writes_total{outcome="ok"}')).toBe(1);
    expect(grown('citeward_kv_writes_total{outcome="failed"}')).toBeGreaterThan(0);
  });

  it('shows queues, and the size of ledgers that are recorded in', async () => {
    const before = (await page()).value('citeward_ledger_shards_active');
    await score({ ...fresh(), run: { id: 'measured', step: 0, group: 'g', sample: 0 } });
    const { value } = await page();
    expect(value('citeward_ledger_shards_active')).toBe(before + 1);
    expect(value('citeward_ledger_bytes')).toBeGreaterThan(0);
    expect(value('citeward_ledger_bytes_highest')).toBeLessThanOrEqual(value('citeward_ledger_bytes'));
    expect((await page()).samplesOf('citeward_queue_backlog')).toHaveLength(2);
  });

  it('keeps the totals over a restart of every object', async () => {
    await score(fresh());
    const before = await page();
    await evictAllDurableObjects();
    const after = await page();
    const sample = `citeward_judge_calls_total{judge="${COUNTING}",outcome="ok"}`;
    expect(before.value(sample)).toBeGreaterThan(0);
    expect(after.value(sample)).toBe(before.value(sample));
  });

  it('has no label with text of a caller', async () => {
    for (const path of ['/nowhere', '/v1/runs/secret-word', '/v1/secret-word']) {
      await (await send(new Request(ORIGIN + path))).arrayBuffer();
    }
    const { samplesOf } = await page();
    expect(samplesOf('citeward_requests').join('\n')).not.toContain('secret-word');
    expect(samplesOf('citeward_requests').join('\n')).toContain('route="none"');
  });

  it('says which desks are missing, and fails only without the totals', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const without = (missing: number) =>
      new Proxy(env.JUDGE_DESK, {
        get: (objects, name) => {
          if (name !== 'getByName') return Reflect.get(objects, name);
          return (desk: string) => (desk === `desk-${missing}` ? {} : objects.getByName(desk));
        },
      });
    const some = await request({ JUDGE_DESK: without(3) });
    expect(readPage(await textOf(some)).value('citeward_desks_unanswered')).toBe(1);
    await problemOf(await request({ JUDGE_DESK: without(0) }), 503, 'storage_failed');
    vi.restoreAllMocks();
  });

  it('needs the scope metrics, which admin does not include', async () => {
    const API_KEYS = JSON.stringify({
      m: { sha256: await sha256Hex('m'), scopes: ['metrics'] },
      a: { sha256: await sha256Hex('a'), scopes: ['verify', 'score', 'generate', 'batch', 'admin'] },
    });
    expect((await request({ API_KEYS }, { authorization: 'Bearer m' })).status).toBe(200);
    await problemOf(await request({ API_KEYS }, { authorization: 'Bearer a' }), 403, 'scope_missing');
    await problemOf(await request({ API_KEYS }), 401, 'key_missing');
  });
});

async function request(changed: object, headers: Record<string, string> = {}): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(`${ORIGIN}/metrics`, { headers });
  const reply = await worker.fetch(incoming, { ...env, ...changed }, context);
  await waitOnExecutionContext(context);
  return reply;
}

describe('Analytics Engine', () => {
  it('gets a data point for each request and judge call if a dataset is bound, and nothing of a caller', async () => {
    points.length = 0;
    await score({ ...fresh(), question: 'How long is the canary river?' });
    const judged = points.filter(({ indexes }) => indexes?.[0] === 'judge_call');
    expect(judged).toHaveLength(2);
    expect(judged[0]).toMatchObject({ blobs: [COUNTING, 'ok'], doubles: [expect.any(Number), 100, 10] });
    const requests = points.filter(({ indexes }) => indexes?.[0] === 'request');
    expect(requests).toEqual([
      {
        indexes: ['request'],
        blobs: ['/v1/score', '200', '', 'default', 'anonymous'],
        doubles: [expect.any(Number)],
      },
    ]);
    expect(JSON.stringify(points)).not.toContain('canary');
    // Without the binding a request works as before.
    expect((await request({ ALLOW_ANONYMOUS: 'true' })).status).toBe(200);
  });
});

describe('the totals', () => {
  it('bound the number of series, and count what they drop', async () => {
    const sizes = await runInDurableObject(env.JUDGE_DESK.getByName('bounded'), (_, { storage: { sql } }) => {
      const totals = new FigureTotals(sql);
      totals.add(Array.from({ length: MAX_SERIES + 5 }, (_one, n) => ({ sample: `s${n}`, value: 1 })));
      const read = totals.read();
      const again = new FigureTotals(sql).read();
      return { read: read.length, again: again.length, dropped: read.at(-1) };
    });
    expect(sizes).toEqual({
      read: MAX_SERIES + 1,
      again: MAX_SERIES + 1,
      dropped: { sample: 'citeward_series_dropped_total', value: 5 },
    });
  });

  it('of an isolate are moved once, and put back if they could not be moved', () => {
    const counts = new Counts();
    counts.count('citeward_dead_letters', []);
    counts.observe('citeward_judge_call_seconds', ['a "judge"\\'], 7);
    const drained = counts.drain();
    expect(counts.drain()).toEqual([]);
    counts.restore(drained);
    counts.count('citeward_dead_letters', [], 2);
    const samples = new Map(counts.drain().map(({ sample, value }) => [sample, value]));
    expect(samples.get('citeward_dead_letters_total')).toBe(3);
    expect(samples.get('citeward_judge_call_seconds_bucket{judge="a \\"judge\\"\\\\",le="5.0"}')).toBe(0);
    expect(samples.get('citeward_judge_call_seconds_bucket{judge="a \\"judge\\"\\\\",le="10.0"}')).toBe(1);
    expect(samples.get('citeward_judge_call_seconds_sum{judge="a \\"judge\\"\\\\"}')).toBe(7);
  });
});
