/**
 * The conformance check against a real server, through its command line. llama-server meets every requirement of a
 * judge except one: it does not check model names.
 */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { LLM_BUILD_TIMEOUT_MS, type LlmServer, startLlmServer } from '../../scripts/llm/local-server.ts';

const main = resolve(import.meta.dirname, '../../gpu-backend/check/main.ts');
const reportSchema = z.object({
  ok: z.boolean(),
  model: z.string().nullable(),
  findings: z.array(z.object({ id: z.string(), outcome: z.string(), saw: z.string() })),
});

let server: LlmServer;

beforeAll(async () => {
  server = await startLlmServer();
}, LLM_BUILD_TIMEOUT_MS);

afterAll(async () => {
  await server?.stop();
});

type Run = { readonly code: number; readonly stdout: string; readonly stderr: string };

function check(...args: readonly string[]): Promise<Run> {
  return new Promise((done, failed) => {
    const env = { PATH: process.env['PATH'], VLLM_API_KEY: server.key };
    const child = execFile(process.execPath, [main, ...args], { env }, (_error, stdout, stderr) => {
      if (child.exitCode === null) failed(new Error('the check was ended by a signal'));
      else done({ code: child.exitCode, stdout, stderr });
    });
  });
}

it('passes, with one line not reported', async () => {
  const { code, stdout } = await check('--url', `${server.url}/v1/`, '--json');
  const report = reportSchema.parse(JSON.parse(stdout));
  expect(report.findings.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  expect(report.findings.filter(({ outcome }) => outcome === 'not_reported').map(({ id }) => id)).toEqual([
    'unknown_model',
  ]);
  expect(report).toMatchObject({ ok: true, model: server.model });
  expect(report.findings.find(({ id }) => id === 'dropped_stream')?.saw).toContain('by /metrics');
  expect(report.findings.find(({ id }) => id === 'prefix_cache')?.saw).toContain('by usage');
  expect(code).toBe(0);
});

it('fails with exit code 1 and says what to change', async () => {
  const { code, stdout } = await check('--url', server.url, '--min-context', '65536', '--limit', '0.001');
  expect(code).toBe(1);
  expect(stdout).toContain('-> Start vLLM with --max-model-len');
  expect((await check('--url', server.url, '--key', 'wrong')).stdout).toContain('Pass the right --key.');
});

it('is called wrongly with exit code 2', async () => {
  for (const args of [[], ['--url', 'no url'], ['--url', server.url, '--timeout', 'x'], ['--unknown']]) {
    const { code, stderr } = await check(...args);
    expect(code).toBe(2);
    expect(stderr).toContain('usage: npm run backend:check');
  }
});
