/**
 * A chat backend on any OpenAI-compatible server (vLLM, SGLang, llama.cpp, Ollama, or a proxy in front of one). It
 * sends one request without a retry. The outcome is a complete completion of the expected model or a typed failure, at
 * the deadline at the latest.
 *
 * Every request asks for a stream, so a server that works is heard from all the time once its first byte has come; one
 * that falls silent is given up early. The first byte may take as long as the call: a server that ignores `stream` sends
 * it at the end, and a slow one reads a long prompt first. `first_byte_s` sets a shorter limit for a server known to
 * stream.
 */

import type { ChatBackend, CompletionOutcome, CompletionRequest } from '../../../src/judgments/chat-backend.ts';
import { thinkingModes } from '../../../src/judgments/chat-dialects.ts';
import { type CallOptions, UNLIMITED_CONNECTIONS } from '../../../src/judgments/connections.ts';
import type { JudgeFailure } from '../../../src/judgments/protocol/failure.ts';
import { type TimeLimit, withDeadline } from '../calls/deadline.ts';
import { backendFailure, failed, judgeFailureOf } from '../calls/failures.ts';
import { pinnedModel } from '../calls/model-config.ts';
import { BrokenBodyError, readEvents, readText } from '../calls/response-body.ts';
import { mediaType, retryAfterSeconds, type Transport } from '../calls/transport.ts';
import { interruptedReply, readChunkText } from '../dialects/completion-chunk.ts';
import { ChatCompletionReader } from '../dialects/completion-reader.ts';
import { errorInText, faultOfStatus } from '../dialects/error-reply.ts';
import {
  choiceFields,
  logprobFields,
  modelFields,
  samplingFields,
  schemaFields,
  usageFields,
} from '../dialects/request-fields.ts';
import { completionsUrl, serverHeaders, type VllmConfig } from './vllm-server.ts';

/** Largest stream of one reply, in bytes: room for about 100,000 tokens with 250 bytes of framing each. */
const MAX_STREAM_BYTES = 32 * 1024 * 1024;
/** Error bodies are read up to this size to classify the error. */
const MAX_ERROR_BYTES = 64 * 1024;

/** A server that sends nothing for so long after its first byte is given up. */
const SILENCE_MS = 60_000;

/** @param now_ms the wall clock, for dates in `Retry-After`. @param silence_ms replaces the 60 s in tests. */
export function createVllmBackend(
  config: VllmConfig,
  transport: Transport,
  now_ms: () => number,
  silence_ms = SILENCE_MS,
): ChatBackend {
  const { timeout_s = Number.POSITIVE_INFINITY, first_byte_s = Number.POSITIVE_INFINITY } = config;
  return {
    name: config.name,
    model: pinnedModel(config),
    context_tokens: config.context_tokens,
    ...(config.dialect === undefined ? {} : { dialect: config.dialect }),
    ...(config.refuses === undefined ? {} : { refuses: config.refuses }),
    thinking: thinkingModes(config.dialect, config.refuses),
    async complete(request, { deadline_ms, connections = UNLIMITED_CONNECTIONS, session, onLogprobs }) {
      const leave = await connections.enter();
      const untilHeaders: Transport = (url, init) => transport(url, init).finally(leave);
      try {
        const result = await withDeadline(
          Math.min(deadline_ms, timeout_s * 1000),
          (signal, heard) =>
            exchange(config, untilHeaders, now_ms, { ...request, session, onLogprobs }, { signal, heard }),
          { first_byte_ms: first_byte_s * 1000, silence_ms },
        );
        return result.expired ? failed(timedOut(result.after)) : result.value;
      } finally {
        leave();
      }
    },
  };
}

type AskedCompletion = CompletionRequest & {
  readonly [Option in 'session' | 'onLogprobs']: CallOptions[Option] | undefined;
};

/** Ends the exchange, and is told of each piece that arrives. */
type Attention = { readonly signal: AbortSignal; readonly heard: () => void };

