/**
 * `citeward judge check` as a process: with the lexical judge, and against a model server that misbehaves on request.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { citeward, type Ended, jsonLines, runCiteward } from '../e2e/processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const KEY = 'sk-test';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function fileOf(name: string, rows: readonly (object | string)[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}

function claim(set: string, label: string, text: string, evidence = 'The bridge was opened in May 1937.'): object {
  return { id: `${set}:${text.length}`, set, claim: text, evidence, label };
}

const COPIED = 'The bridge was opened in May 1937.';
const CLAIMS = [
  claim('bridges', 'supported', COPIED),
  claim('bridges', 'unsupported', 'Kenya has 40 zebras.'),
  claim('bridges', 'partial', COPIED),
  claim('others', 'unsupported', COPIED),
];

/** The tables of standard output by their titles. */
function tablesOf(stdout: string): Map<string, string[]> {
  const blocks = stdout.trimEnd().split('\n\n');
  return new Map(blocks.map((block) => [block.split('\n')[0] ?? '', block.split('\n').slice(1)]));
}

describe('the lexical judge', () => {
  test('the examples: the tables fit into 100 columns, and each figure has its sentence', async () => {
    const ended = await citeward('judge', 'check', EXAMPLES);
    expect(ended.code).toBe(0);
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    const [title, rows = []] = [...tablesOf(ended.stdout)][0] ?? [];
    expect(title).toBe('Criteria: each way of judging compared with the joint one');
    expect(rows[0]).toMatch(/^judged +verdicts +same +kappa +bias +failed +calls +tokens +latency$/);
    expect(rows[1]).toMatch(/^joint +- +- +- +- +0\.0% +17 +- +\d/);
    expect(rows[2]).toMatch(/^one by one +140 +\d+\.\d% +0\.\d\d +[+-]\d\.\d\d +0\.0% +140 /);
    expect(rows[3]).toMatch(/^order reversed +140 +100\.0% +1\.00 +0\.00 +0\.0% +17 /);
    expect(rows[4]).toMatch(/^order shuffled +140 +99\.3% +1\.00 +\+0\.01 +0\.0% +17 /);
    expect(rows[5]).toMatch(/^again +deterministic: no sampling$/);
    expect(tablesOf(ended.stdout).get('Criteria: verdicts that another order changes')).toEqual([
      'criteria  verdicts  flipped  95 % interval',
      'all            140     0.7%    0.0% - 2.1%',
      'positive        54     0.0%   0.0% - 19.5%',
      'negative        35     0.0%   0.0% - 19.5%',
      'static          51     2.0%    0.0% - 5.9%',
    ]);
    expect(ended.stdout).toMatch(
      /^one by one: changes \d+\.\d% of verdicts, scores [+-]\d\.\d\d on average; 8\.2x the calls$/m,
    );
    expect(ended.stdout).toMatch(/^order: reversing it changes no verdict$/m);
    expect(ended.stdout).toMatch(/^again: the judge is deterministic/m);
    expect(ended.stdout).toMatch(/^failures: none in 191 questions$/m);
    expect(ended.stderr).toContain('is no model');
    expect(ended.stderr).toContain('19 rollouts · 2 without an answer · 191 judge calls');
  });

  test('gives the same report each time, also with several rows at the same time', async () => {
    const reports = await Promise.all(
      [['--json'], ['--json', '--concurrency', '8']].map((flags) => citeward('judge', 'check', EXAMPLES, ...flags)),
    );
    const timeless = ({ stdout }: Ended): string => stdout.replaceAll(/"mean_latency_ms":[\d.]+/g, '""');
    const [first, second] = reports.map(timeless);
    expect(second).toBe(first);
    expect(jsonLines(reports[0]?.stdout ?? '')).toHaveLength(1);
  });

  test('labelled claims: verdicts by label, for each set and for all', async () => {
    const path = await fileOf('claims.jsonl', CLAIMS);
    const ended = await citeward('judge', 'check', path);
    expect(ended.code).toBe(0);
    const tables = tablesOf(ended.stdout);
    expect(tables.get('Claims by label and verdict')).toEqual([
      'rows          label        full  partial  none  failed',
      'all           supported       1        0     0       0',
      'all           partial         1        0     0       0',
      'all           unsupported     1        0     1       0',
      'set: bridges  supported       1        0     0       0',
      'set: bridges  partial         1        0     0       0',
      'set: bridges  unsupported     0        0     1       0',
      'set: others   unsupported     1        0     0       0',
    ]);
    const [head, ...rows] = tables.get('Claims: verdicts compared with labels') ?? [];
    expect(head).toMatch(/^rows +count +bal\. +95 % interval +same +kappa +finds +passes +failed$/);
    expect(rows[0]).toMatch(/^all +4 +66\.7% .* 50\.0% +\d\.\d\d +100\.0% +66\.7% +0\.0%$/);
    // others: one label, so that balanced accuracy is not defined.
    expect(rows[2]).toMatch(/^set: others +1 +- +- +0\.0% +0\.00 +- +100\.0% +0\.0%$/);
    expect(ended.stdout).toContain(
      'passes 66.7% of the claims that are not supported, and misses 0.0% of those that are',
    );
    expect(ended.stdout).not.toContain('NaN');
  });

  test('public sets compressed by gzip, by their fields and by --format', async () => {
    const path = join(directory, 'statements.jsonl.gz');
    const rows = [true, false].map((needs_citation) => ({
      set: 's',
      question: 'q',
      statement: COPIED,
      needs_citation,
    }));
    await writeFile(path, gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join('')));
    const ended = await citeward('judge', 'check', path, '--json');
    expect(ended.code).toBe(0);
    expect(jsonLines(ended.stdout)).toMatchObject([
      {
        v: 2,
        judges: [
          { labelled: { kinds: [{ kind: 'needs_citation', parts: [{ rows: 2, finds_yes: 1, passes_no: 1 }] }] } },
        ],
      },
    ]);
    const wrong = await citeward('judge', 'check', path, '--format', 'claims');
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toContain('line 1: claim: required: a string');
    await writeFile(path, gzipSync('{}').subarray(0, 12));
    const cut = await citeward('judge', 'check', path);
    expect(cut).toMatchObject({ code: 1 });
    expect(cut.stderr).toContain('cannot decompress');
  });

  test('without a file: the shipped pairs, by kind and edit; the exit code tells whether a minimum is reached', async () => {
    const ended = await citeward('judge', 'check', '--quick', '--min-balanced-accuracy', '0.99');
    expect(ended.code).toBe(4);
    expect(ended.stderr).toMatch(
      /^balanced accuracy not shown to reach 0\.99: lexical, claim: 0\.\d{3}, 0\.\d{3} at least$/m,
    );
    const tables = tablesOf(ended.stdout);
    expect(tables.get('Claims: pairs that differ by one edit')?.[0]).toMatch(
      /^edit +pairs +both .* same +reversed +left out$/,
    );
    expect(tables.get('Criteria: verdicts compared with labels')?.some((row) => row.startsWith('edit: number '))).toBe(
      true,
    );
    expect(tables.get('Advantages that the errors of the judge change')?.[1]).toMatch(/^all +\d+ +\d+ .* 0$/);
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(150);
    expect((await citeward('judge', 'check', '--quick', '--min-balanced-accuracy', '0.01')).code).toBe(0);
    // The interval of the claims includes 0.52; their balanced accuracy is above it.
    const between = await citeward('judge', 'check', '--quick', '--min-balanced-accuracy', '0.52');
    expect(between.code).toBe(4);
    expect(between.stderr).toMatch(
      /^balanced accuracy not shown to reach 0\.52: lexical, claim: 0\.5\d\d, 0\.5\d\d at least$/m,
    );
  });

  test('a file with both kinds of rows and invalid lines; --limit', async () => {
    const rollout = { question: 'q', response: '<answer>r</answer>', sources: [], positive_rubrics: ['r', 's'] };
    const path = await fileOf('mixed.jsonl', [
      ...CLAIMS.slice(0, 1),
      rollout,
      claim('x', 'true', 'c'),
      '{"claim":',
      { ...rollout, recpie: 'x' },
      { ...rollout, recipe: 'x' },
      { claim: 'c', evidence: 'e' },
      { ...rollout, id: 'no-answer', response: 'none' },
    ]);
    const ended = await citeward('judge', 'check', path);
    expect(ended.code).toBe(1);
    const named = ended.stderr.split('\n').filter((line) => line.startsWith('line '));
    expect(named).toEqual([
      'line 3: label: expected one of "unsupported", "partial", "supported"',
      'line 4: expected one JSON object a line; this is not JSON: it ends too early',
      'line 5: recpie: unknown field; did you mean recipe?',
      expect.stringContaining('line 6: recipe: unknown recipe; expected one of'),
      'line 7: set: required: a string',
    ]);
    expect(ended.stderr).toContain('2 rollouts · 1 without an answer · 1 labelled row · 5 bad lines');
    expect([...tablesOf(ended.stdout).keys()].filter((title) => !title.includes(': '))).toEqual([
      'Claims by label and verdict',
      'Cost of the labelled rows',
    ]);
    expect(await citeward('judge', 'check', path, '--limit', '2')).toMatchObject({ code: 0 });
  });

  test('without rows there is no report', async () => {
    const ended = await runCiteward({ args: ['judge', 'check', '-', '--json'], stdin: ['\n'] });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('the input has no rows');
  });
});

