/**
 * The client of a classifier's server: vLLM (`/classify`, `/score`) or Text Embeddings Inference (`/predict`). It reads
 * the probability that a source supports a claim strictly: a reply that lacks a pair, a label or a number between 0 and
 * 1 is a failure. Servers are asked to cut nothing: a pair that is too long for the model is a failure too.
 */
import * as z from 'zod';
import { withDeadline } from '../../../lib/model-servers/calls/deadline.ts';
import { backendFailure, failed, judgeFailureOf } from '../../../lib/model-servers/calls/failures.ts';
import { type ModelConfig, pinnedModel } from '../../../lib/model-servers/calls/model-config.ts';
import { BrokenBodyError, readText } from '../../../lib/model-servers/calls/response-body.ts';
import { credentials, type ServerConfig } from '../../../lib/model-servers/calls/server-address.ts';
import { mediaType, retryAfterSeconds, type Transport } from '../../../lib/model-servers/calls/transport.ts';
import { errorInText, faultOfStatus } from '../../../lib/model-servers/dialects/error-reply.ts';
import { type Probe, probeServer } from '../../../lib/model-servers/vllm/vllm-server.ts';
import { parsedJson } from '../../../src/json.ts';
import type {
  ClassifiedPair,
  Classifier,
  ClassifierOutcome,
  ClassifierSettings,
} from '../../../src/judgments/classifier/classifier-judge.ts';
import { type ClassifierLabel, labelsText } from '../../../src/judgments/classifier/labels.ts';
import { UNLIMITED_CONNECTIONS } from '../../../src/judgments/connections.ts';
import { type JudgeFailure, sumUsage, type TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import { type SandboxClock, withRetries } from '../sandbox/sandbox-client.ts';

/** The path of the endpoint says which server it is, and what its reply looks like. */
export const CLASSIFIER_ENDPOINTS = ['classify', 'score', 'predict'] as const;
export type ClassifierEndpoint = (typeof CLASSIFIER_ENDPOINTS)[number];

export type ClassifierConfig = Omit<ModelConfig, 'context_tokens'> &
  /** `base_url`: the URL of the endpoint. */
  ServerConfig &
  ClassifierSettings & {
    readonly kind: 'classifier';
    readonly endpoint: ClassifierEndpoint;
    /** The model's labels in its order; empty for `/score`, which has none. */
    readonly labels: readonly ClassifierLabel[];
    /** How `/classify` gets the two texts as one: `{source}[SEP]{claim}`. */
    readonly template: string;
    readonly timeout_s: number;
  };

/** The endpoint that a URL names; `null` = none. */
export function endpointOf(url: string): ClassifierEndpoint | null {
  return CLASSIFIER_ENDPOINTS.find((endpoint) => new RegExp(`/${endpoint}/?$`).test(url)) ?? null;
}

/** Pairs of one request: the most that Text Embeddings Inference takes unless it is told otherwise. */
const PAIRS_PER_CALL = 32;
const MAX_REPLY_BYTES = 1024 * 1024;

/** Creates the client. */
export function createClassifierServer(
  config: ClassifierConfig,
  transport: Transport,
  clock: SandboxClock,
): Classifier {
  const { name, endpoint, labels, template } = config;
  const how = endpoint === 'classify' ? ` ${JSON.stringify(template)}` : '';
  return {
    name,
    model: pinnedModel(config),
    names_contradiction: labels.some(({ means }) => means === 'contradicted'),
    asking: `${endpoint}${how}${labels.length === 0 ? '' : ` ${labelsText(labels)}`}`,
    async classify(pairs, { deadline_ms, connections = UNLIMITED_CONNECTIONS }) {
      let end = clock.now() + Math.min(deadline_ms, config.timeout_s * 1000);
      const [supported, contradicted]: [number[], number[]] = [[], []];
      let usage: TokenUsage | null = { prompt_tokens: 0, completion_tokens: 0 };
      for (let at = 0; at < pairs.length; at += PAIRS_PER_CALL) {
        const batch = pairs.slice(at, at + PAIRS_PER_CALL);
        const attempt = async (): Promise<ClassifierOutcome> => {
          const asked = clock.now();
          const leave = await connections.enter();
          end += clock.now() - asked;
          try {
            const work = (signal: AbortSignal) => exchange(config, transport, clock, batch, signal);
            const result = await withDeadline(end - clock.now(), work);
            return result.expired ? failed(TIMED_OUT) : result.value;
          } finally {
            leave();
          }
        };
        const outcome = await withRetries(attempt, () => end, clock);
        if (!outcome.ok) return outcome;
        supported.push(...outcome.supported);
        contradicted.push(...outcome.contradicted);
        usage = sumUsage(usage, outcome.usage);
      }
      return { ok: true, supported, contradicted, usage };
    },
  };
}

const UNREACHABLE = backendFailure('judge_unreachable', 'the classifier cannot be reached');
const TIMED_OUT = backendFailure('judge_timeout', 'the classifier had not answered at the deadline');

async function exchange(
  config: ClassifierConfig,
  transport: Transport,
  clock: SandboxClock,
  pairs: readonly ClassifiedPair[],
  signal: AbortSignal,
): Promise<ClassifierOutcome> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...credentials(config) },
    body: JSON.stringify(bodyOf(config, pairs)),
    redirect: 'manual',
    signal,
  };
  let response: Response;
  let text: string | null;
  try {
    response = await transport(config.base_url, init);
  } catch {
    // The error is dropped, because it names internal hosts and ports.
    return failed(signal.aborted ? TIMED_OUT : backendFailure('judge_unreachable', 'the classifier cannot be reached'));
  }
  try {
    text = await readText(response.body, MAX_REPLY_BYTES);
  } catch (error) {
    if (!(error instanceof BrokenBodyError)) throw error;
    return failed(
      signal.aborted ? TIMED_OUT : backendFailure('judge_interrupted', 'the connection ended before the reply did'),
    );
  }
  if (response.status !== 200) {
    const retryAfter = retryAfterSeconds(response.headers, clock.date());
    const error = text === null ? null : errorInText(text);
    return failed(judgeFailureOf(faultOfStatus(response.status, error, retryAfter)));
  }
  if (mediaType(response.headers) !== 'application/json')
    return failed(backendFailure('judge_not_an_api', 'the classifier answered with a page that is no API reply'));
  return text === null ? failed(invalid('it is too large')) : readReply(config, pairs.length, parsedJson(text));
}

