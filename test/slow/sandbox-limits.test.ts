/** Runs that use the sandbox's whole time: a harness that is blocked, and expressions that never end. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { publicTransport } from '../../lib/model-servers/calls/transport.ts';
import { createSandboxJudge } from '../../service/backends/sandbox/sandbox-judge.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import type { EquivalenceRequest } from '../../src/judgments/kinds/equivalence/equivalence.ts';
import type { ExecutionRequest } from '../../src/judgments/kinds/execution/execution.ts';
import type { Verdicts } from '../../src/judgments/kinds/registry.ts';
import { root } from '../e2e/processes.ts';
import { SANDBOX_KEY, type SandboxServer, startSandbox } from '../e2e/sandbox-server.ts';

let server: SandboxServer;

beforeAll(async () => {
  const installed = spawnSync('bash', [resolve(root, 'gpu-backend/sandbox/install-debian.sh')], { encoding: 'utf8' });
  expect(installed.status, installed.stderr).toBe(0);
  server = await startSandbox('--max-concurrent', '4');
});

afterAll(async () => {
  await server?.stop();
});

async function verdictsOn(request: ExecutionRequest | EquivalenceRequest): Promise<Verdicts> {
  const reply = await replyTo(request);
  if (!reply.ok) throw new Error(`no verdicts: ${reply.failure.reason}: ${reply.failure.detail}`);
  return reply.verdicts;
}

function replyTo(request: ExecutionRequest | EquivalenceRequest): ReturnType<Judge['judge']> {
  const config = { name: 'sandbox', base_url: server.url, vpc_binding: null, api_key: SANDBOX_KEY, access: null };
  const clock = {
    now: () => performance.now(),
    date: () => Date.now(),
    sleep: () => Promise.resolve(),
    random: () => 0,
  };
  const judge = createSandboxJudge({ ...config, runtime: 'python-test', slots: 2 }, publicTransport, clock);
  return judge.judge(request, { deadline_ms: 60_000 });
}

it('a program that holds the harness loses the test', async () => {
  const program = 'import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nwhile True: pass';
  const verdicts = await verdictsOn({
    kind: 'execution',
    language: 'python',
    program,
    tests: [{ stdin: '', stdout: '' }],
    time_limit_s: 1,
    memory_limit_mb: 512,
  });
  expect(verdicts).toEqual({ kind: 'execution', tests: ['time_limit'] });
});

it.each(['((a+b+c)^{2000}+1)^{2000}', '\\exp(\\exp(\\exp(20)))'])(
  'an answer that would never end is not 5: %s',
  async (answer) => {
    const reply = await replyTo({ kind: 'equivalence', answer, reference: '5' });
    // Where the machine gives it less than half of a processor, the time on the wall ends first, which decides nothing.
    if (reply.ok) expect(reply.verdicts).toEqual({ kind: 'equivalence', equivalent: false });
    else expect(reply.failure.reason).toBe('equivalence_undecided');
  },
);
