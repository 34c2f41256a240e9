/**
 * The judges that can be checked: the built-in lexical judge, a model on an OpenAI-compatible server, or a classifier. A
 * server gets the same requests, retries and strict parsing as in a Worker.
 */
import { createRouter, type RouterClock } from '../../../lib/model-servers/calls/router.ts';
import { publicTransport } from '../../../lib/model-servers/calls/transport.ts';
import { createVllmBackend } from '../../../lib/model-servers/vllm/vllm-chat.ts';
import { createClassifierServer } from '../../../service/backends/classifier/classifier-server.ts';
import { SERVER_CLOCK } from '../../../service/backends/judge-backends.ts';
import { createClassifierJudge } from '../../../src/judgments/classifier/classifier-judge.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import type { RubricTemplate } from '../../../src/judgments/kinds/rubric/rubric-templates.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createModelJudge, modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import {
  type ClassifierServer,
  MODEL_CALLS,
  type ModelServer,
  servedClassifier,
  servedModel,
} from '../../shared/model-server.ts';
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
  /** The threshold of a judge that gives probabilities; absent = it gives none. */
  readonly threshold?: number;
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
    'Judge: lexical, built in. It compares words and is no model; check a model with --judge-url URL --judge-model NAME.',
  ],
  measured() {
    const meter = new CostMeter();
    return new MeasuredJudge(countedAnswers(LEXICAL_JUDGE, meter), meter, () => performance.now());
  },
};

/** Counts each answer as a call: of a judge without a backend, and of a classifier, whatever pairs it took. */
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

const CLOCK: RouterClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
};

/** A model on a server. */
export type ServerOptions = CriteriaAsking &
  ModelServer & {
    /** Its name in the tables; `null` = the model. */
    readonly name: string | null;
    /** Temperature of the judge; `null` = as a deployment asks: 0, or what the recipe of a rollout says. */
    readonly temperature: number | null;
  };

/**
 * Checks that the server has the model.
 * @throws UsageError for a wrong URL, RunError if the server refuses or lacks the model.
 */
export async function serverUnderCheck(flags: ServerOptions): Promise<CheckedJudge> {
  const config = await servedModel(flags, 'judge');
  const { model } = config;
  const chat = createVllmBackend(config, publicTransport, () => Date.now());
  const { judging, batch, template, temperature, dialect, refuses } = flags;
  const asking = { ...(template === null ? {} : { template }), ...(temperature === null ? {} : { temperature }) };
  return {
    name: flags.name ?? nameOf(model, flags),
    ...{ judging, batch, template },
    identity: modelJudgeIdentity(model, 'rubric', dialect, asking, refuses),
    context_tokens: config.context_tokens,
    concurrency: MODEL_CALLS,
    notices: [`Judge: ${model} at ${config.base_url}, context of ${config.context_tokens} tokens`],
    measured(replicate) {
      const meter = new CostMeter();
      const routes = [metered(resampled(chat, replicate, temperature), meter)];
      const judge = createModelJudge(createRouter({ name: 'judge', routes, clock: CLOCK }), CLOCK.now);
      return new MeasuredJudge(judge, meter, CLOCK.now);
    },
  };
}

/**
 * Checks that the server has the classifier. @param name `null` = the name of the model.
 * @throws UsageError for wrong settings, RunError if the server refuses or lacks the model.
 */
export async function classifierUnderCheck(
  server: ClassifierServer & { readonly name: string | null },
): Promise<CheckedJudge> {
  const { name, ...settings } = server;
  const config = await servedClassifier(settings, 'judge');
  const judge = createClassifierJudge(createClassifierServer(config, publicTransport, SERVER_CLOCK), config);
  return {
    name: name ?? config.model,
    ...{ judging: 'per_criterion', batch: null, template: null },
    identity: judge.identityFor('citations'),
    context_tokens: null,
    threshold: config.threshold,
    concurrency: MODEL_CALLS,
    notices: [`Judge: classifier ${config.model} at ${config.base_url}; it judges claims, not criteria`],
    measured() {
      const meter = new CostMeter();
      return new MeasuredJudge(countedAnswers(judge, meter), meter, CLOCK.now);
    },
  };
}
