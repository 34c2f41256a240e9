/** `citeward` judges with a model on a server, without a Worker: --judge-url, --backends, --state. */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockState } from '../../serve/state-lock.ts';
import { favourableCompletion } from './favourable-judge.ts';
import { citeward, jsonLines, runCiteward, spawnCiteward } from './processes.ts';

const MODEL = 'qwen3-4b';
let directory: string;
let url: string;
/** Keys of the requests to the model, and the answer to them. */
const keys: (string | undefined)[] = [];
let status = 200;
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    if (request.url?.endsWith('/models') === true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: [{ id: MODEL, object: 'model', max_model_len: 32_768 }] }));
      return;
    }
    keys.push(request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? favourableCompletion(body, MODEL) : JSON.stringify({ error: { message: 'no' } }));
  });
});

const ROW = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response: '<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>',
  positive_rubrics: ['States that the Aare is 288 km long'],
};

async function rowsFile(name: string, ...rows: readonly object[]): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return file;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-local-model-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the model has no port');
  url = `http://127.0.0.1:${address.port}/v1`;
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true, force: true });
});

describe('--judge-url', () => {
  test('judges each question once; with --state a second call makes no judge call, and says so', async () => {
    const file = await rowsFile('twice.jsonl', ROW, ROW);
    const there = ['--judge-url', url, '--judge-model', MODEL, '--state', join(directory, 'state')];
    const first = await spawnCiteward({ args: ['score', file, '--json', ...there] });
    expect(first.code, first.stderr).toBe(0);
    const [one, two] = jsonLines(first.stdout);
    expect(one).toMatchObject({ reward: expect.any(Number), judgments: [{ model: MODEL, failure: null }, {}] });
    expect(two?.['reward']).toBe(one?.['reward']);
    expect(keys.length).toBe(2);
    expect(first.stderr).toContain(`Judge: ${MODEL} (${MODEL} at ${url})`);
    expect((await stat(join(directory, 'state'))).mode & 0o077).toBe(0);

    const again = await spawnCiteward({ args: ['score', file, '--json', ...there] });
    expect(keys.length).toBe(2);
    expect(again.stderr).toContain(`0 calls of a model · 4 judgments from ${join(directory, 'state')}`);
    expect(jsonLines(again.stdout)[0]).toMatchObject({ reward: one?.['reward'], judgments: [{ cached: true }, {}] });
  });

  test('--state is refused while another process uses the folder, before any judge call', async () => {
    const state = join(directory, 'in-use');
    await mkdir(state);
    const file = await rowsFile('in-use.jsonl', { ...ROW, question: 'Whose turn?' });
    const score = () =>
      spawnCiteward({ args: ['score', file, '--judge-url', url, '--judge-model', MODEL, '--state', state] });
    const lock = await lockState(state);
    const calls = keys.length;
    const refused = await score();
    lock.close();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(
      `the folder ${state} is in use by ${basename(process.execPath)}, process ${process.pid}`,
    );
    expect(keys.length).toBe(calls);
    expect(await score()).toMatchObject({ code: 0 });
  });

  test('a model that fails leaves the row without a reward, and the reason is that of a Worker', async () => {
    status = 401;
    const file = await rowsFile('fails.jsonl', { ...ROW, question: 'Another?' });
    const ended = await citeward('score', file, '--json', '--judge-url', url, '--judge-model', MODEL);
    status = 200;
    expect(ended.code).toBe(1);
    expect(jsonLines(ended.stdout)).toMatchObject([{ reward: null, reason: 'judge_unauthorized' }]);
  });

  test.each([
    [['--judge-url', 'URL'], '--judge-url needs --judge-model'],
    [['--judge-model', MODEL], '--judge-model needs --judge-url'],
    [['--judge-url', 'URL', '--judge-model', 'gpt'], 'has no model "gpt"'],
    [['--judge-url', 'URL', '--judge-model', MODEL, '--url', 'URL'], '--judge-url is for judging without a Worker'],
    [['--dialect', 'openai'], '--dialect is for a model server'],
    [['--dialect', 'openai', '--backends', 'judges.json'], '--backends and --dialect exclude each other'],
    [['--labels', 'yes,no', '--backends', 'judges.json'], '--backends and --labels exclude each other'],
  ])('%j is refused', async (flags, said) => {
    const file = await rowsFile('refused.jsonl', ROW);
    const ended = await citeward('score', file, ...flags.map((flag) => (flag === 'URL' ? url : flag)));
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain(said);
    expect(ended.stdout).toBe('');
  });
});

describe('--backends', () => {
  const backends = (more: object = {}) => ({
    backends: [
      {
        ...{ kind: 'vllm', name: 'qwen', base_url: url, model: MODEL, slots: 4, context_tokens: 32_768 },
        api_key_secret: 'MODEL_KEY',
        ...more,
      },
    ],
    default_judge: 'qwen',
  });

  test('names several judges, whose secrets are variables of the environment', async () => {
    const [file, settings] = [await rowsFile('named.jsonl', ROW), join(directory, 'backends.json')];
    await writeFile(settings, JSON.stringify(backends()));
    const ended = await runCiteward({
      args: ['score', file, '--json', '--judges', 'qwen,lexical', '--backends', settings],
      env: { MODEL_KEY: 'secret' },
    });
    expect(ended.code, ended.stderr).toBe(0);
    const models = jsonLines(ended.stdout).map(({ judgments }) => JSON.stringify(judgments));
    expect(models[0]).toContain(MODEL);
    expect(models[0]).toContain('citeward-lexical');
    expect(keys.at(-1)).toBe('Bearer secret');
  });

  test('a wrong field is named with its place', async () => {
    const settings = join(directory, 'wrong.json');
    await writeFile(settings, JSON.stringify(backends({ base_url: 'ftp://x' })));
    const ended = await citeward('score', await rowsFile('wrong.jsonl', ROW), '--backends', settings);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(`${settings}: backends[0].base_url: expected an https URL`);
  });
});

