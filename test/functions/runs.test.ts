/** The ledger of runs through the API: each rollout is recorded once, and a deletion leaves nothing. */
import {
  createExecutionContext,
  evictAllDurableObjects,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import worker from '../../functions/index.ts';
import { LEDGER_MESSAGE_VERSION, type PageCall } from '../../functions/ledger/ledger-messages.ts';
import { gunzipMember, unpackLines } from '../../functions/ledger/packed-lines.ts';
import { findRun } from '../../functions/ledger/run-list.ts';
import { type LedgerStores, recordRollouts } from '../../functions/ledger/run-recording.ts';
import { clearRuns, removeRun } from '../../functions/ledger/run-removal.ts';
import { LEDGER_PAGE_ROWS, readGroups, readRows } from '../../functions/ledger/run-rows.ts';
import { lifeOf, type NewRollout, type StoredRun } from '../../service/ledger-port.ts';
import { sha256 } from '../../src/digest.ts';
import { compose, RECIPES } from '../../src/families/composers.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import { rolloutCounts } from '../../src/runs/recorded-score.ts';
import { recordedCheckSchema, runAlertsSchema } from '../../src/wire/alerts-reply.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import {
  type RunRollout,
  rolloutListSchema,
  runDeletionSchema,
  runDetailSchema,
  runListSchema,
} from '../../src/wire/runs.ts';
import type { RunRecord } from '../../src/wire/score.ts';
import { type Detour, detoured, failing, unacknowledged } from '../contract/detoured-binding.ts';
import { Faults } from '../contract/faulty-bindings.ts';
import { keysOf } from '../contract/file-storage.case.ts';
import { syntheticRunLines } from '../unit/runs/synthetic-rows.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, scoreOf, send, wrongFields } from './api.ts';
import { ended, line, outputLines, submit } from './batch-api.ts';

const get = (path: string): Promise<Response> => send(new Request(ORIGIN + path));
const remove = (path: string): Promise<Response> => send(new Request(ORIGIN + path, { method: 'DELETE' }));

async function ok<T>(schema: { parse(value: unknown): T }, reply: Promise<Response>): Promise<T> {
  const text = await (await reply).text();
  expect((await reply).status, text).toBe(200);
  return schema.parse(JSON.parse(text));
}

/** A rollout at a place. */
const at = (id: string, step: number | null, group: string | number, sample: string | number, fields: object = {}) => ({
  ...ROLLOUT,
  run: { id, step, group, sample },
  ...fields,
});

async function record(body: object): Promise<RunRecord> {
  const { run } = await score(body);
  if (run === undefined) throw new Error('the reply names no run');
  return run;
}

const rolloutsOf = (id: string, query = '') => ok(rolloutListSchema, get(`/v1/runs/${id}/rollouts${query}`));
const detailOf = (id: string, query = '') => ok(runDetailSchema, get(`/v1/runs/${id}${query}`));

const STORES: LedgerStores = { project: 'default', db: env.DB, bucket: env.FILES, objects: env.RUN_LEDGER, shards: 1 };

/** A page of everything. */
const EVERYTHING: PageCall = {
  v: LEDGER_MESSAGE_VERSION,
  fromStep: null,
  toStep: null,
  group: null,
  sample: null,
  attempts: 'all',
  after: null,
  limit: 10,
};

async function runNamed(id: string): Promise<StoredRun> {
  const run = await findRun(env.DB, 'default', id);
  if (run === null) throw new Error(`there is no run ${id}`);
  return run;
}

/** Runs a statement in every object that holds or held a part of a run. */
async function inObjects<T>(work: (sql: SqlStorage) => Promise<T>): Promise<T[]> {
  const ids = await listDurableObjectIds(env.RUN_LEDGER);
  const results = ids.map((id) =>
    runInDurableObject(env.RUN_LEDGER.get(id), async (_ledger, { storage: { sql } }) => {
      // An object has no tables once its mark is gone.
      const isThere = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'records_v1'").toArray().length > 0;
      return isThere ? [await work(sql)] : [];
    }),
  );
  return (await Promise.all(results)).flat();
}

async function recordsKept(): Promise<number> {
  const counts = await inObjects(async (sql) => Number(sql.exec('SELECT count(*) AS n FROM records_v1').one()['n']));
  return counts.reduce((sum, count) => sum + count, 0);
}

const runsKept = async () => Number(await env.DB.prepare('SELECT count(*) AS n FROM run_list').first('n'));
const keptKeys = async () => (await keysOf(env.FILES)).filter((key) => key.startsWith('runs/'));
/** Without segments, which the tests of sealing look at. */
const runKeys = async () => (await keptKeys()).filter((key) => !key.includes('/segments/'));

async function nothingIsLeft(): Promise<void> {
  expect([await runsKept(), await recordsKept()]).toEqual([0, 0]);
  expect(await keptKeys()).toEqual([]);
}

const shardsOfRun = async (id: string) => ({ ...STORES, life: lifeOf(await runNamed(id)) });

/** The text of a segment: each member begins with the magic number of gzip, and a byte that means DEFLATE. */
async function textOfSegment(segment: ArrayBuffer): Promise<string> {
  const bytes = new Uint8Array(segment);
  const starts = [...bytes.keys()].filter((at) => [0x1f, 0x8b, 8, 0].every((byte, n) => bytes[at + n] === byte));
  const borders = [...starts, bytes.length];
  const members = borders.slice(1).map((end, n) => gunzipMember(bytes.slice(borders[n], end)));
  return (await Promise.all(members)).map((member) => new TextDecoder().decode(member)).join('');
}

/** Everything that any store holds of runs, as text. */
async function everythingKept(): Promise<string> {
  const { results } = await env.DB.prepare('SELECT * FROM run_list').all();
  const records = await inObjects(async (sql) => {
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE sql LIKE '%TABLE%_v1%'").toArray();
    const rows = tables.flatMap(({ name }) => sql.exec(`SELECT * FROM ${name}`).toArray());
    const texts = rows
      .flatMap((row) => Object.values(row))
      .map((value) => {
        return value instanceof ArrayBuffer ? unpackLines(value) : value;
      });
    return JSON.stringify(await Promise.all(texts));
  });
  const objects = (await keptKeys()).map(async (key) => {
    const bytes = await (await env.FILES.get(key))?.arrayBuffer();
    if (bytes === undefined) return key;
    return key + (key.endsWith('.gz') ? await textOfSegment(bytes) : JSON.stringify(await unpackLines(bytes)));
  });
  return [JSON.stringify(results), ...records, ...(await Promise.all(objects))].join('');
}

/** Sends a request to a Worker with other bindings or settings. */
async function sendTo(
  environment: typeof env & { RUN_RETENTION_DAYS?: string; RUN_SHARDS?: string },
  request: Request,
): Promise<Response> {
  const context = createExecutionContext();
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  const reply = await worker.fetch(incoming, environment, context);
  await waitOnExecutionContext(context);
  return reply;
}

/** A group of rewards that differ: the first response is empty of citations. */
const group = (id: string, step: number, name: string, responses: readonly string[], fields: object = {}) => {
  const { response: _response, ...shared } = ROLLOUT;
  return { ...shared, responses, run: { id, step, group: name }, ...fields };
};

const GOOD = ROLLOUT.response;
const BAD = '<answer>The Aare ends in Italy.</answer>';

beforeEach(async () => {
  const { runs } = await ok(runListSchema, get('/v1/runs?limit=100'));
  for (const { id } of runs) await removeRun(STORES, id, Date.now());
  await nothingIsLeft();
});

