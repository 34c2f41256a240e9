/** `citeward receipt verify`: its findings on the signature, the reply and the request, in every format. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Document, receiptedIn } from '../../../cli/commands/receipt/documents.ts';
import { findingsOf } from '../../../cli/commands/receipt/findings.ts';
import { type KnownKeys, keysOfFile } from '../../../cli/commands/receipt/known-keys.ts';
import { createRequestFinder } from '../../../cli/commands/receipt/requests.ts';
import { memoryStore } from '../../../lib/memory-store.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { createKnownIssuers, type Issuer } from '../../../src/judgments/issuer.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { CALLER_DEADLINE_MS, type ObtainOptions } from '../../../src/judgments/obtain.ts';
import { scoreGroup, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { groupReplyOf, groupRequestSchema, groupRollouts } from '../../../src/wire/groups.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { freshIssuer } from '../scoring/issuers.ts';

const SHARED = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  positive_rubrics: ['States that the Aare is 288 km long'],
  recipe: 'refiner-rl-balanced',
};
const REQUEST = { ...SHARED, response: '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>' };
const GROUP = { ...SHARED, responses: [REQUEST.response, 'The Aare.'] };

let directory: string;
let issuer: Issuer;
let keys: KnownKeys;
let reply: Readonly<Record<string, unknown>>;
let group: unknown;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-receipt-'));
  ({ issuer } = await freshIssuer());
  keys = { keys: [issuer.key], statuses: new Map([[issuer.key.key_id, 'current']]), revoked: new Set() };
  const recipe = await resolveRecipe(SHARED.recipe);
  if (!recipe.ok) throw new Error('no recipe');
  const options: ObtainOptions = {
    judge: { ok: true, judge: LEXICAL_JUDGE },
    store: memoryStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: CALLER_DEADLINE_MS,
    now: () => new Date().toISOString(),
    elapsed: () => performance.now(),
  };
  const asked = { recipe: recipe.value, receiptIssuer: issuer };
  const one = await scoreRollout({ ...asked, rollout: requestedRollout(scoreRequestSchema.parse(REQUEST)) }, options);
  const groupRequest = groupRequestSchema.parse(GROUP);
  const rollouts = groupRollouts(groupRequest);
  const all = await scoreGroup({ ...asked, rollouts }, options);
  if (one.status !== 'done' || all.status !== 'done') throw new Error('not scored');
  const grouped = groupReplyOf(groupRequest, rollouts, all.members);
  if (!grouped.ok) throw new Error('no group');
  reply = JSON.parse(JSON.stringify(one.reply));
  group = JSON.parse(JSON.stringify(grouped.value));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

type Asked = {
  readonly requests?: readonly unknown[];
  readonly keys?: KnownKeys;
  readonly pinned?: readonly string[];
  readonly line?: number | null;
};

/** The findings as `subject: verdict`, for each receipt; `null` if the value can have no receipt. */
async function verdicts(value: unknown, asked: Asked = {}): Promise<string[][] | null> {
  const { requests, pinned = [], line = null } = asked;
  const known = asked.keys ?? keys;
  const all = receiptedIn({ line, value }, 0);
  if (all === null) return null;
  const documents = requests?.map(
    (request, n): Document => ({ line: requests.length > 1 ? n + 1 : null, value: request }),
  );
  const material = {
    known: createKnownIssuers(known.keys),
    keys: known,
    keysFrom: 'keys.json',
    pinned,
    findRequest: documents === undefined ? null : createRequestFinder(documents),
  };
  return Promise.all(
    all.map(async (one) => (await findingsOf(one, material)).map(({ subject, verdict }) => `${subject}: ${verdict}`)),
  );
}

const HOLDS = ['states: unchecked', 'signature: holds', 'reply: holds', 'request: holds', 'recipe: holds'];