describe('doctor', () => {
  test('asks each judge a question, and says what is wrong with one that does not answer', async () => {
    const doctor = () => citeward('doctor', '--judge-url', url, '--judge-model', MODEL, '--json');
    const well = await doctor();
    expect([well.code, well.stderr]).toEqual([0, '']);
    const judge = `judge ${MODEL}`;
    expect(jsonLines(well.stdout)).toContainEqual({ what: judge, ok: true, detail: expect.any(String), hint: null });
    status = 401;
    const ill = await doctor();
    status = 200;
    expect([ill.code, ill.stderr]).toEqual([1, '1 of these must be mended\n']);
    const fault = jsonLines(ill.stdout).find(({ what }) => what === judge);
    expect(fault).toMatchObject({ ok: false, detail: expect.stringContaining('judge_unauthorized') });
    expect(fault?.['hint']).toContain('troubleshooting.md');
  });

  test.each([
    [3600, 'FAIL  clock: differs by 3600 s'],
    [0, 'ok    clock: differs by'],
    [null, null],
  ])('compares the clock with a Worker whose date is %s s behind', async (behind, line) => {
    const ready = {
      ...{ status: 'ready', reason: null, stores: [], warnings: [], default_judge: null, judges: [] },
      ...{ default_generator: null, generators: [], sandbox: null },
    };
    const worker = createServer((_request, response) => {
      if (behind === null) response.sendDate = false;
      else response.setHeader('date', new Date(Date.now() - behind * 1000).toUTCString());
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ready));
    });
    await new Promise<void>((done) => worker.listen(0, '127.0.0.1', done));
    const address = worker.address();
    if (address === null || typeof address === 'string') throw new Error('the Worker has no port');
    const { code, stdout } = await citeward('doctor', '--url', `http://127.0.0.1:${address.port}`);
    worker.close();
    // A machine that needs some seconds for a reply moves the difference by as many.
    if (line === null) expect(stdout).not.toContain('clock');
    else expect(stdout.replaceAll(/36\d\d s/g, '3600 s')).toContain(line);
    expect(code, stdout).toBe(behind === 3600 ? 1 : 0);
  });

  test('asks a Worker with keys with the key, and says which is missing', async () => {
    const ready = {
      ...{ status: 'ready', reason: null, stores: [], warnings: [], default_judge: null, judges: [] },
      ...{ default_generator: null, generators: [], sandbox: null },
    };
    const missing = { reason: 'key_missing', detail: 'Send a key.', request_id: 'r' };
    const worker = createServer(({ headers }, response) => {
      const isKnown = headers.authorization === 'Bearer a-key';
      response.statusCode = isKnown ? 200 : 401;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(isKnown ? ready : missing));
    });
    await new Promise<void>((done) => worker.listen(0, '127.0.0.1', done));
    const address = worker.address();
    if (address === null || typeof address === 'string') throw new Error('the Worker has no port');
    const url = `http://127.0.0.1:${address.port}`;
    const [without, withKey] = [
      await citeward('doctor', '--url', url),
      await citeward('doctor', '--url', url, '--key', 'a-key'),
    ];
    worker.close();
    expect(without.stdout).toContain(`FAIL  ${url}: the Worker refused the request: 401 key_missing: Send a key.\n`);
    expect(without.stdout).toContain('Set CITEWARD_KEY, or give --key.');
    expect(withKey.stdout).toContain(`ok    ${url}: ready`);
  });

  test('what a Worker says of itself begins no line', async () => {
    const default_judge = 'x\n\u001B[32mok\u001B[0m    judge good: answers';
    const ready = {
      ...{ status: 'ready', reason: null, stores: [], warnings: [], default_judge, judges: [] },
      ...{ default_generator: null, generators: [], sandbox: null },
    };
    const worker = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ready));
    });
    await new Promise<void>((done) => worker.listen(0, '127.0.0.1', done));
    const address = worker.address();
    if (address === null || typeof address === 'string') throw new Error('the Worker has no port');
    const { stdout } = await citeward('doctor', '--url', `http://127.0.0.1:${address.port}`);
    worker.close();
    expect(stdout).toContain(`ok    http://127.0.0.1:${address.port}: ready, judge x ok    judge good: answers\n`);
  });

  test('names a Worker that does not answer, and what is to be started', async () => {
    const ended = await citeward('doctor', '--url', 'http://127.0.0.1:9');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('ok    Node: v');
    expect(ended.stdout).toContain('FAIL  http://127.0.0.1:9: no answer');
    expect(ended.stdout).toContain('npm run dev');
  });
});
