/**
 * A project cannot see or change anything of another one. Project beta sends each id of project alpha to every route of
 * the OpenAPI document: it gets what it would get for an id that nobody has, and nothing of alpha changes. A route that this
 * file does not mention fails the test.
 */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { criterionId, questionDigest, setId } from '../../src/rubrics/rubric-set.ts';
import { batchSchema } from '../../src/wire/batches/batch.ts';
import { fileSchema, uploadPartSchema, uploadSchema } from '../../src/wire/files.ts';
import { DESCRIBED_ROUTES } from '../../src/wire/openapi/document.ts';
import { createdKeySchema } from '../../src/wire/stored-keys.ts';
import { acceptedJobSchema, deliveriesSchema, endpointWithSecretSchema } from '../../src/wire/webhooks-reply.ts';
import { adapterPath, BODIES, type Trainer } from './adapters-trainers.ts';
import { ORIGIN, ROLLOUT, send } from './api.ts';
import { line, OVER } from './batch-api.ts';
import { endWebhooks, RECEIVER, signedScore, startWebhooks } from './webhook-parts.ts';

/** One id of each kind. */
type Ids = {
  readonly run: string;
  readonly longRun: string;
  readonly file: string;
  readonly upload: string;
  readonly part: string;
  readonly batch: string;
  readonly endpoint: string;
  readonly secret: string;
  readonly job: string;
  readonly delivery: string;
  readonly key: string;
  readonly project: string;
};

type Sent = { readonly body?: unknown; readonly form?: FormData; readonly text?: string; readonly signed?: Request };

/** A request that names ids. */
type Named = (ids: Ids) => Sent & { readonly path: string };

type Case =
  /** Ids that the project does not have are refused like ids that nobody has. */
  | {
      readonly kind: 'refused';
      readonly requests: readonly Named[];
      /** Another status than 404 and 422. */
      readonly status?: number;
      /** Only the operator may do it. */
      readonly operatorOnly?: true;
    }
  /** The id is the caller's to choose, so each project may have one of its own. */
  | { readonly kind: 'own'; readonly requests: readonly Named[] }
  /** A list without ids of others; `after` refuses their ids. */
  | { readonly kind: 'list'; readonly path: string; readonly after: Named | null }
  /** The route takes no id of a stored thing. */
  | { readonly kind: 'none'; readonly why: string };

const NOBODY: Ids = {
  run: 'nobody',
  longRun: 'nobody-long',
  file: `file-${'x'.repeat(24)}`,
  upload: `upload_${'x'.repeat(24)}`,
  part: `part_${'x'.repeat(24)}`,
  batch: `batch_${'0'.repeat(32)}`,
  endpoint: `whe_${'x'.repeat(24)}`,
  secret: `whsec_${btoa('x'.repeat(32))}`,
  job: `job_${'x'.repeat(24)}`,
  delivery: `msg_${'x'.repeat(24)}`,
  key: `key_${'x'.repeat(24)}`,
  project: 'nobody',
};

const refused = (...requests: Named[]): Case => ({ kind: 'refused', requests });
const own = (...requests: Named[]): Case => ({ kind: 'own', requests });
const none = (why: string): Case => ({ kind: 'none', why });

const part = (content: string): FormData => {
  const form = new FormData();
  form.set('data', new Blob([content]));
  return form;
};

const adapter = (trainer: Trainer, run: (ids: Ids) => string): Case =>
  own((ids) => ({ path: adapterPath(trainer, { run: run(ids) }), body: BODIES[trainer] }));

const RECORDED = (run: string) => ({
  ...ROLLOUT,
  run: { id: run, step: 0, group: 'g', sample: 's' },
  store_text: true,
});
const { response: _response, ...GROUP } = ROLLOUT;
const CHECK = {
  rule: 'canary_drift',
  judge: 'one',
  step: 0,
  rollouts: 1,
  verdicts_changed: 1,
  advantages_flipped: null,
  reward_shift: null,
  questions: [],
};
const PROMPT = questionDigest(ROLLOUT.question);
const CRITERION = criterionId(PROMPT, { polarity: 'positive', description: 'Is short' });
const ONLY_SET = setId([{ id: CRITERION, weight: 1, type: 'persistent', since_step: null }]);
const WEBHOOK = ({ endpoint }: Ids) => `/v1/webhooks/${endpoint}`;
/** An id of alpha below an endpoint of beta. */
let ownEndpoint = '';

