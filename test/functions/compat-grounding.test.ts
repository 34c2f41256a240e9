/**
 * The drop-ins of the grounding APIs, with hand-written requests in the vendors' shapes: replies, keys, refusals, and
 * the fault matrix of the judge. test/vendors asks them with the official clients.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createWorker } from '../../functions/worker.ts';
import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import type { CompletionOutcome } from '../../src/judgments/chat-backend.ts';
import { createModelJudge } from '../../src/judgments/model-judge.ts';
import {
  azureErrorSchema,
  azureReplySchema,
  bedrockErrorSchema,
  bedrockReplySchema,
  googleErrorSchema,
  googleReplySchema,
} from '../../src/wire/compat/replies.ts';
import { STUB_CANARY } from '../contract/backend-faults.ts';
import { post, send, sha256Hex } from './api.ts';
import {
  ALSO_SUPPORTED,
  ANSWER,
  bodyOf,
  GROUNDING_VENDORS,
  type GroundingVendor,
  keyOf,
  PATHS,
  requestOf,
  SOURCES,
  SUPPORTED,
  UNSUPPORTED,
} from './compat-requests.ts';
import { DOOR_FAULTS } from './matrix-rows.ts';
import { stubBackends } from './stub-judges.ts';
import { replaceParts } from './worker.ts';

/** The judge that answers: requests of these APIs name none. */
let judgeName = 'lexical';

function told(name: string, outcomeOf: (prompt: string) => CompletionOutcome, context_tokens = 32_768): JudgeBackend {
  const complete = async ({ messages }: { readonly messages: readonly { readonly content: string }[] }) =>
    outcomeOf(messages[1]?.content ?? '');
  const health = async () => ({ reachable: true, model_present: true, last_error: null, routes: [] });
  const judge = createModelJudge({ name, model: 'told', context_tokens, complete }, () => 0);
  return { judge, runs_in: 'caller', slots: 8, timeout_ms: 60_000, health };
}

const said = (text: string): CompletionOutcome => ({ ok: true, completion: { text, usage: null, model: 'told' } });

/** Supports the first claim fully, the others in part; everything needs a source; partly relevant. */
function partly(prompt: string): CompletionOutcome {
  if (prompt.includes('<criterion-')) return said('{"c1": {"reason": "some", "score": 1}}');
  const claims = [...prompt.matchAll(/<claim-\w+ key="(k\d+)"/g)].map(([, key = ''], n) => [
    key,
    { reason: `reason ${n}`, quote: '', support: n === 0 ? 'full' : 'partial', relevant: [true, false] },
  ]);
  const statements = [...prompt.matchAll(/<statement-\w+ key="(u\d+)"/g)].map(([, key = '']) => [
    key,
    { reason: 'so', needs_citation: true },
  ]);
  return said(JSON.stringify(Object.fromEntries([...claims, ...statements])));
}

const GARBAGE = ['', '1', 'true', '{}', '{"k1": {"support": "full"}}', '{"k1": 1', '[]'];

const SCRIPTED = [
  told('partly', partly),
  told('small', partly, 900),
  ...GARBAGE.map((text, n) => told(`garbage ${n}`, () => said(text))),
];

function backendsOf() {
  const stub = stubBackends();
  const named = [...stub.named, ...SCRIPTED];
  return { ...stub, named, default: named.find(({ judge }) => judge.name === judgeName) ?? null };
}

replaceParts({ backendsOf });

beforeEach(() => {
  judgeName = 'lexical';
});

async function answered(request: Request): Promise<unknown> {
  const reply = await send(request);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  expect(reply.headers.get('content-type')).toContain('application/json');
  return JSON.parse(text);
}