describe('a receipt is valid', () => {
  it('in a reply, in a line of a batch, in a line of citeward score --json, in each member of a group', async () => {
    expect(await verdicts(reply, { requests: [REQUEST] })).toEqual([HOLDS]);
    const line = { custom_id: 'b', response: { status_code: 200, body: reply } };
    const input = [
      { custom_id: 'a', body: { ...REQUEST, response: 'x' } },
      { custom_id: 'b', body: REQUEST },
    ];
    expect(await verdicts(line, { requests: input, line: 1 })).toEqual([HOLDS]);
    const rows = [
      { ...REQUEST, response: 'x' },
      { id: 'r', note: 'n', ...REQUEST },
    ];
    expect(await verdicts({ line: 2, id: 'r', ...reply }, { requests: rows, line: 1 })).toEqual([HOLDS]);
    expect(await verdicts(group, { requests: [GROUP] })).toEqual([HOLDS, HOLDS]);
  });

  it('alone or without its request: the missing parts are unchecked', async () => {
    const unchecked = ['states: unchecked', 'signature: holds', 'reply: unchecked', 'request: unchecked'];
    expect(await verdicts(reply['receipt'])).toEqual([unchecked]);
    const { recipe: _recipe, ...without } = REQUEST;
    expect((await verdicts(reply, { requests: [without] }))?.[0]?.at(-1)).toBe('recipe: unchecked');
  });
});

describe('a receipt is invalid', () => {
  it.each<[string, () => readonly [unknown, Asked], string]>([
    ['with another reward in the reply', () => [{ ...reply, reward: 9 }, {}], 'reply: fails'],
    ['with another response', () => [reply, { requests: [{ ...REQUEST, response: 'x' }] }], 'request: fails'],
    ['with another recipe', () => [reply, { requests: [{ ...REQUEST, recipe: 'dr-tulu' }] }], 'recipe: fails'],
    ['with a request that is none', () => [reply, { requests: [{ ...REQUEST, reponse: 'x' }] }], 'request: fails'],
    ['with a key that is not listed', () => [reply, { keys: { ...keys, keys: [] } }], 'signature: fails'],
    ['with a key that is revoked', () => [reply, { keys: { ...keys, revoked: idsOf(issuer) } }], 'signature: fails'],
    ['with a key that is not the pinned one', () => [reply, { pinned: ['0'.repeat(64)] }], 'signature: fails'],
    ['where there is none', () => [{ ...reply, receipt: null }, {}], 'receipt: fails'],
  ])('%s', async (_case, given, expected) => {
    const [value, asked] = given();
    const [found = []] = (await verdicts(value, asked)) ?? [];
    expect(found.filter((finding) => finding.endsWith('fails'))).toEqual([expected]);
  });

  it('if its reward is changed together with the reply', async () => {
    const receipt = { ...Object(reply['receipt']), reward: 9 };
    expect((await verdicts({ ...reply, receipt, reward: 9 }))?.[0]).toContain('signature: fails');
  });

  it('is not read in another format', async () => {
    expect(await verdicts({ ...reply, receipt: { ...Object(reply['receipt']), v: 2 } })).toBeNull();
    expect(await verdicts({ members: [reply, {}] })).toBeNull();
    expect(await verdicts(REQUEST)).toBeNull();
  });
});

function idsOf({ key }: Issuer): ReadonlySet<string> {
  return new Set([key.key_id]);
}

describe('keys', () => {
  async function read(value: unknown): Promise<KnownKeys> {
    const path = join(directory, 'keys.json');
    await writeFile(path, JSON.stringify(value));
    return keysOfFile(path);
  }

  it('are read from a reply of GET /v1/keys or a list of JWKs, with the revoked ones', async () => {
    const { key_id, public_key } = issuer.key;
    const entry = { key_id, status: 'previous', public_key };
    const gone = { key_id: '0'.repeat(64), status: 'revoked', public_key: null };
    const listed = await read({ v: 1, keys: [gone, entry] });
    expect(listed.keys).toEqual([issuer.key]);
    expect([...listed.revoked, ...listed.statuses]).toEqual([gone.key_id, [key_id, 'previous']]);
    expect((await read([public_key])).keys).toEqual([issuer.key]);
    expect([...(await read([{ ...public_key, revoked: true }])).revoked]).toEqual([key_id]);
  });

  it('are refused if an id does not match its key, or if the file is another', async () => {
    const entry = { key_id: '0'.repeat(64), status: 'current', public_key: issuer.key.public_key };
    await expect(read({ v: 1, keys: [entry] })).rejects.toThrow('does not have the listed id');
    await expect(read({ keys: 1 })).rejects.toThrow('expected the reply of GET /v1/keys');
    await expect(keysOfFile(join(directory, 'absent.json'))).rejects.toThrow('no such file');
  });
});
