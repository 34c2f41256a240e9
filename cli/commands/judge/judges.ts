/**
 * The judges that can be checked: the built-in lexical judge, or a model on an OpenAI-compatible server. The model gets
 * the same prompts, retries and strict parsing as in a Worker.
 */
import * as z from 'zod';
import { reasonOf } from '../../../clients/typescript/transport.ts';
import { createRouter, type RouterClock } from '../../../lib/model-servers/calls/router.ts';
import { chatUrlProblem, credentials } from '../../../lib/model-servers/calls/server-address.ts';
import { publicTransport } from '../../../lib/model-servers/calls/transport.ts';
import { createVllmBackend } from '../../../lib/model-servers/vllm/vllm-chat.ts';
import { modelsUrl, probeServer, type VllmConfig } from '../../../lib/model-servers/vllm/vllm-server.ts';
import { type ChatDialect, dialectRow, type Refusable } from '../../../src/judgments/chat-dialects.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import type { RubricTemplate } from '../../../src/judgments/kinds/rubric/rubric-templates.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createModelJudge, modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import { CostMeter, MeasuredJudge, metered, resampled } from './measured-judge.ts';

/** How criteria are judged: all of a rollout in one call, each in a call of its own, or some in each call. */
export const JUDGINGS = ['per_criterion', 'joint', 'batched'] as const;
export type Judging = (typeof JUDGINGS)[number];

export const DEFAULT_BATCH = 2;

/** How a judge is asked about criteria, whatever judge it is. */
export type CriteriaAsking = {
  /** How labelled criteria are judged. Rollouts are judged jointly and one by one, and in batches if there are any. */
  readonly judging: Judging;
  /** Criteria in one call of the judging `batched`; `null` = no batches are asked for. */
  readonly batch: number | null;
  /** The words of the prompt, for labelled criteria and rollouts; `null` = those of the recipe, usually `citeward-1`. */
  readonly template: RubricTemplate | null;
};

export type CheckedJudge = CriteriaAsking & {
  /** Its name in the tables. */
  readonly name: string;
  readonly identity: JudgeIdentity;
  /** Context length of prompt and reply together; `null` = unlimited. */
  readonly context_tokens: number | null;
  /** Default number of rows at the same time. A row has one call in progress. */
  readonly concurrency: number;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /**
   * Creates a judge that counts its calls and failures and measures their time.
   * @param replicate 0 = the seeds that a deployment uses; n = the n-th alternative pair of seeds.
   */
  readonly measured: (replicate: number) => MeasuredJudge;
};

/** Whether judging again always gives the same verdicts. */
export function isDeterministic({ identity }: CheckedJudge): boolean {
  return identity.sampling === null;
}

/** @param name `null` = the name of the judge. */
export function lexicalUnderCheck(name: string | null, asking: CriteriaAsking): CheckedJudge {
  return { ...LEXICAL, ...asking, name: name ?? nameOf(LEXICAL_JUDGE.name, asking) };
}

/** The name of a judge that was not given one. */
function nameOf(model: string, { judging, batch, template }: CriteriaAsking): string {
  const words = template === null ? '' : typeof template === 'string' ? template : 'own words';
  const ways = { per_criterion: '', joint: 'joint', batched: `batches of ${batch ?? DEFAULT_BATCH}` };
  return [model, words, ways[judging]].filter((part) => part !== '').join(' ');
}

const LEXICAL: Omit<CheckedJudge, 'name' | keyof CriteriaAsking> = {
  identity: LEXICAL_JUDGE.identityFor('rubric'),
  context_tokens: LEXICAL_JUDGE.context_tokens,
  concurrency: 1,
  notices: [
    'Judge: lexical, built in. It compares words and is no model; check a model with --url BASE_URL --model NAME.',
  ],
  measured() {
    const meter = new CostMeter();
    return new MeasuredJudge(countedAnswers(LEXICAL_JUDGE, meter), meter, () => performance.now());
  },
};

/** Counts each answer of a judge without a backend as a call. */
function countedAnswers(judge: Judge, meter: CostMeter): Judge {
  return {
    ...judge,
    async judge(request, options) {
      const reply = await judge.judge(request, options);
      meter.add(reply.ok ? reply.usage : null);
      return reply;
    },
  };
}

const CONCURRENCY = 8;

const MODEL_LIST_TIMEOUT_MS = 5_000;

const CLOCK: RouterClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
};

/** A model on a server. */
export type ServerOptions = CriteriaAsking & {
  /** Its name in the tables; `null` = the model. */
  readonly name: string | null;
  /** Base URL, to which `/chat/completions` is appended. */
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** Context length in tokens; `null` = the length that the server reports. */
  readonly context_tokens: number | null;
  /** Temperature of the judge; `null` = as a deployment asks: 0, or what the recipe of a rollout says. */
  readonly temperature: number | null;
  /** Which parameters the server takes. */
  readonly dialect: ChatDialect;
  /** Parameters of the dialect that the model refuses. */
  readonly refuses: readonly Refusable[];
  /** Azure's `api-version`; `null` = none. */
  readonly api_version: string | null;
};

/**
 * Checks that the server has the model.
 * @throws UsageError for a wrong URL, RunError if the server refuses or lacks the model.
 */
export async function serverUnderCheck(flags: ServerOptions): Promise<CheckedJudge> {
  const urlProblem = chatUrlProblem(flags.url, false);
  if (urlProblem !== null) throw new UsageError(`--url: ${urlProblem}`, 'Example: --url http://127.0.0.1:8000/v1');
  // The first requests do not depend on the context length, which the server may answer.
  const probed = configOf(flags, flags.context_tokens ?? 0);
  await refuseUnserved(probed);
  const config = configOf(flags, flags.context_tokens ?? (await contextOf(probed)));
  const { model } = config;
  const chat = createVllmBackend(config, publicTransport, () => Date.now());
  const { judging, batch, template, temperature, dialect, refuses } = flags;
  const asking = { ...(template === null ? {} : { template }), ...(temperature === null ? {} : { temperature }) };
  return {
    name: flags.name ?? nameOf(model, flags),
    ...{ judging, batch, template },
    identity: modelJudgeIdentity(model, 'rubric', dialect, asking, refuses),
    context_tokens: config.context_tokens,
    concurrency: CONCURRENCY,
    notices: [`Judge: ${model} at ${config.base_url}, context of ${config.context_tokens} tokens`],
    measured(replicate) {
      const meter = new CostMeter();
      const routes = [metered(resampled(chat, replicate, temperature), meter)];
      const judge = createModelJudge(createRouter({ name: 'judge', routes, clock: CLOCK }), CLOCK.now);
      return new MeasuredJudge(judge, meter, CLOCK.now);
    },
  };
}

function configOf(server: ServerOptions, context_tokens: number): VllmConfig {
  const { url, model, key, dialect, refuses, api_version } = server;
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
    'Give it with --context-tokens N (prompt and reply together).',
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
