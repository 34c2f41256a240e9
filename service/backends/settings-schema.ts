/**
 * The form of the setting BACKENDS: the JSON that an operator writes, and the checked configuration that settings.ts
 * makes of it.
 */

import * as z from 'zod';
import type { VllmConfig, VllmGeneratorConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import { pathText, problemsOfIssues } from '../../src/input-problem.ts';
import { CHAT_DIALECTS, REFUSABLE } from '../../src/judgments/chat-dialects.ts';
import { MAX_TIMEOUT_S } from '../desk/call-limits.ts';
import type { ClassifierConfig } from './classifier/classifier-server.ts';
import type { SandboxConfig } from './sandbox/sandbox-client.ts';
import type { WorkersAiConfig, WorkersAiGeneratorConfig } from './workers-ai/ai-run.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const BINDING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_MODEL_CHARS = 256;
const MAX_SECRET_CHARS = 4_096;
/** 128 for each desk of the most that DESKS may set (docs/guides/deploy.md). */
const MAX_SLOTS = 131_072;
/** A smaller context cannot hold the instructions and an answer. */
const MIN_CONTEXT_TOKENS = 2_048;
const MAX_CONTEXT_TOKENS = 16_777_216;

const nameSchema = z.string().regex(NAME);
const modelSchema = z.string().min(1).max(MAX_MODEL_CHARS);
const secretSchema = z.string().min(1).max(MAX_SECRET_CHARS);
const bindingSchema = z.string().regex(BINDING_NAME);

const timeSchema = z.number().min(1).max(MAX_TIMEOUT_S);

const common = {
  name: nameSchema,
  /** Default: `judge`. */
  role: z.enum(['judge', 'generate']).exactOptional(),
  model: modelSchema,
  identity: modelSchema.exactOptional(),
  answers_as: modelSchema.exactOptional(),
  slots: z.int().min(1).max(MAX_SLOTS),
  context_tokens: z.int().min(MIN_CONTEXT_TOKENS).max(MAX_CONTEXT_TOKENS),
  /** Seconds that a call of a judge may take once it has its slot. Default 300. */
  timeout_s: timeSchema.exactOptional(),
};

/** Address and credentials of a server. */
const serverFields = {
  base_url: z.string(),
  transport: z.enum(['fetch', 'vpc']).exactOptional(),
  vpc_binding: bindingSchema.exactOptional(),
  api_key: secretSchema.exactOptional(),
  api_key_secret: bindingSchema.exactOptional(),
  access_client_id: secretSchema.exactOptional(),
  access_client_secret: secretSchema.exactOptional(),
};

/** Fields of backends that generate. */
const generating = { tools: z.enum(['native', 'text']).exactOptional() };

const vllmSchema = z.strictObject({
  kind: z.literal('vllm'),
  ...common,
  ...serverFields,
  /** Default: `vllm`. */
  dialect: z.enum(CHAT_DIALECTS).exactOptional(),
  refuses: z.array(z.enum(REFUSABLE)).exactOptional(),
  /** Only with the dialect `azure`. */
  api_version: z
    .string()
    .regex(/^[0-9A-Za-z.-]{1,64}$/)
    .exactOptional(),
  length_field: z.enum(['max_completion_tokens', 'max_tokens']).exactOptional(),
  /** Seconds until the first byte of a judge's reply. Default: `timeout_s`. */
  first_byte_s: timeSchema.exactOptional(),
  ...generating,
  native_n: z.boolean().exactOptional(),
});

const workersAiSchema = z.strictObject({
  kind: z.literal('workers-ai'),
  ...common,
  gateway_id: nameSchema.exactOptional(),
  json_schema_shape: z.enum(['flat', 'wrapped']).exactOptional(),
  ...generating,
});

const MAX_LABELS = 16;
const MAX_LABEL_CHARS = 200;
const MAX_TEMPLATE_CHARS = 4_000;
/** A smaller window has no room for a sentence beside a claim. */
const MIN_WINDOW_TOKENS = 128;

const { context_tokens: _, role: __, ...named } = common;

/** The fields of a classifier that say how it is asked. */
export const classifierFields = {
  /** The model's labels in its order, each as `name` or `name=meaning`. */
  labels: z.array(z.string().min(1).max(MAX_LABEL_CHARS)).max(MAX_LABELS).exactOptional(),
  template: z.string().max(MAX_TEMPLATE_CHARS).exactOptional(),
  window_tokens: z.int().min(MIN_WINDOW_TOKENS).max(MAX_CONTEXT_TOKENS).exactOptional(),
  threshold: z.number().gt(0).max(1).exactOptional(),
};

const classifierSchema = z.strictObject({
  kind: z.literal('classifier'),
  ...named,
  ...serverFields,
  ...classifierFields,
});

const sandboxSchema = z.strictObject({
  name: nameSchema.exactOptional(),
  ...serverFields,
  runtime: modelSchema,
  slots: z.int().min(1).max(MAX_SLOTS),
});

const MAX_TIERS = 5;
/** Probabilities from the first on and below the second are left to the next tier. */
const bandSchema = z.tuple([z.number().min(0).max(1), z.number().min(0).max(1)]);

export const backendsSchema = z.strictObject({
  backends: z.array(z.discriminatedUnion('kind', [vllmSchema, workersAiSchema, classifierSchema])),
  /** The server that runs programs (docs/guides/backends.md). */
  sandbox: sandboxSchema.exactOptional(),
  /** Judges with several backends, by name, in order of preference. */
  routes: z.record(nameSchema, z.array(nameSchema).min(2)).exactOptional(),
  /** Judges of several tiers, by name: each tier decides what it is sure of, and the last one the others. */
  cascades: z
    .record(
      nameSchema,
      z
        .array(z.strictObject({ judge: nameSchema, band: bandSchema.exactOptional() }))
        .min(2)
        .max(MAX_TIERS),
    )
    .exactOptional(),
  default_judge: nameSchema.nullable(),
  default_generator: nameSchema.nullable().exactOptional(),
});

/** The setting as the operator wrote it, before settings.ts checks the references between its entries. */
export type Written = z.infer<typeof backendsSchema>;
export type WrittenClassifier = z.infer<typeof classifierSchema>;
/** A backend of a language model. */
export type WrittenBackend = Exclude<Written['backends'][number], WrittenClassifier>;
export type WrittenVllm = z.infer<typeof vllmSchema>;
export type WrittenServer = z.infer<z.ZodObject<typeof serverFields>>;
export type WrittenWorkersAi = z.infer<typeof workersAiSchema>;

/** Returns the problems of the form, each as a place and what was expected there. */
export function problemsOf(error: z.ZodError, value: unknown): string[] {
  return error.issues.flatMap((issue) => {
    // An issue of a union without branches means that the discriminator `kind` is unknown.
    if (issue.code === 'invalid_union' && issue.errors.length === 0) {
      const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
      return [`${pathText(path)}: expected one of "vllm", "workers-ai", "classifier"`];
    }
    return problemsOfIssues([issue], value).map(({ path, message }) => `${pathText(path)}: ${message}`);
  });
}

export type GeneratorConfig = VllmGeneratorConfig | WorkersAiGeneratorConfig;

export type BackendConfig = VllmConfig | WorkersAiConfig;

/** A judge and its backends in order of preference. All have the same identity. */
export type JudgeConfig = {
  readonly name: string;
  readonly routes: readonly [BackendConfig, ...BackendConfig[]];
};

/** A judge of several tiers. `last` decides what no tier is sure of. */
export type CascadeConfig = {
  readonly name: string;
  readonly tiers: readonly { readonly judge: string; readonly band: readonly [number, number] }[];
  readonly last: string;
};

export type BackendsConfig = {
  /** Runs programs and compares answers; `null` = none. */
  readonly sandbox: SandboxConfig | null;
  readonly judges: readonly JudgeConfig[];
  /** Judges of citations, beside `judges`. */
  readonly classifiers: readonly ClassifierConfig[];
  readonly cascades: readonly CascadeConfig[];
  /** The judge of requests that name none; `null` = none. */
  readonly default_judge: string | null;
  readonly generators: readonly GeneratorConfig[];
  /** The generator of requests that name none; `null` = none. */
  readonly default_generator: string | null;
};