/** The error of a failed reply, in any of the forms. */
async function errorOf(vendor: GroundingVendor, reply: Response) {
  const text = await reply.text();
  expect(reply.ok, text).toBe(false);
  expect(reply.headers.get('content-type')).toContain('application/json');
  const body: unknown = JSON.parse(text);
  switch (vendor) {
    case 'azure': {
      const { error } = azureErrorSchema.parse(body);
      expect(reply.headers.get('x-ms-error-code')).toBe(error.code);
      return { status: reply.status, type: error.code, message: error.message, reason: error.innererror.code, text };
    }
    case 'bedrock': {
      const { message } = bedrockErrorSchema.parse(body);
      const [reason = ''] = message.split(':');
      return { status: reply.status, type: reply.headers.get('x-amzn-errortype') ?? '', message, reason, text };
    }
    default: {
      const { error } = googleErrorSchema.parse(body);
      expect(error.code).toBe(reply.status);
      const reason = error.details[0]?.reason.toLowerCase() ?? '';
      return { status: reply.status, type: error.status, message: error.message, reason, text };
    }
  }
}

describe('Azure', () => {
  it('lists the ungrounded sentence with its place in three units', async () => {
    const reply = azureReplySchema.parse(await answered(requestOf('azure')));
    const start = ANSWER.indexOf(UNSUPPORTED);
    const chars = SUPPORTED.length + ALSO_SUPPORTED.length + UNSUPPORTED.length;
    expect(reply).toEqual({
      ungroundedDetected: true,
      ungroundedPercentage: UNSUPPORTED.length / chars,
      ungroundedDetails: [
        {
          text: UNSUPPORTED,
          // ü has two bytes; the tram has four, two UTF-16 units and one code point.
          offset: { utf16: start, utf8: start + 3, codePoint: start - 1 },
          length: { utf16: UNSUPPORTED.length, utf8: UNSUPPORTED.length, codePoint: UNSUPPORTED.length },
        },
      ],
    });
  });

  it('finds nothing in a grounded text, for a summary too', async () => {
    const request = { text: `${SUPPORTED} ${ALSO_SUPPORTED}`, groundingSources: SOURCES };
    const none = { ungroundedDetected: false, ungroundedPercentage: 0, ungroundedDetails: [] };
    expect(await answered(requestOf('azure', request))).toEqual(none);
    expect(await answered(requestOf('azure', { ...request, task: 'Summarization', domain: 'Medical' }))).toEqual(none);
  });

  it('gives the reasons of the judge if they are asked for', async () => {
    judgeName = 'partly';
    const llmResource = {
      resourceType: 'AzureOpenAI',
      azureOpenAIEndpoint: 'https://x',
      azureOpenAIDeploymentName: 'g',
    };
    const asked = { ...bodyOf('azure'), reasoning: true, llmResource };
    const { ungroundedDetails } = azureReplySchema.parse(await answered(requestOf('azure', asked)));
    expect(ungroundedDetails.map(({ text, reason }) => [text, reason])).toEqual([
      [ALSO_SUPPORTED, 'reason 1'],
      [UNSUPPORTED, 'reason 2'],
    ]);
    const { ungroundedDetails: silent } = azureReplySchema.parse(await answered(requestOf('azure')));
    expect(silent.every((detail) => !('reason' in detail))).toBe(true);
  });

  it.each([
    [{ correction: true }, 'correction'],
    [{ task: 'Translation' }, 'task'],
    [{ domain: 'Legal' }, 'domain'],
    [{ groundingSources: [] }, 'groundingSources'],
    [{ text: '' }, 'text'],
    [{ text: ' \n ' }, 'text'],
    [{ mitigating: true }, 'mitigating'],
  ])('refuses %j by name', async (fields, name) => {
    const reply = await send(requestOf('azure', { ...bodyOf('azure'), ...fields }));
    expect(await errorOf('azure', reply)).toMatchObject({
      ...{ status: 400, type: 'InvalidRequestBody', reason: 'input_invalid' },
      message: expect.stringContaining(`${name}: `),
    });
  });

  it('needs a version that has the operation', async () => {
    const [path = ''] = PATHS.azure.split('?');
    for (const query of ['', '?api-version=2023-10-01'])
      expect(await errorOf('azure', await send(post(path + query, bodyOf('azure'))))).toMatchObject({
        ...{ status: 400, message: expect.stringContaining('query["api-version"]: ') },
      });
  });
});

