/** The shape of the setting BACKENDS, before anything is held against anything else (settings.ts). */

import * as z from 'zod';
import type { VllmConfig, VllmGeneratorConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import { pathText, problemsOfIssues } from '../../src/input-problem.ts';
import type { SandboxConfig } from './sandbox/sandbox-client.ts';
import type { WorkersAiConfig, WorkersAiGeneratorConfig } from './workers-ai/ai-run.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const BINDING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_MODEL_CHARS = 256;
const MAX_SECRET_CHARS = 4_096;
const MAX_SLOTS = 4_096;
/** Less than this holds no instructions and no answer. */
const MIN_CONTEXT_TOKENS = 2_048;
const MAX_CONTEXT_TOKENS = 16_777_216;

const nameSchema = z.string().regex(NAME);
const modelSchema = z.string().min(1).max(MAX_MODEL_CHARS);
const secretSchema = z.string().min(1).max(MAX_SECRET_CHARS);
const bindingSchema = z.string().regex(BINDING_NAME);

const common = {
  name: nameSchema,
  /** `judge` where nothing is said. */
  role: z.enum(['judge', 'generate']).exactOptional(),
  model: modelSchema,
  identity: modelSchema.exactOptional(),
  answers_as: modelSchema.exactOptional(),
  slots: z.int().min(1).max(MAX_SLOTS),
  context_tokens: z.int().min(MIN_CONTEXT_TOKENS).max(MAX_CONTEXT_TOKENS),
};

/** Where a server is and how it lets us in. */
const serverFields = {
  base_url: z.string(),
  transport: z.enum(['fetch', 'vpc']).exactOptional(),
  vpc_binding: bindingSchema.exactOptional(),
  api_key: secretSchema.exactOptional(),
  api_key_secret: bindingSchema.exactOptional(),
  access_client_id: secretSchema.exactOptional(),
  access_client_secret: secretSchema.exactOptional(),
};

/** Of backends that generate. */
const generating = { tools: z.enum(['native', 'text']).exactOptional() };

const vllmSchema = z.strictObject({
  kind: z.literal('vllm'),
  ...common,
  ...serverFields,
  length_field: z.enum(['max_completion_tokens', 'max_tokens']).exactOptional(),
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

const sandboxSchema = z.strictObject({
  name: nameSchema.exactOptional(),
  ...serverFields,
  runtime: modelSchema,
  slots: z.int().min(1).max(MAX_SLOTS),
});

export const backendsSchema = z.strictObject({
  backends: z.array(z.discriminatedUnion('kind', [vllmSchema, workersAiSchema])),
  /** Where programs run (docs/backends.md). */
  sandbox: sandboxSchema.exactOptional(),
  /** Judges made of several backends, tried in order. */
  routes: z.record(nameSchema, z.array(nameSchema).min(2)).exactOptional(),
  default_judge: nameSchema.nullable(),
  default_generator: nameSchema.nullable().exactOptional(),
});

/** As an operator wrote it. */
export type Written = z.infer<typeof backendsSchema>;
export type WrittenBackend = Written['backends'][number];
export type WrittenVllm = z.infer<typeof vllmSchema>;
export type WrittenServer = z.infer<z.ZodObject<typeof serverFields>>;
export type WrittenWorkersAi = z.infer<typeof workersAiSchema>;

/** What is wrong with the shape, each as a place and what was expected there. */
export function problemsOf(error: z.ZodError, value: unknown): string[] {
  return error.issues.flatMap((issue) => {
    // A union without branches is the discriminator's: the kind is none that we know.
    if (issue.code === 'invalid_union' && issue.errors.length === 0) {
      const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
      return [`${pathText(path)}: expected one of "vllm", "workers-ai"`];
    }
    return problemsOfIssues([issue], value).map(({ path, message }) => `${pathText(path)}: ${message}`);
  });
}

export type GeneratorConfig = VllmGeneratorConfig | WorkersAiGeneratorConfig;

export type BackendConfig = VllmConfig | WorkersAiConfig;

/** A judge and the backends behind it, in the order they are tried. All have the same identity. */
export type JudgeConfig = {
  readonly name: string;
  readonly routes: readonly [BackendConfig, ...BackendConfig[]];
};

export type BackendsConfig = {
  /** Where programs run and answers are compared; `null` = none. */
  readonly sandbox: SandboxConfig | null;
  readonly judges: readonly JudgeConfig[];
  /** Which of them answers where a request names none; `null` = none of them. */
  readonly default_judge: string | null;
  readonly generators: readonly GeneratorConfig[];
  /** Which of them generates where a request names none; `null` = none of them. */
  readonly default_generator: string | null;
};
