/** The official clients of the grounding APIs, with nothing changed but their base URL and key. */
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import createContentSafetyClient from '@azure-rest/ai-content-safety';
import { GroundedGenerationServiceClient } from '@google-cloud/discoveryengine';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endServers, KEY, startServers } from './served.ts';

const SUPPORTED = 'Zürich 🚋 The Aare is 288 kilometres long.';
const UNSUPPORTED = 'The Aare ends in the Danube near Vienna after 900 kilometres.';
const ANSWER = `${SUPPORTED} ${UNSUPPORTED}`;
const SOURCE = 'Zürich 🚋 The Aare is 288 kilometres long. It lies entirely within Switzerland.';

let working = '';
let broken = '';

beforeAll(async () => {
  ({ working, broken } = await startServers());
});

afterAll(endServers);

describe('@azure-rest/ai-content-safety', () => {
  const client = (origin: string, key = KEY) =>
    createContentSafetyClient(
      `${origin}/compat/azure`,
      { key },
      {
        apiVersion: '2024-09-15-preview',
        allowInsecureConnection: true,
        retryOptions: { maxRetries: 0 },
      },
    );
  const body = { domain: 'Generic', task: 'Summarization', text: ANSWER, groundingSources: [SOURCE] };

  it('reads the ungrounded sentences', async () => {
    const reply = await client(working).pathUnchecked('/text:detectGroundedness').post({ body });
    expect(reply.status).toBe('200');
    expect(reply.body).toMatchObject({ ungroundedDetected: true, ungroundedDetails: [{ text: UNSUPPORTED }] });
  });

  it('reads an error where the judge is down, and where the key is wrong', async () => {
    const reply = await client(broken).pathUnchecked('/text:detectGroundedness').post({ body });
    expect(reply.status).toBe('503');
    expect(reply.body).toMatchObject({ error: { code: 'ServiceUnavailable' } });
    const refused = await client(working, 'other').pathUnchecked('/text:detectGroundedness').post({ body });
    expect(refused).toMatchObject({ status: '401', body: { error: { code: 'Unauthorized' } } });
  });
});

describe('@aws-sdk/client-bedrock-runtime', () => {
  const client = (origin: string, accessKeyId = KEY) =>
    new BedrockRuntimeClient({
      region: 'eu-central-1',
      endpoint: `${origin}/compat/bedrock`,
      credentials: { accessKeyId, secretAccessKey: 'not checked' },
      maxAttempts: 1,
      // The default handler speaks HTTP/2 only, which needs TLS.
      requestHandler: new NodeHttpHandler(),
    });
  const command = () =>
    new ApplyGuardrailCommand({
      guardrailIdentifier: 'arn:aws:bedrock:eu-central-1:111122223333:guardrail/abc',
      guardrailVersion: 'DRAFT',
      source: 'OUTPUT',
      content: [
        { text: { text: SOURCE, qualifiers: ['grounding_source'] } },
        { text: { text: 'How long is the Aare?', qualifiers: ['query'] } },
        { text: { text: ANSWER, qualifiers: ['guard_content'] } },
      ],
    });

  it('reads the filters of the contextual grounding policy', async () => {
    const { action, assessments, outputs, usage } = await client(working).send(command());
    expect(action).toBe('GUARDRAIL_INTERVENED');
    expect(outputs).toHaveLength(1);
    expect(usage?.contextualGroundingPolicyUnits).toBe(1);
    expect(assessments?.[0]?.contextualGroundingPolicy?.filters).toMatchObject([
      { type: 'GROUNDING', threshold: 0.7, score: 0.5, action: 'BLOCKED', detected: true },
      { type: 'RELEVANCE', threshold: 0.7 },
    ]);
  });

  it('throws where the judge is down, and where the key is wrong', async () => {
    await expect(client(broken).send(command())).rejects.toMatchObject({
      ...{ name: 'ServiceUnavailableException', message: expect.stringContaining('judge_unreachable') },
      $metadata: { httpStatusCode: 503 },
    });
    await expect(client(working, 'other').send(command())).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('@google-cloud/discoveryengine', () => {
  const client = (origin: string, apiKey = KEY) => {
    const { hostname, port } = new URL(origin);
    const options = { apiEndpoint: hostname, port: Number(port), protocol: 'http', fallback: true, apiKey };
    return new GroundedGenerationServiceClient(options);
  };
  const groundingConfig = 'projects/p1/locations/global/groundingConfigs/default_grounding_config';
  const request = {
    groundingConfig,
    answerCandidate: ANSWER,
    facts: [{ factText: SOURCE, attributes: { author: 'a' } }],
    groundingSpec: { citationThreshold: 0.6 },
  };

  it('reads scores, claims and cited chunks', async () => {
    const [reply] = await client(working).checkGrounding(request);
    expect(reply.supportScore).toBe(0.5);
    expect(reply.citedChunks).toMatchObject([{ chunkText: SOURCE, source: '0' }]);
    const bytes = Buffer.from(ANSWER);
    const cut = reply.claims?.map(({ startPos, endPos }) => bytes.subarray(startPos ?? 0, endPos ?? 0).toString());
    expect(cut).toEqual([SUPPORTED, UNSUPPORTED]);
    expect(reply.claims?.map(({ citationIndices }) => citationIndices)).toEqual([[0], []]);
  });

  it('rejects where the judge is down, and where the key is wrong', async () => {
    await expect(client(broken).checkGrounding(request)).rejects.toMatchObject({
      ...{ code: 503, message: expect.stringContaining('JUDGE_UNREACHABLE') },
    });
    await expect(client(working, 'other').checkGrounding(request)).rejects.toMatchObject({ code: 401 });
  });
});