const CASES: Readonly<Record<string, Case>> = {
  'get /healthz': none('public'),
  'get /readyz': none('states of the deployment'),
  'get /openapi.json': none('a constant'),
  'get /metrics': none('figures of the deployment'),
  'post /v1/verify': none('stores nothing'),
  'post /v1/verify/stream': none('stores nothing'),
  'post /v1/advantages': none('stores nothing'),
  'post /v1/compare': none('stores nothing but judgments'),
  'post /v1/adapters/nemo-gym/compare': none('stores nothing but judgments'),
  'post /compat/azure/contentsafety/text:detectGroundedness': none('stores nothing but judgments'),
  'post /compat/bedrock/guardrail/{guardrail}/version/{version}/apply': none('stores nothing but judgments'),
  'post /compat/openai/v1/fine_tuning/alpha/graders/run': none('stores nothing but judgments'),
  'post /compat/openai/v1/fine_tuning/alpha/graders/validate': none('stores nothing'),
  'post /compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': none(
    "stores nothing but judgments; the ids are Google's and name nothing here",
  ),
  'post /{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': none(
    "stores nothing but judgments; the ids are Google's and name nothing here",
  ),
  'get /v1/recipes': none('a constant'),
  'get /v1/keys': none('public keys of the deployment'),
  'post /v1/judgments:export': none('judgments are shared by content'),
  'post /v1/judgments:import': none('judgments are shared by content; never overwrites'),
  'post /v1/recipes/probe': none('stores nothing but judgments'),
  'post /v1/refine': none('stores nothing but judgments'),
  'post /v1/agent': none('stores nothing but judgments'),
  'post /v1/rubrics': none('stores nothing but judgments'),
  'get /v1/files': { kind: 'list', path: '/v1/files', after: ({ file }) => ({ path: `/v1/files?after=${file}` }) },
  'get /v1/files/{id}': refused(({ file }) => ({ path: `/v1/files/${file}` })),
  'get /v1/files/{id}/content': refused(({ file }) => ({ path: `/v1/files/${file}/content` })),
  'post /v1/files': none('makes a file with a new id'),
  'post /v1/uploads': none('makes an upload with a new id'),
  'post /v1/uploads/{id}/parts': refused(({ upload }) => ({ path: `/v1/uploads/${upload}/parts`, form: part('b') })),
  'get /v1/batches': {
    kind: 'list',
    path: '/v1/batches',
    after: ({ batch }) => ({ path: `/v1/batches?after=${batch}` }),
  },
  'post /v1/batches': refused(
    ({ file }) => ({
      path: '/v1/batches',
      body: { input_file_id: file, endpoint: '/v1/score', completion_window: '24h' },
    }),
    ({ endpoint }) => ({
      path: '/v1/batches',
      body: { input_file_id: betaFile, endpoint: '/v1/score', completion_window: '24h', webhook: endpoint },
    }),
  ),
  'get /v1/batches/{id}': refused(({ batch }) => ({ path: `/v1/batches/${batch}` })),
  'post /v1/batches/{id}/cancel': refused(({ batch }) => ({ path: `/v1/batches/${batch}/cancel` })),
  'post /v1/batches/{id}/redrive': refused(({ batch }) => ({ path: `/v1/batches/${batch}/redrive` })),
  'get /v1/runs': { kind: 'list', path: '/v1/runs', after: ({ run }) => ({ path: `/v1/runs?after=${run}` }) },
  'get /v1/runs/{id}': refused(({ run }) => ({ path: `/v1/runs/${run}` })),
  'get /v1/runs/{id}/alerts': refused(({ run }) => ({ path: `/v1/runs/${run}/alerts` })),
  'patch /v1/runs/{id}': refused(({ run }) => ({ path: `/v1/runs/${run}`, body: { title: 'Of another project' } })),
  'post /v1/runs/{id}/judge-checks': refused(({ run }) => ({ path: `/v1/runs/${run}/judge-checks`, body: CHECK })),
  'get /v1/runs/{id}/rollouts': refused(({ run }) => ({ path: `/v1/runs/${run}/rollouts?detail=true` })),
  'get /v1/runs/{id}/export': refused(({ run }) => ({ path: `/v1/runs/${run}/export` })),
  'get /v1/runs/{id}/judgments.jsonl': refused(({ run }) => ({ path: `/v1/runs/${run}/judgments.jsonl` })),
  'post /v1/runs/{id}/replay': refused(({ run }) => ({
    path: `/v1/runs/${run}/replay`,
    body: { recipe: { set: { citation_weight: 0.5 } } },
  })),
  'get /v1/runs/{id}/rubrics': refused(({ run }) => ({ path: `/v1/runs/${run}/rubrics` })),
  'post /v1/runs/{id}/rubrics': own(({ run }) => ({
    path: `/v1/runs/${run}/rubrics`,
    body: {
      question: ROLLOUT.question,
      family: 'refiner',
      criteria: [{ polarity: 'positive', description: 'Is short' }],
    },
  })),
  'post /v1/runs/{id}/rubrics:resume': refused(({ run }) => ({
    path: `/v1/runs/${run}/rubrics:resume`,
    body: { step: 0 },
  })),
  'get /v1/runs/{id}/rubrics/{prompt}': refused(({ run }) => ({ path: `/v1/runs/${run}/rubrics/${PROMPT}` })),
  'post /v1/runs/{id}/rubrics/{prompt}/scored': refused(({ run }) => ({
    path: `/v1/runs/${run}/rubrics/${PROMPT}/scored`,
    body: { step: 0, group: 'g', set: PROMPT, statistics: [{ id: CRITERION, n: 0, mean: null, std: null }] },
  })),
  'post /v1/runs/{id}/rubrics/{prompt}/edits': refused(({ run }) => ({
    path: `/v1/runs/${run}/rubrics/${PROMPT}/edits`,
    body: { step: 0, set: ONLY_SET, retire: [CRITERION] },
  })),
  'get /v1/webhooks': { kind: 'list', path: '/v1/webhooks', after: null },
  'post /v1/webhooks': none('makes an endpoint with a new id'),
  'get /v1/webhooks/{endpoint}': refused((ids) => ({ path: WEBHOOK(ids) })),
  'patch /v1/webhooks/{endpoint}': refused((ids) => ({ path: WEBHOOK(ids), body: { enabled: true } })),
  'post /v1/webhooks/{endpoint}/secrets:rotate': refused((ids) => ({
    path: `${WEBHOOK(ids)}/secrets:rotate`,
    body: { grace_s: 3600 },
  })),
  'post /v1/webhooks/{endpoint}/test': refused((ids) => ({ path: `${WEBHOOK(ids)}/test` })),
  'get /v1/webhooks/{endpoint}/jobs/{job}': refused(
    (ids) => ({ path: `${WEBHOOK(ids)}/jobs/${ids.job}` }),
    ({ job }) => ({ path: `/v1/webhooks/${ownEndpoint}/jobs/${job}` }),
  ),
  'get /v1/webhooks/{endpoint}/deliveries': refused(
    (ids) => ({ path: `${WEBHOOK(ids)}/deliveries` }),
    ({ delivery }) => ({ path: `/v1/webhooks/${ownEndpoint}/deliveries?after=${delivery}` }),
  ),
  'get /v1/webhooks/{endpoint}/deliveries/{message}': refused(
    (ids) => ({ path: `${WEBHOOK(ids)}/deliveries/${ids.delivery}` }),
    ({ delivery }) => ({ path: `/v1/webhooks/${ownEndpoint}/deliveries/${delivery}` }),
  ),
  'post /v1/webhooks/{endpoint}/deliveries/{message}/resend': refused(
    (ids) => ({ path: `${WEBHOOK(ids)}/deliveries/${ids.delivery}/resend` }),
    ({ delivery }) => ({ path: `/v1/webhooks/${ownEndpoint}/deliveries/${delivery}/resend` }),
  ),
  // Beta signs with its own secret. The id alone, which nobody can guess, tells a wrong signature from no endpoint.
  'post /v1/webhooks/{endpoint}/score': {
    kind: 'refused',
    status: 401,
    requests: [({ endpoint, secret }) => ({ path: '', signed: signedScore({ id: endpoint, secret }) })],
  },
  'get /v1/api-keys': {
    kind: 'list',
    path: '/v1/api-keys',
    after: ({ key }) => ({ path: `/v1/api-keys?after=${key}` }),
  },
  'post /v1/api-keys': none('makes a key with a new id, in the own project (api-keys.test.ts)'),
  'get /v1/projects/{project}': refused(({ project }) => ({ path: `/v1/projects/${project}` })),
  'patch /v1/projects/{project}': {
    kind: 'refused',
    operatorOnly: true,
    requests: [({ project }) => ({ path: `/v1/projects/${project}`, body: { judge_calls_per_day: 1 } })],
  },
  'get /v1/audit': { kind: 'list', path: '/v1/audit', after: null },
  'post /v1/score': own(({ run }) => ({ path: '/v1/score', body: RECORDED(run) })),
  'post /v1/groups': own(({ run }) => ({
    path: '/v1/groups',
    body: { ...GROUP, responses: [ROLLOUT.response, '<answer>No.</answer>'], run: { id: run, step: 1, group: 'h' } },
  })),
  'post /v1/runs/{id}/import': own(({ run }) => ({ path: `/v1/runs/${run}/import`, text: exported })),
  'post /v1/adapters/slime': adapter('slime', ({ run }) => run),
  'post /v1/adapters/openrlhf/get_reward': adapter('openrlhf', ({ run }) => run),
  'post /v1/adapters/nemo-gym/verify': adapter('nemo-gym', ({ run }) => run),
  'post /v1/adapters/longtracerl/evaluate': adapter('longtracerl', ({ longRun }) => longRun),
  'post /v1/uploads/{id}/complete': refused(
    ({ upload, part }) => ({ path: `/v1/uploads/${upload}/complete`, body: { part_ids: [part] } }),
    ({ part }) => ({ path: `/v1/uploads/${betaUpload}/complete`, body: { part_ids: [part] } }),
  ),
  'post /v1/uploads/{id}/cancel': refused(({ upload }) => ({ path: `/v1/uploads/${upload}/cancel` })),
  'delete /v1/files/{id}': refused(({ file }) => ({ path: `/v1/files/${file}` })),
  'delete /v1/runs/{id}': refused(({ longRun }) => ({ path: `/v1/runs/${longRun}` })),
  'delete /v1/api-keys/{key}': refused(({ key }) => ({ path: `/v1/api-keys/${key}` })),
  'delete /v1/webhooks/{endpoint}': refused((ids) => ({ path: WEBHOOK(ids) })),
};