describe('Bedrock', () => {
  it('blocks below the thresholds of the identifier', async () => {
    const { usage, ...reply } = bedrockReplySchema.parse(await answered(requestOf('bedrock')));
    expect(usage.contextualGroundingPolicyUnits).toBe(1);
    expect(reply).toMatchObject({
      action: 'GUARDRAIL_INTERVENED',
      outputs: [{ text: 'Sorry, the model cannot answer this question.' }],
      assessments: [
        {
          contextualGroundingPolicy: {
            filters: [
              { type: 'GROUNDING', threshold: 0.8, score: 2 / 3, action: 'BLOCKED', detected: true },
              { type: 'RELEVANCE', threshold: 0.5 },
            ],
          },
        },
      ],
    });
  });

  it('asks the judge how relevant the text is, unless the guardrail has no such filter', async () => {
    judgeName = 'partly';
    const filtersOf = async (guardrail: string, body: object = bodyOf('bedrock')) => {
      const path = `/compat/bedrock/guardrail/${guardrail}/version/1/apply`;
      const { assessments, action } = bedrockReplySchema.parse(await answered(post(path, body)));
      return { action, filters: assessments[0]?.contextualGroundingPolicy.filters };
    };
    expect(await filtersOf('grounding50relevance50')).toEqual({
      action: 'NONE',
      filters: [
        { type: 'GROUNDING', threshold: 0.5, score: 2 / 3, action: 'NONE', detected: false },
        { type: 'RELEVANCE', threshold: 0.5, score: 0.5, action: 'NONE', detected: false },
      ],
    });
    const withoutQuery = { source: 'OUTPUT', content: [{ text: { text: ANSWER } }, ...SOURCE_BLOCKS] };
    expect(await filtersOf('grounding99', withoutQuery)).toMatchObject({
      ...{ action: 'GUARDRAIL_INTERVENED', filters: [{ type: 'GROUNDING', threshold: 0.99 }] },
    });
    const arn = encodeURIComponent('arn:aws:bedrock:eu-central-1:1:guardrail/abc');
    const { filters } = await filtersOf(arn);
    expect(filters?.map(({ threshold }) => threshold)).toEqual([0.7, 0.7]);
  });

  it.each([
    [{ source: 'INPUT' }, 'source'],
    [{ content: [] }, 'content'],
    [{ content: [{ image: { format: 'png', source: { bytes: 'AA==' } } }] }, 'image'],
    [{ content: [{ text: { text: ANSWER } }] }, 'grounding_source'],
    [{ content: [{ text: { text: 'a b', qualifiers: ['grounding_source'] } }] }, 'guard_content'],
    [{ content: [{ text: { text: 'x', qualifiers: ['secret'] } }] }, 'qualifiers'],
    [{ guardrailConfig: {} }, 'guardrailConfig'],
  ])('refuses %j by name', async (fields, name) => {
    const reply = await send(requestOf('bedrock', { ...bodyOf('bedrock'), ...fields }));
    expect(await errorOf('bedrock', reply)).toMatchObject({
      ...{ status: 400, type: 'ValidationException', reason: 'input_invalid' },
      message: expect.stringContaining(name),
    });
  });

  const SOURCE_BLOCKS = SOURCES.map((text) => ({ text: { text, qualifiers: ['grounding_source'] } }));
});

