/**
 * Signed records, export, import and replay: rewards survive restarts and new deployments without another judge call.
 */

import { abortAllDurableObjects, reset, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import { database } from '../../functions/storage/schema.ts';
import { createKvJudgmentStore, createRecentJudgments, type JudgmentKv } from '../../lib/kv-store.ts';
import { createKnownIssuers } from '../../src/judgments/issuer.ts';
import { readPublicKeys } from '../../src/judgments/issuer-keys.ts';
import { judgmentSchema, partitionText } from '../../src/judgments/record.ts';
import { checkReceipt } from '../../src/scoring/receipt.ts';
import { differsFromReply, differsFromRequest } from '../../src/scoring/receipt-agreement.ts';
import { type Receipt, receiptedReplySchema } from '../../src/scoring/receipt-schema.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { importReportSchema, issuerKeysSchema } from '../../src/wire/judgment-files.ts';
import { requestedRollout, scoreRequestSchema } from '../../src/wire/score.ts';
import { detoured } from '../contract/detoured-binding.ts';
import { ORIGIN, post, problemOf, type RefinerScore, ROLLOUT, scoreOf, sha256Hex, wrongFields } from './api.ts';
import { ended, line, outputLines, submit } from './batch-api.ts';
import { counting, countingBackends, resetCounting, runDeskAlarms } from './desk-judge.ts';
import { partitionName, storedRecord } from './stored-records.ts';
import { replaceParts } from './worker.ts';

type KeySettings = { ISSUER_KEY?: string; ISSUER_KEYS_PREVIOUS?: string; TRUSTED_ISSUERS?: string };
const settings: { now: KeySettings } = { now: {} };
const keyed = <E extends object>(environment: E) => ({ ...environment, ...settings.now });

// Secrets are bindings: handlers and desks read the same ones.
replaceParts({ backendsOf: countingBackends, environmentOf: keyed });

type Pair = { readonly secret: string; readonly pkcs8: string; readonly public: JsonWebKey };

async function keyPair(): Promise<Pair> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', pair.privateKey);
  if (jwk instanceof ArrayBuffer || !(pkcs8 instanceof ArrayBuffer)) throw new Error('not as asked for');
  const { kty, crv, x } = jwk;
  if (kty === undefined || crv === undefined || x === undefined) throw new Error('no public key');
  return {
    secret: JSON.stringify(jwk),
    pkcs8: btoa(String.fromCharCode(...new Uint8Array(pkcs8))),
    public: { kty, crv, x },
  };
}

let own: Pair;
let other: Pair;
beforeAll(async () => {
  [own, other] = await Promise.all([keyPair(), keyPair()]);
});

/** An isolate that has seen nothing yet. */
function isolate(variables: Record<string, string> = {}): (request: Request) => Promise<Response> {
  const recent = createRecentJudgments({ entries: 10, chars: 100_000 });
  const judgmentStoreOf = (kv: JudgmentKv) => createKvJudgmentStore(kv, recent);
  const app = createApp(createPlatformFactory({ backendsOf: countingBackends, judgmentStoreOf }));
  return async (request) => app.request(request, undefined, { ...keyed(env), ...variables });
}

async function score(body: unknown): Promise<RefinerScore> {
  return scoreOf(await isolate()(post('/v1/score', body)));
}

const GROUP = [0, 1, 2].map((sample) => ({
  ...ROLLOUT,
  response: ROLLOUT.response.replace('every summer', `in summer ${sample}`),
}));

function keysOf(scores: readonly RefinerScore[]): string[] {
  return scores.flatMap(({ judgments }) => judgments.flatMap(({ key }) => (key === null ? [] : [key])));
}

async function exported(keys: readonly string[]): Promise<string> {
  const reply = await isolate()(post('/v1/judgments:export', { keys }));
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/jsonl']);
  return reply.text();
}

async function imported(file: string | ReadableStream): Promise<ReturnType<typeof importReportSchema.parse>> {
  const request = new Request(`${ORIGIN}/v1/judgments:import`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body: file,
  });
  const reply = await isolate()(request);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return importReportSchema.parse(JSON.parse(text));
}