describe('a rollout with a run', () => {
  it('is recorded with what compose reads, its recipe and its judgments, and the reply says where', async () => {
    const reply = await score(at('r', 3, 7, 'a'));
    expect(reply.run).toEqual({ id: 'r', step: 3, group: '7', sample: 'a', attempt: 0, status: 'recorded' });
    const { rollouts, next } = await rolloutsOf('r', '?detail=true');
    expect(next).toBeNull();
    expect(rollouts).toHaveLength(1);
    const [row] = rollouts;
    expect(row).toMatchObject({ run: 'r', step: 3, group: '7', sample: 'a', attempt: 0, grouping: 'given' });
    expect(row).toMatchObject({ reward: reply.reward, reason: null, recipe: reply.recipe.digest });
    expect(row?.judgments.map(({ key }) => key)).toEqual(reply.judgments.map(({ key }) => key));
    expect(row?.facts).toMatchObject({
      family: 'refiner',
      rubric: { status: 'scored' },
      citation: { status: 'scored' },
    });
    expect(row?.detail?.report).toMatchObject({ reward: reply.reward, findings: reply.findings });
  });

  it('is one row, however often and however concurrently it is sent', async () => {
    const statuses = await Promise.all(Array.from({ length: 6 }, () => record(at('r', 0, 'g', 's'))));
    expect(statuses.map(({ status }) => status).sort()).toEqual(['recorded', ...Array(5).fill('unchanged')]);
    expect(statuses.every(({ attempt }) => attempt === 0)).toBe(true);
    expect(await record(at('r', 0, 'g', 's'))).toMatchObject({ status: 'unchanged', attempt: 0 });
    expect([await recordsKept(), await runsKept(), (await detailOf('r')).rollouts]).toEqual([1, 1, 1]);
    expect(await runKeys()).toEqual([]);
  });

  it('may have no step, but only if the request says so', async () => {
    expect(await record(at('r', null, 'g', 's'))).toMatchObject({ step: null, status: 'recorded', attempt: 0 });
    expect(await record(at('r', null, 'g', 's'))).toMatchObject({ step: null, status: 'unchanged', attempt: 0 });
    expect(await record(at('r', 0, 'g', 's'))).toMatchObject({ step: 0, status: 'recorded', attempt: 0 });
    const { responses, run, ...shared } = group('r', 0, 'h', [GOOD, BAD]);
    await ok(groupResponseSchema, send(post('/v1/groups', { ...shared, responses, run: { ...run, step: null } })));
    expect((await rolloutsOf('r')).rollouts.map(({ step, group: name }) => [step, name])).toEqual([
      [null, 'g'],
      [null, 'h'],
      [null, 'h'],
      [0, 'g'],
    ]);
    const unsaid = post('/v1/score', { ...ROLLOUT, run: { id: 'r', group: 'g', sample: 's' } });
    expect(await wrongFields(await send(unsaid))).toEqual(['run.step']);
  });

  it('with other content there is a new attempt, which counts', async () => {
    await record(at('r', 0, 'g', 's'));
    expect(await record(at('r', 0, 'g', 's', { response: BAD }))).toMatchObject({ status: 'recorded', attempt: 1 });
    // A late repetition of an earlier recording does not change the latest attempt.
    expect(await record(at('r', 0, 'g', 's'))).toMatchObject({ status: 'unchanged', attempt: 0 });
    expect((await rolloutsOf('r')).rollouts.map(({ attempt }) => attempt)).toEqual([1]);
    expect((await rolloutsOf('r', '?attempts=all')).rollouts.map(({ attempt }) => attempt)).toEqual([0, 1]);
    // Recipe, judge and replicate are content; what a failure becomes is not.
    expect(await record(at('r', 0, 'g', 's', { response: BAD, replicate: 1 }))).toMatchObject({ attempt: 2 });
    const patient = { response: BAD, on_judge_failure: 'null' };
    expect(await record(at('r', 0, 'g', 's', patient))).toMatchObject({ status: 'unchanged', attempt: 1 });
  });

  it('is replaced by a more complete recording, never by a less complete one', async () => {
    // The same content, once without its judgments.
    expect(await record(at('r', 0, 'g', 's', { judgments: 'skip' }))).toMatchObject({ status: 'recorded', attempt: 0 });
    const before = (await rolloutsOf('r', '?detail=true')).rollouts[0];
    expect(before).toMatchObject({ reward: null, reason: 'judgment_skipped', judgments: [] });
    expect(await record(at('r', 0, 'g', 's'))).toMatchObject({ status: 'recorded', attempt: 0 });
    expect(await record(at('r', 0, 'g', 's', { judgments: 'skip' }))).toMatchObject({
      status: 'unchanged',
      attempt: 0,
    });
    const { rollouts } = await rolloutsOf('r', '?attempts=all&detail=true');
    expect(rollouts).toHaveLength(1);
    expect(rollouts[0]?.reward).toEqual(expect.any(Number));
    expect(rollouts[0]?.detail?.report).toMatchObject({ reward: rollouts[0]?.reward });
  });

  it.each([0, 1])(
    'is measured in full with a citation weight of %s, so that alerts and other weights have it',
    async (weight) => {
      const recipe = { base: ROLLOUT.recipe, citation_weight: weight };
      await record(at('r', 0, 'g', 's', { recipe }));
      const [row] = (await rolloutsOf('r')).rollouts;
      // The same rollout outside a run is asked one question less.
      expect((await score({ ...ROLLOUT, recipe })).judgments).toHaveLength((row?.judgments.length ?? 0) - 1);
      expect(row?.facts).toMatchObject({ citation: { status: 'scored' }, rubric: { status: 'scored' } });
    },
  );

  it('stands at a place that the request names in full', async () => {
    const run = { id: 'r', step: 0, group: 'g', sample: 's' };
    for (const [wrong, path] of [
      [{ ...run, id: 'a b' }, 'run.id'],
      [{ ...run, step: -1 }, 'run.step'],
      [{ ...run, group: '' }, 'run.group'],
      [{ ...run, sample: 'a\0b' }, 'run.sample'],
      [{ ...run, sample: '\ud800' }, 'run.sample'],
      [{ id: 'r', step: 0, group: 'g' }, 'run.sample'],
    ] as const) {
      expect(await wrongFields(await send(post('/v1/score', { ...ROLLOUT, run: wrong })))).toEqual([path]);
    }
    expect(await wrongFields(await send(post('/v1/score', { ...ROLLOUT, store_text: true })))).toEqual(['store_text']);
    const other = {
      question: 'q',
      response: 'a',
      reference: 'a',
      entities: ['a'],
      finish_reason: 'stop',
      recipe: 'longtrace-rl',
    };
    await record(at('r', 0, 'g', 's'));
    expect(await wrongFields(await send(post('/v1/score', { ...other, run })))).toEqual(['run.id']);
  });
});

describe('a group with a run', () => {
  it('is recorded in one go, and read back by step and group', async () => {
    const bodies = [1, 0].flatMap((step) => ['b', 'a'].map((name) => group('r', step, name, [GOOD, BAD])));
    for (const body of bodies) {
      const reply = await ok(groupResponseSchema, send(post('/v1/groups', body)));
      expect(reply.members.map(({ run }) => [run?.sample, run?.attempt, run?.status])).toEqual([
        ['0', 0, 'recorded'],
        ['1', 0, 'recorded'],
      ]);
    }
    // One record a request.
    expect([await recordsKept(), await runKeys()]).toEqual([4, []]);
    const again = await ok(groupResponseSchema, send(post('/v1/groups', bodies[0])));
    expect(again.members.map(({ run }) => run?.status)).toEqual(['unchanged', 'unchanged']);

    const read: unknown[] = [];
    for await (const { step, group: name, rows } of readGroups(await shardsOfRun('r'), {})) {
      read.push([step, name, rows.map(({ sample }) => sample)]);
    }
    const samples = ['0', '1'];
    expect(read).toEqual([
      [0, 'a', samples],
      [0, 'b', samples],
      [1, 'a', samples],
      [1, 'b', samples],
    ]);
  });

  it('names its samples, which have to differ', async () => {
    const body = group('r', 0, 'g', [GOOD, BAD]);
    for (const samples of [['x'], ['x', 'x']]) {
      const reply = await send(post('/v1/groups', { ...body, run: { ...body.run, samples } }));
      expect(await wrongFields(reply)).toEqual(['run.samples']);
    }
    await ok(groupResponseSchema, send(post('/v1/groups', { ...body, run: { ...body.run, samples: ['x', 7] } })));
    expect((await rolloutsOf('r')).rollouts.map(({ sample }) => sample)).toEqual(['7', 'x']);
  });

  it('is summed up step by step', async () => {
    await ok(groupResponseSchema, send(post('/v1/groups', group('r', 4, 'a', [GOOD, BAD]))));
    await ok(groupResponseSchema, send(post('/v1/groups', group('r', 4, 'b', [BAD, BAD]))));
    await ok(groupResponseSchema, send(post('/v1/groups', group('r', 5, 'a', [GOOD, GOOD], { judgments: 'skip' }))));
    const rows = (await rolloutsOf('r', '?step=4')).rollouts;
    const rewards = rows.map(({ reward }) => reward ?? Number.NaN);
    const detail = await detailOf('r');
    expect(detail).toMatchObject({ family: 'refiner', first_step: 4, last_step: 5, rollouts: 6, next_step: null });
    expect(detail.recipes.map(({ name }) => name)).toEqual([ROLLOUT.recipe]);
    const [four, five] = detail.steps;
    expect(four).toMatchObject({ step: 4, groups: 2, rollouts: 4, scored: 4, unscored: {}, judge_failures: 0 });
    expect(four?.reward.mean).toBeCloseTo(rewards.reduce((sum, reward) => sum + reward, 0) / 4, 12);
    expect(four?.reward).toMatchObject({ min: Math.min(...rewards), max: Math.max(...rewards) });
    expect(four?.degenerate).toEqual({ groups: 1, share: 0.5, reasons: { all_equal: 1 } });
    expect(four?.spread).toMatchObject({ groups: 2 });
    expect(Object.keys(four?.components ?? {})).toEqual(['rubric', 'citation', 'format']);
    // Equal answers are one judgment, made once.
    expect(four?.judgments.cached).toBeGreaterThan(0);
    expect(four?.claims).toEqual({ rollouts: 4, mean: four?.claims.mean });
    expect(four?.claims.mean).toBeGreaterThan(0);
    expect(four?.lengths.chars).toEqual({ rollouts: 4, mean: (GOOD.length + 3 * BAD.length) / 4 });
    expect(four?.findings.rollouts).toBe(4);
    expect(four?.findings.reasons['citation_id_unknown']).toBeGreaterThan(0);
    expect(four?.criteria['positive_1']).toMatchObject({ rollouts: 4 });
    expect(five).toMatchObject({
      claims: { rollouts: 0, mean: null },
      criteria: {},
      lengths: { chars: { rollouts: 2 } },
    });
    expect(five).toMatchObject({ step: 5, scored: 0, unscored: { judgment_skipped: 2 }, judge_failures: 0 });
    expect((await detailOf('r', '?limit=1')).next_step).toBe(5);
    expect((await detailOf('r', '?limit=1&from_step=5')).steps.map(({ step }) => step)).toEqual([5]);
  });
});

