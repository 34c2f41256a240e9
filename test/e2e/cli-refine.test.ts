/** `citeward refine` as a process: local, through a Worker with a model server, and with clients that disconnect. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient } from '../../clients/typescript/client.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, jsonLines, root, runCiteward } from './processes.ts';

const ROW = {
  id: 'aare',
  question: 'How long is the Aare?',
  tool_output:
    '<snippet id=S1>The Aare is 288 kilometres long.</snippet><snippet id=S2>It rises in the Bernese Alps.</snippet>',
};
const PIECES = [
  '<answer>In short: <snippet id=S1>the Aare is 288 ',
  'kilometres long.</snippet> <snippet id=S2>It is the ',
  'deepest river of Africa.</snippet> <snippet id=S9>',
  'And salty.</snippet>',
  '</answer>',
];

/** Replies of the model server that were interrupted, by the number of pieces sent. */
const cutOff: number[] = [];
let model: Server;
let worker: LocalWorker;
let examples: readonly string[];

/** Writes the pieces, the last one again and again where the policy is to have no end. */
async function write(response: ServerResponse, isEndless: boolean): Promise<void> {
  const send = (delta: object, finish_reason: string | null = null): unknown =>
    response.write(
      `data: ${JSON.stringify({ model: 'refiner-4b', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  let sent = 0;
  response.on('close', () => {
    if (!response.writableFinished) cutOff.push(sent);
  });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  while (!response.closed && (isEndless || sent < PIECES.length)) {
    send({ content: isEndless ? 'word ' : PIECES[sent] });
    sent++;
    await pause(20);
  }
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

beforeAll(async () => {
  const file = await readFile(resolve(root, 'examples/rollouts.jsonl'), 'utf8');
  examples = file.split('\n').slice(0, 3);
  model = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    await write(response, body.includes('without end'));
  });
  model.listen(0, '127.0.0.1');
  await once(model, 'listening');
  const address = model.address();
  if (address === null || typeof address === 'string') throw new Error('the model server has no port');
  const backend = {
    ...{ name: 'policy', role: 'generate', kind: 'vllm', model: 'refiner-4b', slots: 4, context_tokens: 8_192 },
    base_url: `http://127.0.0.1:${address.port}/v1`,
  };
  worker = await startLocalWorker({
    variables: {
      ALLOW_ANONYMOUS: 'true',
      ALLOW_LEXICAL_JUDGE: 'true',
      BACKENDS: JSON.stringify({ backends: [backend], default_judge: null, default_generator: 'policy' }),
    },
    deadline_ms: 60_000,
  });
});

afterAll(async () => {
  await worker?.stop();
  model?.closeAllConnections();
  model?.close();
});

const refineHere = (args: readonly string[], rows: readonly string[], env: Record<string, string> = {}) =>
  runCiteward({ args: ['refine', '-', ...args], stdin: rows.map((row) => `${row}\n`), env });
const refineThere = (...args: string[]) => refineHere(['--url', worker.url, ...args], [JSON.stringify(ROW)]);

describe('in this process', () => {
  test('refines rows made for scoring, with the replies of the Worker', async () => {
    const args = ['--seed', '1', '--n', '2', '--json', '--generator', 'extractive'];
    const here = await refineHere(args, examples);
    const there = await refineHere([...args, '--url', worker.url], examples);
    expect([here.code, there.code], here.stderr + there.stderr).toEqual([0, 0]);
    expect(here.stderr).toContain('is no model');
    const ours = jsonLines(here.stdout);
    expect(ours.map(({ line, model: made }) => [line, made])).toEqual(
      [1, 2, 3].map((line) => [line, 'citeward-extractive-1']),
    );
    expect(jsonLines(there.stdout)).toEqual(ours);
  });

  test('prints claims with marks and colours, the cut, and rewards with a recipe', async () => {
    const args = ['--temperature', '0', '--recipe', 'refiner-gpt54-instance-rubric'];
    const shown = await refineHere(args, examples, { FORCE_COLOR: '1', NO_COLOR: '' });
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain('\u001b[32m  ✓ ');
    expect(shown.stdout).toMatch(/the policy saw [\d,]+ of [\d,]+ characters/);
    expect(shown.stdout).toMatch(/good-answer · citeward-extractive-1 · reward \d/);
    expect(shown.stderr).toMatch(/3 rows refined · 3 candidates · mean reward \d/);
    expect(shown.stderr).toContain('judge citeward-lexical-7');
  });

  test('names a bad line and refines the others', async () => {
    const ended = await refineHere(['--json'], ['{"question":"q"}', JSON.stringify(ROW)]);
    expect(ended.code).toBe(1);
    expect(jsonLines(ended.stdout)).toMatchObject([{ line: 2, id: 'aare' }]);
    expect(ended.stderr).toContain('line 1: tool_output');
  });

  test('a wrong command line does nothing', async () => {
    const ended = await citeward('refine', 'examples/rollouts.jsonl', '--generator', 'gpt');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('Give generators with --backends FILE');
  });
});

describe('through a Worker', () => {
  test('shows the claims of the model while they stream: supported, unsupported, invented', async () => {
    const shown = await refineThere();
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout.split('\n')).toEqual([
      'How long is the Aare?',
      '    In short:',
      '  ✓ the Aare is 288 kilometres long.  [S1]',
      '  ~ It is the deepest river of Africa.  [S2]',
      '  ✗ And salty.  [S9 invented]',
      expect.stringMatching(/^ {2}= stop · not well formed · 3 claims · 1 invented id/),
      '  aare · refiner-4b',
      '',
    ]);
    expect(cutOff).toEqual([]);
  });

  test('--abort-invented stops the model at the invented id', async () => {
    const shown = await refineThere('--abort-invented', '--json');
    expect(shown.code, shown.stderr).toBe(0);
    expect(jsonLines(shown.stdout)).toMatchObject([
      { candidates: [{ aborted: { id: 'S9' }, response: PIECES.slice(0, 3).join('') }] },
    ]);
    await vi.waitFor(() => expect(cutOff).toHaveLength(1), { timeout: 20_000 });
    expect(cutOff.splice(0)[0]).toBeLessThanOrEqual(PIECES.length);
  });

  test('a client that disconnects stops the model', async () => {
    const client = createClient({ url: new URL(worker.url), key: null });
    const { id: _id, ...row } = ROW;
    const opened = await client.refineStream({ ...row, question: 'without end', sampling: { max_tokens: 4_000 } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.failure));
    for await (const { event } of opened.body) if (event === 'delta') break;
    // A second until a comment detects the disconnect, plus the machine's delays.
    await vi.waitFor(() => expect(cutOff).toHaveLength(1), { timeout: 20_000 });
  });
});