function bodyOf({ endpoint, model, template }: ClassifierConfig, pairs: readonly ClassifiedPair[]): object {
  switch (endpoint) {
    case 'classify': {
      const marks = template.split(/\{source\}|\{claim\}/).flatMap((part) => part.trim().split(/\s+/));
      return { model, input: pairs.map((pair) => joined(template, marks, pair)) };
    }
    case 'score':
      return { model, text_1: pairs.map(({ source }) => source), text_2: pairs.map(({ claim }) => claim) };
    case 'predict':
      return { inputs: pairs.map(({ source, claim }) => [source, claim]), raw_scores: false, truncate: false };
  }
}

/** The two texts as one. What separates them in the template is taken out of them, so that neither can end early. */
function joined(template: string, marks: readonly string[], { source, claim }: ClassifiedPair): string {
  const plain = (text: string): string =>
    marks.reduce((rest, mark) => (mark === '' ? rest : rest.replaceAll(mark, ' ')), text);
  const texts = { '{source}': plain(source), '{claim}': plain(claim) };
  return template.replace(/\{source\}|\{claim\}/g, (place) => (place === '{source}' ? texts[place] : texts['{claim}']));
}

const probability = z.number().min(0).max(1);
/** A result: vLLM's probability, or its probabilities in the order of the labels with the label of the highest. */
const resultSchema = z.object({
  index: z.int(),
  score: probability.exactOptional(),
  probs: z.array(probability).exactOptional(),
  label: z.string().exactOptional(),
});
const replySchema = z.object({
  model: z.string(),
  data: z.array(resultSchema),
  usage: z.object({ prompt_tokens: z.int().min(0) }).nullish(),
});
const predictionsSchema = z.array(z.array(z.object({ label: z.string(), score: probability })));

