/**
 * Reads the setting BACKENDS: JSON with the model backends of a deployment, their roles, routes and defaults. It checks
 * each field and the references between them. A problem names the place and what was expected, never the value, because
 * values may be keys. docs/guides/backends.md describes the setting for operators.
 */

import { EXTRACTIVE_NAME } from '../../lib/extractive-generator.ts';
import type { JudgeTimes } from '../../lib/model-servers/calls/model-config.ts';
import { chatUrlProblem, type ServerConfig, serverUrlProblem } from '../../lib/model-servers/calls/server-address.ts';
import type { VllmConfig, VllmGeneratorConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import { pathText } from '../../src/input-problem.ts';
import { parsedJson } from '../../src/json.ts';
import { dialectRow } from '../../src/judgments/chat-dialects.ts';
import { readLabels } from '../../src/judgments/classifier/labels.ts';
import { LEXICAL_JUDGE } from '../../src/judgments/lexical-judge.ts';
import type { Result } from '../../src/result.ts';
import { DEFAULT_TIMEOUT_S } from '../desk/call-limits.ts';
import { type ClassifierConfig, endpointOf } from './classifier/classifier-server.ts';
import type { SandboxConfig } from './sandbox/sandbox-client.ts';
import {
  type BackendConfig,
  type BackendsConfig,
  backendsSchema,
  type CascadeConfig,
  type GeneratorConfig,
  type JudgeConfig,
  problemsOf,
  type Written,
  type WrittenBackend,
  type WrittenClassifier,
  type WrittenServer,
  type WrittenVllm,
  type WrittenWorkersAi,
} from './settings-schema.ts';
import type { WorkersAiConfig, WorkersAiGeneratorConfig } from './workers-ai/ai-run.ts';
import { familyOf } from './workers-ai/model-families.ts';

const DEFAULT_SANDBOX = 'sandbox';
/** Names of the built-in judge and generator, which no configured backend may use. */
const BUILT_IN: readonly string[] = [LEXICAL_JUDGE.name, EXTRACTIVE_NAME];

const NO_BACKENDS: BackendsConfig = {
  sandbox: null,
  judges: [],
  classifiers: [],
  cascades: [],
  default_judge: null,
  generators: [],
  default_generator: null,
};

/** Reads the setting. Pure. An empty setting means no model backends. */
export function readBackends(
  text: string | undefined,
  surroundings: Surroundings,
): Result<BackendsConfig, readonly string[]> {
  if (text === undefined || text === '') return { ok: true, value: NO_BACKENDS };
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, error: ['expected JSON'] };
  const parsed = backendsSchema.safeParse(value);
  if (!parsed.success) return { ok: false, error: problemsOf(parsed.error, value) };
  const problems: string[] = [];
  if (parsed.data.backends.length === 0 && parsed.data.sandbox === undefined) {
    problems.push('backends: expected at least 1 entry, or a "sandbox"');
  }
  const judging: BackendConfig[] = [];
  const classifiers: ClassifierConfig[] = [];
  const generators: GeneratorConfig[] = [];
  parsed.data.backends.forEach((written, position) => {
    const report: Report = (field, message) => problems.push(`backends[${position}].${field}: ${message}`);
    if (written.kind === 'classifier') classifiers.push(classifierOf(written, surroundings, report));
    else if (written.role === 'generate') generators.push(checkGenerator(written, surroundings, report));
    else judging.push(checkJudge(written, surroundings, report));
  });
  const reportAt: Report = (path, message) => problems.push(`${path}: ${message}`);
  const judges = judgesOf(parsed.data, judging, reportAt);
  const cascades = cascadesOf(parsed.data, judges, classifiers, reportAt);
  checkDefaultJudge(parsed.data, [...judges, ...classifiers, ...cascades], reportAt);
  const default_generator = defaultGenerator(parsed.data, generators, reportAt);
  const sandbox = sandboxOf(parsed.data, surroundings, (field, message) =>
    problems.push(`sandbox.${field}: ${message}`),
  );
  return problems.length > 0
    ? { ok: false, error: problems }
    : {
        ok: true,
        value: {
          judges,
          classifiers,
          cascades,
          default_judge: parsed.data.default_judge,
          generators,
          default_generator,
          sandbox,
        },
      };
}

function sandboxOf({ sandbox, backends, routes }: Written, around: Surroundings, report: Report): SandboxConfig | null {
  if (sandbox === undefined) return null;
  const { name = DEFAULT_SANDBOX, runtime, slots } = sandbox;
  const taken = [...BUILT_IN, ...backends.map((backend) => backend.name), ...Object.keys(routes ?? {})];
  if (taken.includes(name)) report('name', NAME_IN_USE);
  return { name, runtime, slots, ...checkServer(sandbox, serverUrlProblem, around, report) };
}

