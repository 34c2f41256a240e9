/** `citeward judgments`: a deployment replays the judgments of another without a judge call. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, jsonLines } from '../e2e/processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const START_MS = 60_000;
const UNKNOWN = 'f'.repeat(64);

let directory: string;
const workers: LocalWorker[] = [];

async function startWorker(variables: Readonly<Record<string, string>>): Promise<string> {
  const open = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };
  const worker = await startLocalWorker({ variables: { ...open, ...variables }, deadline_ms: START_MS });
  workers.push(worker);
  return worker.url;
}

/** An Ed25519 key as PKCS #8 in base64, and its public JWK. */
async function issuerKey(): Promise<{ readonly secret: string; readonly list: string }> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('issuerKey: no pair');
  const secret = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
  const { kty, crv, x } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { secret, list: JSON.stringify([{ kty, crv, x }]) };
}

let first: string;
let second: string;
let stranger: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
  const issuer = await issuerKey();
  first = await startWorker({ ISSUER_KEY: issuer.secret });
  second = await startWorker({ TRUSTED_ISSUERS: issuer.list });
  stranger = await startWorker({});
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await rm(directory, { recursive: true, force: true });
});

test('export, import, replay; refuses a file that is cut, edited or signed by an unknown issuer', async () => {
  const scored = await citeward('score', EXAMPLES, '--url', first, '--json');
  expect(scored.code).toBe(0);
  const keys = [...scored.stdout.matchAll(/"key":"([0-9a-f]{64})"/g)].map(([, key = '']) => key);
  expect(keys.length).toBeGreaterThan(20);
  const keyFile = join(directory, 'keys.txt');
  await writeFile(keyFile, `${keys.join('\n')}\n`);

  const exported = await citeward('judgments', 'export', keyFile, '--url', first);
  expect(exported).toMatchObject({ code: 0, stderr: `${new Set(keys).size} exported\n` });
  const lines = exported.stdout.trimEnd().split('\n');
  expect(lines.at(-1)).toBe(`{"end":{"v":1,"judgments":${new Set(keys).size},"missing":0}}`);
  const file = join(directory, 'judgments.jsonl');
  await writeFile(file, exported.stdout);

  expect((await citeward('score', EXAMPLES, '--url', second, '--judgments', 'only')).code).toBe(1);
  const refused = await citeward('judgments', 'import', file, '--url', stranger);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('line 1: issuer_unknown');
  expect(refused.stderr).toContain(`0 imported · 0 already there · ${lines.length - 1} refused`);

  const cut = join(directory, 'cut.jsonl');
  await writeFile(cut, `\n${lines[0]}\nno judgment\n`);
  const partly = await citeward('judgments', 'import', cut, '--url', second);
  expect(partly.code).toBe(1);
  expect(partly.stderr).toContain('line 3: line_not_json');
  expect(partly.stderr).toContain('1 imported · 0 already there · 1 refused');
  expect(partly.stderr).toContain('cut off, or edited');

  const imported = await citeward('judgments', 'import', file, '--url', second);
  expect(imported).toMatchObject({ code: 0, stderr: `${lines.length - 2} imported · 1 already there\n` });
  const replayed = await citeward('score', EXAMPLES, '--url', second, '--judgments', 'only', '--json');
  expect(replayed.code).toBe(0);
  const rewards = (stdout: string): unknown[] => jsonLines(stdout).map(({ reward }) => reward);
  expect(rewards(replayed.stdout)).toEqual(rewards(scored.stdout));
  expect(await readFile(file, 'utf8')).not.toContain('Panama');
});

test('names missing keys and lines that are no keys', async () => {
  const keyFile = join(directory, 'odd.txt');
  await writeFile(keyFile, `${UNKNOWN}\nnull\n`);
  const ended = await citeward('judgments', 'export', keyFile, '--url', stranger);
  expect(ended.code).toBe(1);
  expect(ended.stdout).toBe(
    `{"missing":{"key":"${UNKNOWN}","reason":"judgment_missing"}}\n{"end":{"v":1,"judgments":0,"missing":1}}\n`,
  );
  expect(ended.stderr).toContain('line 2: expected a key: 64 hexadecimal digits');
  expect(ended.stderr).toContain('0 exported · 1 not there · 1 bad line');
});

test.each([
  [['judgments'], 'expected: judgments export'],
  [['judgments', 'exprot', 'x'], 'Did you mean export?'],
  [['judgments', 'import', EXAMPLES], 'give its --url'],
])('a wrong command line: %j', async (args, said) => {
  const ended = await citeward(...args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(said);
});