describe.each(['google', 'google at the root'] as const)('%s', (vendor) => {
  it('gives each claim its place in bytes, and the facts that it cites', async () => {
    const reply = googleReplySchema.parse(await answered(requestOf(vendor)));
    const { claims, citedChunks, citedFacts, supportScore } = reply;
    expect(supportScore).toBeCloseTo(2 / 3, 12);
    const bytes = new TextEncoder().encode(ANSWER);
    const cut = claims.map(({ startPos, endPos }) => new TextDecoder().decode(bytes.slice(startPos, endPos)));
    expect(cut).toEqual([SUPPORTED, ALSO_SUPPORTED, UNSUPPORTED]);
    expect(claims.map(({ claimText }) => claimText)).toEqual(cut);
    expect(claims.map(({ score }) => score)).toEqual([1, 1, 0]);
    expect(claims[2]?.citationIndices).toEqual([]);
    const sources = (claims[1]?.citationIndices ?? []).map((index) => citedChunks[index]?.source);
    expect(sources).toContain('1');
    expect(citedChunks.find(({ source }) => source === '1')).toEqual({
      ...{ chunkText: SOURCES[1], source: '1', sourceMetadata: { author: 'author 1' } },
    });
    expect(citedFacts.map(({ chunkText }) => chunkText)).toEqual(citedChunks.map(({ chunkText }) => chunkText));
  });

  it('cites weaker support below a lower threshold, and gives no scores unless asked', async () => {
    judgeName = 'partly';
    const cites = async (groundingSpec: object) => {
      const reply = googleReplySchema.parse(await answered(requestOf(vendor, { ...bodyOf(vendor), groundingSpec })));
      expect(reply.claims.every((claim) => !('score' in claim))).toBe(true);
      return reply.claims.map(({ citationIndices }) => citationIndices.length);
    };
    expect(await cites({})).toEqual([1, 0, 0]);
    expect(await cites({ citationThreshold: 0.5 })).toEqual([1, 1, 1]);
  });

  it('checks no sentence that states nothing, unless there is no other', async () => {
    const reply = googleReplySchema.parse(await answered(requestOf(vendor, bodyOf(vendor, `Why? ${ALSO_SUPPORTED}`))));
    expect(reply.supportScore).toBe(1);
    expect(reply.claims).toMatchObject([
      { claimText: 'Why?', groundingCheckRequired: false, citationIndices: [] },
      { groundingCheckRequired: true, score: 1 },
    ]);
    expect('score' in (reply.claims[0] ?? {})).toBe(false);
    const only = googleReplySchema.parse(await answered(requestOf(vendor, bodyOf(vendor, 'Why?'))));
    expect(only).toMatchObject({ supportScore: 0, claims: [{ groundingCheckRequired: true, score: 0 }] });
  });

  it.each([
    [{ facts: [] }, 'facts'],
    [{ answerCandidate: '' }, 'answerCandidate'],
    [{ groundingSpec: { citationThreshold: 2 } }, 'groundingSpec.citationThreshold'],
    [{ grounding_spec: {} }, 'grounding_spec'],
  ])('refuses %j by name', async (fields, name) => {
    const reply = await send(requestOf(vendor, { ...bodyOf(vendor), ...fields }));
    expect(await errorOf(vendor, reply)).toMatchObject({
      ...{ status: 400, type: 'INVALID_ARGUMENT', reason: 'input_invalid' },
      message: expect.stringContaining(`${name}: `),
    });
  });

  it('has no other verb and version', async () => {
    for (const [from, to] of [
      [':check', ':generate'],
      ['/v1/', '/v9/'],
    ] as const) {
      const reply = await send(post(PATHS[vendor].replace(from, to), bodyOf(vendor)));
      expect(reply.status).toBe(404);
    }
  });
});

describe.each(GROUNDING_VENDORS)('%s under a judge that fails', (vendor) => {
  it.each(DOOR_FAULTS)('%s is no score', async (name, { reason, status }) => {
    judgeName = name;
    const reply = await send(requestOf(vendor, bodyOf(vendor, `${ANSWER} The fault is called ${name}.`)));
    const expected = status === 422 ? 400 : status;
    const error = await errorOf(vendor, reply);
    expect(error).toMatchObject({ status: expected, reason });
    expect(error.text).not.toContain(STUB_CANARY);
    expect(error.text).not.toMatch(/"(?:score|supportScore|ungroundedDetected|action)"/);
  });

  it.each(GARBAGE)('a reply of %j is no score', async (text) => {
    judgeName = `garbage ${GARBAGE.indexOf(text)}`;
    const error = await errorOf(vendor, await send(requestOf(vendor, bodyOf(vendor, `${ANSWER} Garbage ${text}.`))));
    expect(error).toMatchObject({ status: 503, reason: 'judge_reply_invalid' });
  });

  it('refuses what the judge cannot see whole, and asks for a judge where there is none', async () => {
    judgeName = 'small';
    const long = [`${'The river flows on and on. '.repeat(200)}`, ...SOURCES];
    const cut = await errorOf(vendor, await send(requestOf(vendor, bodyOf(vendor, ANSWER, long))));
    expect(cut).toMatchObject({ status: 400, reason: 'judge_prompt_too_long' });
    judgeName = 'nobody';
    const none = await errorOf(vendor, await send(requestOf(vendor)));
    expect(none).toMatchObject({ status: 503, reason: 'judge_unconfigured' });
  });
});