describe('what is kept', () => {
  const CANARY = 'kanarienvogel';
  const canaries = {
    question: `How long is the Aare, ${CANARY}?`,
    tool_output: ROLLOUT.tool_output.replace('The Aare', `The ${CANARY} Aare`),
    response: ROLLOUT.response.replace('S9', CANARY).replace('The river', `The ${CANARY} river`),
    reasoning: `${CANARY} thinks.`,
    positive_rubrics: [{ title: CANARY, description: `Says ${CANARY}` }],
    finish_reason: 'stop',
  };

  it('holds no text', async () => {
    await record(at('r', 0, 'g', 's', canaries));
    expect(await everythingKept()).not.toContain(CANARY);
    for (const detail of ['true', 'summary']) {
      const reply = await get(`/v1/runs/r/rollouts?detail=${detail}`);
      expect(await reply.text()).not.toContain(CANARY);
    }
    const { rollouts } = await rolloutsOf('r', '?detail=summary');
    expect(rollouts[0]?.summary).toMatchObject({ question: null, finding_counts: { citation_id_unknown: 1 } });
    expect(rollouts[0]).not.toHaveProperty('detail');
  });

  it('holds it where the request says so, until the run is deleted', async () => {
    const { response, reasoning: _reasoning, finish_reason: _finish, ...shared } = { ...ROLLOUT, ...canaries };
    const run = { id: 'r', step: 0, group: 'g' };
    await ok(
      groupResponseSchema,
      send(post('/v1/groups', { ...shared, responses: [response, BAD], run, store_text: true })),
    );
    const { rollouts } = await rolloutsOf('r', '?detail=true');
    expect(rollouts.map(({ detail }) => detail?.rollout)).toMatchObject([
      { question: canaries.question, tool_output: canaries.tool_output, response },
      { question: canaries.question, tool_output: canaries.tool_output, response: BAD },
    ]);
    expect(rollouts[0]?.detail?.report).toMatchObject({
      criteria: expect.arrayContaining([expect.objectContaining({ title: CANARY })]),
    });
    // Fields that the samples share are stored once.
    expect((await everythingKept()).split(canaries.question)).toHaveLength(2);
    expect((await ok(runListSchema, get('/v1/runs'))).runs).toMatchObject([{ id: 'r', store_text: true }]);
    expect(await ok(runDeletionSchema, remove('/v1/runs/r'))).toEqual({ id: 'r', deleted: true, complete: true });
    await nothingIsLeft();
  });

  it('goes to R2 where it is too large for a row of the ledger', async () => {
    const random = (bytes: number): string =>
      Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
    const noise = Array.from({ length: 22 }, () => random(60_000)).join('');
    await record(at('r', 0, 'g', 'small'));
    const [small] = (await rolloutsOf('r')).rollouts;
    if (small === undefined) throw new Error('nothing was recorded');
    const { step, group: name, grouping, recipe, v, facts, reward, reason, components } = small;
    // A text of more than 1 MB, and as many judgments.
    const judgments = Array.from({ length: 20_000 }, (_, n) => {
      const [key, verdicts] = [2 * n, 2 * n + 1].map((at) => noise.slice(at * 64, at * 64 + 64));
      return { kind: 'rubric' as const, key: key ?? '', verdicts: verdicts ?? '' };
    });
    const large = (sample: string, fields: Partial<NewRollout>): NewRollout => ({
      ...{ step, group: name, grouping, recipe, sample, content: sha256(sample) },
      stored: { v, facts, judgments: [], reward, reason },
      counts: rolloutCounts(facts, { chars: null, findings: null }),
      statistics: { lacking: 0, components, judgments: 0, cached: 0 },
      ...{ report: {}, rollout: { question: sample } },
      ...fields,
    });
    const rollouts = [
      [large('text', { rollout: { question: noise } })],
      [large('judgments', { stored: { v, facts, judgments, reward, reason } })],
    ];
    for (const some of rollouts) {
      const recording = { run: 'r', family: 'refiner' as const, recipes: [], shared: {}, store_text: true };
      const result = await recordRollouts(STORES, { ...recording, rollouts: some, now: Date.now() });
      expect(result).toMatchObject({ status: 'done', rollouts: [{ status: 'recorded' }] });
    }
    expect((await runKeys()).map((key) => key.replace(/^.*\./, '')).sort()).toEqual(['details', 'rows']);
    const read = (await rolloutsOf('r', '?detail=true')).rollouts;
    expect(read.map(({ sample }) => sample)).toEqual(['judgments', 'small', 'text']);
    expect(read[0]?.judgments).toEqual(judgments);
    expect([read[0]?.detail?.rollout, read[2]?.detail?.rollout]).toEqual([
      { question: 'judgments' },
      { question: noise },
    ]);
    // A repetition leaves no object behind.
    for (const some of rollouts) {
      const recording = { run: 'r', family: 'refiner' as const, recipes: [], shared: {}, store_text: true };
      await recordRollouts(STORES, { ...recording, rollouts: some, now: Date.now() });
    }
    expect(await runKeys()).toHaveLength(2);
  });
});

