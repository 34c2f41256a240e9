/**
 * The judges that can be checked: the built-in lexical judge, a model on an OpenAI-compatible server, or a classifier. A
 * server gets the same requests, retries and strict parsing as in a Worker.
 */
import { createRouter, type RouterClock } from '../../../lib/model-servers/calls/router.ts';
import { publicTransport } from '../../../lib/model-servers/calls/transport.ts';
import { createVllmBackend } from '../../../lib/model-servers/vllm/vllm-chat.ts';
import { createClassifierServer } from '../../../service/backends/classifier/classifier-server.ts';
import { SERVER_CLOCK } from '../../../service/backends/judge-backends.ts';
import { createCascade, lexicalTier } from '../../../src/judgments/cascade.ts';
import { createClassifierJudge } from '../../../src/judgments/classifier/classifier-judge.ts';
import type { Judge } from '../../../src/judgments/judge.ts';
import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import type { RubricTemplate } from '../../../src/judgments/kinds/rubric/rubric-templates.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createModelJudge, modelJudgeIdentity } from '../../../src/judgments/model-judge.ts';
import { UsageError } from '../../shared/exit.ts';
import {
  type ClassifierServer,
  MODEL_CALLS,
  type ModelServer,
  servedClassifier,
  servedModel,
} from '../../shared/model-server.ts';
import { CostMeter, MeasuredJudge, metered, resampled, withoutRefusedLogprobs } from './measured-judge.ts';

/** How criteria are judged: all of a rollout in one call, each in a call of its own, or some in each call. */
export const JUDGINGS = ['per_criterion', 'joint', 'batched'] as const;
type Judging = (typeof JUDGINGS)[number];

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
  /** Whether the judge is asked for log-probabilities; absent = it is no language model, or they are not wanted. */
  readonly logprobs?: boolean;
  /** Default number of rows at the same time. A row has one call in progress. */
  readonly concurrency: number;
  /** Lines for standard error before the first row. */
  readonly notices: readonly string[];
  /** The names of the judges of a cascade, in order; absent = it is no cascade. */
  readonly tiers?: readonly string[];
  /**
   * Creates the judge.
   * @param replicate 0 = the seeds that a deployment uses; n = the n-th alternative pair of seeds.
   * @param meter counts its calls.
   */
  readonly judge: (replicate: number, meter: CostMeter) => Judge;
  /** Creates the judge with its calls and failures counted and their time measured. */
  readonly measured: (replicate: number) => MeasuredJudge;
};

function created(judge: CheckedJudge['judge']): Pick<CheckedJudge, 'judge' | 'measured'> {
  const measured = (replicate: number): MeasuredJudge => {
    const meter = new CostMeter();
    return new MeasuredJudge(judge(replicate, meter), meter, () => performance.now());
  };
  return { judge, measured };
}

/** Whether judging again always gives the same verdicts. */
export function isDeterministic({ identity }: CheckedJudge): boolean {
  return identity.sampling === null;
}

/** @param name `null` = the name of the judge. */
export function lexicalUnderCheck(name: string | null, asking: CriteriaAsking): CheckedJudge {
  return { ...LEXICAL, ...asking, name: name ?? nameOf(LEXICAL_JUDGE.name, asking) };
}

/** The name of a judge that was not given one. */
export function nameOf(model: string, { judging, batch, template }: CriteriaAsking): string {
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
  ...created((_replicate, meter) => countedAnswers(LEXICAL_JUDGE, meter)),
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
 * @param logprobs whether to ask for log-probabilities.
 * @throws UsageError for a wrong URL, RunError if the server refuses or lacks the model.
 */
export async function serverUnderCheck(flags: ServerOptions, logprobs: boolean): Promise<CheckedJudge> {
  const config = await servedModel(flags, 'judge');
  const { model } = config;
  const chat = createVllmBackend(config, publicTransport, () => Date.now());
  const { judging, batch, template, temperature, dialect, refuses } = flags;
  const asking = { ...(template === null ? {} : { template }), ...(temperature === null ? {} : { temperature }) };
  return {
    name: flags.name ?? nameOf(model, flags),
    ...{ judging, batch, template, logprobs },
    identity: modelJudgeIdentity(model, 'rubric', dialect, asking, refuses),
    context_tokens: config.context_tokens,
    concurrency: MODEL_CALLS,
    notices: [`Judge: ${model} at ${config.base_url}, context of ${config.context_tokens} tokens`],
    ...created((replicate, meter) => {
      const routes = [withoutRefusedLogprobs(metered(resampled(chat, replicate, temperature), meter))];
      return createModelJudge(createRouter({ name: 'judge', routes, clock: CLOCK }), CLOCK.now);
    }),
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
    ...created((_replicate, meter) => countedAnswers(judge, meter)),
  };
}

/** A judge of a cascade under check; `band`: `null` = the last one. */
export type TierUnderCheck = { readonly judge: CheckedJudge; readonly band: readonly [number, number] | null };

/** A cascade. @throws UsageError for a tier without a band that is not the last, or with one that gives no probability. */
export function cascadeUnderCheck(name: string, given: readonly TierUnderCheck[]): CheckedJudge {
  const last = given.at(-1);
  if (last === undefined || last.band !== null) throw new UsageError(`${name}: the last tier has no band`);
  const bands = given.slice(0, -1).map(({ judge, band }, position) => {
    const isLexical = judge.identity.model === LEXICAL_JUDGE.model;
    if (band === null || !(judge.threshold !== undefined || isLexical)) {
      const problem = band === null ? 'needs a band' : 'gives no probability; it can only be the last';
      throw new UsageError(`${name}: tier ${position + 1}, ${judge.name}, ${problem}`);
    }
    return { judge, band, isLexical };
  });
  const judgeOf: CheckedJudge['judge'] = (replicate, meter) => {
    const tiers = bands.map(({ judge, band, isLexical }) =>
      isLexical ? lexicalTier(band) : { judge: judge.judge(replicate, meter), band },
    );
    return createCascade(name, tiers, last.judge.judge(replicate, meter));
  };
  return {
    ...last.judge,
    name,
    identity: judgeOf(0, new CostMeter()).identityFor('citations'),
    tiers: given.map(({ judge }) => judge.name),
    notices: given.flatMap(({ judge }) => judge.notices),
    ...created(judgeOf),
  };
}