/** Another deployment, which has nothing yet. */
async function empty(): Promise<void> {
  await reset();
  // `reset` drops the tables of D1, which this isolate has made already; another binding object makes them again.
  await database(detoured(env.DB, () => null));
  // `reset` leaves the storage of objects that were aborted before.
  for (let desk = 0; desk < DEFAULT_DESKS; desk++) {
    await runInDurableObject(env.JUDGE_DESK.getByName(`desk-${desk}`), (_desk, { storage }) => storage.deleteAll());
  }
  await abortAllDurableObjects();
}

async function restart(changes: KeySettings = {}): Promise<void> {
  settings.now = { ...settings.now, ...changes };
  await abortAllDurableObjects();
}

beforeEach(async () => {
  settings.now = { ISSUER_KEY: own.secret };
  await empty();
  resetCounting();
});

describe('"judgments": "only" after a scored set', () => {
  async function replays(first: readonly RefinerScore[]): Promise<void> {
    resetCounting();
    for (const [position, rollout] of GROUP.entries()) {
      const again = await score({ ...rollout, judgments: 'only' });
      expect(Object.is(again.reward, first[position]?.reward)).toBe(true);
      const steady = ({ judgments: _, ...rest }: RefinerScore) => rest;
      expect(JSON.stringify(steady(again))).toBe(JSON.stringify(first[position] && steady(first[position])));
      for (const { cached, stored } of again.judgments) expect([cached, stored]).toEqual([true, true]);
    }
    expect(counting.calls).toEqual([]);
  }

  it('gives every reward bit for bit with no judge call: at once, after a restart, and in an empty deployment', async () => {
    const first = await Promise.all(GROUP.map(score));
    expect(counting.calls).toHaveLength(2 * GROUP.length);
    await replays(first);
    await restart();
    await replays(first);

    const file = await exported(keysOf(first));
    await empty();
    await problemOf(await isolate()(post('/v1/score', { ...GROUP[0], judgments: 'only' })), 409, 'judgment_missing');
    expect(await imported(file)).toEqual({
      v: 1,
      imported: 6,
      already_there: 0,
      refused: 0,
      refused_lines: [],
      complete: true,
    });
    await replays(first);
    await restart();
    await replays(first);
  });
});

describe('records', () => {
  it('are signed by the issuer, in the form of version 2, and the score names the key', async () => {
    const scored = await score(ROLLOUT);
    const [kid] = (await keys()).map(({ key_id }) => key_id);
    await runDeskAlarms();
    for (const { key, issuer } of scored.judgments) {
      expect(issuer).toBe(kid);
      const record = judgmentSchema.parse(JSON.parse((await storedRecord(env.JUDGMENTS, key ?? '')) ?? 'null'));
      expect(record).toMatchObject({ v: 2, key, issuer: { key_id: kid } });
    }
  });

  it('are unsigned without a key, and read as such', async () => {
    await restart({ ISSUER_KEY: '' });
    expect((await score(ROLLOUT)).judgments.map(({ issuer }) => issuer)).toEqual([null, null]);
    expect((await score(ROLLOUT)).judgments.map(({ issuer, cached }) => [issuer, cached])).toEqual([
      [null, true],
      [null, true],
    ]);
    expect(await keys()).toEqual([]);
  });

  it('whose verdicts were changed are not used: refused with "only", judged anew with "use"', async () => {
    const { judgments } = await score(ROLLOUT);
    await empty();
    const forged = await forge(judgments[0]?.key ?? '');
    await env.JUDGMENTS.put(partitionName(forged.key), partitionText([forged.text]));
    const refused = await isolate()(post('/v1/score', { ...ROLLOUT, judgments: 'only', recipe: RUBRIC_ONLY }));
    await problemOf(refused, 503, 'judgment_record_invalid');
    const again = await score({ ...ROLLOUT, recipe: RUBRIC_ONLY });
    expect(again.judgments[0]).toMatchObject({ cached: false, store_problem: { reason: 'judgment_record_invalid' } });
  });

  it('stay known after the key was rotated, and unknown issuers pass as unsigned', async () => {
    await score(ROLLOUT);
    const [before] = await keys();
    await restart({ ISSUER_KEY: other.pkcs8, ISSUER_KEYS_PREVIOUS: JSON.stringify([own.public]) });
    expect((await keys()).map(({ status }) => status)).toEqual(['current', 'previous']);
    const issuers = async () => (await score(ROLLOUT)).judgments.map(({ issuer, cached }) => [issuer, cached]);
    expect(await issuers()).toEqual([
      [before?.key_id, true],
      [before?.key_id, true],
    ]);
    const unsigned = [
      [null, true],
      [null, true],
    ];
    await restart({ ISSUER_KEYS_PREVIOUS: '' });
    expect(await issuers()).toEqual(unsigned);

    await restart({ ISSUER_KEYS_PREVIOUS: JSON.stringify([{ ...own.public, revoked: true }]) });
    expect(await issuers()).toEqual(unsigned);
    expect((await keys()).map(({ status, key_id, public_key }) => [status, key_id, public_key === null])).toEqual([
      ['current', expect.any(String), false],
      ['revoked', before?.key_id, true],
    ]);
  });
});