describe('storage that fails', () => {
  const faults = new Faults();
  let detour: Detour | null = null;
  const calls: string[] = [];
  const objects = detoured(env.RUN_LEDGER, () => (method, args, proceed) => {
    calls.push(method);
    return detour === null ? proceed() : detour(method, args, proceed);
  });
  const bindings = { ...env, FILES: faults.wrap(env.FILES), DB: faults.wrap(env.DB), RUN_LEDGER: objects };
  const LOST = 'Network connection lost.';

  const sendWith = (request: Request): Promise<Response> => sendTo(bindings, request);

  beforeEach(() => {
    faults.clear();
    calls.length = 0;
    detour = null;
  });

  it('is asked once for a recorded request, and the list of runs once a minute and step', async () => {
    await sendWith(new Request(`${ORIGIN}/v1/runs`));
    faults.clear();
    await scoreOf(await sendWith(post('/v1/score', at('first', 0, 'g', 's'))));
    // The first recording of a run also clears expired runs.
    expect([faults.calls, calls]).toEqual([['batch', 'all'], ['record']]);
    for (const step of [0, 1]) {
      faults.clear();
      calls.length = 0;
      await scoreOf(await sendWith(post('/v1/score', at('first', step, 'g', 't'))));
      expect([faults.calls, calls]).toEqual([step === 0 ? [] : ['batch'], ['record']]);
    }
  });

  it('is a 503 without a reward, and the same request is recorded afterwards, once', async () => {
    const adapters = `/v1/adapters/slime?recipe=${ROLLOUT.recipe}&run=r&group_size=64`;
    const { tool_output, positive_rubrics, response, question } = ROLLOUT;
    const trainers = { prompt: question, response, label: { tool_output, positive_rubrics } };
    let n = 0;
    let expected = 0;
    for (const [path, bodyOf, rollouts] of [
      ['/v1/score', (step: number) => at('r', step, 'g', step), 1],
      ['/v1/groups', (step: number) => group('r', step, 'g', [GOOD, BAD]), 2],
      [adapters, (sample: number) => ({ ...trainers, response: `${response} ${sample}` }), 1],
    ] as const) {
      for (const fault of ['list fails', 'list lost', 'object fails', 'object lost'] as const) {
        const body = bodyOf(n++);
        faults.clear();
        // A list that this isolate remembers would not be asked.
        if (fault.startsWith('list')) await removeRun(STORES, 'r', Date.now());
        if (fault.startsWith('list')) expected = 0;
        if (fault === 'list fails') faults.plan('batch', 'fails');
        if (fault === 'list lost') faults.plan('batch', 'lost_acknowledgement');
        if (fault === 'object fails') detour = failing('record', 3, LOST);
        if (fault === 'object lost') detour = unacknowledged('record', 3, LOST);
        const reply = await sendWith(post(path, body));
        detour = null;
        expect(faults.pending, fault).toBe(false);
        expect(reply.headers.get('retry-after')).not.toBeNull();
        const problem = await problemOf(reply, 503, 'ledger_failed');
        expect(problem).toMatchObject({ retryable: true });
        expect(JSON.stringify(problem)).not.toContain('"reward"');
        expect((await sendWith(post(path, body))).status).toBe(200);
        // A sample without an id of its own gets another one.
        expected += path === adapters && fault === 'object lost' ? 2 * rollouts : rollouts;
        expect((await detailOf('r')).rollouts, `${path} ${fault}`).toBe(expected);
      }
    }
    for (const { detail } of (await rolloutsOf('r', '?detail=true&attempts=all')).rollouts) {
      expect(detail?.report).toBeDefined();
    }
  });

  it('of which only an answer is lost is asked again, and records once', async () => {
    for (const [sample, fault] of [failing('record', 1, LOST), unacknowledged('record', 2, LOST)].entries()) {
      detour = fault;
      const { run } = await scoreOf(await sendWith(post('/v1/score', at('r', 0, 'g', sample))));
      expect(run).toMatchObject({ attempt: 0, status: sample === 0 ? 'recorded' : 'unchanged' });
    }
    expect([await recordsKept(), (await detailOf('r')).rollouts]).toEqual([2, 2]);
  });

  it('while a run is deleted leaves a run that is hidden, takes nothing, and goes with the next try', async () => {
    for (const call of ['erase', 'list', 'run'] as const) {
      await record(at('r', 0, 'g', 's'));
      if (call === 'erase') detour = failing('erase', 3, LOST);
      else faults.plan(call, 'fails');
      await problemOf(await sendWith(new Request(`${ORIGIN}/v1/runs/r`, { method: 'DELETE' })), 503, 'storage_failed');
      expect(faults.pending).toBe(false);
      detour = null;
      await problemOf(await get('/v1/runs/r'), 404, 'run_not_found');
      expect(await ok(runListSchema, get('/v1/runs'))).toEqual({ runs: [], next: null, deleting: ['r'] });
      await problemOf(await sendWith(post('/v1/score', at('r', 0, 'g', 's'))), 503, 'ledger_failed');
      await ok(runDeletionSchema, remove('/v1/runs/r'));
      await nothingIsLeft();
    }
  });

  it('of an isolate that remembers a deleted run neither brings it back nor loses a rollout', async () => {
    await sendWith(post('/v1/score', at('r', 0, 'g', 's')));
    // Another isolate deletes the run.
    await removeRun({ ...STORES, db: faults.wrap(env.DB) }, 'r', Date.now());
    const { run } = await scoreOf(await sendWith(post('/v1/score', at('r', 0, 'g', 't'))));
    expect(run).toMatchObject({ sample: 't', attempt: 0, status: 'recorded' });
    expect((await rolloutsOf('r')).rollouts.map(({ sample }) => sample)).toEqual(['t']);
    expect(await recordsKept()).toBe(1);
  });

  it('written by a later version is left alone: a retryable failure that is logged', async () => {
    await record(at('r', 0, 'g', 's'));
    const setVersion = (from: number, to: number) =>
      inObjects(async (sql) => {
        sql.exec('UPDATE run_v1 SET record = replace(record, ?, ?)', `"v":${from}`, `"v":${to}`);
      });
    await setVersion(1, 2);
    await evictAllDurableObjects();
    await problemOf(await send(post('/v1/score', at('r', 0, 'g', 't'))), 503, 'ledger_failed');
    await problemOf(await get('/v1/runs/r'), 503, 'storage_failed');
    await setVersion(2, 1);
    await evictAllDurableObjects();
    expect((await rolloutsOf('r')).rollouts).toHaveLength(1);
    expect(await record(at('r', 0, 'g', 't'))).toMatchObject({ status: 'recorded' });
  });
});

describe('an entry that a later version recorded', () => {
  it('makes reads of its run a retryable failure, and stops neither recording elsewhere nor the sealer', async () => {
    await record(at('r', 0, 'g', 's'));
    const change = (from: string, to: string) =>
      inObjects(async (sql) => {
        sql.exec('UPDATE records_v1 SET entries = replace(entries, ?, ?)', from, to);
        sql.exec('UPDATE figures_v1 SET figures = NULL');
        sql.exec("UPDATE segments_v1 SET at = 0 WHERE state = 'open'");
      });
    await change(']]]', '],"later"]]');
    await evictAllDurableObjects();
    expect(await problemOf(await get('/v1/runs/r'), 503, 'storage_failed')).toMatchObject({ retryable: true });
    await problemOf(await get('/v1/runs/r/rollouts'), 503, 'storage_failed');
    expect(await record(at('r', 1, 'g', 's'))).toMatchObject({ status: 'recorded' });
    const { incarnation } = await runNamed('r');
    await runDurableObjectAlarm(env.RUN_LEDGER.getByName(`default/r/${incarnation}/0`));
    // The alarm may also have gone off by itself.
    await expect.poll(async () => (await keptKeys()).some((key) => key.includes('/segments/'))).toBe(true);
    await change('],"later"]]', ']]]');
    await evictAllDurableObjects();
    expect((await rolloutsOf('r')).rollouts).toHaveLength(2);
  });
});

describe('an erased run', () => {
  it('leaves a mark that removes what a late writer put into R2, and then goes itself', async () => {
    await record(at('r', 0, 'g', 's'));
    const { incarnation } = await runNamed('r');
    await ok(runDeletionSchema, remove('/v1/runs/r'));
    const object = env.RUN_LEDGER.getByName(`default/r/${incarnation}/0`);
    const [prefix, late] = [`runs/default/r/${incarnation}/`, `runs/default/r/${incarnation}/late.details`];
    await env.FILES.put(late, 'x');
    const call = { v: LEDGER_MESSAGE_VERSION, prefix, shard: 0, open: true, recipes: [], records: [] };
    expect(await object.record(call)).toEqual({ ok: false, refusal: 'erased' });
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await runKeys()).toEqual([]);
    // A later version's mark is left alone, and the alarm stays.
    const rewrite = (from: string, to: string) =>
      runInDurableObject(object, (_ledger, { storage }) => {
        storage.sql.exec('UPDATE run_v1 SET record = replace(record, ?, ?)', from, to);
      });
    await rewrite('"v":1', '"v":2');
    await evictAllDurableObjects();
    expect([await runDurableObjectAlarm(object), await runDurableObjectAlarm(object)]).toEqual([true, true]);
    await rewrite('"v":2', '"v":1');
    // A day later.
    await rewrite('"until":', '"until":1,"was":');
    await evictAllDurableObjects();
    expect([await runDurableObjectAlarm(object), await runDurableObjectAlarm(object)]).toEqual([true, false]);
    expect(await object.record({ ...call, open: false })).toEqual({ ok: false, refusal: 'unopened' });
    expect(await object.page({ ...EVERYTHING, v: 0 })).toEqual({ ok: false, refusal: 'version_skew' });
  });
});

