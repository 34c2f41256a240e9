/** `citeward` judges with a classifier on a server: scoring, and `judge check`, which chooses its threshold. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { citeward, jsonLines, spawnCiteward } from './processes.ts';

const MODEL = 'tiny/nli';
let directory: string;
let url: string;
let calls = 0;
/** The label that every pair gets, beside neutral. */
let odd = false;

const requestSchema = z.object({ inputs: z.array(z.tuple([z.string(), z.string()])) });

/** A server like Text Embeddings Inference, whose classifier finds the claim's number in the source, or does not. */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url === '/info') {
      response.end(JSON.stringify({ model_id: MODEL }));
      return;
    }
    calls++;
    const results = requestSchema.parse(JSON.parse(body)).inputs.map(([source, claim]) => {
      const number = /\d+/.exec(claim)?.[0] ?? 'none';
      const score = source.includes(number) ? 0.4 : 0.1;
      const rest = { label: 'neutral', score: 1 - score };
      return [rest, { label: odd ? 'odd' : 'entailment', score }, { label: 'contradiction', score: 0 }];
    });
    response.end(JSON.stringify(results));
  });
});

const row = (length: number) => ({
  question: 'How long is the Aare?',
  positive_rubrics: ['States the length'],
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long, and it joins the Rhine.</snippet>',
  response: `<answer><snippet id=S1>The river has a length of ${length} km.</snippet></answer>`,
  recipe: { base: 'refiner-rl-balanced', mix: 'convex', citation_weight: 1 },
});

const flags = () => ['--judge-url', url, '--judge-model', MODEL, '--labels', 'entailment,neutral,contradiction'];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-classifier-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the classifier has no port');
  url = `http://127.0.0.1:${address.port}/predict`;
});
beforeEach(() => {
  calls = 0;
  odd = false;
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true, force: true });
});

async function fileOf(name: string, rows: readonly object[]): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, rows.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return file;
}

describe('score', () => {
  test('claims are judged by the classifier, under its threshold; the judgment names model and settings', async () => {
    const file = await fileOf('rows.jsonl', [row(288), row(300)]);
    const scored = await citeward('score', file, '--json', ...flags(), '--threshold', '0.3');
    expect(scored.code, scored.stderr).toBe(0);
    expect(scored.stderr).toContain(`Judge: ${MODEL} (${MODEL} at ${url})`);
    const judgment = {
      kind: 'citations',
      model: MODEL,
      template: expect.stringContaining('predict entailment=supported,neutral=neither,contradiction=contradicted'),
      failure: null,
    };
    expect(jsonLines(scored.stdout)).toMatchObject([
      { claims: [{ support: 1 }], judgments: [judgment] },
      { claims: [{ support: 0 }], judgments: [judgment] },
    ]);
    expect(calls).toBe(2);
    const strict = await citeward('score', file, '--json', ...flags());
    expect(jsonLines(strict.stdout)).toMatchObject([{ claims: [{ support: 0 }] }, { claims: [{ support: 0 }] }]);
  });

  test('a reply with an odd label is no number', async () => {
    odd = true;
    const scored = await citeward('score', await fileOf('odd.jsonl', [row(288)]), '--json', ...flags());
    expect(scored.code).not.toBe(0);
    expect(scored.stdout + scored.stderr).toContain('judge_reply_invalid');
  });
});

describe('judge check', () => {
  const labelled = (n: number, length: number, label: string) => ({
    set: 'made',
    id: `r${n}`,
    claim: `River ${n} has a length of ${length} km.`,
    evidence: `River is ${280 + n} kilometres long, says page ${n}.`,
    label,
  });
  const rows = Array.from({ length: 24 }, (_, n) =>
    n % 4 < 2 ? labelled(n, 280 + n, 'supported') : labelled(n, 900 + n, 'unsupported'),
  );

  test('chooses a threshold on half of the questions, and tries it on the others', async () => {
    const file = await fileOf('labelled.jsonl', rows);
    const check = await citeward('judge', 'check', file, '--quick', '--json', ...flags());
    expect(check.code, check.stderr).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({
      judges: [
        {
          name: MODEL,
          judge: { model: MODEL, deterministic: true },
          labelled: {
            threshold: { used: 0.5, chosen: expect.any(Number), fitted_on: { rows: 12 }, tried_on: { rows: 12 } },
          },
        },
      ],
      readings: expect.arrayContaining([
        expect.stringMatching(/^threshold of tiny\/nli: 0\.\d+, chosen on 12 questions/),
      ]),
    });
  });

  test('a classifier stands beside the lexical judge in a file of --compare', async () => {
    const file = await fileOf('labelled.jsonl', rows);
    const judges = join(directory, 'judges.json');
    const classifier = { url, model: MODEL, labels: ['entailment', 'neutral', 'contradiction'], threshold: 0.3 };
    await writeFile(judges, JSON.stringify([{ judge: 'lexical' }, { name: 'at 0.3', ...classifier }]));
    const check = await citeward('judge', 'check', file, '--quick', '--json', '--compare', judges);
    expect(check.code, check.stderr).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({
      judges: [
        { name: 'lexical', labelled: { threshold: null } },
        { name: 'at 0.3', labelled: { threshold: { used: 0.3 } } },
      ],
      differences: [{ kind: 'claim', first: 'lexical', second: 'at 0.3' }],
    });
  });
});

