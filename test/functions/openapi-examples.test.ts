/**
 * The examples of openapi.json: requests of every route and what the Worker answers. Each reply is checked against the
 * schema of its route. To record them after a change of the contract:
 * `npx vitest run --project functions test/functions/openapi-examples.test.ts -u`, then `npm run openapi`.
 */
import { createParser } from 'eventsource-parser';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod';
import bridge from '../../examples/request.json' with { type: 'json' };
import { configuredBackends } from '../../service/backends/configured.ts';
import { DESCRIBED_ROUTES, operationId, type Route, SCHEMAS } from '../../src/wire/openapi/document.ts';
import { startedSchema } from '../../src/wire/rubrics.ts';
import { deliveriesSchema } from '../../src/wire/webhooks-reply.ts';
import { BODIES, GENRM_BODY } from './adapters-trainers.ts';
import { callText, environmentOf, ran, serversOf } from './agent-servers.ts';
import { ORIGIN, send } from './api.ts';
import { ended, line } from './batch-api.ts';
import { bodyOf, type GroundingVendor, MULTI_RUN } from './compat-requests.ts';
import { sendTo } from './model-server.ts';
import { backendOf, scripts, writes } from './scripted-judges.ts';
import { endWebhooks, RECEIVER, startWebhooks, work } from './webhook-parts.ts';
import { replaceParts } from './worker.ts';

/** One request; the ids in `path` and `query` fill the route. */
type Sent = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly lines?: readonly unknown[];
  /** Fields of a form; those named `file` and `data` are files. */
  readonly form?: Readonly<Record<string, string>>;
  /** The secret that signs the request. */
  readonly secret?: string;
  readonly variables?: object;
};

type Recorded = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly reply?: unknown;
};

const judgedSchema = z.object({ judgments: z.array(z.object({ key: z.string() })) });

const recorded = new Map<string, Recorded>();