const askedSchema = z.looseObject({
  model: z.string(),
  seed: z.number(),
  temperature: z.number(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.number().optional(),
  messages: z.array(z.object({ content: z.string() })),
  response_format: z.object({
    json_schema: z.object({ schema: z.object({ properties: z.record(z.string(), z.unknown()) }) }),
  }),
});
type Asked = z.infer<typeof askedSchema>;

/**
 * A model that gives the criterion it is shown first a 2 and all others a 1, under other seeds than the first a 0 to
 * the last one; and finds every claim supported. Texts say what goes wrong: BROKEN is no JSON, REFUSED a refusal.
 */
function replyTo({ seed, messages, response_format }: Asked): { readonly content: string; readonly finish: string } {
  const prompt = messages.map(({ content }) => content).join('\n');
  if (prompt.includes('REFUSED')) return { content: '', finish: 'content_filter' };
  if (prompt.includes('BROKEN')) return { content: 'I would rather not say.', finish: 'stop' };
  const keys = Object.keys(response_format.json_schema.schema.properties);
  const scoreOf = (position: number): number => {
    if (position === 0) return 2;
    return seed > 1 && position === keys.length - 1 ? 0 : 1;
  };
  const entries = keys.map((key, position): [string, object] =>
    key.startsWith('k')
      ? [key, { reason: 'r', quote: '', support: 'full', relevant: [true] }]
      : [key, { reason: 'r', score: scoreOf(position) }],
  );
  return { content: JSON.stringify(Object.fromEntries(entries)), finish: 'stop' };
}

/**
 * The tokens of a reply with their log-probabilities, as vLLM writes them. A claim that says P=0.7 has `full` with that
 * probability, and `none` with the rest.
 */
function logprobsOf(content: string, { messages }: Asked): object {
  const share = Number(/P=(0\.\d+)/.exec(messages.map((one) => one.content).join('\n'))?.[1] ?? 1);
  const listed = (token: string, probability: number): object => ({
    token,
    logprob: probability === 0 ? -9999 : Math.log(probability),
    bytes: [...Buffer.from(token)],
  });
  const tokens = content.match(/[a-z]+|[^a-z]/g) ?? [];
  return {
    content: tokens.map((token) => ({
      ...listed(token, token === 'full' ? share : 1),
      top_logprobs: token === 'full' ? [listed('full', share), listed('none', 1 - share), listed('The', 1e-4)] : [],
    })),
  };
}

describe('a model server', () => {
  let server: Server;
  /** What the server does if it is asked for log-probabilities. */
  let logprobs: 'given' | 'above_0' | 'ignored' | 'refused' = 'given';
  let url: string;
  let asked: Asked[] = [];
  let listed: object = {};

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    let body = '';
    for await (const part of request) body += String(part);
    if (request.headers.authorization !== `Bearer ${KEY}`) return send(401, { error: 'Unauthorized' });
    if (request.url === '/v1/models') return send(200, { data: [{ id: 'judge', ...listed }] });
    const parsed = askedSchema.parse(JSON.parse(body));
    asked.push(parsed);
    const areAsked = parsed.logprobs === true && parsed.top_logprobs === 20;
    if (areAsked && logprobs === 'refused') {
      const message = 'logprobs are not supported with this model';
      return send(400, { error: { message, type: 'invalid_request_error', param: null, code: null } });
    }
    const { content, finish } = replyTo(parsed);
    const tokens =
      logprobs === 'above_0' ? { content: [{ token: content, logprob: 1_000 }] } : logprobsOf(content, parsed);
    const given = areAsked && logprobs !== 'ignored' ? { logprobs: tokens } : {};
    send(200, {
      model: parsed.model,
      choices: [{ index: 0, message: { role: 'assistant', content }, ...given, finish_reason: finish }],
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    });
  }

  beforeAll(async () => {
    server = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => response.writeHead(599).end(String(error)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    url = `http://127.0.0.1:${address.port}/v1`;
  });
  beforeEach(() => {
    asked = [];
    listed = { max_model_len: 32_768 };
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  function check(path: string, ...flags: string[]): Promise<Ended> {
    const args = ['judge', 'check', path, '--url', url, '--model', 'judge', ...flags];
    return runCiteward({ args, env: { VLLM_API_KEY: KEY } });
  }

  /** Four criteria: one of its own and the three static ones. */
  const rollout = (answerText: string): object => ({
    question: 'When was it opened?',
    response: `<answer>${answerText}</answer>`,
    sources: [{ id: 'a', text: COPIED }],
    positive_rubrics: ['Names the year.'],
  });

  test('the figures of a judge that depends on order and seed equal those computed by hand', async () => {
    const ended = await check(await fileOf('order.jsonl', [rollout('1937'), rollout('1938')]), '--json');
    expect(ended.code).toBe(0);
    const [report] = jsonLines(ended.stdout);
    // Joint 2 1 1 1; reversed 1 1 1 2; one by one 2 2 2 2; under another seed 2 1 1 0. Twice each.
    expect(report).toMatchObject({
      judges: [
        {
          judge: { model: 'judge', deterministic: false },
          criteria: {
            joint: { questions: 2, calls: 2, tokens: { prompt_tokens: 200, completion_tokens: 20 }, failure_rate: 0 },
            reversed: {
              verdicts_compared: 8,
              exact_agreement: 0.5,
              mean_difference: 0,
              table: [
                [0, 0, 0],
                [0, 4, 2],
                [0, 2, 0],
              ],
            },
            per_criterion: { calls: 8, verdicts_compared: 8, exact_agreement: 0.25, mean_difference: 0.75, kappa: 0 },
            // One of the two orders begins with another criterion: it rises, and the one that was first falls.
            shuffled: {
              calls: 2,
              exact_agreement: 0.75,
              flips: [
                { criteria: 'all', verdicts: 8, flipped: 2, share: 0.25 },
                { criteria: 'positive', verdicts: 2, flipped: 1, share: 0.5 },
                { criteria: 'static', verdicts: 6, flipped: 1 },
              ],
            },
            replicates: [{ calls: 2, exact_agreement: 0.75, mean_difference: -0.25 }],
          },
        },
      ],
    });
    expect(Object(report)['readings']).toEqual([
      'one by one: changes 75.0% of verdicts, scores +0.75 on average; 4.0x the calls, 4.0x the prompt tokens',
      'order: reversing it changes 50.0% of verdicts, scores 0.00 on average',
      'order: shuffling it changes 25.0% of verdicts, scores 0.00 on average',
      'again 1: another seed changes 25.0% of verdicts, scores -0.25 on average',
      'failures: none in 16 questions',
    ]);
    expect(new Set(asked.map(({ seed }) => seed))).toEqual(new Set([0, 2]));
  });

  test('log-probabilities: calibration error and threshold, or that the server reports none', async () => {
    // Supported claims have 0.9, the others 0.6, although the judge calls all of them full: a threshold parts them.
    const rows = Array.from({ length: 12 }, (_, n) => [
      { ...claim('s', 'supported', `P=0.9 ${n}`), evidence: `${COPIED} ${n}` },
      { ...claim('s', 'unsupported', `P=0.6 ${n}`), evidence: `${COPIED} ${n}` },
    ]).flat();
    const path = await fileOf('probable.jsonl', rows);
    const calibrationOf = async (...flags: readonly string[]): Promise<unknown> => {
      const ended = await check(path, '--quick', '--json', ...flags);
      expect(ended.code).toBe(0);
      const [report] = z
        .array(z.object({ judges: z.array(z.object({ labelled: z.object({ kinds: z.array(z.looseObject({})) }) })) }))
        .parse(jsonLines(ended.stdout));
      return report?.judges[0]?.labelled.kinds[0]?.['calibration'];
    };
    expect(await calibrationOf()).toBeNull();
    expect(asked.every((one) => one.logprobs === undefined)).toBe(true);
    logprobs = 'given';
    expect(await calibrationOf('--logprobs')).toMatchObject({
      ...{ used: null, chosen: 0.751, scored: 24, balanced_accuracy_used: 0.5 },
      tried_on: { rows: 12, questions: 6, balanced_accuracy: 1 },
      // Each half of the rows is 0.1 and 0.6 away from its labels.
      calibration_error: expect.closeTo(0.35, 6),
    });
    expect(await calibrationOf('--logprobs', '--limit', '1')).toBe('too few rows');
    logprobs = 'above_0';
    expect(await calibrationOf('--logprobs')).toBe('unreadable');
    logprobs = 'ignored';
    expect(await calibrationOf('--logprobs')).toBe('not reported');
    logprobs = 'refused';
    asked = [];
    expect(await calibrationOf('--logprobs', '--concurrency', '1')).toBe('not reported');
    expect(asked.filter((one) => one.logprobs === true)).toHaveLength(1);
    const text = await check(path, '--quick', '--logprobs');
    expect(text.stdout).toMatch(/^probabilities of judge, claims: not reported by the server$/m);
    logprobs = 'given';
    const shown = await check(path, '--quick', '--logprobs');
    expect(shown.stdout).toMatch(/^probabilities of judge, claims: calibration error 0\.350, in 24 of 24 rows$/m);
    expect(shown.stdout).toMatch(
      /^threshold of judge, claims: 0\.751, chosen on 6 questions; on the other 6, .*words$/m,
    );
  });

  test('judges without log-probabilities say why they are not asked for them', async () => {
    const path = await fileOf('no-tokens.jsonl', [claim('s', 'supported', COPIED)]);
    const lexical = await runCiteward({ args: ['judge', 'check', path, '--quick', '--logprobs'] });
    expect(lexical.stderr).toContain('--logprobs: not asked of lexical: it is no language model');
    const tiers = [{ judge: 'lexical', band: [0.2, 0.8] }, { judge: 'lexical' }];
    const judges = await fileOf('cascade.json', [[{ name: 'cascade', tiers }]]);
    const cascade = await runCiteward({ args: ['judge', 'check', path, '--quick', '--logprobs', '--compare', judges] });
    expect(cascade.stderr).toContain('--logprobs: not asked of cascade: its judges decide different rows');
  });

  test('a question without a verdict is counted as a failure and left out of the other figures', async () => {
    const rows = [
      rollout('1937'),
      rollout('BROKEN'),
      claim('bridges', 'supported', COPIED),
      claim('bridges', 'supported', 'REFUSED'),
      claim('bridges', 'unsupported', 'BROKEN'),
    ];
    const path = await fileOf('failing.jsonl', rows);
    const ended = await check(path, '--replicates', '0');
    expect(ended.code).toBe(1);
    // The server supports the claim and quotes nothing.
    expect(ended.stdout).toMatch(/^quotes of judge: 1 of 1 supported claim unverified \(100\.0%\)$/m);
    const tables = tablesOf(ended.stdout);
    const criteria = tables.get('Criteria: each way of judging compared with the joint one') ?? [];
    // A reply that cannot be read is asked for once more: three calls for two questions.
    expect(criteria[1]).toMatch(/^joint +- +- +- +- +50\.0% +3 +330 /);
    expect(criteria[2]).toMatch(/^one by one +4\/8 +25\.0% +0\.00 +\+0\.75 +50\.0% +12 +1,320 /);
    expect(criteria[3]).toMatch(/^order reversed +4\/8 +50\.0% +-0\.\d\d +0\.00 +50\.0% +3 +330 /);
    expect(criteria[4]).toMatch(/^order shuffled +4\/8 .* 50\.0% +3 +330 /);
    expect(criteria).toHaveLength(5);
    expect(tables.get('Claims by label and verdict')).toEqual([
      'rows  label        full  partial  none  failed',
      'all   supported       1        0     0       1',
      'all   unsupported     0        0     0       1',
    ]);
    expect(tables.get('Claims: verdicts compared with labels')?.[1]).toMatch(
      /^all +3 +- +- +100\.0% +- +100\.0% +- +66\.7%$/,
    );
    expect(ended.stdout).toContain(
      'failures: 9 of 17 questions got no verdict and are left out of all figures: 8 judge_reply_invalid, 1 judge_refusal',
    );
    expect(ended.stdout).toContain('changes 50.0% of verdicts, scores 0.00 on average; 4 of 8 not comparable');
  });

  test('the check stops when the judge gives no more verdicts, and reports the rows so far', async () => {
    const path = await fileOf('gone.jsonl', [
      claim('s', 'supported', COPIED),
      ...Array.from({ length: 60 }, () => claim('s', 'supported', 'REFUSED')),
    ]);
    const ended = await check(path, '--concurrency', '2', '--quick');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('20 consecutive rows got no verdict');
    expect(asked.length).toBeLessThan(30);
    expect(ended.stdout).toMatch(/^all +supported +1 +0 +0 +2\d$/m);
  });

  test('sources that do not fit are cut in the same way for every way of judging', async () => {
    const long = { ...rollout('1937'), sources: [{ id: 'a', text: COPIED.repeat(1_000) }] };
    const ended = await check(await fileOf('long.jsonl', [long]), '--context-tokens', '4096');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('cut: in 1 row the sources were cut to fit into the context of the judge');
    const lengths = asked.map(({ messages }) => /<source-[^>]*>([^<]*)</.exec(messages[1]?.content ?? '')?.[1]?.length);
    expect(new Set(lengths).size).toBe(1);
    expect(lengths[0]).toBeLessThan(COPIED.length * 1_000);
  });

  test('two judges side by side: differences by row, and which the sample shows', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => [
      { ...claim('bridges', 'supported', COPIED), question: undefined, evidence: `${COPIED} ${n}` },
      { ...claim('bridges', 'unsupported', 'Kenya has 40 zebras.'), evidence: `${COPIED} ${n}` },
    ]).flat();
    const path = await fileOf('two.jsonl', rows);
    const judges = join(directory, 'judges.json');
    await writeFile(
      judges,
      JSON.stringify([{ judge: 'lexical' }, { name: 'mild', url, model: 'judge', key_env: 'JUDGE_KEY' }]),
    );
    const args = ['judge', 'check', path, '--compare', judges, '--replicates', '2', '--json'];
    const ended = await runCiteward({ args, env: { JUDGE_KEY: KEY } });
    expect(ended.code).toBe(0);
    // The model finds every claim supported.
    const [report] = jsonLines(ended.stdout);
    expect(report).toMatchObject({
      judges: [
        { name: 'lexical', labelled: { kinds: [{ parts: [{ balanced_accuracy: 1 }], again: 'deterministic' }] } },
        {
          name: 'mild',
          labelled: {
            kinds: [{ parts: [{ balanced_accuracy: 0.5 }], again: { judgments: 3, changed: 0, variance: 0 } }],
          },
        },
      ],
      differences: [
        {
          first: 'lexical',
          second: 'mild',
          rows: 24,
          difference: -0.5,
          shown: true,
          only_first_right: 12,
          only_second_right: 0,
        },
      ],
    });
    expect(new Set(asked.map(({ seed }) => seed))).toEqual(new Set([0, 2, 4]));
    const wrong = join(directory, 'wrong.json');
    await writeFile(wrong, JSON.stringify([{ judge: 'lexical' }, { url, modell: 'judge' }]));
    const refused = await citeward('judge', 'check', path, '--compare', wrong);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('[1].model: required: a string');
  });

  test('a model at a temperature is asked with it, in both ways of judging', async () => {
    const row = {
      set: 's',
      kind: 'criterion',
      criterion: { description: 'Names the year.' },
      answer: '1937',
      label: 2,
    };
    const flags = ['--temperature', '0.7', '--judging', 'joint', '--judging', 'per_criterion', '--quick', '--json'];
    const ended = await check(await fileOf('warm.jsonl', [row]), ...flags);
    expect(ended.code).toBe(0);
    expect(jsonLines(ended.stdout)).toMatchObject([
      { judges: [{ name: 'judge', judge: { sampling: { temperature: 0.7 } } }, { name: 'judge joint' }] },
    ]);
    expect(asked.map(({ temperature }) => temperature)).toEqual([0.7, 0.7]);
    const criteria = asked.map(
      ({ response_format }) => Object.keys(response_format.json_schema.schema.properties).length,
    );
    expect(criteria.sort()).toEqual([1, 4]);
  });

  test('templates and batches are compared, in the dialect of the server', async () => {
    const row = {
      set: 's',
      kind: 'criterion',
      question: 'When did it open?',
      criterion: { description: 'Names the year.' },
      answer: '1937',
      label: 2,
    };
    const path = await fileOf('words.jsonl', [row]);
    const templates = ['--template', 'citeward-1', '--template', 'dr-tulu-1', '--quick', '--json'];
    const ended = await check(path, ...templates, '--judging', 'batched', '--batch', '3', '--dialect', 'openai');
    expect(ended.code, ended.stderr).toBe(0);
    expect(jsonLines(ended.stdout)).toMatchObject([
      { judges: [{ name: 'judge citeward-1 batches of 3' }, { name: 'judge dr-tulu-1 batches of 3' }] },
    ]);
    expect(
      asked.map(({ response_format }) => Object.keys(response_format.json_schema.schema.properties).length),
    ).toEqual([3, 3]);
    // Another template is another question.
    expect(new Set(asked.map(({ messages }) => JSON.stringify(messages))).size).toBe(2);
    expect(asked.every((one) => !('chat_template_kwargs' in one) && !('repetition_penalty' in one))).toBe(true);
    const rollouts = await fileOf('rollouts.jsonl', [
      { question: 'q', response: '<answer>r</answer>', sources: [], positive_rubrics: ['r', 's', 't'] },
    ]);
    const batched = await check(rollouts, '--batch', '2', '--replicates', '0');
    // Three own criteria and three static ones, in calls of two: the first of each call gets a 2.
    expect(batched.stdout).toMatch(/^in batches +6 +66\.7% /m);
    const wrong = await check(path, '--template', 'dr-tulu');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean dr-tulu-1?')]);
  });

  test('--shots: examples of the labels in the words of the question, measured on the other questions', async () => {
    const row = (question: string, answer: string, label: number): object => {
      return { set: 's', kind: 'criterion', question, criterion: { description: 'Names the year.' }, answer, label };
    };
    const questions = ['When did it open?', 'When did it close?', 'When was it sold?', 'When was it built?'];
    const path = await fileOf(
      'shots.jsonl',
      questions.flatMap((question) => [row(question, 'In 1937.', 2), row(question, 'Long ago.', 0)]),
    );
    const ended = await check(path, '--template', 'dr-tulu-1', '--shots', '2', '--quick', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('4 labelled rows · 4 left out, of the questions of examples');
    const [report] = jsonLines(ended.stdout);
    expect(report).toMatchObject({
      rows: { labelled: 4, left_out: 4 },
      judges: [
        { name: 'judge dr-tulu-1', template: 'dr-tulu-1' },
        { name: 'judge dr-tulu-1 2 shots', template: { reply: 'score' } },
      ],
      differences: [{ first: 'judge dr-tulu-1', second: 'judge dr-tulu-1 2 shots', rows: 4 }],
    });
    const text = String(Object(report).judges[1].template.text);
    expect(text).toMatch(/Answer: In 1937\.\nRight score: 2[\s\S]*Answer: Long ago\.\nRight score: 0/u);
    const shown = asked.filter(({ messages }) => messages.some(({ content }) => content.includes('EXAMPLES:')));
    expect(shown).toHaveLength(4);
    // No judge is asked about the question of an example.
    const examples = questions.filter((question) => text.includes(question));
    expect(examples).toHaveLength(2);
    const plain = asked.filter((one) => !shown.includes(one)).map(({ messages }) => JSON.stringify(messages));
    for (const question of questions) {
      expect(plain.some((one) => one.includes(question))).toBe(!examples.includes(question));
    }
    const refused = [
      ['--shots', '2'],
      ['--template', 'citeward-1', '--shots', '2'],
      ['--template', 'dr-tulu-1', '--shots', '0'],
    ];
    for (const flags of refused) expect((await check(path, ...flags)).code).toBe(2);
    const many = await check(path, '--template', 'dr-tulu-1', '--shots', '5');
    expect([many.code, many.stderr]).toEqual([1, expect.stringContaining('the rows have 4 criteria')]);
  });

  test('a rollout is asked at the temperature of its recipe', async () => {
    const recipe = { base: 'refiner-gpt54-instance-rubric', judge_options: { temperature: 0.3 } };
    const rollout = { question: 'q', response: '<answer>r</answer>', sources: [], positive_rubrics: ['r'], recipe };
    const ended = await check(await fileOf('warm-recipe.jsonl', [rollout]), '--replicates', '0');
    expect(ended.code, ended.stderr).toBe(0);
    expect(new Set(asked.map(({ temperature }) => temperature))).toEqual(new Set([0.3]));
  });

  test.each([
    ['another key', { key: 'no' }, 'HTTP 401'],
    ['another model', { model: 'other' }, 'has no model "other"'],
    ['another port', { url: 'http://127.0.0.1:9/v1' }, 'judge_unreachable'],
    ['no length of context', { listed: {} }, '--context-tokens N'],
  ])('%s: one message, no row', async (_what, wrong, said) => {
    const given = { key: KEY, model: 'judge', url, listed, ...wrong };
    listed = given.listed;
    const args = ['judge', 'check', EXAMPLES, '--url', given.url, '--model', given.model, '--key', given.key];
    const ended = await citeward(...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(said);
    expect(asked).toEqual([]);
  });
});

test.each([
  [['judge'], 'expected: npx citeward judge check [FILE.jsonl…]'],
  [['judge', 'chek', EXAMPLES], 'Did you mean check?'],
  [['judge', 'check', EXAMPLES, '--judging', 'both'], 'not one of per_criterion, joint, batched'],
  [['judge', 'check', EXAMPLES, '--compare', 'no.json'], 'no such file'],
  [['judge', 'check', EXAMPLES, '--compare', 'package.json'], 'expected a JSON list of 1 to 16 judges'],
  [['judge', 'check', EXAMPLES, '--compare', 'x.json', '--judge', 'lexical'], '--compare and --judge exclude'],
  [['judge', 'check', EXAMPLES, '--min-balanced-accuracy', '75'], 'expected a number from 0 to 1'],
  [['judge', 'check', EXAMPLES, '--judge', 'gpt'], 'not one of lexical'],
  [['judge', 'check', EXAMPLES, '--model', 'm'], '--model is for a model server'],
  [['judge', 'check', EXAMPLES, '--url', 'http://127.0.0.1:9/v1'], '--judge-url needs --judge-model'],
  [['judge', 'check', EXAMPLES, '--url', 'http://example.org/v1', '--model', 'm'], 'expected https'],
  [['judge', 'check', EXAMPLES, '--replicates', 'x'], 'expected an integer from 0 to 20'],
])('a wrong command line: %j', async (args, said) => {
  const ended = await citeward(...args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(said);
});
