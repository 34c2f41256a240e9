/**
 * The model judge: cuts requests to the context, builds prompts and reads replies over a chat backend. It retries if the
 * reply does not have the requested form: once, or as often as a kind with free-text replies says. The backend and the router handle transport, capacity and their
 * retries.
 */
import type { ChatBackend, JudgeSampling } from './chat-backend.ts';
import { type ChatDialect, type Refusable, SAMPLING_FIELDS, sentSampling } from './chat-dialects.ts';
import type { CallOptions } from './connections.ts';
import type { Judge, JudgeReply } from './judge.ts';
import type { JudgeIdentity } from './judgment.ts';
import type { JudgmentKind } from './kinds/names.ts';
import { type JudgmentRequest, kindOf, type ReadingRequest, templateOf, type Verdicts } from './kinds/registry.ts';
import { type Asking, afterThinking, thinkingMode, thinkingTokens, unusualOptions } from './protocol/asking.ts';
import { sumUsage, type TokenUsage } from './protocol/failure.ts';
import type { ReadingKind } from './protocol/judgment-kind.ts';
import type { JudgePrompt } from './protocol/prompt.ts';
import { parseReply, type ReadReply, whyNoObject } from './protocol/reply.ts';

/** Usually: temperature 0 and a fixed seed make judging as repeatable as the server allows. */
const SAMPLING: JudgeSampling = { temperature: 0, top_p: 1, seed: 0 };
/** The seed of the retry: the first seed would give the same reply. */
const RETRY_SEED = 1;
const TRIES = 2;

/**
 * The identity of a model's judgments of one kind. It includes the dialect: `vllm` turns thinking off, `openai` cannot,
 * so the two must not share judgments. Sampling parameters that are not sent are left out, and what else the server
 * refuses is named. A kind with free-text replies names its tries, whose seeds count from 0.
 */
export function modelJudgeIdentity(
  model: string,
  kind: JudgmentKind,
  dialect: ChatDialect = 'vllm',
  asking: Asking = {},
  refuses: readonly Refusable[] = [],
): JudgeIdentity {
  const { thinking = 'off', temperature = SAMPLING.temperature } = asking;
  const sent = sentSampling(dialect, refuses);
  const others = namedRefusals(refuses);
  const tries = triesOf(kind, asking);
  const isUsual = freeTextTries(kind) === null && tries === TRIES;
  return {
    model,
    template: templateOf(kind, asking),
    sampling: {
      ...Object.fromEntries(sent.map((field) => [field, SAMPLING[field]])),
      ...(samples(asking) ? { temperature, ...(sent.includes('seed') ? { seed: 'by replicate' } : {}) } : {}),
      ...(!isUsual ? { tries } : sent.includes('seed') ? { retry_seed: RETRY_SEED } : {}),
      ...(dialect !== 'vllm' ? { dialect } : refuses.includes('thinking') ? {} : { thinking: false }),
      ...(thinking === 'off' ? {} : { thinking: typeof thinking === 'string' ? thinking : thinking.budget_tokens }),
      ...(others.length === 0 ? {} : { refuses: others.join(' ') }),
    },
  };
}

/** What a server refuses beside sampling, whose absence shows already; `stream_options` changes no reply. */
function namedRefusals(refuses: readonly Refusable[]): readonly string[] {
  const unnamed: readonly string[] = [...SAMPLING_FIELDS, 'stream_options'];
  return [...new Set(refuses)].filter((field) => !unnamed.includes(field)).sort();
}

function triesOf(kind: JudgmentKind, { tries }: Asking = {}): number {
  return tries ?? freeTextTries(kind) ?? TRIES;
}

/** Whether replicates differ by their seeds. At temperature 0 they all have the same, and show the noise of the server. */
function samples({ temperature = SAMPLING.temperature }: Asking): boolean {
  return temperature > 0;
}