function missingMember(written: Written, member: string): string {
  if (generates(written, member)) return 'expected the name of a backend that judges (without "role": "generate")';
  return written.backends.some(({ name, kind }) => name === member && kind === 'classifier')
    ? 'a classifier cannot be part of a route'
    : 'expected the name of a backend';
}

function generates({ backends }: Written, name: string): boolean {
  return backends.some((one) => one.name === name && one.kind !== 'classifier' && one.role === 'generate');
}

function defaultGenerator(
  { default_generator = null }: Written,
  generators: readonly GeneratorConfig[],
  report: Report,
): string | null {
  if (default_generator !== null && !generators.some(({ name }) => name === default_generator)) {
    report('default_generator', 'expected the name of a backend with "role": "generate"');
  }
  return default_generator;
}

/** The dialect of a backend, and what it refuses. */
function spokenTo(backend: BackendConfig): string {
  const { dialect = 'vllm', refuses = [] } = backend.kind === 'vllm' ? backend : {};
  return JSON.stringify([dialect, refuses]);
}

/** Creates the judges. Each backend belongs to exactly one judge, so that its slots are counted in one place. */
function judgesOf(written: Written, backends: readonly BackendConfig[], report: Report): JudgeConfig[] {
  const names = new Set<string>(BUILT_IN);
  const claim = (name: string, path: string): void => {
    if (names.has(name)) report(path, NAME_IN_USE);
    names.add(name);
  };
  written.backends.forEach(({ name }, position) => {
    claim(name, `backends[${position}].name`);
  });
  const routed = new Set<string>();
  const judges: JudgeConfig[] = [];
  for (const [name, members] of Object.entries(written.routes ?? {})) {
    const path = pathText(['routes', name]);
    claim(name, path);
    const found = members.flatMap((member, position) => {
      const backend = backends.find((one) => one.name === member);
      if (backend === undefined) report(`${path}[${position}]`, missingMember(written, member));
      if (routed.has(member))
        report(`${path}[${position}]`, 'the backend already belongs to another route; remove it from one of them');
      routed.add(member);
      return backend ?? [];
    });
    const [first, ...rest] = found;
    if (first === undefined) continue;
    if (found.some(({ identity }) => identity === null || identity !== first.identity)) {
      report(path, 'expected backends that all declare the same "identity"');
    }
    if (found.some((backend) => spokenTo(backend) !== spokenTo(first))) {
      report(path, 'expected backends that all have the same "dialect" and "refuses", which are part of the identity');
    }
    judges.push({ name, routes: [first, ...rest] });
  }
  for (const backend of backends) if (!routed.has(backend.name)) judges.push({ name: backend.name, routes: [backend] });
  return judges;
}

/** Checks the cascades: which judge each tier may have, and its band. */
function cascadesOf(
  written: Written,
  judges: readonly JudgeConfig[],
  classifiers: readonly ClassifierConfig[],
  report: Report,
): CascadeConfig[] {
  const taken = new Set([
    ...BUILT_IN,
    ...written.backends.map((one) => one.name),
    ...Object.keys(written.routes ?? {}),
  ]);
  const isJudge = (name: string): boolean => [...judges, ...classifiers].some((judge) => judge.name === name);
  return Object.entries(written.cascades ?? {}).map(([name, list]) => {
    const path = pathText(['cascades', name]);
    if (taken.has(name)) report(path, NAME_IN_USE);
    taken.add(name);
    const last = list.at(-1);
    const tiers = list.slice(0, -1).map(({ judge, band = NO_BAND }, position) => {
      const classifier = classifiers.find((one) => one.name === judge);
      if (classifier === undefined && judge !== LEXICAL_JUDGE.name) {
        report(`${path}[${position}].judge`, 'expected a classifier or "lexical"');
      }
      const threshold = classifier?.threshold ?? band[0];
      if (!(band[0] <= threshold && threshold <= band[1] && band[1] > 0)) {
        report(`${path}[${position}].band`, "expected [low, high] around the classifier's threshold");
      }
      return { judge, band };
    });
    if (last?.band !== undefined) report(`${path}[${tiers.length}].band`, 'not for the last tier');
    if (last !== undefined && !isJudge(last.judge)) {
      report(`${path}[${tiers.length}].judge`, NOT_A_JUDGE);
    }
    return { name, tiers, last: last?.judge ?? '' };
  });
}

const NAME_IN_USE = 'this name is already in use; choose another one';
const NOT_A_JUDGE = 'expected the name of a route, or of a backend that is in no route';

/** Of a tier without a band, which is an error: no threshold is inside it. */
const NO_BAND = [1, 0] as const;

