/**
 * The setting BACKENDS: which model backends a deployment has, which of them stand in for each other, and which judge
 * answers where a request names none. JSON, checked in full and across its parts; a problem names the place and what was
 * expected, never the value, as keys stand in it. docs/backends.md describes it for operators.
 */
import * as z from 'zod';
import { pathText, problemsOfIssues } from '../../src/schema/issues.ts';
import { baseUrlProblem } from './base-url.ts';
import type { BackendConfig, BackendsConfig, JudgeConfig, VllmConfig, WorkersAiConfig } from './config.ts';
import { LEXICAL_JUDGE } from './lexical.ts';
import { familyOf } from './workers-ai/families.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const BINDING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_MODEL_CHARS = 256;
const MAX_SECRET_CHARS = 4_096;
const MAX_SLOTS = 4_096;
/** Less than this holds no instructions and no answer. */
const MIN_CONTEXT_TOKENS = 2_048;
const MAX_CONTEXT_TOKENS = 16_777_216;
const AI_BINDING = 'AI';
const DEFAULT_VPC_BINDING = 'GPU';

const nameSchema = z.string().regex(NAME);
const modelSchema = z.string().min(1).max(MAX_MODEL_CHARS);
const secretSchema = z.string().min(1).max(MAX_SECRET_CHARS);
const bindingSchema = z.string().regex(BINDING_NAME);

const common = {
  name: nameSchema,
  model: modelSchema,
  identity: modelSchema.exactOptional(),
  answers_as: modelSchema.exactOptional(),
  slots: z.int().min(1).max(MAX_SLOTS),
  context_tokens: z.int().min(MIN_CONTEXT_TOKENS).max(MAX_CONTEXT_TOKENS),
};

const vllmSchema = z.strictObject({
  kind: z.literal('vllm'),
  ...common,
  base_url: z.string(),
  transport: z.enum(['fetch', 'vpc']).exactOptional(),
  vpc_binding: bindingSchema.exactOptional(),
  api_key: secretSchema.exactOptional(),
  api_key_secret: bindingSchema.exactOptional(),
  access_client_id: secretSchema.exactOptional(),
  access_client_secret: secretSchema.exactOptional(),
  length_field: z.enum(['max_completion_tokens', 'max_tokens']).exactOptional(),
});

const workersAiSchema = z.strictObject({
  kind: z.literal('workers-ai'),
  ...common,
  gateway_id: nameSchema.exactOptional(),
  json_schema_shape: z.enum(['flat', 'wrapped']).exactOptional(),
});

const backendsSchema = z.strictObject({
  backends: z.array(z.discriminatedUnion('kind', [vllmSchema, workersAiSchema])).min(1),
  /** Judges made of several backends, tried in order. */
  routes: z.record(nameSchema, z.array(nameSchema).min(2)).exactOptional(),
  default_judge: nameSchema.nullable(),
});

type Written = z.infer<typeof backendsSchema>;
type WrittenVllm = z.infer<typeof vllmSchema>;
type WrittenWorkersAi = z.infer<typeof workersAiSchema>;

/** What the settings are held against: the deployment's other secrets and bindings. */
export type Surroundings = {
  /** The text of a secret or variable; `undefined` where there is none. */
  readonly secret: (name: string) => string | undefined;
  /** Whether something that can be called is bound under the name. */
  readonly isBound: (name: string) => boolean;
};

export type BackendsResult =
  | { readonly ok: true; readonly config: BackendsConfig }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the setting. Pure. An empty one is no model backend. */
export function readBackends(text: string | undefined, surroundings: Surroundings): BackendsResult {
  if (text === undefined || text === '') return { ok: true, config: { judges: [], default_judge: null } };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problems: ['expected JSON'] };
    throw error;
  }
  const parsed = backendsSchema.safeParse(value);
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, value) };
  const problems: string[] = [];
  const backends = parsed.data.backends.map((written, position) =>
    checkBackend(written, surroundings, (field, message) =>
      problems.push(`backends[${position}].${field}: ${message}`),
    ),
  );
  const judges = judgesOf(parsed.data, backends, (path, message) => problems.push(`${path}: ${message}`));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, config: { judges, default_judge: parsed.data.default_judge } };
}

function problemsOf(error: z.ZodError, value: unknown): string[] {
  return error.issues.flatMap((issue) => {
    // A union without branches is the discriminator's: the kind is none that we know.
    if (issue.code === 'invalid_union' && issue.errors.length === 0) {
      const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
      return [`${pathText(path)}: expected one of "vllm", "workers-ai"`];
    }
    return problemsOfIssues([issue], value).map(({ path, message }) => `${pathText(path)}: ${message}`);
  });
}