function routeOf(id: string): Route {
  const found = DESCRIBED_ROUTES.find((route) => operationId(route) === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

function requestOf(route: Route, { path = {}, query = {}, json, lines, form, secret }: Sent): Request {
  const place = route.path.replaceAll(/\{([a-z_]+)\}/g, (_braces, name: string) => path[name] ?? '');
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams({ ...query })}`;
  const init = { method: route.method.toUpperCase() };
  const url = `${ORIGIN}${place}${search}`;
  if (form !== undefined) {
    const body = new FormData();
    for (const [name, value] of Object.entries(form)) {
      if (name === 'file' || name === 'data') body.set(name, new Blob([value]), 'requests.jsonl');
      else body.set(name, value);
    }
    return new Request(url, { ...init, body });
  }
  const jsonLines = { 'content-type': 'application/jsonl' };
  if (lines !== undefined) return new Request(url, { ...init, body: textOf(lines), headers: jsonLines });
  if (json === undefined) return new Request(url, init);
  const body = JSON.stringify(json);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (secret !== undefined) {
    headers['webhook-id'] = 'rollout-1';
    headers['webhook-timestamp'] = String(Math.floor(Date.now() / 1000));
    headers['webhook-signature'] = new Webhook(secret).sign('rollout-1', new Date(), body);
  }
  return new Request(url, { ...init, headers, body });
}

const textOf = (lines: readonly unknown[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

const parsedLines = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one));

function eventsOf(text: string): unknown[] {
  const found: unknown[] = [];
  createParser({ onEvent: ({ data }) => found.push(JSON.parse(data)) }).feed(text);
  return found;
}

/** Calls a route, checks both sides against their schemas, and keeps them as its example. @returns the reply. */
async function example(id: string, sent: Sent = {}): Promise<unknown> {
  const route = routeOf(id);
  const request = requestOf(route, sent);
  const reply = sent.variables === undefined ? await send(request) : await sendTo(request, sent.variables);
  const text = await reply.text();
  const described = route.replies[reply.status];
  if (described === undefined) throw new Error(`${id}: ${reply.status} ${text}`);
  const { path, query, json, lines, form } = sent;
  if (route.request !== undefined) {
    const schema = SCHEMAS.requests[route.request];
    for (const body of lines ?? [json ?? form]) expect(schema?.safeParse(body).error, id).toBeUndefined();
  }
  const shown = shownReply(reply.headers.get('content-type') ?? '', text);
  if (described.schema !== null) {
    const schema = SCHEMAS.replies[described.schema];
    for (const part of shown.parts) expect(schema?.safeParse(part).error, id).toBeUndefined();
  }
  const body = lines === undefined ? (json ?? form) : textOf(lines);
  recorded.set(id, {
    ...(path === undefined ? {} : { path }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    status: reply.status,
    // The document would be its own example.
    ...(id === 'getOpenapiJson' ? {} : { reply: id === 'getRecipes' ? firstOf(shown.reply) : shown.reply }),
  });
  return shown.reply;
}

/** The list of recipes with one of them. */
function firstOf(reply: unknown): unknown {
  return {
    recipes: z
      .object({ recipes: z.array(z.unknown()) })
      .parse(reply)
      .recipes.slice(0, 1),
  };
}

async function answerOf(request: Request): Promise<unknown> {
  const reply = await send(request);
  const text = await reply.text();
  expect(reply.ok, text).toBe(true);
  return JSON.parse(text);
}

/** A text reply of many lines is shown up to about this length, in whole lines. */
const SHOWN_CHARS = 1200;

function shownReply(type: string, text: string): { readonly reply: unknown; readonly parts: readonly unknown[] } {
  if (/^application\/json\b/.test(type)) {
    const reply: unknown = JSON.parse(text);
    return { reply, parts: [reply] };
  }
  if (type.startsWith('text/event-stream')) return { reply: shortened(text), parts: eventsOf(text) };
  return { reply: shortened(text), parts: type.startsWith('application/jsonl') ? parsedLines(text) : [] };
}

function shortened(text: string): string {
  const end = text.indexOf('\n', SHOWN_CHARS);
  return end === -1 || end === text.length - 1 ? text : `${text.slice(0, end)}\n…`;
}

const field = (reply: unknown, name: string): string => {
  const value = z.record(z.string(), z.unknown()).parse(reply)[name];
  if (typeof value !== 'string') throw new Error(`no ${name} in ${JSON.stringify(reply)}`);
  return value;
};

/** Ids, keys, digests and times differ between calls: replaces each by an example of the same form. */
class Placeholders {
  readonly #texts = new Map<string, string>();
  readonly #kinds = new Map<string, number>();
  readonly #nowS = Math.floor(Date.now() / 1000);

  of(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) return value.map((one) => this.of(one));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.#text(key), this.of(one, key)]));
    if (typeof value === 'string') return name === 'x' ? 'A'.repeat(value.length) : this.#text(value);
    return typeof value === 'number' ? this.#number(value, name) : value;
  }

  #number(value: number, name: string): number {
    if (name === 'lines_per_second') return 20;
    if (name === 'execution_time') return 0;
    if (/(?:^|_)(?:ms|age_s)$/.test(name) && Math.abs(value / 1000 - this.#nowS) > DISTANT_S) return 20;
    for (const unit of [1, 1000]) {
      const distance = Math.round((value / unit - this.#nowS) / SLACK_S) * SLACK_S;
      if (Math.abs(distance) < DISTANT_S) return (EXAMPLE_TIME_S + distance) * unit;
    }
    return value;
  }

  #text(text: string): string {
    return text
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, new Date(EXAMPLE_TIME_S * 1000).toISOString())
      .replaceAll(
        /\b(file-|upload_|part_|batch_|whe_|whs_|job_|msg_|key_|whsec_|cwk_)([A-Za-z0-9+/_-]{20,}=*)/g,
        (all, kind, rest) => this.#placeholder(all, kind, rest),
      )
      .replaceAll(/(?<="signature":")[^"]+/g, (all) => 'A'.repeat(all.length))
      .replaceAll(/\b[0-9a-f]{64}\b/g, (all) => this.#placeholder(all, 'sha256:', all).slice('sha256:'.length));
  }

  /** The first of a kind is 0101…, the second 0202…. */
  #placeholder(all: string, kind: string, rest: string): string {
    const known = this.#texts.get(all);
    if (known !== undefined) return known;
    const position = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, position);
    const made = `${kind}${position.toString(16).padStart(2, '0').repeat(rest.length).slice(0, rest.length)}`;
    this.#texts.set(all, made);
    return made;
  }
}

/** How long the calls may take: times within it are equal. */
const SLACK_S = 600;
const DISTANT_S = 100 * 86_400;
const EXAMPLE_TIME_S = Date.UTC(2027, 0, 4, 12) / 1000;

const { response: wrong, finish_reason: _finish, recipe, ...row } = bridge;
const right = wrong.replace('1,820', '1,280').replace(/ <snippet id=S7>.*?<\/snippet>/, '');
const { question, tool_output } = row;
const RUN = 'api-example';
const RECIPE = { recipe };
const CHECK = { project: 'p1', location: 'global', check: 'default_grounding_config:check', version: 'v1' };
const DROP_INS: readonly (readonly [string, GroundingVendor, Sent['path'] & object, Sent['query']?])[] = [
  ['postCompatAzureContentsafetyTextDetectGroundedness', 'azure', {}, { 'api-version': '2024-09-15-preview' }],
  [
    'postCompatBedrockGuardrailGuardrailVersionVersionApply',
    'bedrock',
    { guardrail: 'grounding80relevance50', version: 'DRAFT' },
  ],
  ['postCompatGoogleVersionProjectsProjectLocationsLocationGroundingConfigsCheck', 'google', CHECK],
  ['postVersionProjectsProjectLocationsLocationGroundingConfigsCheck', 'google at the root', CHECK],
];
const BATCH_LINE = `${line('row-1', bridge)}\n`;

let issuer: string;

beforeAll(async () => {
  startWebhooks();
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  issuer = JSON.stringify(await crypto.subtle.exportKey('jwk', pair.privateKey));
  // Secrets are bindings: handlers and objects read the same ones.
  replaceParts({
    environmentOf: (environment) => ({ ...environment, ISSUER_KEY: issuer, ALLOW_EXTRACTIVE_REFINER: 'true' }),
    backendsOf: (settings, environment) => {
      const backends = configuredBackends(settings, environment);
      return { ...backends, named: [...backends.named, backendOf('qwen', 'Qwen/Qwen3-32B')] };
    },
  });
});
afterAll(endWebhooks);

it('are what the Worker answers to every route', { timeout: 60_000 }, async () => {
  await example('getHealthz');
  await example('getReadyz');
  await example('getMetrics');
  await example('getOpenapiJson');
  await scoring();
  await generation();
  await batches();
  await runs();
  await webhooks();
  await keys();
  expect([...recorded.keys()].sort()).toEqual(DESCRIBED_ROUTES.map(operationId).sort());
  const placeholders = new Placeholders();
  const inOrder = DESCRIBED_ROUTES.map((route) => [
    operationId(route),
    placeholders.of(recorded.get(operationId(route))),
  ]);
  const text = `${JSON.stringify(Object.fromEntries(inOrder), null, 1)}\n`;
  await expect(text).toMatchFileSnapshot('../../src/wire/openapi/examples.json');
});

async function scoring(): Promise<void> {
  await example('postVerify', { json: { response: wrong, tool_output } });
  await example('postVerifyStream', {
    lines: [{ tool_output }, { delta: '<answer><snippet id=S9>It opened ' }, { delta: 'in 1937.</snippet></answer>' }],
  });
  const { judgments } = judgedSchema.parse(await example('postScore', { json: bridge }));
  const group = { id: RUN, step: 0, group: 'bridge' };
  const body = { ...row, recipe, responses: [right, wrong], detail: 'reward', run: group, store_text: true };
  await example('postGroups', { json: body });
  const citations = [{ type: 'page_location', document_index: 0, document_title: 'Aare', cited_text: '288' }];
  const cited_answer = [{ type: 'text', text: 'The Aare is 288 kilometres long.', citations }];
  await example('postCompare', { json: { question, tool_output, responses: [right, { cited_answer }, wrong] } });
  const members = [{ reward: 7.5 }, { reward: 2 }, { reward: null }];
  await example('postAdvantages', { json: { rule: 'mean', groups: [{ id: 'bridge', members }] } });
  await example('getRecipes');
  await example('postRecipesProbe', {
    json: { ...RECIPE, rows: [{ id: 'bridge', ...row, responses: [right, wrong] }] },
  });
  await example('getKeys');
  const exported = await example('postJudgmentsExport', {
    json: { keys: judgments.slice(0, 1).map(({ key }) => key) },
  });
  await example('postJudgmentsImport', { lines: parsedLines(String(exported)) });
  for (const [id, vendor, path, query] of DROP_INS) {
    await example(id, { path, json: bodyOf(vendor), ...(query === undefined ? {} : { query }) });
  }
  await example('postCompatOpenaiFineTuningAlphaGradersRun', { json: MULTI_RUN });
  await example('postCompatOpenaiFineTuningAlphaGradersValidate', { json: { grader: MULTI_RUN.grader } });
  await example('postAdaptersSlime', { query: RECIPE, json: { ...BODIES.slime, response: right, label: row } });
  await example('postAdaptersOpenrlhfGetReward', { query: RECIPE, json: BODIES.openrlhf });
  await example('postAdaptersNemoGymVerify', { query: RECIPE, json: BODIES['nemo-gym'] });
  await example('postAdaptersNemoGymCompare', { json: GENRM_BODY });
  await example('postAdaptersLongtracerlEvaluate', { json: BODIES.longtracerl });
}

async function generation(): Promise<void> {
  await example('postRefine', { json: { question, tool_output } });
  scripts.set(
    'qwen',
    writes(
      ['States that the main span is 1,280 metres long.', 'Mentions that the main span is 1280 metres long.'],
      ['Gives the length of the whole bridge as that of the main span.', 'Has more than 200 words.'],
    ),
  );
  await example('postRubrics', { json: { question, tool_output, responses: [right, wrong], judge: 'qwen' } });
  const servers = serversOf([[`I compute. ${callText('6 * 7')}`], ['It is \\boxed{42}.']], [ran('42\n')]);
  const messages = [{ role: 'user', content: 'What is 6 times 7?' }];
  await example('postAgent', { json: { messages, reference: '42' }, variables: environmentOf(servers) });
}

async function batches(): Promise<void> {
  const file = field(await example('postFiles', { form: { purpose: 'batch', file: BATCH_LINE } }), 'id');
  await example('getFiles');
  await example('getFilesId', { path: { id: file } });
  await example('getFilesIdContent', { path: { id: file } });
  const bytes = new TextEncoder().encode(BATCH_LINE).byteLength;
  const wanted = { purpose: 'batch', filename: 'requests.jsonl', bytes };
  const upload = field(await example('postUploads', { json: wanted }), 'id');
  const part = await example('postUploadsIdParts', { path: { id: upload }, form: { data: BATCH_LINE } });
  await example('postUploadsIdComplete', { path: { id: upload }, json: { part_ids: [field(part, 'id')] } });
  const other = field(await answerOf(requestOf(routeOf('postUploads'), { json: wanted })), 'id');
  await example('postUploadsIdCancel', { path: { id: other } });
  const request = { input_file_id: file, endpoint: '/v1/score', completion_window: '24h' };
  const batch = field(await example('postBatches', { json: request }), 'id');
  await ended(batch);
  await example('getBatchesId', { path: { id: batch } });
  await example('getBatches');
  await example('postBatchesIdRedrive', { path: { id: batch } });
  const another = field(await answerOf(requestOf(routeOf('postBatches'), { json: request })), 'id');
  await example('postBatchesIdCancel', { path: { id: another } });
  await ended(another);
  await example('deleteFilesId', { path: { id: file } });
}

async function rubrics(): Promise<void> {
  const path = { id: RUN };
  const group = { step: 0, group: 'bridge' };
  const started = await example('postRunsIdRubrics', {
    path,
    json: {
      question,
      rules: 'citeward',
      criteria: [{ polarity: 'positive', title: 'Length', description: 'States the length of the bridge' }],
      proposal: { ...group, criteria: [{ polarity: 'negative', description: 'Names a wrong year' }] },
    },
  });
  const { rubrics } = startedSchema.parse(started);
  await example('getRunsIdRubrics', { path });
  const prompt = { ...path, prompt: rubrics.prompt };
  const statistics = rubrics.set.entries.map(({ id }) => ({ id, n: 8, mean: 0.5, std: 0.25 }));
  await example('postRunsIdRubricsPromptScored', { path: prompt, json: { ...group, set: rubrics.set.id, statistics } });
  const retire = rubrics.active.map(({ id }) => id);
  await example('postRunsIdRubricsPromptEdits', { path: prompt, json: { set: rubrics.set.id, step: 1, retire } });
  await example('getRunsIdRubricsPrompt', { path: prompt, query: { step: '0' } });
  await example('postRunsIdRubricsResume', { path, json: { step: 0 } });
}

async function runs(): Promise<void> {
  const path = { id: RUN };
  await example('patchRunsId', { path, json: { title: 'Second try, longer answers' } });
  await example('getRuns');
  await example('getRunsId', { path });
  await example('postRunsIdJudgeChecks', {
    path,
    json: {
      rule: 'canary_drift',
      judge: 'qwen',
      step: 10,
      rollouts: 64,
      verdicts_changed: 0.125,
      advantages_flipped: 0.0625,
      reward_shift: -0.25,
      questions: [{ question: 'criteria', same: 0.875, shift: -0.1 }],
    },
  });
  await example('getRunsIdAlerts', { path });
  await rubrics();
  await example('getRunsIdRollouts', { path, query: { limit: '1' } });
  await example('getRunsIdExport', { path });
  await example('getRunsIdJudgmentsJsonl', { path });
  await example('postRunsIdReplay', { path, json: { recipe: { set: { citation_weight: 0.5 } } } });
  const exported = await (await send(new Request(`${ORIGIN}/v1/runs/${RUN}/export`))).text();
  await example('postRunsIdImport', { path: { id: `${RUN}-copy` }, lines: parsedLines(exported) });
  await example('deleteRunsId', { path });
}

async function webhooks(): Promise<void> {
  const registered = await example('postWebhooks', { json: { url: RECEIVER } });
  const [endpoint, secret] = [field(registered, 'id'), field(registered, 'secret')];
  const path = { endpoint };
  await example('getWebhooks');
  await example('getWebhooksEndpoint', { path });
  await example('patchWebhooksEndpoint', { path, json: { description: 'scores of the nightly evaluation' } });
  await example('postWebhooksEndpointTest', { path });
  const short = { ...bridge, detail: 'reward' };
  const job = field(await example('postWebhooksEndpointScore', { path, json: short, secret }), 'job');
  await vi.waitFor(async () => {
    await work(endpoint);
    const state = await answerOf(requestOf(routeOf('getWebhooksEndpointJobsJob'), { path: { endpoint, job } }));
    expect(field(state, 'status')).toBe('completed');
  }, 20_000);
  await example('getWebhooksEndpointJobsJob', { path: { endpoint, job } });
  const { deliveries } = deliveriesSchema.parse(await example('getWebhooksEndpointDeliveries', { path }));
  const message = deliveries[0]?.id ?? '';
  await example('getWebhooksEndpointDeliveriesMessage', { path: { endpoint, message } });
  await example('postWebhooksEndpointDeliveriesMessageResend', { path: { endpoint, message } });
  await example('postWebhooksEndpointSecretsRotate', { path, json: { grace_s: 3600 } });
  await example('deleteWebhooksEndpoint', { path });
}

async function keys(): Promise<void> {
  const made = await example('postApiKeys', { json: { label: 'trainer', project: 'team-a', scopes: ['score'] } });
  await example('getApiKeys');
  await example('deleteApiKeysKey', { path: { key: field(made, 'id') } });
  await example('patchProjectsProject', { path: { project: 'team-a' }, json: { judge_calls_per_day: 100_000 } });
  await example('getProjectsProject', { path: { project: 'team-a' } });
  await example('getAudit', { query: { limit: '1' } });
}