/** @param judges all judges that requests can name. */
function checkDefaultJudge(written: Written, judges: readonly { readonly name: string }[], report: Report): void {
  const { default_judge } = written;
  if (default_judge !== null && !judges.some(({ name }) => name === default_judge)) {
    report(
      'default_judge',
      generates(written, default_judge)
        ? 'expected the name of a backend that judges (without "role": "generate")'
        : NOT_A_JUDGE,
    );
  }
}

const AI_BINDING = 'AI';

/** Checks a backend that judges. */
function checkJudge(written: WrittenBackend, around: Surroundings, report: Report): BackendConfig {
  if (written.tools !== undefined) report('tools', NOT_OF_A_JUDGE);
  switch (written.kind) {
    case 'vllm':
      if (written.native_n !== undefined) report('native_n', NOT_OF_A_JUDGE);
      return { ...vllmOf(written, around, report), ...timesOf(written) };
    case 'workers-ai':
      return { ...workersAiJudge(written, around, report), ...timesOf(written) };
  }
}

/**
 * Checks a backend that generates. Unlike a judge, a generator may use reasoning, and no JSON schema constrains its
 * text.
 */
function checkGenerator(written: WrittenBackend, around: Surroundings, report: Report): GeneratorConfig {
  if (written.timeout_s !== undefined) report('timeout_s', NOT_OF_A_GENERATOR);
  switch (written.kind) {
    case 'vllm':
      if (written.first_byte_s !== undefined) report('first_byte_s', NOT_OF_A_GENERATOR);
      return vllmGenerator(written, around, report);
    case 'workers-ai':
      return workersAiGenerator(written, around, report);
  }
}

const NOT_OF_A_JUDGE = 'allowed only with "role": "generate"';
const NOT_OF_A_GENERATOR = 'not allowed with "role": "generate": requests that generate have time limits of their own';

/** The time limits of a backend that judges. */
function timesOf(
  written: Pick<WrittenVllm, 'timeout_s' | 'first_byte_s'>,
): Required<Pick<JudgeTimes, 'timeout_s'>> & JudgeTimes {
  const { timeout_s = DEFAULT_TIMEOUT_S, first_byte_s } = written;
  return { timeout_s, ...(first_byte_s === undefined ? {} : { first_byte_s }) };
}

function shared({ name, model, identity, answers_as, slots, context_tokens }: WrittenBackend) {
  return { name, model, identity: identity ?? null, answers_as: answers_as ?? null, slots, context_tokens };
}

function vllmOf(written: WrittenVllm, around: Surroundings, report: Report): VllmConfig {
  const { dialect, refuses, api_version } = written;
  if (api_version !== undefined && dialect !== 'azure') report('api_version', 'allowed only with "dialect": "azure"');
  if (dialect === 'azure' && api_version === undefined && !/\/openai\/v1\/?$/.test(written.base_url)) {
    report('api_version', 'required with "dialect": "azure", unless base_url ends with /openai/v1; such as 2024-10-21');
  }
  return {
    kind: 'vllm',
    ...shared(written),
    ...checkServer(written, chatUrlProblem, around, report),
    ...(dialect === undefined || dialect === 'vllm' ? {} : { dialect }),
    ...(refuses === undefined || refuses.length === 0 ? {} : { refuses: [...new Set(refuses)].sort() }),
    ...(api_version === undefined ? {} : { api_version }),
    length_field: written.length_field ?? dialectRow(dialect ?? 'vllm').length,
  };
}

const DEFAULT_WINDOW_TOKENS = 512;
const DEFAULT_THRESHOLD = 0.5;
/** The form of BERT's and DeBERTa's pairs. */
const DEFAULT_TEMPLATE = '{source}[SEP]{claim}';

/** Checks a classifier. */
export function classifierOf(written: WrittenClassifier, around: Surroundings, report: Report): ClassifierConfig {
  const server = checkServer(written, serverUrlProblem, around, report);
  const endpoint = endpointOf(server.base_url);
  if (endpoint === null) report('base_url', 'expected a URL that ends in /classify, /score (vLLM) or /predict (TEI)');
  const { template, labels: given } = written;
  if (template !== undefined && endpoint !== 'classify') report('template', 'allowed only with the endpoint /classify');
  if (template !== undefined && ['{source}', '{claim}'].some((place) => template.split(place).length !== 2)) {
    report('template', 'expected a text with {source} and {claim}, each once');
  }
  const labels = given === undefined ? null : readLabels(given);
  if (endpoint === 'score' && labels !== null) report('labels', 'not allowed with the endpoint /score');
  if (endpoint !== null && endpoint !== 'score' && labels === null)
    report('labels', "required: the model's labels, in its order");
  if (labels?.ok === false) report('labels', labels.error);
  const { name, model, identity = null, answers_as = null, slots, timeout_s = DEFAULT_TIMEOUT_S } = written;
  const { window_tokens = DEFAULT_WINDOW_TOKENS, threshold = DEFAULT_THRESHOLD } = written;
  return {
    kind: 'classifier',
    ...{ name, model, identity, answers_as, slots, timeout_s, window_tokens, threshold, ...server },
    // If the endpoint is unknown, the problem above rejects the whole configuration.
    endpoint: endpoint ?? 'classify',
    labels: labels?.ok === true ? labels.value : [],
    template: template ?? DEFAULT_TEMPLATE,
  };
}

