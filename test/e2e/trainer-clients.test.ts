/**
 * The trainers' clients against a real Worker and a judge that is up, down, or temporarily down. The clients are ours
 * and follow the behaviour of the trainers' (revisions in docs/trainers): number of tries, waits, and which reply
 * counts as a reward. Waits are shortened where they would take minutes.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { favourableCompletion } from './favourable-judge.ts';

const JUDGE_KEY = 'sk-judge';
const KEY = 'a-trainers-key';
const MODEL = 'told';

/**
 * Down: busy for longer than anyone waits. Flaky: down until it is told otherwise. They are one model, and so share
 * their judgments: each sample is marked with the judge that it is for.
 */
const JUDGES = ['up', 'down', 'flaky'] as const;
let flakyIsUp = false;

let judge: Server;
let worker: LocalWorker;

beforeAll(async () => {
  judge = createServer((request, response) => {
    const name = request.url?.split('/')[1];
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      if (name === 'down') response.writeHead(503, { 'retry-after': '120' }).end('{"error": "busy"}');
      else if (name === 'flaky' && !flakyIsUp) response.writeHead(500).end('{"error": "broken"}');
      else response.writeHead(200, { 'content-type': 'application/json' }).end(favourableCompletion(body, MODEL));
    });
  }).listen(0, '127.0.0.1');
  await once(judge, 'listening');
  const address = judge.address();
  if (typeof address !== 'object' || address === null) throw new Error('the judge has no port');
  const backends = JUDGES.map((name) => ({
    name,
    kind: 'vllm',
    base_url: `http://127.0.0.1:${address.port}/${name}/v1`,
    model: MODEL,
    api_key: JUDGE_KEY,
    slots: 32,
    context_tokens: 65_536,
  }));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(KEY));
  const sha256 = Buffer.from(digest).toString('hex');
  worker = await startLocalWorker({
    variables: {
      BACKENDS: JSON.stringify({ backends, default_judge: 'up' }),
      API_KEYS: JSON.stringify({ trainer: { sha256, scopes: ['score', 'verify'] } }),
    },
    deadline_ms: 60_000,
  });
});

afterAll(async () => {
  await worker.stop();
  judge.closeAllConnections();
  judge.close();
});

/** Everything that a client was answered, to be looked through for numbers. */
type Answers = string[];

/**
 * One POST as aiohttp makes it: credentials of the URL become Basic auth, an error status is an exception, and the body
 * has to be JSON by its content type.
 */