describe('receipts', () => {
  async function known() {
    const listed = (await keys()).flatMap(({ public_key }) => (public_key === null ? [] : [public_key]));
    const read = await readPublicKeys(JSON.stringify(listed));
    if (!read.ok) throw new Error(read.error);
    return createKnownIssuers(read.value.keys);
  }

  function receiptOf({ receipt }: Pick<RefinerScore, 'receipt'>): Receipt {
    if (receipt === null) throw new Error('no receipt');
    return receipt;
  }

  it('come with a score that asks for one, are of that reply and that request, and outlive a rotation', async () => {
    expect((await score(ROLLOUT)).receipt).toBeNull();
    const reply = await score({ ...ROLLOUT, receipt: true });
    const receipt = receiptOf(reply);
    expect(await checkReceipt(receipt, await known())).toBe('valid');
    expect(differsFromReply(receipt, receiptedReplySchema.parse(reply))).toEqual([]);
    const asked = { rollout: requestedRollout(scoreRequestSchema.parse(ROLLOUT)), recipe: reply.recipe.digest };
    expect(differsFromRequest(receipt, asked)).toEqual([]);

    await restart({ ISSUER_KEY: other.secret, ISSUER_KEYS_PREVIOUS: JSON.stringify([own.public]) });
    expect(await checkReceipt(receipt, await known())).toBe('valid');
    expect(receiptOf(await score({ ...ROLLOUT, receipt: true })).issuer.key_id).not.toBe(receipt.issuer.key_id);
    await restart({ ISSUER_KEYS_PREVIOUS: JSON.stringify([{ ...own.public, revoked: true }]) });
    expect(await checkReceipt(receipt, await known())).toBe('unknown_key');
  });

  it('come with each member of a group and with the lines of a batch, and say why there is no reward', async () => {
    const { response, ...shared } = ROLLOUT;
    const group = await isolate()(post('/v1/groups', { ...shared, responses: [response, 'no'], receipt: true }));
    const { members } = groupResponseSchema.parse(await group.json());
    for (const member of members) {
      expect(await checkReceipt(receiptOf(member), await known())).toBe('valid');
      expect(receiptOf(member).reward).toBe(member.reward);
    }
    expect(new Set(members.map((member) => receiptOf(member).request)).size).toBe(2);

    const skipped = await score({ ...ROLLOUT, judgments: 'skip', receipt: true });
    expect(receiptOf(skipped)).toMatchObject({ reward: null, reason: 'judgment_skipped', judgments: [] });
    expect(await checkReceipt(receiptOf(skipped), await known())).toBe('valid');

    const batch = await ended((await submit(line('one', { ...ROLLOUT, receipt: true }))).id);
    const [output] = await outputLines(batch.output_file_id);
    const body = receiptedReplySchema.parse(output?.response?.body);
    expect(await checkReceipt(receiptOf(body), await known())).toBe('valid');
    expect(differsFromReply(receiptOf(body), body)).toEqual([]);

    await restart({ ISSUER_KEY: '' });
    const unsigned = await ended((await submit(line('one', { ...ROLLOUT, receipt: true }))).id);
    expect(await outputLines(unsigned.error_file_id)).toMatchObject([{ error: { code: 'issuer_unconfigured' } }]);
  });

  it('cannot be had where nothing signs: refused before anything is judged', async () => {
    await restart({ ISSUER_KEY: '' });
    const { response, ...shared } = ROLLOUT;
    for (const request of [
      post('/v1/score', { ...ROLLOUT, receipt: true }),
      post('/v1/groups', { ...shared, responses: [response], receipt: true }),
    ]) {
      const problem = await problemOf(await isolate()(request), 422, 'issuer_unconfigured');
      expect(problem).toMatchObject({ retryable: false, errors: [{ path: 'receipt' }] });
    }
    expect(counting.calls).toEqual([]);
  });

  it('are not signed by a key that is revoked', async () => {
    await restart({ ISSUER_KEYS_PREVIOUS: JSON.stringify([{ ...own.public, revoked: true }]) });
    await problemOf(await isolate()(post('/v1/score', ROLLOUT)), 500, 'config_invalid');
  });
});