function vllmGenerator(written: WrittenVllm, around: Surroundings, report: Report): VllmGeneratorConfig {
  return {
    ...vllmOf(written, around, report),
    tools: written.tools ?? 'text',
    native_n: written.native_n ?? dialectRow(written.dialect ?? 'vllm').n,
  };
}

function workersAiOf(written: WrittenWorkersAi, around: Surroundings, report: Report) {
  if (!around.isBound(AI_BINDING))
    report('kind', `no Workers AI binding is named ${AI_BINDING}; add it to wrangler.toml`);
  return { kind: written.kind, ...shared(written), gateway_id: written.gateway_id ?? null };
}

function workersAiJudge(written: WrittenWorkersAi, around: Surroundings, report: Report): WorkersAiConfig {
  const common = workersAiOf(written, around, report);
  const family = familyOf(written.model);
  if (family?.thinking === 'always') {
    report('model', 'expected a model whose reasoning can be switched off, because judges run without reasoning');
  }
  const schema_shape = written.json_schema_shape ?? family?.schema_shape;
  if (schema_shape === undefined) {
    report('json_schema_shape', 'this model is unknown, so the field is required: "flat" or "wrapped"');
  }
  // If the shape is unknown, the problem above rejects the whole configuration.
  return { ...common, schema_shape: schema_shape ?? 'flat' };
}

function workersAiGenerator(written: WrittenWorkersAi, around: Surroundings, report: Report): WorkersAiGeneratorConfig {
  if (written.json_schema_shape !== undefined) {
    report('json_schema_shape', 'not allowed with "role": "generate", because no schema constrains its text');
  }
  return { ...workersAiOf(written, around, report), tools: written.tools ?? 'text' };
}

const DEFAULT_VPC_BINDING = 'GPU';

/** The other secrets and bindings of the deployment, which BACKENDS may name. */
export type Surroundings = {
  /** The text of a secret or variable; `undefined` if there is none. */
  readonly secret: (name: string) => string | undefined;
  /** Whether a usable binding has the name. */
  readonly isBound: (name: string) => boolean;
};

/** Reports a problem: the field, and what was expected. */
type Report = (place: string, message: string) => void;

/** Checks the address and the credentials of a server. */
function checkServer(
  written: WrittenServer,
  problemOfUrl: typeof serverUrlProblem,
  around: Surroundings,
  report: Report,
): ServerConfig {
  const vpc = written.transport === 'vpc' ? (written.vpc_binding ?? DEFAULT_VPC_BINDING) : null;
  const urlProblem = problemOfUrl(written.base_url, vpc !== null);
  if (urlProblem !== null) report('base_url', urlProblem);
  if (vpc !== null && !around.isBound(vpc))
    report('transport', `no Workers VPC binding is named ${vpc}; add it to wrangler.toml`);
  if (vpc === null && written.vpc_binding !== undefined) report('vpc_binding', 'allowed only with "transport": "vpc"');

  const { access_client_id: client_id, access_client_secret: client_secret } = written;
  const access = client_id !== undefined && client_secret !== undefined ? { client_id, client_secret } : null;
  if (access === null && client_id !== undefined)
    report('access_client_secret', 'required, because access_client_id is set');
  if (access === null && client_secret !== undefined)
    report('access_client_id', 'required, because access_client_secret is set');
  return {
    base_url: written.base_url.replace(/\/$/, ''),
    vpc_binding: vpc,
    api_key: apiKeyOf(written, around, report),
    access,
  };
}

function apiKeyOf({ api_key, api_key_secret }: WrittenServer, around: Surroundings, report: Report): string | null {
  if (api_key_secret === undefined) return api_key ?? null;
  if (api_key !== undefined) report('api_key_secret', 'expected either api_key or api_key_secret, not both');
  const key = around.secret(api_key_secret);
  if (key === undefined || key === '')
    report('api_key_secret', 'no secret with this name is set; add it with "wrangler secret put"');
  return key ?? null;
}
