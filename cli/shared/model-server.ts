/** Models and classifiers on servers that judge for the command line: checks that they are served, and configures them. */
import * as z from 'zod';
import { reasonOf } from '../../clients/typescript/transport.ts';
import { chatUrlProblem, credentials } from '../../lib/model-servers/calls/server-address.ts';
import { publicTransport } from '../../lib/model-servers/calls/transport.ts';
import { modelsUrl, probeServer, type VllmConfig } from '../../lib/model-servers/vllm/vllm-server.ts';
import {
  CLASSIFIER_ENDPOINTS,
  type ClassifierConfig,
  endpointOf,
  probeClassifier,
} from '../../service/backends/classifier/classifier-server.ts';
import { classifierOf } from '../../service/backends/settings.ts';
import { CHAT_DIALECTS, type ChatDialect, dialectRow, type Refusable } from '../../src/judgments/chat-dialects.ts';
import { RunError, UsageError } from './exit.ts';
import type { FlagDescription, Flags } from './flags.ts';

/** Calls of a model at the same time, and rows where a row has one call in progress. */
export const MODEL_CALLS = 8;

/** The environment variable of the server's key. */
export const KEY_VARIABLE = 'VLLM_API_KEY';

export const DIALECT_FLAG: FlagDescription = {
  name: 'dialect',
  kind: 'text',
  value: 'NAME',
  values: CHAT_DIALECTS,
  help: `Which parameters the server takes (default vllm): ${CHAT_DIALECTS.join(', ')}.`,
};

export const LABELS_FLAG: FlagDescription = {
  name: 'labels',
  kind: 'text',
  value: 'A,B,C',
  help: "A classifier's labels in the order of the model; NAME=supported for a name that says nothing.",
};

export const THRESHOLD_FLAG: FlagDescription = {
  name: 'threshold',
  kind: 'text',
  value: 'P',
  help: 'The least probability that is support to a classifier (default 0.5).',
};

/**
 * The settings of a classifier among the flags. @param url of the judge; `null` = none.
 * @throws UsageError if they are given for another judge.
 */
export function classifierFlags(flags: Flags, url: string | null): Pick<ClassifierServer, 'labels' | 'threshold'> {
  const labels = flags.text('labels');
  const threshold = flags.number('threshold', 'a number above 0, at most 1', (value) => value > 0 && value <= 1);
  const given = labels !== null ? 'labels' : threshold !== null ? 'threshold' : null;
  if (given !== null && (url === null || !isClassifierUrl(url))) {
    const hint = `Give its --judge-url, which ends in ${CLASSIFIER_ENDPOINTS.map((one) => `/${one}`).join(', ')}.`;
    throw new UsageError(`--${given} is for a classifier`, hint);
  }
  return {
    ...(labels === null ? {} : { labels: labels.split(',') }),
    ...(threshold === null ? {} : { threshold }),
  };
}

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

/** A classifier, before its server was asked. An absent setting has its default. */
export type ClassifierServer = Pick<ModelServer, 'url' | 'model' | 'key'> & {
  readonly labels?: readonly string[];
  readonly template?: string;
  readonly window_tokens?: number;
  readonly threshold?: number;
};

/** Whether a URL is that of a classifier: it ends in the name of an endpoint. */
export function isClassifierUrl(url: string): boolean {
  return endpointOf(url) !== null;
}

/**
 * Checks that the server has the classifier. @param name of the judge.
 * @throws UsageError for wrong settings, RunError if the server refuses or lacks the model.
 */
export async function servedClassifier(server: ClassifierServer, name: string): Promise<ClassifierConfig> {
  const { url, model, key, labels, ...settings } = server;
  const written = {
    ...({ kind: 'classifier', name, model, slots: MODEL_CALLS, base_url: url } as const),
    ...(key === null ? {} : { api_key: key }),
    ...(labels === undefined ? {} : { labels: [...labels] }),
    ...settings,
  };
  const problems: string[] = [];
  const around = { secret: () => undefined, isBound: () => false };
  const config = classifierOf(written, around, (field, message) => {
    problems.push(`--${field === 'base_url' ? 'judge-url' : field}: ${message}`);
  });
  if (problems.length > 0) {
    throw new UsageError(problems.join('\n'), 'Example: --labels entailment,neutral,contradiction');
  }
  const { failure, model_present } = await probeClassifier(config, publicTransport);
  if (failure !== null) throw new RunError(`no classifier at ${url}: ${failure.detail} (${failure.reason})`);
  if (model_present === false) throw new RunError(`${url} has no model "${model}"`);
  return config;
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
    'Give it as context_tokens in BACKENDS (docs/guides/backends.md); `npx citeward judge check` takes --context-tokens N.',
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