const RUBRIC_ONLY = { base: 'refiner-gpt54-instance-rubric', citation_weight: 0 };

/** A record whose signature was made over other verdicts. */
async function forge(key: string): Promise<{ key: string; text: string }> {
  await score(ROLLOUT);
  await runDeskAlarms();
  const text = (await storedRecord(env.JUDGMENTS, key)) ?? '';
  await empty();
  const turned = text.includes('"score":0')
    ? text.replace('"score":0', '"score":2')
    : text.replace('"score":2', '"score":0');
  expect(turned).not.toBe(text);
  return { key, text: turned };
}

async function keys() {
  const reply = await isolate()(new Request(`${ORIGIN}/v1/keys`));
  return issuerKeysSchema.parse(await reply.json()).keys;
}

describe('GET /v1/keys', () => {
  it('lists public keys in the form that TRUSTED_ISSUERS takes, and no private one', async () => {
    const listed = await keys();
    expect(listed).toMatchObject([{ status: 'current', public_key: own.public }]);
    expect(JSON.stringify(listed)).not.toContain('"d"');
    const read = await readPublicKeys(JSON.stringify(listed.map(({ public_key }) => public_key)));
    expect(read).toMatchObject({ ok: true, value: { keys: [{ key_id: listed[0]?.key_id }] } });
  });

  it('refuses everything that signs or checks while a key is malformed', async () => {
    for (const setting of ['ISSUER_KEY', 'ISSUER_KEYS_PREVIOUS', 'TRUSTED_ISSUERS'] as const) {
      await restart({
        ISSUER_KEY: own.secret,
        ISSUER_KEYS_PREVIOUS: '',
        TRUSTED_ISSUERS: '',
        [setting]: '{"kty":"RSA"}',
      });
      for (const request of [
        post('/v1/score', ROLLOUT),
        post('/v1/judgments:import', ''),
        new Request(`${ORIGIN}/v1/keys`),
      ]) {
        expect((await problemOf(await isolate()(request), 500, 'config_invalid')).detail).toContain(setting);
      }
    }
  });
});

describe('POST /v1/judgments:export', () => {
  it('names what is not there, once, and ends with the counts', async () => {
    const [key = ''] = keysOf([await score(ROLLOUT)]);
    const absent = 'f'.repeat(64);
    const lines = (await exported([absent, key, absent, key])).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { missing: { key: absent, reason: 'judgment_missing' } },
      { v: 2, key },
      { end: { v: 1, judgments: 1, missing: 1 } },
    ]);
  });

  it('refuses what is no key, and needs the scope "score"', async () => {
    const reply = await isolate()(post('/v1/judgments:export', { keys: ['nonsense'] }));
    expect(await wrongFields(reply)).toEqual(['keys[0]']);
    expect((await withKey('verify', 'export', '{"keys":[]}')).status).toBe(403);
  });
});

