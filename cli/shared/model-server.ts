/** A model on an OpenAI-compatible server that judges for the command line: checks that it is served, and configures it. */
import * as z from 'zod';
import { reasonOf } from '../../clients/typescript/transport.ts';
import { chatUrlProblem, credentials } from '../../lib/model-servers/calls/server-address.ts';
import { publicTransport } from '../../lib/model-servers/calls/transport.ts';
import { modelsUrl, probeServer, type VllmConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import { type ChatDialect, dialectRow, type Refusable } from '../../src/judgments/chat-dialects.ts';
import { RunError, UsageError } from './exit.ts';

/** Calls of a model at the same time, and rows where a row has one call in progress. */
export const MODEL_CALLS = 8;

/** The environment variable of the server's key. */
export const KEY_VARIABLE = 'VLLM_API_KEY';

const MODEL_LIST_TIMEOUT_MS = 5_000;

export type ModelServer = {
  /** Base URL, to which `/chat/completions` is appended. */
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** Context length in tokens; `null` = the length that the server reports. */
  readonly context_tokens: number | null;
  /** Which parameters the server takes. */
  readonly dialect: ChatDialect;
  /** Parameters of the dialect that the model refuses. */
  readonly refuses: readonly Refusable[];
  /** Azure's `api-version`; `null` = none. */
  readonly api_version: string | null;
};

/**
 * Checks that the server has the model, and asks it for the context length. @param name of the judge.
 * @throws UsageError for a wrong URL, RunError if the server refuses or lacks the model.
 */
export async function servedModel(server: ModelServer, name: string): Promise<VllmConfig> {
  const problem = chatUrlProblem(server.url, false);
  if (problem !== null)
    throw new UsageError(`--judge-url: ${problem}`, 'Example: --judge-url http://127.0.0.1:8000/v1');
  // The first requests do not depend on the context length, which the server may answer.
  const probed = configOf(server, name, server.context_tokens ?? 0);
  await refuseUnserved(probed);
  return configOf(server, name, server.context_tokens ?? (await contextOf(probed)));
}

/** The key of a model server in the environment; `null` = none. */
export function keyOfEnvironment(name: string): string | null {
  const key = process.env[name];
  return key === undefined || key === '' ? null : key;
}

function configOf(server: ModelServer, name: string, context_tokens: number): VllmConfig {
  const { url, model, key, dialect, refuses, api_version } = server;
  return {
    kind: 'vllm',
    name,
    model,
    identity: null,
    answers_as: null,
    slots: MODEL_CALLS,
    context_tokens,
    base_url: url.replace(/\/$/, ''),
    vpc_binding: null,
    api_key: key,
    access: null,
    dialect,
    refuses,
    ...(api_version === null ? {} : { api_version }),
    length_field: dialectRow(dialect).length,
  };
}

async function refuseUnserved(config: VllmConfig): Promise<void> {
  const { failure, model_present } = await probeServer(config, publicTransport);
  if (failure !== null) {
    const hint =
      failure.reason === 'judge_unauthorized' ? 'Give the key of the server with VLLM_API_KEY or --key.' : null;
    throw new RunError(`no judge at ${config.base_url}: ${failure.detail} (${failure.reason})`, hint);
  }
  if (model_present === false) {
    throw new RunError(`${config.base_url} has no model "${config.model}"`, `See: ${modelsUrl(config)}`);
  }
}

/** The context length in the list of models: vLLM and SGLang have `max_model_len`, llama.cpp `n_ctx`, OpenAI none. */
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
    `${config.base_url} does not report the context length of "${config.model}"`,
    'Give it as context_tokens in a file of --backends; `npx citeward judge check` takes --context-tokens N.',
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
    throw new RunError(`cannot read the list of models of ${config.base_url}: ${reasonOf(error)}`);
  }
}