async function post(url: string, body: unknown, timeout_ms: number | null, answers: Answers): Promise<unknown> {
  const { origin, pathname, search, username, password } = new URL(url);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const reply = await fetch(`${origin}${pathname}${search}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(password === '' ? {} : { authorization: `Basic ${credentials}` }),
    },
    body: JSON.stringify(body),
    ...(timeout_ms === null ? {} : { signal: AbortSignal.timeout(timeout_ms) }),
  });
  const text = await reply.text();
  answers.push(text);
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  const type = reply.headers.get('content-type') ?? '';
  if (!/^application\/([\w.+-]+\+)?json\b/.test(type)) throw new Error(`unexpected content type ${type}`);
  return JSON.parse(text);
}

/** `remote_rm` of slime and of LongTraceRL's fork: ten tries on any exception. @param pace 1 = slime's own waits. */
async function slimeRemoteRm(url: string, payload: unknown, pace: number, answers: Answers): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await post(url, payload, 120_000, answers);
    } catch (error) {
      if (attempt === 9) throw error;
      await pause(1000 * pace * Math.min(2 ** attempt, 30));
    }
  }
}

/** `_post_request` of OpenRLHF: five tries, one second apart. The caller uses the first entry of each list. */
async function openRlhfFetchReward(url: string, sample: OpenRlhfSample, answers: Answers): Promise<unknown> {
  const payload = { query: [sample.query], prompts: [sample.prompt], labels: [sample.label] };
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      return await post(url, payload, 180_000, answers);
    } catch {
      // Logged and tried again there.
      await pause(1000);
    }
  }
  throw new Error('Request error for 5 times');
}

type OpenRlhfSample = { readonly query: string; readonly prompt: string; readonly label: string };

/** The resources server of docs/trainers/nemo-gym.md: three tries, no timeout, a number or an exception. */
async function nemoGymVerify(url: string, row: object, answers: Answers): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return z.looseObject({ reward: z.number() }).parse(await post(url, row, null, answers));
    } catch (error) {
      if (attempt === 2) throw error;
      await pause(500);
    }
  }
}

const TOOL_OUTPUT = [
  '<snippet id=S1>The Aare is 288 kilometres long. It is the longest river that lies entirely within Switzerland.</snippet>',
  '<snippet id=S2>The Aare rises at the Aare Glaciers in the Bernese Alps and joins the Rhine near Koblenz.</snippet>',
].join('\n');
const RESPONSE =
  '<answer><snippet id=S1>The river Aare has a length of 288 km.</snippet> ' +
  '<snippet id=S9>It carries more water than the Danube.</snippet></answer>';

/** Criteria met: two of weight 1, one fault of weight 0.5, then the static set: one good, two faults. */
const RUBRIC = 3 / 5.5;
/** One claim supported, one with an invented id. */
const CITATION = 1 / 2;
const BASE = 0.8 * RUBRIC + 0.2 * CITATION;

const labelOf = (mark: string) => ({
  question: `How long is the Aare? ${mark}`,
  tool_output: TOOL_OUTPUT,
  positive_rubrics: ['States that it is 288 km long', 'Names where it rises'],
  negative_rubrics: [{ description: 'Says that it ends in Italy', weight: 0.5 }],
});

/** The URL that a user of the trainer configures, with the key in it. */
function urlOf(path: string, query: Readonly<Record<string, string>>): string {
  return `${worker.url.replace('://', `://k:${KEY}@`)}/v1/adapters/${path}?${new URLSearchParams(query)}`;
}

const REFINER = 'refiner-gpt54-instance-rubric';

type Client = {
  /**
   * Returns the trainer's result after all its tries. @param mark makes the sample unique, so that no judgment is
   * stored for it.
   */
  readonly ask: (judge: string, mark: string, answers: Answers) => Promise<unknown>;
  readonly right: unknown;
  /** Number of tries before the trainer gives up. */
  readonly tries: number;
};

const LONG_CONTEXT = `${'The ferry leaves at nine, and the registers were copied by hand. '.repeat(9_000)}\nQuestion?`;

const CLIENTS: Readonly<Record<string, Client>> = {
  slime: {
    ask: (name, mark, answers) => {
      const label = JSON.stringify(labelOf(mark));
      const prompt = [{ role: 'user', content: 'How long is the Aare?' }];
      const url = urlOf('slime', { recipe: REFINER, judge: name });
      return slimeRemoteRm(url, { prompt, response: RESPONSE, label }, name === 'down' ? 0.01 : 0.1, answers);
    },
    right: expect.closeTo(10 * BASE, 9),
    tries: 10,
  },
  'slime with --reward-key': {
    ask: (name, mark, answers) => {
      const url = urlOf('slime', { recipe: REFINER, judge: name, reply: 'object', run: 'run-1', group_size: '8' });
      const payload = { prompt: 'How long is the Aare?', response: RESPONSE, label: labelOf(mark) };
      return slimeRemoteRm(url, payload, name === 'down' ? 0.01 : 0.1, answers);
    },
    right: expect.objectContaining({
      reward: expect.closeTo(10 * BASE, 9),
      base: expect.closeTo(BASE, 9),
      rubric: expect.closeTo(RUBRIC, 9),
      citation: CITATION,
      run: expect.objectContaining({ id: 'run-1' }),
    }),
    tries: 10,
  },
  LongTraceRL: {
    ask: (name, mark, answers) => {
      const history = [
        { role: 'user', content: LONG_CONTEXT },
        { role: 'assistant', reasoning_content: `Koblenz, ${mark}`, content: `The Aare, in Bern. ${mark}` },
      ];
      const extra_reward_info = {
        question: 'Which river flows through Bern?',
        dataset_name: 'longqa',
        rubrics: ['Aare', 'Bern', 'Koblenz', 'Rhine'],
        rubric_reward_ratio: 0.3,
        rubric_use_reasoning_content: false,
        rubric_use_content: true,
      };
      const url = urlOf('longtracerl/evaluate', { judge: name });
      const payload = { label: 'the Aare', extra_reward_info, history };
      return slimeRemoteRm(url, payload, name === 'down' ? 0.01 : 0.1, answers);
    },
    right: { outcome_reward: 1, rubric_reward: 0.5, reward: expect.closeTo(0.85, 9) },
    tries: 10,
  },
  OpenRLHF: {
    ask: (name, mark, answers) => {
      const prompt = '<|im_start|>user\nHow long is the Aare?<|im_end|>\n<|im_start|>assistant\n';
      const sample = { query: `${prompt}${RESPONSE}<|im_end|>`, prompt, label: JSON.stringify(labelOf(mark)) };
      return openRlhfFetchReward(urlOf('openrlhf/get_reward', { recipe: REFINER, judge: name }), sample, answers);
    },
    right: {
      rewards: [expect.closeTo(10 * BASE, 9)],
      scores: [expect.closeTo(BASE, 9)],
      extra_logs: {
        rubric: [expect.closeTo(RUBRIC, 9)],
        citation: [CITATION],
        format: [0],
        rubric_contribution: [expect.closeTo(8 * RUBRIC, 9)],
        citation_contribution: [expect.closeTo(2 * CITATION, 9)],
      },
    },
    tries: 5,
  },
  'NeMo Gym': {
    ask: (name, mark, answers) => {
      const content = [{ type: 'output_text', text: RESPONSE, annotations: [] }];
      const row = {
        responses_create_params: { input: [{ role: 'user', content: 'How long is the Aare?' }] },
        response: { id: 'r', output: [{ id: 'm', type: 'message', role: 'assistant', content }] },
        citeward: labelOf(mark),
        _ng_task_index: 3,
      };
      return nemoGymVerify(urlOf('nemo-gym/verify', { recipe: REFINER, judge: name }), row, answers);
    },
    right: expect.objectContaining({
      reward: expect.closeTo(10 * BASE, 9),
      reward_components: { rubric: expect.closeTo(8 * RUBRIC, 9), citation: expect.closeTo(2 * CITATION, 9) },
      citation: expect.closeTo(2 * CITATION, 9),
      _ng_task_index: 3,
    }),
    tries: 3,
  },
};

describe.each(Object.entries(CLIENTS))('%s', (name, { ask, right, tries }) => {
  test('gets the right reward in its shape', async () => {
    expect(LONG_CONTEXT.length).toBeGreaterThan(512 * 1024);
    const answers: Answers = [];
    expect(await ask('up', `${name} up`, answers)).toEqual(right);
    expect(answers).toHaveLength(1);
  });

  test('gets an exception where the judge is down, and never a number', async () => {
    const answers: Answers = [];
    await expect(ask('down', `${name} down`, answers)).rejects.toThrow();
    expect(answers).toHaveLength(tries);
    for (const answer of answers) {
      expect(answer.trim()).toMatch(/^\{/);
      expect(answer).not.toMatch(/reward|scores|rubric/);
      expect(JSON.parse(answer)).toMatchObject({ status: 503, retryable: true });
    }
  });
});

test('a judge that comes back while they try gives every one of them its reward', async () => {
  const asked = Object.entries(CLIENTS).map(async ([name, { ask, right }]) => {
    const answers: Answers = [];
    const had = await ask('flaky', `${name} flaky`, answers);
    expect(had).toEqual(right);
    for (const answer of answers.slice(0, -1)) expect(answer).not.toMatch(/reward|scores|rubric/);
  });
  const outage = pause(6_000).then(() => {
    flakyIsUp = true;
  });
  await Promise.all([...asked, outage]);
});
