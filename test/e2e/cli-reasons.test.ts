/** `citeward score --store-reasons` and `citeward runs show --reasons`, with a model server that gives reasons. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { favourableCompletion } from './favourable-judge.ts';
import { citeward, jsonLines } from './processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
/** A model may write escape sequences and line breaks. */
const REASON = 'It is \u001b[31mthere\u001b[0m.\nforged line';
const [EMPTY, GIVEN] = ['', REASON].map((reason) => JSON.stringify(`"reason":${JSON.stringify(reason)}`).slice(1, -1));

let judge: Server;
let worker: LocalWorker;

beforeAll(async () => {
  judge = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const completion = favourableCompletion(body, 'model').replaceAll(EMPTY ?? '', GIVEN ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
    });
  }).listen(0, '127.0.0.1');
  await once(judge, 'listening');
  const address = judge.address();
  if (typeof address !== 'object' || address === null) throw new Error('the judge has no port');
  const base_url = `http://127.0.0.1:${address.port}/v1`;
  const backend = { name: 'model', kind: 'vllm', base_url, model: 'model', slots: 8, context_tokens: 65_536 };
  worker = await startLocalWorker({
    variables: { ALLOW_ANONYMOUS: 'true', BACKENDS: JSON.stringify({ backends: [backend], default_judge: 'model' }) },
    deadline_ms: 60_000,
  });
});

afterAll(async () => {
  await worker?.stop();
  judge.closeAllConnections();
  judge.close();
});

const show = (...args: readonly string[]) => citeward('runs', 'show', 'why', '--url', worker.url, '--reasons', ...args);

test('a run prints the kept reasons of all its pages, each on one line, and counts what lacks them', async () => {
  for (const [step, flags] of [
    ['0', ['--store-reasons']],
    ['1', ['--store-reasons']],
    ['2', []],
  ] as const) {
    const scored = await citeward('score', EXAMPLES, '--url', worker.url, '--run', 'why', '--step', step, ...flags);
    expect(scored.code, scored.stderr).toBe(0);
  }
  const shown = await show();
  expect(shown.code, shown.stderr).toBe(0);
  const lines = shown.stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^0\/0\/0 · [\d.-]+ · rubric · criteria 0: It is there\. forged line$/);
  for (const line of lines) expect(line).toMatch(/^[01]\/\d+\/\d+ · .*: It is there\. forged line$/);
  expect(shown.stderr).toMatch(/ reasons of 57 rollouts · \d+ judgments made without --store-reasons/);

  const second = jsonLines((await show('--from', '1', '--json')).stdout);
  expect(second.length).toBe(lines.length / 2);
  expect(second[0]).toMatchObject({ step: 1, group: '0', sample: '0', kind: 'rubric', of: 'criteria', reason: REASON });
  expect(new Set(second.map(({ step }) => step))).toEqual(new Set([1]));
});