/** @param elapsed a clock for durations, in milliseconds. */
export function createModelJudge(backend: ChatBackend, elapsed: () => number): Judge {
  return {
    name: backend.name,
    model: backend.model,
    identityFor: (kind, asking) => modelJudgeIdentity(backend.model, kind, backend.dialect, asking, backend.refuses),
    unsupported({ thinking = 'off', temperature = SAMPLING.temperature }) {
      const { thinking: modes = ['off'], dialect = 'vllm', refuses = [] } = backend;
      return unusualOptions({
        ...(modes.includes(thinkingMode(thinking)) ? {} : { thinking }),
        ...(sentSampling(dialect, refuses).includes('temperature') ? {} : { temperature }),
      });
    },
    context_tokens: backend.context_tokens,
    async judge(request, options) {
      const { deadline_ms, replicate = 0, ...calling } = options;
      const { asking = {} } = request;
      const started = elapsed();
      const tries = triesOf(request.kind, asking);
      const { temperature = SAMPLING.temperature } = asking;
      const firstSeed = SAMPLING.seed + (samples(asking) ? replicate * tries : 0);
      let usage: TokenUsage | null = { prompt_tokens: 0, completion_tokens: 0 };
      for (let n = 0; ; n++) {
        const left = deadline_ms - (elapsed() - started);
        const sampling = { ...SAMPLING, temperature, seed: firstSeed + n };
        const tried = await attempt(backend, request, sampling, { ...calling, deadline_ms: left });
        usage = sumUsage(usage, tried.usage);
        if (tried.ok) return { ...tried, usage };
        const isLast = n + 1 === tries || deadline_ms <= elapsed() - started;
        if (isLast || tried.failure.reason !== 'judge_reply_invalid') return tried;
      }
    },
  };
}

/** Builds the prompt of a request. Pure: equal requests give equal bytes. */
export function judgePrompt(request: ReadingRequest): JudgePrompt {
  return readingKind(request).prompt(request);
}

/** Reads the text of a reply against its request, strictly: all verdicts or none. */
export function readReply(request: ReadingRequest, text: string): ReadReply<Verdicts> {
  return readText(readingKind(request), request, text);
}

/** The tries of a kind whose replies are free text; `null` = its replies are JSON. */
function freeTextTries(kind: JudgmentKind): number | null {
  const definition = kindOf(kind);
  return definition.answeredBy === 'reader' ? (definition.freeTextTries ?? null) : null;
}

type AnyReadingKind = ReadingKind<JudgmentRequest, Verdicts>;

/** @throws Error for a kind that a sandbox answers. */
function readingKind({ kind }: JudgmentRequest): AnyReadingKind {
  const definition = kindOf(kind);
  if (definition.answeredBy === 'sandbox') throw new Error(`createModelJudge: a model cannot answer ${kind} requests`);
  return definition;
}

function readText(kind: AnyReadingKind, request: JudgmentRequest, text: string): ReadReply<Verdicts> {
  if (kind.freeTextTries !== undefined) return kind.readReply(request, text);
  const json = parseReply(text);
  if (json === null) return { ok: false, problem: 'not_json', detail: whyNoObject(text) };
  return kind.readReply(request, json);
}

type Attempt = JudgeReply & { readonly usage: TokenUsage | null };

async function attempt(
  backend: ChatBackend,
  request: JudgmentRequest,
  sampling: JudgeSampling,
  options: CallOptions,
): Promise<Attempt> {
  const kind = readingKind(request);
  const prompt = kind.prompt(request);
  const { asking: { thinking = 'off' } = {} } = request;
  const outcome = await backend.complete(
    {
      messages: prompt.messages,
      schema: prompt.schema,
      sampling,
      max_tokens: prompt.max_reply_tokens + thinkingTokens(request.asking),
      ...(thinking === 'off' ? {} : { thinking }),
    },
    options,
  );
  if (!outcome.ok) return { ...outcome, usage: null };
  const { text, usage, model } = outcome.completion;
  if (model !== backend.model) {
    const detail = `the backend answered as another model than ${backend.model}`;
    return { ok: false, failure: { reason: 'judge_model_mismatch', detail, retryable: false }, usage };
  }
  const read = readText(
    kind,
    request,
    thinking === 'off' ? text : afterThinking(text, kind.freeTextTries === undefined ? 'json' : 'free text'),
  );
  if (read.ok) {
    const { verdicts, reasons } = read;
    return { ok: true, verdicts, usage, ...(reasons === undefined ? {} : { reasons }) };
  }
  const failure = {
    reason: 'judge_reply_invalid',
    detail: `${read.problem}: ${read.detail}`,
    retryable: true,
  } as const;
  return { ok: false, failure, usage };
}