describe('what a trainer knows of a rollout', () => {
  it('is kept beside it from every door, changes no identity, and travels with the run', async () => {
    const told = { outcome: 1, metrics: { f1: 0.5 } };
    const first = await record(at('told', 0, 'g', 's', told));
    // The same rollout without it, and with another outcome, is the same content: a retry.
    expect(await record(at('told', 0, 'g', 's'))).toEqual({ ...first, status: 'unchanged' });
    expect(await record(at('told', 0, 'g', 's', { outcome: 0 }))).toEqual({ ...first, status: 'unchanged' });
    const plain = await score(at('plain', 0, 'g', 's'));
    const again = await score(at('again', 0, 'g', 's', { outcome: 0, metrics: { f1: -3 } }));
    expect([again.reward, again.recipe]).toEqual([plain.reward, plain.recipe]);

    const { response, ...shared } = ROLLOUT;
    const group = { id: 'told', step: 1, group: 'g' };
    const responses = [response, { response, outcome: null }, { response: 'x', outcome: 0.25, metrics: { f1: 1 } }];
    await ok(groupResponseSchema, send(post('/v1/groups', { ...shared, responses, run: group })));
    const { recipe, ...row } = shared;
    const label = { ...row, run: { id: 'told', step: 2, group: 'g', sample: 0 }, outcome: 0.75 };
    const slime = { prompt: ROLLOUT.question, response, label };
    expect((await send(post(`/v1/adapters/slime?recipe=${recipe}`, slime))).status).toBe(200);

    const { steps } = await detailOf('told');
    expect(steps.map(({ outcome }) => outcome)).toEqual([
      { rollouts: 1, mean: 1 },
      { rollouts: 1, mean: 0.25 },
      { rollouts: 1, mean: 0.75 },
    ]);
    expect(steps.map(({ metrics }) => metrics?.['f1'])).toEqual([
      { rollouts: 1, mean: 0.5 },
      { rollouts: 1, mean: 1 },
      undefined,
    ]);
    expect(steps[0]?.words?.mean).toBeGreaterThan(0);
    const file = await (await get('/v1/runs/told/export')).text();
    const counts = file.split('\n').flatMap((text) => {
      const { rollout } = text === '' ? {} : JSON.parse(text);
      return rollout === undefined ? [] : [rollout.counts];
    });
    const structure = { claims: 3, ids: 3, repeated: 0, place: null, hedges: false };
    expect(counts[0]).toMatchObject({ ...told, answer: { hash: expect.stringMatching(/^[0-9a-f]{12}$/u), structure } });
    const copy = send(
      new Request(`${ORIGIN}/v1/runs/copied/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/jsonl' },
        body: file,
      }),
    );
    await ok(runImportReportSchema, copy);
    expect((await detailOf('copied')).steps).toEqual(steps);
  });

  it('comes with the own criteria from scores, groups and batches, also where the recipe pays nothing for them', async () => {
    const recipe = { base: 'refiner-rl-balanced', citation_weight: 1 };
    const own = { ...ROLLOUT, recipe };
    // Without a run they are not asked for.
    const { criteria } = await score(own);
    expect(new Set(criteria?.map((one) => one.score))).toEqual(new Set([null]));
    await score({ ...own, run: { id: 'all', step: 0, group: 'score', sample: 0 } });
    const batch = line('b', { ...own, run: { id: 'all', step: 0, group: 'batch', sample: 0 } });
    expect((await ended((await submit(batch)).id)).request_counts).toMatchObject({ completed: 1 });
    const { response, ...shared } = own;
    const group = { id: 'all', step: 0, group: 'group' };
    await ok(groupResponseSchema, send(post('/v1/groups', { ...shared, responses: [response, response], run: group })));
    const file = (await (await get('/v1/runs/all/export')).text()).trimEnd().split('\n');
    const measured = file.flatMap((text) => {
      const { rollout } = JSON.parse(text);
      return rollout === undefined ? [] : [rollout.counts.criteria];
    });
    expect(measured).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^p\+p\+n/u)));
  });

  it('needs a run, which keeps it', async () => {
    expect(await wrongFields(await send(post('/v1/score', { ...ROLLOUT, outcome: 1 })))).toEqual(['outcome']);
    const { response, ...shared } = ROLLOUT;
    const body = { ...shared, responses: [response, { response, metrics: { a: 1 } }] };
    expect(await wrongFields(await send(post('/v1/groups', body)))).toEqual(['responses[1].outcome']);
    const metrics = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`m${n}`, n]));
    expect(await wrongFields(await send(post('/v1/score', at('told-2', 0, 'g', 's', { metrics }))))).toEqual([
      'metrics',
    ]);
  });

  it('takes at most 40 bytes a rollout for the words of its answer, 14 for what it cites, and none of its text', async () => {
    await record(at('words', 0, 'g', 's'));
    const kept = await inObjects(async (sql) => sql.exec('SELECT entries FROM records_v1').toArray());
    const [entry] = z.array(z.array(z.unknown())).parse(JSON.parse(String(kept.flat()[0]?.['entries'])));
    expect(entry).toHaveLength(13);
    expect(JSON.stringify(entry?.at(-1)).length + 1).toBeLessThanOrEqual(51);
    const [number, hash] = [expect.any(Number), expect.stringMatching(/^[0-9a-f]{12}$/u)];
    expect(entry?.at(-1)).toEqual([...Array(6).fill(number), hash, 3, 3, 0, null, 0]);
  });
});

describe('the alerts of a run', () => {
  it('are those of its steps, also from a later step on', async () => {
    const lines = [...syntheticRunLines({ run: 'watched', rollouts: 320, perStep: 32 })];
    const imported = send(
      new Request(`${ORIGIN}/v1/runs/watched/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/jsonl' },
        body: lines.join(''),
      }),
    );
    await ok(runImportReportSchema, imported);
    // The last steps have groups without a signal.
    for (const step of [10, 11, 12, 13, 14]) await record(at('watched', step, 'g', 's'));
    const alerts = await ok(runAlertsSchema, get('/v1/runs/watched/alerts'));
    expect(alerts).toMatchObject({ run: 'watched', window: 4, steps: 15 });
    expect(alerts.unwatched).toContainEqual({ rule: 'outcome_not_followed', reason: 'no_outcome' });
    const silent = alerts.alerts.find(({ rule }) => rule === 'no_signal');
    expect(silent).toMatchObject({ since: 14, until: 14, active: true });
    expect(silent?.rollouts[0]).toMatchObject({ step: 14, group: 'g', sample: 's' });
    const later = await ok(runAlertsSchema, get('/v1/runs/watched/alerts?from_step=8'));
    expect(later.steps).toBe(11);
    expect(later.alerts.find(({ rule }) => rule === 'no_signal')).toEqual(silent);
    expect(await wrongFields(await get('/v1/runs/watched/alerts?from_step=x'))).toEqual(['query.from_step']);
    expect((await get('/v1/runs/absent/alerts')).status).toBe(404);
  });
});