type Report = (place: string, message: string) => void;

function checkBackend(written: Written['backends'][number], around: Surroundings, report: Report): BackendConfig {
  switch (written.kind) {
    case 'vllm':
      return checkVllm(written, around, report);
    case 'workers-ai':
      return checkWorkersAi(written, around, report);
  }
}

function shared({ name, model, identity, answers_as, slots, context_tokens }: Written['backends'][number]) {
  return { name, model, identity: identity ?? null, answers_as: answers_as ?? null, slots, context_tokens };
}

function checkVllm(written: WrittenVllm, around: Surroundings, report: Report): VllmConfig {
  const vpc = written.transport === 'vpc' ? (written.vpc_binding ?? DEFAULT_VPC_BINDING) : null;
  const urlProblem = baseUrlProblem(written.base_url, vpc !== null);
  if (urlProblem !== null) report('base_url', urlProblem);
  if (vpc !== null && !around.isBound(vpc)) report('transport', `no Workers VPC service is bound as ${vpc}`);
  if (vpc === null && written.vpc_binding !== undefined) report('vpc_binding', 'expected "transport": "vpc" beside it');

  const { access_client_id: client_id, access_client_secret: client_secret } = written;
  const access = client_id !== undefined && client_secret !== undefined ? { client_id, client_secret } : null;
  if (access === null && client_id !== undefined) report('access_client_secret', 'required beside access_client_id');
  if (access === null && client_secret !== undefined)
    report('access_client_id', 'required beside access_client_secret');
  return {
    kind: 'vllm',
    ...shared(written),
    base_url: written.base_url.replace(/\/$/, ''),
    vpc_binding: vpc,
    api_key: apiKeyOf(written, around, report),
    access,
    length_field: written.length_field ?? 'max_completion_tokens',
  };
}

function apiKeyOf({ api_key, api_key_secret }: WrittenVllm, around: Surroundings, report: Report): string | null {
  if (api_key_secret === undefined) return api_key ?? null;
  if (api_key !== undefined) report('api_key_secret', 'expected either api_key or api_key_secret');
  const key = around.secret(api_key_secret);
  if (key === undefined || key === '') report('api_key_secret', 'no secret of that name is set');
  return key ?? null;
}

function checkWorkersAi(written: WrittenWorkersAi, around: Surroundings, report: Report): WorkersAiConfig {
  if (!around.isBound(AI_BINDING)) report('kind', `Workers AI is not bound as ${AI_BINDING}`);
  const family = familyOf(written.model);
  if (family?.thinking === 'always') {
    report('model', 'expected a model whose reasoning can be switched off, as judgments are pinned with it off');
  }
  const schema_shape = written.json_schema_shape ?? family?.schema_shape;
  if (schema_shape === undefined) {
    report('json_schema_shape', 'required for this model: expected one of "flat", "wrapped"');
  }
  return {
    kind: 'workers-ai',
    ...shared(written),
    gateway_id: written.gateway_id ?? null,
    // Where it is not known, the problem above discards the whole configuration.
    schema_shape: schema_shape ?? 'flat',
  };
}

/** Every backend is one judge, or a part of one: its slots are counted in one place. */
function judgesOf(written: Written, backends: readonly BackendConfig[], report: Report): JudgeConfig[] {
  const names = new Set<string>([LEXICAL_JUDGE]);
  const claim = (name: string, path: string): void => {
    if (names.has(name)) report(path, 'the name is taken');
    names.add(name);
  };
  backends.forEach(({ name }, position) => {
    claim(name, `backends[${position}].name`);
  });
  const routed = new Set<string>();
  const judges: JudgeConfig[] = [];
  for (const [name, members] of Object.entries(written.routes ?? {})) {
    const path = pathText(['routes', name]);
    claim(name, path);
    const found = members.flatMap((member, position) => {
      const backend = backends.find((one) => one.name === member);
      if (backend === undefined) report(`${path}[${position}]`, 'expected the name of a backend');
      if (routed.has(member)) report(`${path}[${position}]`, 'the backend already stands behind a judge');
      routed.add(member);
      return backend ?? [];
    });
    const [first, ...rest] = found;
    if (first === undefined) continue;
    if (found.some(({ identity }) => identity === null || identity !== first.identity)) {
      report(path, 'expected backends that all declare the same identity');
    }
    judges.push({ name, routes: [first, ...rest] });
  }
  for (const backend of backends) if (!routed.has(backend.name)) judges.push({ name: backend.name, routes: [backend] });
  const { default_judge } = written;
  if (default_judge !== null && !judges.some(({ name }) => name === default_judge)) {
    report('default_judge', 'expected the name of a route, or of a backend that stands in none');
  }
  return judges;
}
