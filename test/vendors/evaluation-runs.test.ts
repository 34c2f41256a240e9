/**
 * Whole evaluations in the real runners of Braintrust, LangSmith and promptfoo, with a working judge and with one that
 * is down: what each makes of an answer that could not be scored.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Eval } from 'braintrust';
import { Client } from 'langsmith';
import { evaluate } from 'langsmith/evaluation';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { braintrustScorer, createClient, langSmithEvaluator } from '../../clients/typescript/index.ts';
import { endServers, KEY, startServers } from './served.ts';

let working = '';
let broken = '';
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-evaluations-'));
  // promptfoo reads them when it is loaded; it keeps its database in the folder and calls nobody.
  vi.stubEnv('PROMPTFOO_CONFIG_DIR', folder);
  vi.stubEnv('PROMPTFOO_DISABLE_TELEMETRY', '1');
  vi.stubEnv('PROMPTFOO_DISABLE_UPDATE', '1');
  vi.stubEnv('PROMPTFOO_DISABLE_REMOTE_GENERATION', 'true');
  ({ working, broken } = await startServers());
});

afterAll(async () => {
  await endServers();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const optionsOf = (origin: string) => ({
  client: createClient({ url: new URL(origin), key: KEY, transport: { attempts: 1 } }),
  recipe: 'refiner-gpt54-instance-only' as const,
});

const QUESTION = 'How long is the Aare?';
const ANSWER = '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>';
const ROW = {
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  positive_rubrics: ['Says that the Aare is 288 kilometres long'],
};

describe('braintrust', () => {
  const evaluated = (origin: string) =>
    Eval(
      'answers',
      {
        data: () => [{ input: QUESTION, expected: null, metadata: ROW }],
        task: () => ANSWER,
        scores: [braintrustScorer(optionsOf(origin))],
      },
      { noSendLogs: true, reporter: { name: 'silent', reportEval: () => true, reportRun: () => true } },
    );

  it('averages the score of Eval()', async () => {
    const { results, summary } = await evaluated(working);
    expect(results[0]?.scores).toEqual({ citeward: 1 });
    expect(summary.scores['citeward']).toMatchObject({ score: 1 });
  });

  it('has null, and no average, where the judge is down', async () => {
    const { results, summary } = await evaluated(broken);
    expect(results[0]).toMatchObject({ scores: { citeward: null }, error: undefined });
    expect(summary.scores['citeward']?.score ?? null).toBeNull();
  });
});

describe('langsmith', () => {
  /** LangSmith's own service, as far as evaluate() needs it. Keeps what is sent. */
  async function startLangSmith(): Promise<{ server: Server; url: string; feedback: unknown[] }> {
    const feedback: unknown[] = [];
    const session = { id: '00000000-0000-4000-8000-000000000001', name: 'answers', tenant_id: 't', start_time: '' };
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (bytes: Buffer) => {
        body += bytes.toString();
      });
      request.on('end', () => {
        const path = request.url ?? '';
        if (path.startsWith('/feedback')) feedback.push(JSON.parse(body));
        response.setHeader('content-type', 'application/json');
        const dataset = { id: DATASET, name: 'answers', created_at: '', modified_at: '' };
        const isList = request.method === 'GET' && path.startsWith('/sessions?');
        response.end(JSON.stringify(isList ? [session] : path.startsWith('/datasets') ? dataset : session));
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    return { server, url: `http://127.0.0.1:${port}`, feedback };
  }

  const DATASET = '00000000-0000-4000-8000-000000000002';
  const AT = '2026-01-01T00:00:00.000000+00:00';

  async function evaluated(origin: string) {
    const { server, url, feedback } = await startLangSmith();
    const client = new Client({ apiUrl: url, apiKey: 'k', autoBatchTracing: false });
    const times = { created_at: AT, modified_at: AT };
    const example = { id: '00000000-0000-4000-8000-000000000003', dataset_id: DATASET, ...times };
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const run = await evaluate(() => ({ answer: ANSWER }), {
      client,
      data: [{ ...example, inputs: { question: QUESTION }, outputs: ROW, metadata: {}, runs: [] }],
      evaluators: [langSmithEvaluator(optionsOf(origin))],
    });
    await client.awaitPendingTraceBatches();
    printed.mockRestore();
    server.close();
    server.closeAllConnections();
    return { results: run.results.map(({ evaluationResults }) => evaluationResults.results), feedback };
  }

  it('sends the score of evaluate() as feedback', async () => {
    const { results, feedback } = await evaluated(working);
    expect(results).toMatchObject([[{ key: 'citeward', score: 1 }]]);
    expect(feedback).toMatchObject([{ key: 'citeward', score: 1 }]);
  });

  it('has no result and sends no score where the judge is down', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { results, feedback } = await evaluated(broken);
    said.mockRestore();
    expect(results).toEqual([[]]);
    expect(feedback).toEqual([]);
  });
});

describe('promptfoo', () => {
  /** The file of the guide, with the client of this repository. */
  function assertionFile(name: string, origin: string): string {
    const file = join(folder, name);
    const client = pathToFileURL(resolve(import.meta.dirname, '../../clients/typescript/index.ts'));
    writeFileSync(
      file,
      `import { createClient, promptfooAssertion } from '${client}';
      const client = createClient({ url: new URL('${origin}'), key: '${KEY}', transport: { attempts: 1 } });
      export default promptfooAssertion({ client, recipe: 'refiner-gpt54-instance-only' });`,
    );
    return `file://${file}`;
  }

  async function evaluated(assertion: { type: 'javascript' | 'webhook'; value: string }) {
    const { default: promptfoo } = await import('promptfoo');
    const vars = { question: QUESTION, ...ROW, positive_rubrics: JSON.stringify(ROW.positive_rubrics) };
    const run = await promptfoo.evaluate(
      {
        prompts: ['{{question}}'],
        providers: [async () => ({ output: ANSWER })],
        tests: [{ vars, assert: [assertion] }],
        writeLatestResults: false,
      },
      { cache: false, showProgressBar: false },
    );
    const { results, stats } = await run.toEvaluateSummary();
    const { successes, failures, errors } = stats;
    return { result: results[0], counts: { successes, failures, errors } };
  }

  it('counts a scored answer', async () => {
    const { result, counts } = await evaluated({ type: 'javascript', value: assertionFile('up.mjs', working) });
    expect(result).toMatchObject({ score: 1, success: true });
    expect(counts).toEqual({ successes: 1, failures: 0, errors: 0 });
  });

  it('counts an error, not a failure, where the judge is down', async () => {
    const { result, counts } = await evaluated({ type: 'javascript', value: assertionFile('down.mjs', broken) });
    expect(result?.error).toContain('not scored: judge_unreachable. This is no score of 0');
    expect(counts).toEqual({ successes: 0, failures: 0, errors: 1 });
  });

  it('counts an error of a webhook as a failed answer of score 0, so the guide advises against it', async () => {
    const { result, counts } = await evaluated({ type: 'webhook', value: `${broken}/v1/score` });
    expect(result).toMatchObject({ score: 0, success: false });
    expect(result?.error).toContain('Webhook error');
    expect(counts).toEqual({ successes: 0, failures: 1, errors: 0 });
  });
});