describe('the checks of a judge', () => {
  const CANARY = {
    rule: 'canary_drift',
    judge: 'one',
    step: 10,
    rollouts: 8,
    verdicts_changed: 0.25,
    advantages_flipped: 0,
    reward_shift: -0.5,
    questions: [{ question: 'criteria', same: 0.75, shift: -0.1 }],
  };
  const AUDIT = { rule: 'audit_gap', judge: 'two', step: 3, rollouts: 8, steps: [{ step: 3, rollouts: 8, gap: 1 }] };
  const flipped = { share: 0.1, low: 0, high: 0.2 };
  const RISK = { rule: 'judge_error', judge: 'one', step: 9, rollouts: 8, flipped, changed: null, kinds: [] };
  const add = (run: string, check: unknown) => send(post(`/v1/runs/${run}/judge-checks`, check));
  const checksOf = async (run: string) => (await ok(runAlertsSchema, get(`/v1/runs/${run}/alerts`))).judge_checks;

  it('are alerts of the run by their latest finding, and go with it', async () => {
    await record(at('checked', 0, 'g', 's'));
    expect(await checksOf('checked')).toEqual([]);
    const drifted = await ok(recordedCheckSchema, add('checked', CANARY));
    expect(drifted).toMatchObject({ ...CANARY, alert: true });
    await ok(recordedCheckSchema, add('checked', CANARY));
    await ok(recordedCheckSchema, add('checked', { ...CANARY, step: 20, verdicts_changed: 0.1 }));
    await ok(recordedCheckSchema, add('checked', { ...AUDIT, growth: null }));
    // An audit lists all its steps, so it takes the place of the earlier one.
    const growth = { first: 1, last: 3, stds: 0.5 };
    await ok(recordedCheckSchema, add('checked', { ...AUDIT, step: 9, growth }));
    await ok(recordedCheckSchema, add('checked', RISK));
    // So does a risk.
    expect(await ok(recordedCheckSchema, add('checked', { ...RISK, step: 12 }))).toMatchObject({ alert: false });
    const found = await checksOf('checked');
    expect(found.map(({ rule, step, alert }) => [rule, step, alert])).toEqual([
      ['audit_gap', 9, true],
      ['canary_drift', 10, true],
      ['judge_error', 12, false],
      ['canary_drift', 20, false],
    ]);
    expect((await send(new Request(`${ORIGIN}/v1/runs/checked`, { method: 'DELETE' }))).status).toBe(200);
    await record(at('checked', 0, 'g', 's'));
    expect(await checksOf('checked')).toEqual([]);
  });

  it('say what is wrong with a malformed one, and need a run', async () => {
    expect(await wrongFields(await add('watched', { ...CANARY, verdicts_changed: 2 }))).toEqual(['verdicts_changed']);
    expect(await wrongFields(await add('watched', { ...AUDIT, steps: [] }))).toContain('steps');
    expect(await wrongFields(await add('watched', { ...RISK, flipped: { share: 2 } }))).toContain('flipped.share');
    expect((await add('absent', CANARY)).status).toBe(404);
  });
});

describe('the figures of a step', () => {
  it('are computed anew only for the parts that changed, and are those of all of its rollouts', async () => {
    const rows = 600;
    await record(at('r', 0, 'g', 's'));
    const file = (await (await get('/v1/runs/r/export')).text()).trimEnd().split('\n');
    const rollout = JSON.parse(file[2] ?? '').rollout;
    const rewards: number[] = [];
    const many = Array.from({ length: rows }, (_, n) => {
      const of = { origin: 'instance', polarity: 'positive' };
      const observed = [
        { ...of, weight: n + 1, score: 2 },
        { ...of, weight: rows - n, score: 0 },
      ];
      const facts = { ...rollout.facts, rubric: { status: 'scored', observed } };
      const { reward, components } = compose(facts, RECIPES[ROLLOUT.recipe]);
      rewards.push(reward ?? Number.NaN);
      const values = Object.fromEntries(Object.entries(components).map(([name, { value }]) => [name, value]));
      return JSON.stringify({
        rollout: { ...rollout, group: `g${n}`, sample: '0', facts, reward, components: values },
      });
    });
    const body = [file[0], file[1], ...many, JSON.stringify({ end: { v: 1, rollouts: rows } })].join('\n');
    await ok(
      runImportReportSchema,
      send(
        new Request(`${ORIGIN}/v1/runs/many/import`, {
          method: 'POST',
          headers: { 'content-type': 'application/jsonl' },
          body,
        }),
      ),
    );
    const { incarnation } = await runNamed('many');
    const stale = () =>
      runInDurableObject(env.RUN_LEDGER.getByName(`default/many/${incarnation}/0`), (_ledger, { storage }) =>
        storage.sql.exec('SELECT part, figures IS NULL AS stale FROM figures_v1 ORDER BY part').toArray(),
      );
    const [step] = (await detailOf('many')).steps;
    const range = { min: Math.min(...rewards), max: Math.max(...rewards) };
    expect(step).toMatchObject({ step: 0, groups: rows, rollouts: rows, reward: range });
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rows;
    expect(step?.reward.mean).toBeCloseTo(mean, 9);
    const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
    expect(step?.reward.std).toBeCloseTo(Math.sqrt(squares / (rows - 1)), 9);
    expect(step?.components).toMatchObject({ rubric: { rollouts: rows } });
    expect(await stale()).toEqual([0, 1, 2].map((part) => ({ part, stale: 0 })));
    // Another attempt and another sample of a group of the second part, whose records are now in the third.
    await record(at('many', 0, 'g300', '0', { response: BAD }));
    await record(at('many', 0, 'g300', '1', { response: BAD }));
    // The alarm, which goes off at once where everything is sealed, may have computed them already.
    const [first, , third] = await stale();
    expect([first, third]).toEqual([0, 2].map((part) => ({ part, stale: 0 })));
    const [later] = (await detailOf('many')).steps;
    expect(later).toMatchObject({ groups: rows, rollouts: rows + 1 });
    expect((await detailOf('many')).rollouts).toBe(rows + 2);
  });
});

describe('a run of several shards', () => {
  it('is read, summarised, exported and deleted as one of a single shard', async () => {
    const sharded = { ...env, RUN_SHARDS: '3' };
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const [id, environment] of [
      ['one', env],
      ['three', sharded],
    ] as const) {
      for (const step of [0, 1]) {
        for (const name of names) {
          const reply = await sendTo(environment, post('/v1/groups', group(id, step, name, [GOOD, BAD])));
          expect(reply.status).toBe(200);
        }
      }
    }
    expect((await listDurableObjectIds(env.RUN_LEDGER)).length).toBeGreaterThanOrEqual(4);
    const same = ({ run: _run, recorded_at: _at, ...row }: RunRollout) => row;
    const [one, three] = await Promise.all(['one', 'three'].map((id) => rolloutsOf(id, '?limit=200')));
    expect(three?.rollouts.map(same).map((row) => ({ ...row, cached: 0 }))).toEqual(
      one?.rollouts.map(same).map((row) => ({ ...row, cached: 0 })),
    );
    const detail = await detailOf('three', '?limit=1');
    expect(detail).toMatchObject({ rollouts: 24, next_step: 1, first_step: 0, last_step: 1 });
    expect(detail.steps).toMatchObject([{ step: 0, groups: 6, rollouts: 12, degenerate: { groups: 0 } }]);
    const lines = (await (await get('/v1/runs/three/export')).text()).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ end: { v: 1, rollouts: 24 } });
    await ok(runDeletionSchema, remove('/v1/runs/three'));
    await ok(runDeletionSchema, remove('/v1/runs/one'));
    await nothingIsLeft();
    await problemOf(
      await sendTo({ ...env, RUN_SHARDS: '65' }, new Request(`${ORIGIN}/v1/runs`)),
      500,
      'config_invalid',
    );
  });
});

