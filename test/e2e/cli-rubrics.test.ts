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
      // Refused for good: an answer without criteria would be asked for again for half a minute.
      if (body.includes('BROKEN')) {
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"not this one"}}');
        return;
      }
      const content = JSON.stringify(reply);
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
  expect(made.stderr).toContain('line 2: judge_request_refused: ');
  expect(made.stderr).toContain('line 3: question: required: a string');
  expect(made.stderr).toMatch(/line 4: existing\.persistent\[0\]\.description: /);
  expect(made.stderr).toContain('1 failed · 2 bad lines');
});

test('a data set of a trainer goes through convert, make and convert, and differs by the new criteria only', async () => {
  const own = { rubric_item: 'Names the river.', weight: 1, note: 7 };
  const object = { Question: ROW.question, rubrics: [own], rubrics_types: ['persistent'], more: [1] };
  const row = { id: 'aare', dataset: 'rubric', ground_truth: [JSON.stringify(object), 'for another verifier'] };
  const rows = join(folder, 'converted.jsonl');
  const converted = await citeward('rubrics', 'convert', await fileOf(row), '--to', 'citeward');
  expect([converted.code, converted.stderr]).toEqual([0, '1 row converted to citeward · 0 bad lines\n']);
  await writeFile(rows, converted.stdout);
  prompts = [];
  const made = await citeward('rubrics', 'make', rows, '--url', worker.url);
  expect(made.code, made.stderr).toBe(0);
  expect(prompts[0]).toContain('Names the river.');
  await writeFile(rows, made.stdout);
  const back = await citeward('rubrics', 'convert', rows, '--to', 'open-instruct');
  const [{ ground_truth, ...columns } = {}] = jsonLines(back.stdout);
  expect(columns).toEqual({ id: 'aare', dataset: 'rubric' });
  const [text, other] = Array.isArray(ground_truth) ? ground_truth : [];
  expect(other).toBe('for another verifier');
  expect(JSON.parse(String(text))).toEqual({
    ...object,
    rubrics: [
      own,
      { description: LENGTH, weight: 1, title: 'Length' },
      { description: 'Gives the length in miles only.', weight: -1, title: 'Unit' },
    ],
    rubrics_types: ['persistent', 'persistent', 'persistent'],
  });
  // A row of Citeward may be scored as it is: training_row is not sent.
  const scored = { ...JSON.parse(made.stdout), response: ROW.response, tool_output: ROW.tool_output };
  const score = await citeward('score', await fileOf(scored), '--json', '--recipe', 'dr-tulu-no-citation');
  expect(jsonLines(score.stdout), score.stderr).toMatchObject([{ id: 'aare', criteria: [{}, {}, {}] }]);
});

test('convert names bad lines, and prints nothing in a dry run', async () => {
  const good = { ground_truth: JSON.stringify({ query: 'q', rubrics: [] }) };
  const rows = await fileOf(good, { question: 'q' }, { ground_truth: '{"query": "q"}' });
  const dry = await citeward('rubrics', 'convert', rows, '--to', 'citeward', '--dry-run');
  expect([dry.code, dry.stdout]).toEqual([1, '']);
  expect(dry.stderr).toContain('line 2: ground_truth: required');
  expect(dry.stderr).toContain('line 3: ground_truth.rubrics: expected a list');
  expect(dry.stderr).toContain('1 row would be converted to citeward · 2 bad lines');
  const unsaid = await citeward('rubrics', 'convert', rows);
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining('--to citeward|open-instruct|dr-tulu')]);
});

test('a batch without a Worker says that its judge writes none', async () => {
  const out = join(folder, 'batch.jsonl');
  const errors = join(folder, 'batch.errors.jsonl');
  const ran = await citeward('batch', 'run', await fileOf(ROW), '--endpoint', '/v1/rubrics', '--output', out);
  expect(ran.code).toBe(1);
  expect(await readFile(errors, 'utf8')).toContain('judge_request_refused');
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

test('names the faults of criteria, by their wording and by verdicts, and exits with 3', async () => {
  const own = { positive_rubrics: ['Names the river.', 'Says when it rises and where it ends'] };
  const judged = (score: number) => ({
    criteria: [
      { key: 'c1', description: 'Names the Aare.', origin: 'instance', polarity: 'positive', weight: 1, score },
      { key: 'c2', description: 'Says it and names it', origin: 'static', polarity: 'negative', weight: 1, score: 0 },
    ],
  });
  const rows = [{ id: 'aare', ...own }, ...Array.from({ length: 4 }, () => judged(2))];
  const found = await citeward('rubrics', 'lint', await fileOf(...rows), '--json');
  expect(found.code, found.stderr).toBe(3);
  expect(JSON.parse(found.stdout)).toEqual({
    ...{ rows: 2, criteria: 3, bad_lines: 0 },
    findings: [
      {
        ...{ line: 1, id: 'aare', position: 1, polarity: 'positive', answers: 0 },
        description: 'Says when it rises and where it ends',
        ...{ reason: 'two_things', detail: 'it asks for two things', of: null },
      },
      {
        ...{ line: 2, id: null, position: 0, polarity: 'positive', answers: 4, description: 'Names the Aare.' },
        ...{ reason: 'always_met', detail: 'it pays for every given answer', of: null },
      },
    ],
  });
  const bad = await citeward('rubrics', 'lint', await fileOf(ROW, { id: 'none' }));
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('line 2: no criteria: give positive_rubrics')]);
});