async function exchange(
  config: VllmConfig,
  transport: Transport,
  now_ms: () => number,
  request: AskedCompletion,
  { signal, heard }: Attention,
): Promise<CompletionOutcome> {
  const init: RequestInit = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(request.session === undefined ? {} : { 'x-session-id': request.session }),
      ...serverHeaders(config),
    },
    body: completionBody(config, request),
    redirect: 'manual',
    signal,
  };
  let response: Response;
  try {
    response = await transport(completionsUrl(config), init);
  } catch {
    // The error is dropped, because it names internal hosts and ports.
    return failed(
      signal.aborted ? timedOut('deadline') : backendFailure('judge_unreachable', 'the backend cannot be reached'),
    );
  }
  const reader = new ChatCompletionReader({
    answers_as: config.answers_as ?? config.model,
    pinned: pinnedModel(config),
    echo: 'must',
  });
  try {
    const outcome = await readResponse(response, reader, now_ms, heard);
    if (outcome.ok) request.onLogprobs?.(reader.logprobs);
    return outcome;
  } catch (error) {
    if (!(error instanceof BrokenBodyError)) throw error;
    if (reader.finished) return reader.outcome();
    return failed(signal.aborted ? timedOut('deadline') : judgeFailureOf(interruptedReply()));
  }
}

async function readResponse(
  response: Response,
  reader: ChatCompletionReader,
  now_ms: () => number,
  heard: () => void,
): Promise<CompletionOutcome> {
  if (response.status !== 200) {
    const text = await readText(response.body, MAX_ERROR_BYTES, heard);
    const retryAfter = retryAfterSeconds(response.headers, now_ms());
    const fault = faultOfStatus(response.status, text === null ? null : errorInText(text), retryAfter);
    return failed(judgeFailureOf(fault));
  }
  switch (mediaType(response.headers)) {
    case 'text/event-stream':
      return readStream(response.body, reader, heard);
    case 'application/json':
      return readWhole(response, reader, heard);
    default:
      return failed(backendFailure('judge_not_an_api', 'the backend answered with a page that is no API reply'));
  }
}

async function readStream(
  body: Response['body'],
  reader: ChatCompletionReader,
  heard: () => void,
): Promise<CompletionOutcome> {
  if (body === null) return failed(judgeFailureOf(interruptedReply()));
  let failure: JudgeFailure | null = null;
  const take = (data: string): 'more' | 'stop' | 'complete' => {
    // `[DONE]` ends the stream; only `finish_reason` says that the reply is complete.
    if (data === '[DONE]') return 'complete';
    failure = reader.take(readChunkText(data));
    return failure === null ? 'more' : 'stop';
  };
  const end = await readEvents(body, MAX_STREAM_BYTES, take, heard);
  if (failure !== null) return failed(failure);
  if (end === 'too_large') return failed(tooLarge());
  return reader.outcome();
}

/** Reads a whole reply, from servers and proxies that ignore `stream`. */
async function readWhole(
  response: Response,
  reader: ChatCompletionReader,
  heard: () => void,
): Promise<CompletionOutcome> {
  const text = await readText(response.body, MAX_STREAM_BYTES, heard);
  if (text === null) return failed(tooLarge());
  // A gateway may pass a stream on under the type of a whole reply.
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) return readStream(new Response(text).body, reader, heard);
  const failure = reader.take(readChunkText(text));
  return failure === null ? reader.outcome() : failed(failure);
}

function timedOut(limit: TimeLimit): JudgeFailure {
  return backendFailure('judge_timeout', TIMED_OUT[limit]);
}

const TIMED_OUT: Readonly<Record<TimeLimit, string>> = {
  deadline: 'the backend had not finished its reply at the deadline',
  first_byte: 'the backend sent no byte of its reply within first_byte_s',
  silence: `the backend sent nothing for ${SILENCE_MS / 1000} s in the middle of its reply`,
};

function tooLarge(): JudgeFailure {
  return backendFailure('judge_reply_cut', `the reply is larger than ${MAX_STREAM_BYTES} bytes`);
}

/** Returns the JSON body of a completion request, in the server's dialect. */
function completionBody(config: VllmConfig, request: AskedCompletion): string {
  return JSON.stringify({
    model: config.model,
    messages: request.messages,
    stream: true,
    ...usageFields(config),
    ...choiceFields(config, 1),
    ...samplingFields(config, request.sampling),
    [config.length_field]: request.max_tokens,
    ...logprobFields(request.onLogprobs !== undefined),
    ...schemaFields(config, request.schema),
    ...modelFields(config, request.thinking ?? 'off'),
  });
}