type Reply = z.infer<typeof replySchema>;

function readReply(config: ClassifierConfig, pairs: number, value: unknown): ClassifierOutcome {
  const { endpoint, labels } = config;
  const named = config.answers_as ?? config.model;
  const reply = endpoint === 'predict' ? repliedPredictions(config, value) : replySchema.safeParse(value).data;
  if (reply === undefined) return failed(invalid('it lacks a result, or a number between 0 and 1'));
  const { model, data, usage } = reply;
  if (model !== named) {
    return failed(backendFailure('judge_model_mismatch', `the classifier answered as another model than ${named}`));
  }
  const byIndex = new Map(data.map((result) => [result.index, result]));
  if (data.length !== pairs || byIndex.size !== pairs) return failed(invalid('its results are not one for each pair'));
  const [supported, contradicted]: [number[], number[]] = [[], []];
  for (let index = 0; index < pairs; index++) {
    const { score, probs = [], label } = byIndex.get(index) ?? {};
    const isOfLabels = probs.length === labels.length && labels[probs.indexOf(Math.max(...probs))]?.name === label;
    const one = endpoint === 'score' ? score : isOfLabels ? sumOf('supported', labels, probs) : undefined;
    if (one === undefined) return failed(invalid('its results are not those of the setting labels, in their order'));
    supported.push(one);
    contradicted.push(sumOf('contradicted', labels, probs));
  }
  return {
    ok: true,
    supported,
    contradicted,
    usage: usage == null ? null : { prompt_tokens: usage.prompt_tokens, completion_tokens: 0 },
  };
}

/** TEI's reply in vLLM's form; `undefined` = its form is wrong. A label that is missing or occurs twice leaves a gap. */
function repliedPredictions({ labels, answers_as, model }: ClassifierConfig, value: unknown): Reply | undefined {
  const data = predictionsSchema.safeParse(value).data?.map((predictions, index) => {
    const probs = labels.flatMap(({ name }) =>
      predictions.filter(({ label }) => label === name).map((one) => one.score),
    );
    const highest = labels[probs.indexOf(Math.max(...probs))];
    const isWhole =
      predictions.length === labels.length && new Set(predictions.map(({ label }) => label)).size === labels.length;
    return isWhole && highest !== undefined ? { index, probs, label: highest.name } : { index };
  });
  return data === undefined ? undefined : { model: answers_as ?? model, data };
}

/** The probability of the labels with a meaning. Rounding may take a sum of several above 1. */
function sumOf(
  meaning: ClassifierLabel['means'],
  labels: readonly ClassifierLabel[],
  probs: readonly number[],
): number {
  return Math.min(
    1,
    probs.reduce((sum, one, n) => sum + (labels[n]?.means === meaning ? one : 0), 0),
  );
}

function invalid(problem: string): JudgeFailure {
  return backendFailure('judge_reply_invalid', `the reply of the classifier cannot be read: ${problem}`);
}

const PROBE_DEADLINE_MS = 5_000;

/** Checks the server without classifying: asks vLLM for its models; TEI, which has one model, whether it is there. */
export async function probeClassifier(config: ClassifierConfig, transport: Transport): Promise<Probe> {
  const root = config.base_url.replace(/\/(v1\/)?[a-z]+$/, '');
  if (config.endpoint !== 'predict') return probeServer({ ...config, base_url: `${root}/v1` }, transport);
  const ask = async (signal: AbortSignal): Promise<JudgeFailure | null> => {
    const reply = await transport(`${root}/info`, { headers: credentials(config), redirect: 'manual', signal });
    return reply.status === 200 ? null : judgeFailureOf(faultOfStatus(reply.status, null, null));
  };
  const result = await withDeadline(PROBE_DEADLINE_MS, (signal) => ask(signal).catch(() => UNREACHABLE));
  const failure = result.expired ? TIMED_OUT : result.value;
  return { reachable: failure === null, model_present: null, failure };
}