describe('POST /v1/judgments:import', () => {
  it('needs the scope "admin"', async () => {
    expect((await withKey('score', 'import', '\n')).status).toBe(403);
    expect((await withKey('admin', 'import', '\n')).status).toBe(200);
  });

  it.each(['/v1/judgments:import', '/v1/runs/r/import'])('%s refuses a request without a file', async (path) => {
    for (const body of [null, '', new Blob([]).stream()]) {
      const headers = { 'content-type': 'application/jsonl' };
      const reply = await isolate()(new Request(ORIGIN + path, { method: 'POST', headers, body }));
      const { errors } = await problemOf(reply, 422, 'input_invalid');
      expect(errors).toEqual([{ path: '', message: 'expected JSON lines; the body is empty' }]);
    }
  });

  it('takes what trusted issuers signed, never overwrites, and names each line it refuses', async () => {
    const scored = await score(ROLLOUT);
    const file = await exported(keysOf([scored]));
    const [first = '', second = '', end = ''] = file.trimEnd().split('\n');
    await empty();
    await restart({ ISSUER_KEY: other.secret });
    expect((await imported(file)).refused_lines.map(({ reason }) => reason)).toEqual([
      'issuer_unknown',
      'issuer_unknown',
    ]);

    await restart({ TRUSTED_ISSUERS: JSON.stringify([own.public]) });
    const spoiled = [
      'not JSON',
      first.replace('"prompt_tokens":100', '"prompt_tokens":99'),
      JSON.stringify({ ...JSON.parse(first), issuer: null }),
      first.replace(/"key":"....../, '"key":"000000'),
      '',
      'x'.repeat(1024 * 1024 + 1),
      second,
      first,
      first,
      end,
    ];
    const report = await imported(spoiled.join('\n'));
    expect(report).toMatchObject({ imported: 2, already_there: 1, refused: 5, complete: false });
    expect(report.refused_lines.map(({ line, reason }) => [line, reason])).toEqual([
      [1, 'line_not_json'],
      [2, 'signature_wrong'],
      [3, 'unsigned'],
      [4, 'record_invalid'],
      [6, 'line_too_long'],
    ]);
    expect(await imported(file)).toMatchObject({ imported: 0, already_there: 2, refused: 0, complete: true });
    expect(await imported(`${first}\n${second}\n`)).toMatchObject({ already_there: 2, complete: false });
    resetCounting();
    expect((await score({ ...ROLLOUT, judgments: 'only' })).reward).toBe(scored.reward);
    expect(counting.calls).toEqual([]);
  });

  it('reads a body that comes in small pieces, of more lines than one bulk read takes', async () => {
    const first = await Promise.all(
      Array.from({ length: 60 }, (_, number) => score({ ...ROLLOUT, replicate: 10_000 + number })),
    );
    const file = await exported(keysOf(first));
    await empty();
    const bytes = new TextEncoder().encode(file);
    let at = 0;
    const pieces = new ReadableStream({
      type: 'bytes',
      pull(controller) {
        if (at >= bytes.length) controller.close();
        else controller.enqueue(bytes.slice(at, at + 777));
        at += 777;
        if (at >= bytes.length + 777) controller.byobRequest?.respond(0);
      },
    });
    expect(await imported(pieces)).toMatchObject({ imported: 120, refused: 0, complete: true });
  });
});

async function withKey(scope: string, verb: 'export' | 'import', body: string): Promise<Response> {
  const API_KEYS = JSON.stringify({ tester: { sha256: await sha256Hex('a-key'), scopes: [scope] } });
  return isolate({ API_KEYS })(
    post(`/v1/judgments:${verb}`, body, {
      authorization: 'Bearer a-key',
      'content-type': verb === 'import' ? 'application/jsonl' : 'application/json',
    }),
  );
}
