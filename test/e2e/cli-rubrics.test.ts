/** `citeward rubrics make`, with a model server that writes criteria. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, jsonLines } from './processes.ts';

const LENGTH = 'States that the Aare is 288 km long.';
let prompts: string[] = [];
let model: Server;
let worker: LocalWorker;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-rubrics-'));
  model = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      prompts.push(body);
      const reply = {
        positive: [
          { title: 'Length', description: LENGTH },
          { title: 'Words', description: 'Has at least 90 words.' },
        ],
        negative: [{ title: 'Unit', description: 'Gives the length in miles only.' }],
      };
      const content = body.includes('BROKEN') ? 'no criteria' : JSON.stringify(reply);
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ model: 'model', choices }));
    });
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  const address = model.address();
  if (typeof address !== 'object' || address === null) throw new Error('the model has no port');
  const base_url = `http://127.0.0.1:${address.port}/v1`;
  const backend = { name: 'model', kind: 'vllm', base_url, model: 'model', slots: 8, context_tokens: 65_536 };
  worker = await startLocalWorker({
    variables: { ALLOW_ANONYMOUS: 'true', BACKENDS: JSON.stringify({ backends: [backend], default_judge: 'model' }) },
    deadline_ms: 60_000,
  });
});

afterAll(async () => {
  await worker?.stop();
  model.closeAllConnections();
  model.close();
  await rm(folder, { recursive: true, force: true });
});

const ROW = {
  id: 'aare',
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
  response: '<think>200 km?</think><answer><snippet id=S1>It is 288 km long.</snippet></answer>',
  positive_rubrics: ['Names the river.'],
};

async function fileOf(...rows: readonly object[]): Promise<string> {
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

test('prints rows with their criteria, which can be scored as they are', async () => {
  prompts = [];
  const made = await citeward('rubrics', 'make', await fileOf(ROW), '--url', worker.url);
  expect(made.code, made.stderr).toBe(0);
  expect(jsonLines(made.stdout)).toEqual([
    {
      ...ROW,
      positive_rubrics: ['Names the river.', { title: 'Length', description: LENGTH, weight: 1 }],
      negative_rubrics: [{ title: 'Unit', description: 'Gives the length in miles only.', weight: 1 }],
    },
  ]);
  expect(made.stderr).toContain('line 1: left out "Has at least 90 words.": an answer can meet it by its length');
  expect(made.stderr).toContain('2 criteria for 1 row · 1 left out · 0 failed · 0 bad lines');
  // The model saw the row's own criterion and the answer, and no thinking.
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain('Names the river.');
  expect(prompts[0]).not.toContain('200 km?');
  const edited = join(folder, 'edited.jsonl');
  await writeFile(edited, made.stdout);
  const scored = await citeward('score', edited, '--json');
  expect(jsonLines(scored.stdout)).toMatchObject([{ id: 'aare', criteria: [{}, {}, {}, {}, {}, {}] }]);
  expect(await readFile(edited, 'utf8')).toContain('"weight":1');
});

test('a row without criteria is named, and never printed as done', async () => {
  const rows = await fileOf(ROW, { ...ROW, question: 'BROKEN' }, { response: 'r' }, { ...ROW, positive_rubrics: [1] });
  const made = await citeward('rubrics', 'make', rows, '--url', worker.url);
  expect(made.code).toBe(1);
  expect(jsonLines(made.stdout)).toHaveLength(1);
  expect(made.stderr).toContain('line 2: judge_reply_invalid: ');
  expect(made.stderr).toContain('line 3: question: required: a string');
  expect(made.stderr).toMatch(/line 4: existing\.persistent\[0\]\.description: /);
  expect(made.stderr).toContain('1 failed · 2 bad lines');
});

test('a batch without a Worker says that its judge writes none', async () => {
  const out = join(folder, 'batch.jsonl');
  const errors = join(folder, 'batch.errors.jsonl');
  const ran = await citeward('batch', 'run', await fileOf(ROW), '--endpoint', '/v1/rubrics', '--output', out);
  expect(ran.code).toBe(1);
  expect(await readFile(errors, 'utf8')).toContain('judge_unknown');
});

test('a dry run asks nothing; without a Worker there are no criteria', async () => {
  prompts = [];
  const dry = await citeward('rubrics', 'make', await fileOf(ROW, { ...ROW, id: 'b' }), '--dry-run');
  expect(dry).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('2 rows would be asked about') });
  expect(prompts).toEqual([]);
  const without = await citeward('rubrics', 'make', await fileOf(ROW));
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('needs a Worker: --url URL')]);
  const wrong = await citeward('rubrics', 'make', await fileOf(ROW), '--url', worker.url, '--judge', 'nobody');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--judge')]);
});
