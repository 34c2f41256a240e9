/**
 * A judge on an OpenAI-compatible server, asked as a Worker asks it: the same backend, retries, prompts and strict reader.
 * The server is asked what it serves before the first row, so that a wrong address, key or name is one message.
 */
import * as z from 'zod';
import { reasonOf } from '../../clients/typescript/transport.ts';
import { createRouter, type RouterClock } from '../../functions/backends/calls/router.ts';
import { chatUrlProblem, credentials } from '../../functions/backends/calls/server-address.ts';
import { publicTransport } from '../../functions/backends/calls/transport.ts';
import { createVllmBackend } from '../../functions/backends/vllm/vllm-chat.ts';
import type { VllmConfig } from '../../functions/backends/vllm/vllm-server.ts';
import { modelsUrl, probeServer } from '../../functions/backends/vllm/vllm-server.ts';
import { createModelJudge, modelJudgeIdentity } from '../../src/judgments/model-judge.ts';
import { RunError, UsageError } from '../command.ts';
import type { CheckedJudge } from './checked-judge.ts';
import { CostMeter, metered, reseeded } from './cost.ts';
import { Lane } from './lane.ts';

const CONCURRENCY = 8;
const MODEL_LIST_TIMEOUT_MS = 5_000;

const CLOCK: RouterClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
};

export type ServerFlags = {
  /** Everything before `/chat/completions`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** `null` = as the server says. */
  readonly context_tokens: number | null;
};

/** @throws UsageError for a wrong URL; RunError if the server does not serve the model, or not to us. */
export async function serverUnderCheck(flags: ServerFlags): Promise<CheckedJudge> {
  const urlProblem = chatUrlProblem(flags.url, false);
  if (urlProblem !== null) throw new UsageError(`--url: ${urlProblem}`, 'Example: --url http://127.0.0.1:8000/v1');
  // What is asked first does not depend on the context, which may be one of the answers.
  const asking = configOf(flags, flags.context_tokens ?? 0);
  await refuseUnserved(asking);
  const config = configOf(flags, flags.context_tokens ?? (await contextOf(asking)));
  const { model } = config;
  const chat = createVllmBackend(config, publicTransport, () => Date.now());
  return {
    identity: modelJudgeIdentity(model, 'rubric'),
    context_tokens: config.context_tokens,
    concurrency: CONCURRENCY,
    notices: [`Judge: ${model} at ${config.base_url}, context of ${config.context_tokens} tokens`],
    lane(replicate) {
      const meter = new CostMeter();
      const routes = [metered(reseeded(chat, replicate), meter)];
      const judge = createModelJudge(createRouter({ name: 'judge', routes, clock: CLOCK }), CLOCK.now);
      return new Lane(judge, meter, CLOCK.now);
    },
  };
}

function configOf({ url, model, key }: ServerFlags, context_tokens: number): VllmConfig {
  return {
    kind: 'vllm',
    name: 'judge',
    model,
    identity: null,
    answers_as: null,
    slots: CONCURRENCY,
    context_tokens,
    base_url: url.replace(/\/$/, ''),
    vpc_binding: null,
    api_key: key,
    access: null,
    length_field: 'max_completion_tokens',
  };
}

async function refuseUnserved(config: VllmConfig): Promise<void> {
  const { failure, model_present } = await probeServer(config, publicTransport);
  if (failure !== null) {
    const hint = failure.reason === 'judge_unauthorized' ? 'Give its key with VLLM_API_KEY or --key.' : null;
    throw new RunError(`no judge at ${config.base_url}: ${failure.detail} (${failure.reason})`, hint);
  }
  if (model_present === false) {
    throw new RunError(`${config.base_url} serves no model "${config.model}"`, `See: ${modelsUrl(config)}`);
  }
}

/** vLLM and SGLang say how much a model takes, and llama.cpp in its own way; OpenAI's shape has no such field. */
const servedSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_model_len: z.int().positive().nullish(),
      meta: z.object({ n_ctx: z.int().positive().nullish() }).nullish(),
    }),
  ),
});

async function contextOf(config: VllmConfig): Promise<number> {
  const list = servedSchema.safeParse(await modelList(config));
  const served = list.success ? list.data.data.find(({ id }) => id === config.model) : undefined;
  const found = served?.max_model_len ?? served?.meta?.n_ctx ?? null;
  if (found !== null) return found;
  throw new RunError(
    `${config.base_url} does not say how long the context of "${config.model}" is`,
    'Give it: --context-tokens N (prompt and reply together)',
  );
}

async function modelList(config: VllmConfig): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(MODEL_LIST_TIMEOUT_MS);
    const response = await publicTransport(modelsUrl(config), {
      headers: { accept: 'application/json', ...credentials(config) },
      redirect: 'manual',
      signal,
    });
    return await response.json();
  } catch (error) {
    throw new RunError(`no list of models from ${config.base_url}: ${reasonOf(error)}`);
  }
}
