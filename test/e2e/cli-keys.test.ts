/** Keys that the command line makes, at a Worker that asks for one. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../clients/typescript/index.ts';
import { startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, runCiteward } from './processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('a Worker accepts a key of `citeward keys add` and no other', async () => {
  const file = join(directory, 'vars');
  await writeFile(file, "ALLOW_LEXICAL_JUDGE='true'\n");
  const trainer = await citeward('keys', 'add', 'trainer', '--file', file);
  const reader = await citeward('keys', 'add', 'reader', '--scopes', 'verify', '--file', file);
  expect([trainer.code, reader.code]).toEqual([0, 0]);
  expect(trainer.stdout).toMatch(/^cw_[A-Za-z0-9_-]{43}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const written = await readFile(file, 'utf8');
  expect(written).not.toContain(trainer.stdout.trim());
  const again = await citeward('keys', 'add', 'trainer', '--file', file);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('has a key "trainer" already');
  expect(await readFile(file, 'utf8')).toBe(written);

  const guarded = await startLocalWorker({ variables: {}, variablesFile: file, deadline_ms: 60_000 });
  try {
    const scoreWith = (key: string) =>
      runCiteward({ args: ['score', EXAMPLES, '--url', guarded.url], env: { CITEWARD_KEY: key } });
    expect(await scoreWith(trainer.stdout.trim())).toMatchObject({ code: 0 });
    const other = await scoreWith(`cw_${'A'.repeat(43)}`);
    expect(other).toMatchObject({ code: 1, stdout: '' });
    expect(other.stderr).toContain('401 key_unknown');
    expect((await scoreWith('')).stderr).toContain('401 key_missing');
    expect((await scoreWith(reader.stdout.trim())).stderr).toContain('403 scope_missing');
    const verified = await runCiteward({
      args: ['verify', EXAMPLES, '--url', guarded.url],
      env: { CITEWARD_KEY: reader.stdout.trim() },
    });
    expect(verified.code).toBe(0);
  } finally {
    await guarded.stop();
  }
});

test('a Worker makes, lists and revokes keys of projects, and says who did', async () => {
  const file = join(directory, 'operator-vars');
  await writeFile(file, "ALLOW_LEXICAL_JUDGE='true'\n");
  const operator = await citeward('keys', 'add', 'boss', '--scopes', 'verify,score,admin', '--file', file);
  const guarded = await startLocalWorker({ variables: {}, variablesFile: file, deadline_ms: 60_000 });
  const withKey = (key: string, ...args: string[]) =>
    runCiteward({ args: [...args, '--url', guarded.url], env: { CITEWARD_KEY: key.trim() } });
  const asOperator = (...args: string[]) => withKey(operator.stdout, ...args);
  try {
    const made = await asOperator('keys', 'add', 'trainer', '--project', 'search', '--expires', '90d');
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toMatch(/^cwk_[A-Za-z0-9_-]{43}[0-9a-f]{8}\n$/);
    expect(made.stderr).toContain('of the project search');
    expect(await withKey(made.stdout, 'score', EXAMPLES, '--run', 'r', '--step', '0')).toMatchObject({ code: 0 });
    expect((await withKey(made.stdout, 'runs', 'list')).stdout).toContain('r ');
    expect((await asOperator('runs', 'list')).stdout).not.toContain('r ');
    const changed = await asOperator('projects', 'budgets', 'search', '--calls', '200', '--tokens', 'none');
    expect(changed.stdout).toMatch(
      /^judge calls {3}\d+ used today of 200\njudge tokens {2}\d+ used today of no limit\n/,
    );
    const own = JSON.parse((await withKey(made.stdout, 'projects', 'budgets', 'search', '--json')).stdout);
    expect(own).toMatchObject({ project: 'search', judge_calls_per_day: 200, judge_tokens_per_day: null });
    expect((await withKey(made.stdout, 'projects', 'budgets', 'other')).stderr).toContain('404 project_not_found');
    expect((await withKey(made.stdout, 'projects', 'budgets', 'search', '--calls', '9')).code).toBe(1);
    expect(await asOperator('projects', 'budgets', 'search', '--calls', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--calls: expected "none" or an integer from 1 to'),
    });
    const [listed] = (await asOperator('keys', 'list', '--project', 'search', '--json')).stdout.split('\n');
    const { id, label, expires_at } = JSON.parse(listed ?? '');
    expect([label, Date.parse(expires_at) > Date.now()]).toEqual(['trainer', true]);
    expect(await asOperator('keys', 'revoke', id)).toMatchObject({ code: 0 });
    const refused = await withKey(made.stdout, 'score', EXAMPLES);
    expect(refused.stderr).toContain('401 key_unknown');
    const audit = await asOperator('keys', 'audit', '--limit', '5');
    expect(audit.stdout).toContain(`DELETE /v1/api-keys/${id}`);
    expect(audit.stdout).toContain('setting:boss');
    const wrong = await citeward('keys', 'add', 'x', '--expires', '90 days', '--url', guarded.url);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--expires: expected a number')]);
    expect((await citeward('keys', 'add', 'x', '--project', 'p')).code).toBe(2);
  } finally {
    await guarded.stop();
  }
});

test('a project is erased with a count of what is left, and another one keeps everything', async () => {
  const file = join(directory, 'erasing-vars');
  await writeFile(file, "ALLOW_LEXICAL_JUDGE='true'\n");
  const operator = await citeward('keys', 'add', 'boss', '--scopes', 'verify,score,batch,admin', '--file', file);
  const guarded = await startLocalWorker({ variables: {}, variablesFile: file, deadline_ms: 60_000 });
  const withKey = (key: string, ...args: string[]) =>
    runCiteward({ args: [...args, '--url', guarded.url], env: { CITEWARD_KEY: key.trim() } });
  const asOperator = (...args: string[]) => withKey(operator.stdout, ...args);
  const own = (key: string) => createClient({ url: new URL(guarded.url), key: key.trim() });
  const add = async (project: string) =>
    (await asOperator('keys', 'add', 'trainer', '--project', project, '--scopes', 'score,batch,admin')).stdout;
  try {
    const [erased, kept] = [await add('erased'), await add('kept')];
    for (const key of [erased, kept]) {
      for (const run of ['one', 'two'])
        await withKey(key, 'score', EXAMPLES, '--run', run, '--step', '0', '--store-text');
      const content = new Blob(['{}\n']);
      expect(await own(key).files.create({ content, filename: 'input.jsonl' })).toMatchObject({ ok: true });
      const registered = await fetch(`${guarded.url}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: 'https://hooks.example.com/x' }),
      });
      expect(registered.status, await registered.text()).toBe(201);
    }
    await asOperator('projects', 'budgets', 'erased', '--calls', '200');

    const unsure = await asOperator('projects', 'erase', 'erased');
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('needs --yes') });
    const dry = JSON.parse((await asOperator('projects', 'erase', 'erased', '--dry-run', '--json')).stdout);
    const counted = dry.stores.map(({ store, found }: { store: string; found: number }) => [store, found]);
    expect(counted).toEqual([
      ['keys (revoked)', 1],
      ['webhook endpoints', 1],
      ['running batches (cancelled)', 0],
      ['files', 1],
      ['runs', 2],
    ]);
    expect((await withKey(erased, 'runs', 'list')).stdout).toContain('one');

    const first = await asOperator('projects', 'erase', 'erased', '--yes');
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toMatch(/runs +2 +2 +0/);
    expect(first.stderr).toContain('run the command again');
    const again = await asOperator('projects', 'erase', 'erased', '--yes', '--json');
    const proof = JSON.parse(again.stdout);
    expect([again.code, proof.project, proof.dry_run]).toEqual([0, 'erased', false]);
    for (const { found, left } of proof.stores) expect([found, left]).toEqual([0, 0]);
    expect(proof.remains.length).toBeGreaterThan(0);

    const budgets = JSON.parse((await asOperator('projects', 'budgets', 'erased', '--json')).stdout);
    expect(budgets.judge_calls_per_day).toBeNull();
    expect((await withKey(erased, 'runs', 'list')).stderr).toContain('401 key_unknown');
    const runs = await own(kept).runs.list();
    expect(runs.ok && runs.body.runs.map(({ id }) => id).sort()).toEqual(['one', 'two']);
    const files = await own(kept).files.list();
    expect(files.ok && files.body.data.length).toBe(1);
    const endpoints = await own(kept).webhooks.list();
    expect(endpoints.ok && endpoints.body.endpoints.length).toBe(1);
    const wrong = await withKey(kept, 'projects', 'erase', 'erased', '--yes');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('403 operator_needed')]);
  } finally {
    await guarded.stop();
  }
});
