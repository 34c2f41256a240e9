/** One backend of BACKENDS by itself: what judges and what generates, each checked for what it needs. */
import { chatUrlProblem } from './base-url.ts';
import type {
  BackendConfig,
  GeneratorConfig,
  VllmConfig,
  VllmGeneratorConfig,
  WorkersAiConfig,
  WorkersAiGeneratorConfig,
} from './config.ts';
import type { WrittenBackend, WrittenVllm, WrittenWorkersAi } from './settings-schema.ts';
import { checkServer, type Report, type Surroundings } from './settings-server.ts';
import { familyOf } from './workers-ai/families.ts';

const AI_BINDING = 'AI';

/** A backend that judges. */
export function checkJudge(written: WrittenBackend, around: Surroundings, report: Report): BackendConfig {
  if (written.tools !== undefined) report('tools', NOT_OF_A_JUDGE);
  switch (written.kind) {
    case 'vllm':
      if (written.native_n !== undefined) report('native_n', NOT_OF_A_JUDGE);
      return vllmOf(written, around, report);
    case 'workers-ai':
      return workersAiJudge(written, around, report);
  }
}

/** A backend that generates. It may think, and nothing constrains what it writes. */
export function checkGenerator(written: WrittenBackend, around: Surroundings, report: Report): GeneratorConfig {
  switch (written.kind) {
    case 'vllm':
      return vllmGenerator(written, around, report);
    case 'workers-ai':
      return workersAiGenerator(written, around, report);
  }
}

const NOT_OF_A_JUDGE = 'expected "role": "generate" beside it';

function shared({ name, model, identity, answers_as, slots, context_tokens }: WrittenBackend) {
  return { name, model, identity: identity ?? null, answers_as: answers_as ?? null, slots, context_tokens };
}

function vllmOf(written: WrittenVllm, around: Surroundings, report: Report): VllmConfig {
  return {
    kind: 'vllm',
    ...shared(written),
    ...checkServer(written, chatUrlProblem, around, report),
    length_field: written.length_field ?? 'max_completion_tokens',
  };
}

function vllmGenerator(written: WrittenVllm, around: Surroundings, report: Report): VllmGeneratorConfig {
  return {
    ...vllmOf(written, around, report),
    tools: written.tools ?? 'text',
    native_n: written.native_n ?? true,
  };
}

function workersAiOf(written: WrittenWorkersAi, around: Surroundings, report: Report) {
  if (!around.isBound(AI_BINDING)) report('kind', `Workers AI is not bound as ${AI_BINDING}`);
  return { kind: written.kind, ...shared(written), gateway_id: written.gateway_id ?? null };
}

function workersAiJudge(written: WrittenWorkersAi, around: Surroundings, report: Report): WorkersAiConfig {
  const common = workersAiOf(written, around, report);
  const family = familyOf(written.model);
  if (family?.thinking === 'always') {
    report('model', 'expected a model whose reasoning can be switched off, as judgments are pinned with it off');
  }
  const schema_shape = written.json_schema_shape ?? family?.schema_shape;
  if (schema_shape === undefined) {
    report('json_schema_shape', 'required for this model: expected one of "flat", "wrapped"');
  }
  // Where it is not known, the problem above discards the whole configuration.
  return { ...common, schema_shape: schema_shape ?? 'flat' };
}

function workersAiGenerator(written: WrittenWorkersAi, around: Surroundings, report: Report): WorkersAiGeneratorConfig {
  if (written.json_schema_shape !== undefined) {
    report('json_schema_shape', 'expected none: nothing constrains what a generating backend writes');
  }
  return { ...workersAiOf(written, around, report), tools: written.tools ?? 'text' };
}