describe.each(GROUNDING_VENDORS)('%s and keys', (vendor) => {
  const worker = createWorker({ backendsOf });

  async function sendWith(headers: Record<string, string>): Promise<Response> {
    const context = createExecutionContext();
    const API_KEYS = JSON.stringify({
      scorer: { sha256: await sha256Hex('key-that-scores'), scopes: ['score'] },
      verifier: { sha256: await sha256Hex('key-that-verifies'), scopes: ['verify'] },
    });
    const request = new Request<unknown, IncomingRequestCfProperties>(requestOf(vendor, bodyOf(vendor), headers));
    const reply = await worker.fetch(request, { ...env, ALLOW_ANONYMOUS: 'false', API_KEYS }, context);
    await waitOnExecutionContext(context);
    return reply;
  }

  it("takes the key in the vendor's way and as a bearer token", async () => {
    expect((await sendWith(keyOf(vendor, 'key-that-scores'))).status).toBe(200);
    expect((await sendWith({ authorization: 'Bearer key-that-scores' })).status).toBe(200);
  });

  it('refuses other keys, and other ways', async () => {
    const unknown = vendor === 'bedrock' ? 403 : 401;
    const errorWith = async (headers: Record<string, string>) => errorOf(vendor, await sendWith(headers));
    expect(await errorWith(keyOf(vendor, 'other'))).toMatchObject({ status: unknown, reason: 'key_unknown' });
    expect(await errorWith({})).toMatchObject({ status: unknown, reason: 'key_missing' });
    expect(await errorWith(keyOf(vendor, 'key-that-verifies'))).toMatchObject({ status: 403, reason: 'scope_missing' });
    const other = vendor === 'azure' ? 'bedrock' : 'azure';
    expect(await errorWith(keyOf(other, 'key-that-scores'))).toMatchObject({ reason: 'key_missing' });
  });
});

describe('all drop-ins', () => {
  it('log no text, and the route as a pattern', async () => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(String(line)));
    for (const vendor of GROUNDING_VENDORS) await (await send(requestOf(vendor))).text();
    vi.restoreAllMocks();
    const logged = lines.map((line) => z.looseObject({ event: z.string() }).parse(JSON.parse(line)));
    const requests = logged.filter(({ event }) => event === 'request');
    expect(requests.map(({ route }) => route)).toEqual([
      '/compat/azure/contentsafety/text:detectGroundedness',
      '/compat/bedrock/guardrail/:guardrail/version/:version/apply',
      '/compat/google/:version/projects/:project/locations/:location/groundingConfigs/:check',
      '/:version/projects/:project/locations/:location/groundingConfigs/:check',
    ]);
    expect(lines.join('\n')).not.toContain('Aare');
  });

  it.each(GROUNDING_VENDORS)('%s refuses a body that is no JSON, and too long a text', async (vendor) => {
    expect(await errorOf(vendor, await send(requestOf(vendor, '{')))).toMatchObject({ reason: 'body_not_json' });
    const sentences = 'The Aare is long. '.repeat(2_001);
    const error = await errorOf(vendor, await send(requestOf(vendor, bodyOf(vendor, sentences))));
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('at most 2000 sentences') });
    const many = Array.from({ length: 20 }, () => 'x'.repeat(100_000));
    const compared = await send(requestOf(vendor, bodyOf(vendor, 'The Aare is long. '.repeat(200), many)));
    expect((await errorOf(vendor, compared)).message).toContain('expected at most 200000000');
  });
});