/** Requests of one project. */
class Caller {
  readonly #headers: Record<string, string>;

  constructor(key: string) {
    this.#headers = { authorization: `Bearer ${key}` };
  }

  send(method: string, { path, body, form, text, signed }: Sent & { readonly path: string }): Promise<Response> {
    if (signed !== undefined) return send(signed);
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? (text === undefined ? null : 'application/jsonl') : 'application/json';
    const headers = { ...this.#headers, ...(type === null ? {} : { 'content-type': type }) };
    const sent = form === undefined ? (text === undefined ? json : { body: text }) : { body: form };
    return send(new Request(ORIGIN + path, { method: method.toUpperCase(), headers, ...sent }));
  }

  async ok(method: string, path: string, sent: Sent = {}): Promise<string> {
    const reply = await this.send(method, { path, ...sent });
    const text = await reply.text();
    expect(reply.ok, `${method} ${path}: ${text}`).toBe(true);
    return text;
  }
}

const SCOPES = ['verify', 'score', 'generate', 'batch', 'admin'];

async function projectKey(project: string): Promise<{ readonly id: string; readonly key: string }> {
  const body = { label: project, project, scopes: SCOPES };
  return createdKeySchema.parse(JSON.parse(await new Caller('').ok('post', '/v1/api-keys', { body })));
}

const fileForm = (): FormData => {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${line('1', ROLLOUT)}\n`]), 'in.jsonl');
  return form;
};

const idOf = (text: string): string => z.object({ id: z.string() }).parse(JSON.parse(text)).id;

/** Makes one thing of each kind. */
async function furnish(caller: Caller, project: string): Promise<Ids> {
  const run = 'shared';
  const longRun = 'shared-long';
  await caller.ok('post', '/v1/score', { body: RECORDED(run) });
  await caller.ok('post', adapterPath('longtracerl', { run: longRun }), { body: BODIES.longtracerl });
  const rubric = {
    question: ROLLOUT.question,
    family: 'refiner',
    criteria: [{ polarity: 'positive', description: 'Is short' }],
  };
  await caller.ok('post', `/v1/runs/${run}/rubrics`, { body: rubric });
  const file = fileSchema.parse(JSON.parse(await caller.ok('post', '/v1/files', { form: fileForm() }))).id;
  const wanted = { purpose: 'batch', filename: 'u.jsonl', bytes: 1, mime_type: 'application/jsonl' };
  const upload = uploadSchema.parse(JSON.parse(await caller.ok('post', '/v1/uploads', { body: wanted }))).id;
  const added = await caller.ok('post', `/v1/uploads/${upload}/parts`, { form: part('a') });
  const registered = await caller.ok('post', '/v1/webhooks', { body: { url: RECEIVER } });
  const { id: endpoint, secret } = endpointWithSecretSchema.parse(JSON.parse(registered));
  const accepted = await send(signedScore({ id: endpoint, secret }));
  const { job } = acceptedJobSchema.parse(await accepted.json());
  const request = { input_file_id: file, endpoint: '/v1/score', completion_window: '24h', webhook: endpoint };
  const batch = batchSchema.parse(JSON.parse(await caller.ok('post', '/v1/batches', { body: request }))).id;
  await vi.waitFor(
    async () => {
      const { status } = batchSchema.parse(JSON.parse(await caller.ok('get', `/v1/batches/${batch}`)));
      expect(OVER).toContain(status);
    },
    { timeout: 20_000, interval: 50 },
  );
  // The event of the batch may come later than its end.
  const delivered = () =>
    vi.waitFor(
      async () => {
        await runDurableObjectAlarm(env.DELIVERIES.getByName(`${project}/${endpoint}`));
        const page = deliveriesSchema.parse(JSON.parse(await caller.ok('get', `/v1/webhooks/${endpoint}/deliveries`)));
        expect(page.deliveries.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
        return page.deliveries[0]?.id ?? '';
      },
      { timeout: 20_000, interval: 50 },
    );
  const delivery = await delivered();
  const { id: key } = await projectKey(project);
  const partId = uploadPartSchema.parse(JSON.parse(added)).id;
  return { run, longRun, file, upload, part: partId, batch, endpoint, secret, job, delivery, key, project };
}

/** Everything that is stored of a project, as its own key and the stores show it. */
async function stateOf(caller: Caller, project: string, ids: Ids): Promise<unknown> {
  const tables = ['files', 'uploads', 'batches', 'webhook_endpoints', 'run_list', 'api_keys', 'projects'];
  const rows = await Promise.all(
    tables.map(async (table) => {
      const { results } = await env.DB.prepare(`SELECT * FROM ${table} WHERE project = ?`).bind(project).all();
      return results.map(({ last_used_at: _used, ...row }) => row);
    }),
  );
  const objects = (await env.FILES.list()).objects.filter(({ key }) => key.split('/')[1] === project);
  const paths = [
    `/v1/runs/${ids.run}`,
    `/v1/runs/${ids.run}/rollouts?detail=true`,
    `/v1/runs/${ids.longRun}/rollouts`,
    `/v1/runs/${ids.run}/rubrics/${PROMPT}`,
    `/v1/batches/${ids.batch}`,
    `/v1/webhooks/${ids.endpoint}`,
    `/v1/webhooks/${ids.endpoint}/deliveries/${ids.delivery}`,
    `/v1/webhooks/${ids.endpoint}/jobs/${ids.job}`,
    `/v1/files/${ids.file}/content`,
  ];
  const replies = await Promise.all(paths.map((path) => caller.ok('get', path)));
  return { rows, objects: objects.map(({ key, etag }) => [key, etag]), replies };
}

let alpha: Caller;
let beta: Caller;
let ids: Ids;
/** Beta's own things, for requests that name one thing of each project. */
let betaIds: Ids;
let betaFile = '';
let betaUpload = '';
let exported = '';
let before: unknown;

beforeAll(async () => {
  startWebhooks();
  const [keyOfAlpha, keyOfBeta] = [await projectKey('alpha'), await projectKey('beta')];
  alpha = new Caller(keyOfAlpha.key);
  beta = new Caller(keyOfBeta.key);
  ids = await furnish(alpha, 'alpha');
  exported = await alpha.ok('get', `/v1/runs/${ids.run}/export`);
  const registered = await beta.ok('post', '/v1/webhooks', { body: { url: RECEIVER } });
  const { id, secret } = endpointWithSecretSchema.parse(JSON.parse(registered));
  ownEndpoint = id;
  betaIds = { ...NOBODY, endpoint: id, secret };
  betaFile = idOf(await beta.ok('post', '/v1/files', { form: fileForm() }));
  const wanted = { purpose: 'batch', filename: 'u.jsonl', bytes: 1, mime_type: 'application/jsonl' };
  betaUpload = idOf(await beta.ok('post', '/v1/uploads', { body: wanted }));
  before = await stateOf(alpha, 'alpha', ids);
});

afterAll(endWebhooks);

/** The problem of a reply without what differs between equal requests. */
async function refusalOf(reply: Response): Promise<unknown> {
  const { request_id: _id, ...problem }: Record<string, unknown> = JSON.parse(await reply.text());
  return { status: reply.status, problem };
}

const cases = Object.entries(CASES).map(([route, one]) => ({ route, method: route.split(' ')[0] ?? '', one }));

it('mentions every route of the OpenAPI document', () => {
  const routes = DESCRIBED_ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(CASES).sort()).toEqual(routes.sort());
});

describe("an id of another project is refused like nobody's", () => {
  it.each(cases.filter(({ one }) => one.kind === 'refused'))('$route', async ({ method, one }) => {
    if (one.kind !== 'refused') throw new Error('the filter');
    for (const named of one.requests) {
      // A signature needs a secret, and beta has only its own.
      const reply = await refusalOf(await beta.send(method, named({ ...ids, secret: betaIds.secret })));
      expect([404, 422, ...(one.status === undefined ? [] : [one.status])]).toContain(
        z.object({ status: z.number() }).parse(reply).status,
      );
      if (one.status === undefined) expect(reply).toEqual(await refusalOf(await beta.send(method, named(NOBODY))));
    }
    expect(await stateOf(alpha, 'alpha', ids)).toEqual(before);
  });
});

describe('a list shows only what the project has', () => {
  it.each(cases.filter(({ one }) => one.kind === 'list'))('$route', async ({ one }) => {
    if (one.kind !== 'list') throw new Error('the filter');
    const shown = await beta.ok('get', one.path);
    for (const id of Object.values(ids)) expect(shown).not.toContain(`"${id}"`);
    expect(shown).not.toContain('"alpha"');
    if (one.after === null) return;
    const refusal = await refusalOf(await beta.send('get', one.after(ids)));
    expect(refusal).toMatchObject({ status: 422 });
    expect(refusal).toEqual(await refusalOf(await beta.send('get', one.after(NOBODY))));
  });
});

describe('an id that callers choose may exist in both', () => {
  it.each(cases.filter(({ one }) => one.kind === 'own'))('$route', async ({ method, one }) => {
    if (one.kind !== 'own') throw new Error('the filter');
    for (const named of one.requests) {
      const { path, ...sent } = named(ids);
      await beta.ok(method, path, sent);
    }
    expect(await stateOf(alpha, 'alpha', ids)).toEqual(before);
  });

  it('is deleted in one, and stays in the other', async () => {
    await beta.ok('get', `/v1/runs/${ids.run}`);
    await beta.ok('delete', `/v1/runs/${ids.run}`);
    await beta.ok('delete', `/v1/runs/${ids.longRun}`);
    expect((await beta.send('get', { path: `/v1/runs/${ids.run}` })).status).toBe(404);
    expect(await stateOf(alpha, 'alpha', ids)).toEqual(before);
  });
});

describe('the project itself may do all of it', () => {
  // Deletions are last in the list of cases.
  it.each(cases.filter(({ one }) => one.kind !== 'none'))('$route', async ({ method, one }) => {
    const requests =
      one.kind === 'list' ? [(): { path: string } => ({ path: one.path })] : one.kind === 'none' ? [] : one.requests;
    const [first] = requests;
    const reply = await alpha.send(method, first?.(ids) ?? { path: '' });
    const text = await reply.text();
    const isForbidden = one.kind === 'refused' && one.operatorOnly === true;
    expect(isForbidden ? [403] : [200, 201, 202, 204, 409], text).toContain(reply.status);
  });
});
