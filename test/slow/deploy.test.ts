/**
 * `npm run deploy` with a wrangler that only records its calls, and `npm run smoke` against a real local Worker. No test
 * needs an account.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { startLocalWorker } from '../../scripts/local-worker.ts';
import { type Ended, jsonLines, root, runScript } from '../e2e/processes.ts';

const KEY = 'cw_0123456789012345678901234567890123456789012';
const SHA256 = '2b0e8dd6c8a1d8e3d3f6d0ba1d7a1b0c8f0b7d6e5c4a39281706f5e4d3c2b1a0';
const SECRETS = {
  API_KEYS: { trainer: { sha256: SHA256, scopes: ['verify', 'score'] } },
  BACKENDS: {
    backends: [
      {
        name: 'gpu',
        kind: 'vllm',
        base_url: 'https://gpu.example.com/v1',
        model: 'judge',
        api_key_secret: 'GPU_KEY',
        slots: 8,
        context_tokens: 32768,
      },
    ],
    default_judge: 'gpu',
  },
  GPU_KEY: 'a $KEY {that} is text',
};

let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const callSchema = z.object({
  step: z.enum(['login', 'bundle', 'deploy']),
  args: z.array(z.string()),
  terminal: z.boolean(),
  secrets: z.record(z.string(), z.string()).optional(),
  mode: z.number().optional(),
  file: z.string().optional(),
});
type Run = Ended & { readonly calls: readonly z.infer<typeof callSchema>[] };

async function deploy(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  count++;
  const log = join(directory, `calls-${count}.jsonl`);
  const ended = await runScript('scripts/deploy.ts', {
    args: ['--wrangler', resolve(root, 'test/e2e/stand-in-wrangler.mjs'), ...args],
    env: { CLOUDFLARE_ACCOUNT_ID: '', ...env, STAND_IN_LOG: log },
  });
  const calls = existsSync(log) ? jsonLines(await readFile(log, 'utf8')).map((line) => callSchema.parse(line)) : [];
  return { ...ended, calls };
}

async function secretsFile(content: unknown): Promise<string> {
  count++;
  const path = join(directory, `secrets-${count}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const stepsOf = ({ calls }: Run): string[] => calls.map(({ step }) => step);

describe('npm run deploy', () => {
  test('logs in, bundles, and deploys with the secrets as text', async () => {
    const run = await deploy(['--secrets', await secretsFile(SECRETS)], {
      STAND_IN_URL: 'https://citeward.test.workers.dev',
    });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(stepsOf(run)).toEqual(['login', 'bundle', 'deploy']);
    const [, bundled, deployed] = run.calls;
    expect(bundled?.args).toContain('--env=');
    expect(deployed).toMatchObject({ terminal: false, mode: 0o600 });
    expect(deployed?.secrets).toEqual({
      API_KEYS: JSON.stringify(SECRETS.API_KEYS),
      BACKENDS: JSON.stringify(SECRETS.BACKENDS),
      GPU_KEY: SECRETS.GPU_KEY,
    });
    // The copy for wrangler does not remain.
    expect(existsSync(deployed?.file ?? '')).toBe(false);
    expect(run.stdout).toContain('Deployed: https://citeward.test.workers.dev');
    expect(run.stdout).toContain('npm run smoke -- --url https://citeward.test.workers.dev');
    expect(run.stdout).not.toContain(SECRETS.GPU_KEY);
  });

  test('deploys an environment of wrangler.toml, and no other', async () => {
    const staging = await deploy(['--env', 'staging']);
    expect(staging.calls.slice(1).map(({ args }) => args.includes('--env=staging'))).toEqual([true, true]);
    expect(staging.calls.at(-1)?.args).not.toContain('--secrets-file');
    const unknown = await deploy(['--env', 'stagign']);
    expect(unknown).toMatchObject({ code: 1, calls: [] });
    expect(unknown.stderr).toContain('wrangler.toml has no [env.stagign]; it has staging');
  });

  test('a dry run names each step and asks nobody', async () => {
    const run = await deploy(['--dry-run', '--env', 'staging', '--secrets', await secretsFile(SECRETS)], {
      STAND_IN_FAILS: 'login',
    });
    expect(run.code).toBe(0);
    expect(stepsOf(run)).toEqual(['bundle']);
    for (const text of ['create:', 'queues of [env.staging]', 'API_KEYS, BACKENDS, GPU_KEY', 'npm run smoke']) {
      expect(run.stdout).toContain(text);
    }
  });

  test.each([
    ['login', ['login'], 'npx wrangler login'],
    ['bundle', ['login', 'bundle'], 'does not bundle'],
    ['deploy', ['login', 'bundle', 'deploy'], 'Run the command again'],
  ])('a failure at the step %s ends it', async (step, steps, message) => {
    const run = await deploy([], { STAND_IN_FAILS: step, CITEWARD_KEY: KEY });
    expect(run.code).toBe(1);
    expect(stepsOf(run)).toEqual(steps);
    expect(run.stderr).toContain(message);
    expect(run.stdout).not.toContain('Deployed');
  });

  test('asks which of several accounts is meant', async () => {
    const unclear = await deploy([], { STAND_IN_ACCOUNTS: '2' });
    expect(unclear.code).toBe(1);
    expect(unclear.stderr).toMatch(/CLOUDFLARE_ACCOUNT_ID to one of:\n {2}a0 {2}account 0\n {2}a1 {2}account 1/);
    expect((await deploy([], { STAND_IN_ACCOUNTS: '2', CLOUDFLARE_ACCOUNT_ID: 'a1' })).code).toBe(0);
  });

  test.each([
    ['{"API_KEYS":', 'expected JSON'],
    ['[]', 'expected a JSON object'],
    [{ API_KEY: {} }, 'API_KEY: unknown; did you mean API_KEYS?'],
    [{ GPU_KEY: 'secret-value' }, 'GPU_KEY: unknown'],
    [{ ...SECRETS, API_KEYS: { trainer: { sha256: 'secret-value', scopes: ['score'] } } }, 'API_KEYS: trainer.sha256'],
    [{ ...SECRETS, BACKENDS: { backends: [], default_judge: 'secret-value' } }, 'BACKENDS: backends'],
    [{ ISSUER_KEY: null }, 'leave the name out'],
    [{ ISSUER_KEY: 'secret-value'.repeat(1_000) }, 'longer than 5120 bytes'],
  ])('refuses wrong secrets before anything else: %#', async (content, message) => {
    const run = await deploy(['--secrets', await secretsFile(content)]);
    expect(run).toMatchObject({ code: 1, calls: [] });
    expect(run.stderr).toContain(message);
    expect(run.stdout + run.stderr).not.toContain('secret-value');
  });

  test('refuses an unknown flag and a missing file', async () => {
    expect((await deploy(['--secret', 'x'])).stderr).toContain("Unknown option '--secret'");
    expect((await deploy(['--secrets', join(directory, 'none.json')])).stderr).toContain('ENOENT');
  });
});

describe('npm run smoke', () => {
  test('checks a Worker, leaves nothing behind, and tells which part failed', async () => {
    const variables = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };
    const worker = await startLocalWorker({ variables, deadline_ms: 90_000 });
    try {
      // Deployed by the stand-in, checked for real.
      const deployed = await deploy([], { STAND_IN_URL: worker.url, CITEWARD_KEY: KEY });
      expect(deployed, deployed.stdout).toMatchObject({ code: 0 });
      const checks = deployed.stdout.split('\n').filter((line) => / ms {2}(?:ok|FAILED) /.test(line));
      expect(checks.map((line) => / ms {2}(\S+)/.exec(line)?.[1])).toEqual(checks.map(() => 'ok'));
      expect(checks.length).toBeGreaterThan(8);
      expect(deployed.stdout).toContain(`Deployed and checked: ${worker.url}`);
      const runs = await fetch(`${worker.url}/v1/runs`);
      expect(await runs.json()).toMatchObject({ runs: [] });
      const files = await fetch(`${worker.url}/v1/files`);
      expect(await files.json()).toMatchObject({ data: [] });
    } finally {
      await worker.stop();
    }
  });

  test('fails where no judge is configured, and still erases', async () => {
    const worker = await startLocalWorker({ variables: { ALLOW_ANONYMOUS: 'true' }, deadline_ms: 90_000 });
    try {
      const run = await runScript('scripts/smoke.ts', { args: ['--url', worker.url, '--batch-limit', '10'] });
      expect(run.code).toBe(1);
      expect(run.stdout).toMatch(/stores and judges .*FAILED {2}no default judge: set the secret BACKENDS/);
      expect(run.stdout).toMatch(/verify .*ok/);
      expect(run.stdout).toMatch(/score and record .*FAILED .*judge_unconfigured/);
      expect(run.stdout).toMatch(/erase .*ok/);
      expect(run.stderr).toMatch(/\d of \d+ checks failed/);
    } finally {
      await worker.stop();
    }
  });

  test('fails against a server of another kind', async () => {
    const server = createServer((_, reply) => reply.writeHead(404).end('no'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const run = await runScript('scripts/smoke.ts', { args: ['--url', `http://127.0.0.1:${port}`] });
      expect(run.code).toBe(1);
      expect(run.stdout).toMatch(/health .*FAILED/);
      expect(run.stderr).toContain('checks failed');
    } finally {
      server.close();
    }
  });

  test.each([[[]], [['--url', 'ftp://x']], [['--url', 'http://x', '--wait', 'soon']]])('refuses %j', async (args) => {
    const run = await runScript('scripts/smoke.ts', { args });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('npm run smoke -- --url URL');
  });
});