describe('a cascade', () => {
  const band = [0.2, 0.35];

  test('judge check says what each tier decided and what it saved; the lexical judge is the last tier', async () => {
    const rows = [288, 300, 312, 324].map((length, n) => ({
      ...{ set: 'made', id: `r${n}`, claim: `The river has a length of ${length} km.`, label: 'unsupported' },
      evidence: n === 3 ? 'Nothing.' : `The river is ${n === 0 ? length : length + 1} kilometres long.`,
    }));
    const judges = join(directory, 'cascade.json');
    const classifier = { url, model: MODEL, labels: ['entailment', 'neutral', 'contradiction'], threshold: 0.3 };
    await writeFile(
      judges,
      JSON.stringify([{ name: 'cheap', tiers: [{ ...classifier, band }, { judge: 'lexical' }] }]),
    );
    const check = await citeward(
      'judge',
      'check',
      await fileOf('tiers.jsonl', rows),
      '--quick',
      '--json',
      '--compare',
      judges,
    );
    expect(check.code, check.stderr).toBe(0);
    // The classifier gives 0.4 to one claim, whose label is unsupported, and 0.1 to the others: all outside the band.
    expect(JSON.parse(check.stdout)).toMatchObject({
      judges: [
        {
          name: 'cheap',
          judge: { model: expect.stringContaining('tiny/nli [0.2, 0.35] > ') },
          labelled: {
            cascade: {
              tiers: [
                { judge: MODEL, decided: 4, error: 0.25, passes_no: 0.25, misses_yes: null },
                { judge: 'lexical', decided: 0, error: null },
              ],
              saved: 4,
              claims: 4,
            },
          },
        },
      ],
      readings: expect.arrayContaining(['calls saved by cheap: lexical is not asked about 4 of 4 claims (100.0%)']),
    });
  });

  test('a cascade of --backends judges the rows of score, and its judgments are kept under their own keys', async () => {
    const backends = join(directory, 'backends.json');
    const nli = { name: 'nli', kind: 'classifier', model: MODEL, slots: 2, base_url: url, threshold: 0.3 };
    const labels = ['entailment', 'neutral', 'contradiction'];
    const cascades = { cheap: [{ judge: 'lexical', band: [0, 1] }, { judge: 'nli', band }, { judge: 'nli' }] };
    await writeFile(backends, JSON.stringify({ backends: [{ ...nli, labels }], cascades, default_judge: 'cheap' }));
    const file = await fileOf('rows.jsonl', [row(288), row(300)]);
    const there = ['--backends', backends, '--state', join(directory, 'state'), '--json'];
    const scored = await spawnCiteward({ args: ['score', file, ...there] });
    expect(scored.code, scored.stderr).toBe(0);
    expect(scored.stderr).toContain('Judge: nli (tiny/nli at');
    const judged = [{ kind: 'citations', model: expect.stringContaining('[0, 1] > tiny/nli [0.2, 0.35] > tiny/nli') }];
    expect(jsonLines(scored.stdout)).toMatchObject([
      { claims: [{ support: 1 }], judgments: judged },
      { claims: [{ support: 0 }], judgments: judged },
    ]);
    expect(calls).toBe(2);
    await spawnCiteward({ args: ['score', file, ...there] });
    expect(calls).toBe(2);
  });
});

describe('refused', () => {
  test.each([
    [['--labels', 'a,b'], '--labels is for a classifier'],
    [
      ['--judge-url', 'http://127.0.0.1:9/v1', '--judge-model', 'm', '--threshold', '0.4'],
      '--threshold is for a classifier',
    ],
    [['--judge-url', 'http://127.0.0.1:9/predict', '--judge-model', 'm'], '--labels: required'],
    [
      ['--judge-url', 'http://127.0.0.1:9/predict', '--judge-model', 'm', '--labels', 'LABEL_0,LABEL_1'],
      '--labels: the meaning of label 1 is unknown',
    ],
  ])('%j', async (given, problem) => {
    for (const command of [['score'], ['judge', 'check']]) {
      const refused = await citeward(...command, await fileOf('one.jsonl', [row(288)]), ...given);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
  });
});
