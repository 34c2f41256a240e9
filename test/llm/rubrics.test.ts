/**
 * Generation of criteria by a real LLM server, which turns the JSON Schema of `POST /v1/rubrics` into a grammar. The model
 * writes noise, so a reply is either criteria of that schema or a failure with its reason; a failure is never a number.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LLM_BUILD_TIMEOUT_MS, type LlmServer, startLlmServer } from '../../scripts/llm/local-server.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { makeRubricsReplySchema } from '../../src/wire/make-rubrics.ts';
import { type InsistingProxy, startInsistingProxy } from './insisting-proxy.ts';

/** Models that write different noise: empty lists, or criteria. */
const SEEDS = [1, 2, 3, 4, 5];

const servers: LlmServer[] = [];
let proxy: InsistingProxy;
let worker: LocalWorker;

async function backend(name: string, options: Parameters<typeof startLlmServer>[0]): Promise<object> {
  const server = await startLlmServer(options);
  servers.push(server);
  const { url, key, model, slots } = server;
  const common = { kind: 'vllm', base_url: `${url}/v1`, api_key: key, model, slots };
  return { ...common, name, identity: name, context_tokens: 30_000 };
}

beforeAll(async () => {
  const seeded = [];
  for (const seed of SEEDS) seeded.push(await backend(`seed-${seed}`, { seed }));
  const small = await backend('small', { contextTokens: 1_024 });
  const talking = await backend('talking', {});
  proxy = await startInsistingProxy(servers.at(-1)?.url ?? '', ({ response_format: _, ...body }) => ({
    ...body,
    grammar: 'root ::= "Here are my criteria."',
  }));
  const backends = [...seeded, small, { ...talking, base_url: `${proxy.url}/v1` }];
  worker = await startLocalWorker({
    variables: {
      ...{ ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
      BACKENDS: JSON.stringify({ backends, default_judge: null }),
    },
    deadline_ms: 60_000,
  });
}, LLM_BUILD_TIMEOUT_MS);

afterAll(async () => {
  await worker?.stop();
  proxy?.stop();
  for (const server of servers) await server.stop();
});

async function post(path: string, body: object): Promise<{ readonly http: number; readonly body: unknown }> {
  const reply = await fetch(`${worker.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { http: reply.status, body: await reply.json() };
}

const QUESTION = 'How long is the Aare?';
const RESPONSES = ['<answer>It is 288 km long.</answer>', '<answer>Nobody knows.</answer>'];
const make = (judge: string) => post('/v1/rubrics', { question: QUESTION, responses: RESPONSES, judge });

const failureSchema = z.object({ status: z.number(), reason: z.string(), detail: z.string(), retryable: z.boolean() });

describe('making criteria', () => {
  it('the server takes the schema, and what it writes is criteria or a failure that says why', async () => {
    for (const seed of SEEDS) {
      const { http, body } = await make(`seed-${seed}`);
      if (http === 200) {
        const { criteria, judges } = makeRubricsReplySchema.parse(body);
        expect(criteria.length).toBeLessThanOrEqual(8);
        expect(judges).toMatchObject([{ kind: 'rubrics', model: `seed-${seed}` }]);
      } else {
        // The schema allows an empty title, and Citeward does not: noise can be that.
        expect(failureSchema.parse(body)).toMatchObject({ status: 503, reason: 'judge_reply_invalid' });
        expect(body).not.toHaveProperty('criteria');
      }
    }
    // Replies of the same model are stored: an equal request costs nothing.
    expect(await make('seed-1')).toEqual(await make('seed-1'));
  });

  it.each([
    ['talking', 503, 'judge_reply_invalid'],
    ['small', 422, 'judge_prompt_too_long'],
  ])('%s fails with %i %s, and writes no criteria', async (judge, status, reason) => {
    const { http, body } = await make(judge);
    expect(http).toBe(status);
    expect(failureSchema.parse(body)).toMatchObject({ status, reason });
    expect(body).not.toHaveProperty('criteria');
  });

  it('a group whose generator fails keeps its set and its rewards, and says why', async () => {
    const group = (id: string, generator: string | null) =>
      post('/v1/groups', {
        ...{ question: QUESTION, responses: RESPONSES, recipe: 'dr-tulu-no-citation' },
        rubrics: [{ description: 'States that it is 288 km long', weight: 1 }],
        run: { id, step: 0, group: 'aare' },
        evolution: { rules: 'dr-tulu', generator },
      });
    const without = await group('without', null);
    const failed = await group('failed', 'talking');
    expect(failed.body).toMatchObject({
      rewards: z.object({ rewards: z.array(z.number()) }).parse(without.body).rewards,
      evolution: { generation: { status: 'failed', failure: 'judge_reply_invalid', proposed: [] } },
    });
    const sets = z.object({ evolution: z.object({ set: z.string() }) });
    expect(sets.parse(failed.body)).toEqual(sets.parse(without.body));
  });
});