describe('runs', () => {
  it('are listed the newest first, page by page', async () => {
    for (const id of ['one', 'two', 'three']) await record(at(id, 0, 'g', 's'));
    const ids: string[] = [];
    let after = '';
    for (;;) {
      const { runs, next } = await ok(runListSchema, get(`/v1/runs?limit=1${after}`));
      ids.push(...runs.map(({ id }) => id));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(ids).toEqual(['three', 'two', 'one']);
    expect(await wrongFields(await get('/v1/runs?after=four'))).toEqual(['query.after']);
    await problemOf(await get('/v1/runs/four'), 404, 'run_not_found');
    await problemOf(await remove('/v1/runs/four'), 404, 'run_not_found');
  });

  it('have rollouts page by page, by step and group', async () => {
    for (const step of [0, 1]) {
      for (const name of ['ä', 'b'])
        await ok(groupResponseSchema, send(post('/v1/groups', group('r', step, name, [GOOD, BAD]))));
    }
    const read: RunRollout[] = [];
    let after = '';
    for (;;) {
      const { rollouts, next } = await rolloutsOf('r', `?limit=3${after}`);
      read.push(...rollouts);
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(read.map(({ step, group: name, sample }) => `${step}${name}${sample}`)).toEqual([
      '0b0',
      '0b1',
      '0ä0',
      '0ä1',
      '1b0',
      '1b1',
      '1ä0',
      '1ä1',
    ]);
    expect((await rolloutsOf('r', `?step=1&group=${encodeURIComponent('ä')}`)).rollouts).toHaveLength(2);
    expect((await rolloutsOf('r', '?step=none')).rollouts).toEqual([]);
    for (const [query, path] of [
      ['?after=x', 'query.after'],
      ['?limit=21&detail=true', 'query.limit'],
      ['?step=-1', 'query.step'],
      ['?color=red', 'query.color'],
    ]) {
      expect(await wrongFields(await get(`/v1/runs/r/rollouts${query}`))).toEqual([path]);
    }
  });

  it('go when nothing was recorded in them for too long', async () => {
    await record(at('old', 0, 'g', 's'));
    await record(at('new', 0, 'g', 's'));
    await env.DB.prepare("UPDATE run_list SET active_at = 5 WHERE id = 'old'").run();
    await clearRuns(STORES, null, 10, Date.now());
    expect(await runsKept()).toBe(2);
    const kept = { ...env, RUN_RETENTION_DAYS: '30' };
    const reply = await sendTo(kept, new Request(`${ORIGIN}/v1/runs/new`));
    const { active_at, expires_at } = runDetailSchema.parse(await reply.json());
    expect(Date.parse(expires_at ?? '') - Date.parse(active_at)).toBe(30 * 24 * 60 * 60 * 1000);
    await worker.scheduled({ cron: '17 * * * *', scheduledTime: Date.now(), noRetry: () => undefined }, kept);
    expect((await ok(runListSchema, get('/v1/runs'))).runs.map(({ id }) => id)).toEqual(['new']);
    expect(await recordsKept()).toBe(1);
    const malformed = await sendTo({ ...env, RUN_RETENTION_DAYS: 'a' }, new Request(`${ORIGIN}/v1/runs`));
    await problemOf(malformed, 500, 'config_invalid');
  });

  it('travel as files, with their attempts, and nothing is overwritten', async () => {
    await ok(groupResponseSchema, send(post('/v1/groups', group('r', 0, 'g', [GOOD, BAD]))));
    await record(at('r', 0, 'g', 0, { response: BAD }));
    await record(at('r', 7, 'h', 'x', { recipe: { base: ROLLOUT.recipe, citation_weight: 0 } }));
    const file = await (await get('/v1/runs/r/export')).text();
    const kinds = file
      .trimEnd()
      .split('\n')
      .map((text) => Object.keys(JSON.parse(text))[0]);
    expect(kinds).toEqual(['run', 'recipe', 'recipe', 'rollout', 'rollout', 'rollout', 'rollout', 'end']);
    const put = (id: string, body: string) =>
      ok(
        runImportReportSchema,
        send(
          new Request(`${ORIGIN}/v1/runs/${id}/import`, {
            method: 'POST',
            headers: { 'content-type': 'application/jsonl' },
            body,
          }),
        ),
      );
    const fine = { v: 1, refused: 0, refused_lines: [], complete: true };
    expect(await put('copy', file)).toEqual({ ...fine, imported: 4, already_there: 0 });
    expect(await put('copy', file)).toEqual({ ...fine, imported: 0, already_there: 4 });
    const same = ({ run: _run, ...row }: RunRollout) => row;
    expect((await rolloutsOf('copy', '?attempts=all')).rollouts.map(same)).toEqual(
      (await rolloutsOf('r', '?attempts=all')).rollouts.map(same),
    );
    expect((await detailOf('copy')).steps).toEqual((await detailOf('r')).steps);

    // A truncated file, an edited file, and a place with other content.
    const lines = file.trimEnd().split('\n');
    expect(await put('cut', lines.slice(0, -2).join('\n'))).toMatchObject({ imported: 3, complete: false });
    await record(at('mine', 0, 'g', 0, { response: 'Mine.' }));
    const before = (await rolloutsOf('mine')).rollouts;
    const report = await put('mine', file);
    expect(report).toMatchObject({ imported: 3, refused: 1, complete: true });
    expect(report.refused_lines).toEqual([{ line: 4, reason: 'attempt_taken', detail: expect.any(String) }]);
    expect((await rolloutsOf('mine', '?attempts=all')).rollouts).toEqual(expect.arrayContaining(before));
    const edited = [
      lines[0],
      lines[1]?.replace(/"digest":"[0-9a-f]{8}/, '"digest":"00000000'),
      ...lines.slice(3, 4),
      '{',
      '{}',
    ];
    expect((await put('edited', edited.join('\n'))).refused_lines.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['recipe_digest_wrong', 'recipe_unknown', 'line_not_json', 'line_invalid']),
    );

    const judgments = (await (await get('/v1/runs/r/judgments.jsonl')).text()).trimEnd().split('\n');
    const pinned = new Set(
      (await rolloutsOf('r', '?attempts=all')).rollouts.flatMap((row) => row.judgments.map(({ key }) => key)),
    );
    expect(new Set(judgments.slice(0, -1).map((text) => JSON.parse(text).key))).toEqual(pinned);
    expect(JSON.parse(judgments.at(-1) ?? '')).toEqual({ end: { v: 1, judgments: pinned.size, missing: 0 } });
    // A key that was judged again no longer has the verdicts that a run recorded.
    await put('earlier', file.replace(/"verdicts":"[0-9a-f]{4}/g, '"verdicts":"0000'));
    const differs = (await (await get('/v1/runs/earlier/judgments.jsonl')).text()).trimEnd().split('\n');
    expect(JSON.parse(differs[0] ?? '')).toMatchObject({ missing: { reason: 'judgment_differs' } });
  });

  it('are refused with their lines where rewards are not those of their facts, and overflow no figure', async () => {
    await ok(groupResponseSchema, send(post('/v1/groups', group('forged', 0, 'g', [GOOD, BAD]))));
    const [run, recipe, first = '', second = '', end] = (await (await get('/v1/runs/forged/export')).text()).split(
      '\n',
    );
    const { rollout } = JSON.parse(first);
    const changed = (fields: object): string => JSON.stringify({ rollout: { ...rollout, ...fields } });
    const put = async (id: string, line: string) => {
      const body = [run, recipe, line, second, end].join('\n');
      const headers = { 'content-type': 'application/jsonl' };
      const request = new Request(`${ORIGIN}/v1/runs/${id}/import`, { method: 'POST', headers, body });
      return ok(runImportReportSchema, send(request));
    };
    const forged = [
      ...[1e308, 100, -1, rollout.reward + 1e-9].map((reward) => changed({ reward })),
      changed({ components: { ...rollout.components, rubric: 1e308 } }),
      changed({ components: { ...rollout.components, invented: 0 } }),
      changed({ cached: 1_000 }),
      changed({ counts: { ...rollout.counts, persistent_reward: 1e308 } }),
    ];
    for (const [n, line] of forged.entries()) {
      const report = await put(`forged-${n}`, line);
      expect(report, line).toMatchObject({ imported: 1, refused: 1, complete: true });
      expect(report.refused_lines).toMatchObject([{ line: 3, reason: 'reward_differs' }]);
      const [step] = (await detailOf(`forged-${n}`)).steps;
      expect(step).toMatchObject({ rollouts: 1 });
    }
    const invented = await put('counted', changed({ counts: { ...rollout.counts, claims: 1_000_000 } }));
    expect(invented).toMatchObject({ imported: 2, refused: 0 });
    expect((await detailOf('counted')).steps).toEqual((await detailOf('forged')).steps);
    // What the trainer says of a rollout is any number.
    const told = { ...rollout.counts, outcome: 1.7e308, metrics: { a: -1.7e308 } };
    await put('told', changed({ counts: told }));
    for (const sample of ['x', 'y'])
      await record(at('told', 0, 'g', sample, { outcome: -1.7e308, metrics: { a: 1e308 } }));
    expect((await detailOf('told')).steps[0]).toMatchObject({ outcome: { rollouts: 3, mean: expect.any(Number) } });
  });

  it.each(['.', '..'])('cannot be called %s, which no URL can name', async (id) => {
    const reply = await send(post('/v1/score', at(id, 0, 'g', 's')));
    expect(await wrongFields(reply.clone())).toEqual(['run.id']);
    expect(await reply.text()).toContain('and not only');
    expect(await wrongFields(await send(post('/v1/groups', group(id, 0, 'g', [GOOD]))))).toEqual(['run.id']);
  });

  it('are read with flat memory: a page at a time', async () => {
    const rows = 2 * LEDGER_PAGE_ROWS + 10;
    expect(rows).toBe(2_010);
    await record(at('r', 0, 'g', 's'));
    const file = (await (await get('/v1/runs/r/export')).text()).trimEnd().split('\n');
    const rollout = JSON.parse(file[2] ?? '').rollout;
    const many = Array.from({ length: rows }, (_, n) =>
      JSON.stringify({ rollout: { ...rollout, step: Math.floor(n / 100), group: 'g', sample: String(n) } }),
    );
    const body = [file[0], file[1], ...many, JSON.stringify({ end: { v: 1, rollouts: rows } })].join('\n');
    await ok(
      runImportReportSchema,
      send(
        new Request(`${ORIGIN}/v1/runs/many/import`, {
          method: 'POST',
          headers: { 'content-type': 'application/jsonl' },
          body,
        }),
      ),
    );
    const sizes: number[] = [];
    const reads: number[] = [];
    let pages = 0;
    const objects = detoured(env.RUN_LEDGER, () => (_method, _args, proceed) => {
      pages++;
      return proceed();
    });
    for await (const { rows: read } of readGroups({ ...(await shardsOfRun('many')), objects }, {})) {
      sizes.push(read.length);
      reads.push(pages);
    }
    expect(sizes).toEqual([...Array(20).fill(100), 10]);
    // The first group is there after one page.
    expect([reads[0], reads.at(-1)]).toEqual([1, 3]);
    const range = [];
    for await (const { step } of readGroups(await shardsOfRun('many'), { fromStep: 2, toStep: 3 })) range.push(step);
    expect(range).toEqual([2, 3]);
    // Pages that end within a record and within a group miss nothing and repeat nothing.
    const samples: string[] = [];
    for await (const { row } of readRows(await shardsOfRun('many'), { attempts: 'all', toStep: 4 }, 7)) {
      samples.push(row.sample);
    }
    expect(samples.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, n) => n));
    // The figures of a step are those of its rows, also after more was recorded in it.
    expect((await detailOf('many', '?limit=1')).steps).toMatchObject([{ step: 0, groups: 1, rollouts: 100 }]);
    await record(at('many', 0, 'h', 's'));
    expect((await detailOf('many', '?limit=1')).steps).toMatchObject([{ step: 0, groups: 2, rollouts: 101 }]);
    expect((await detailOf('many')).rollouts).toBe(rows + 1);
  });
});

describe('from elsewhere', () => {
  it('an adapter records inferred groups, without a step', async () => {
    const { tool_output, positive_rubrics, question } = ROLLOUT;
    const body = { prompt: question, response: GOOD, label: { tool_output, positive_rubrics } };
    const path = `/v1/adapters/slime?recipe=${ROLLOUT.recipe}&run=r&group_size=3&reply=object`;
    const replies = await Promise.all([GOOD, GOOD, BAD].map((response) => send(post(path, { ...body, response }))));
    const runs = await Promise.all(replies.map(async (reply) => (await reply.json<{ run: { status: string } }>()).run));
    expect(runs.map(({ status }) => status)).toEqual(['recorded', 'recorded', 'recorded']);
    const { rollouts } = await rolloutsOf('r', '?step=none');
    expect(rollouts).toHaveLength(3);
    expect(new Set(rollouts.map(({ group: name }) => name)).size).toBe(1);
    expect(rollouts.every(({ grouping, step }) => grouping === 'inferred' && step === null)).toBe(true);
    expect((await detailOf('r')).steps).toMatchObject([{ step: null, groups: 1, rollouts: 3, inferred: 3 }]);
  });

  it('an adapter keeps the epochs of a prompt apart, and equal texts of a group', async () => {
    const { tool_output, positive_rubrics, question } = ROLLOUT;
    const label = { tool_output, positive_rubrics };
    const path = `/v1/adapters/slime?recipe=${ROLLOUT.recipe}&run=epochs&group_size=4&reply=object`;
    const runOf = async (fields: object): Promise<{ id: string; group: string; sample: string }> => {
      const reply = await send(post(path, { prompt: question, response: GOOD, label, ...fields }));
      expect(reply.status, await reply.clone().text()).toBe(200);
      return (await reply.json<{ run: { id: string; group: string; sample: string } }>()).run;
    };
    for (const _epoch of [0, 1, 2]) await Promise.all([GOOD, GOOD, BAD, BAD].map((response) => runOf({ response })));
    await Promise.all([runOf({ prompt: 'Another question?' }), runOf({ label: { ...label, run: { step: 3 } } })]);
    const { rollouts } = await rolloutsOf('epochs', '?step=none');
    const sizes = new Map<string, number>();
    for (const { group: name } of rollouts) sizes.set(name, (sizes.get(name) ?? 0) + 1);
    expect([...sizes.values()].sort()).toEqual([1, 4, 4, 4]);
    const known = await rolloutsOf('epochs', '?step=3');
    expect(known.rollouts).toHaveLength(1);

    // What the label says wins, and evaluation is recorded apart.
    const place = { step: 5, group: 'p7', sample: 2 };
    expect(await runOf({ label: { ...label, run: place } })).toMatchObject({
      ...{ id: 'epochs', step: 5, group: 'p7', sample: '2', grouping: 'given' },
    });
    expect(await runOf({ label: { ...label, run: { ...place, split: 'eval' } } })).toMatchObject({ id: 'epochs-eval' });
    expect(await runOf({ label: { ...label, run: 'mine' } })).toMatchObject({ id: 'mine', step: null });
    expect((await rolloutsOf('epochs')).rollouts).toHaveLength(15);
  });

  it('an adapter refuses a run whose epochs could not be told apart', async () => {
    const { tool_output, positive_rubrics, question } = ROLLOUT;
    const body = { prompt: question, response: GOOD, label: { tool_output, positive_rubrics } };
    const path = `/v1/adapters/slime?recipe=${ROLLOUT.recipe}&run=r`;
    expect(await wrongFields(await send(post(path, body)))).toEqual(['query.group_size']);
    const told = { ...body, label: { ...body.label, run: { step: 1 } } };
    expect((await send(post(path, told))).status).toBe(200);
  });

  it("an adapter takes Gym's index of the rollout: the same index again is the next visit, the same row is not", async () => {
    const { tool_output, positive_rubrics, question } = ROLLOUT;
    const path = `/v1/adapters/nemo-gym/verify?recipe=${ROLLOUT.recipe}&run=gym`;
    const verify = async (text: string, rollout: number) => {
      const response = { output: [{ type: 'message', role: 'assistant', content: text }] };
      const row = {
        responses_create_params: { input: question },
        response,
        citeward: { tool_output, positive_rubrics },
        _ng_task_index: 4,
        _ng_rollout_index: rollout,
      };
      const reply = await send(post(path, row));
      expect(reply.status, await reply.clone().text()).toBe(200);
      return (await reply.json<{ run: { group: string; sample: string; status: string } }>()).run;
    };
    const first = [await verify(GOOD, 0), await verify(BAD, 1), await verify(GOOD, 0)];
    expect(new Set(first.map(({ group: name }) => name)).size).toBe(1);
    expect(first.map(({ sample, status }) => [sample, status])).toEqual([
      ['0', 'recorded'],
      ['1', 'recorded'],
      ['0', 'unchanged'],
    ]);
    const second = [await verify(BAD, 0), await verify(GOOD, 1)];
    expect(new Set(second.map(({ group: name }) => name)).size).toBe(1);
    expect(second[0]?.group).not.toBe(first[0]?.group);
  });

  it('lines of batches are recorded', async () => {
    const scores = [0, 1].map((n) => line(`s${n}`, at('r', 0, 'scores', n)));
    const first = await ended((await submit(scores.join('\n'))).id);
    expect(first.request_counts).toMatchObject({ completed: 2 });
    const groups = await ended(
      (await submit(line('g', group('r', 1, 'a', [GOOD, BAD]), '/v1/groups'), '/v1/groups')).id,
    );
    expect(groups.request_counts).toMatchObject({ completed: 1 });
    const { rollouts } = await rolloutsOf('r');
    expect(rollouts.map(({ step, group: name, sample }) => [step, name, sample])).toEqual([
      [0, 'scores', '0'],
      [0, 'scores', '1'],
      [1, 'a', '0'],
      [1, 'a', '1'],
    ]);
    const lines = await outputLines(first.output_file_id);
    expect(lines.map(({ response }) => response?.body['run'])).toMatchObject([{ sample: '0' }, { sample: '1' }]);
  });
});
