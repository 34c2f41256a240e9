/**
 * Reads a judge's chat completion in OpenAI's format, chunk by chunk or whole, from vLLM, SGLang, llama.cpp, Ollama and
 * Workers AI. It drops reasoning (`reasoning`, `reasoning_content`), requires the expected model, and accepts only
 * `finish_reason: "stop"` as a complete reply.
 */

import type { CompletionOutcome } from '../../../src/judgments/chat-backend.ts';
import type { JudgeFailure, TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import { backendFailure, failed, judgeFailureOf } from '../calls/failures.ts';
import { type ChunkResult, type CompletionChunk, modelOf, readChunk, repeatsChoice } from './completion-chunk.ts';

/** Longest text of a reply, in UTF-16 code units: many times the size of any reply schema. */
const MAX_REPLY_CHARS = 4 * 1024 * 1024;

type ExpectedModel = {
  /** The model name that every chunk must have. */
  readonly answers_as: string;
  /** The model name in the outcome. */
  readonly pinned: string;
  /** `must` = a reply without a model name is an error. `may` = the transport already fixes the model. */
  readonly echo: 'must' | 'may';
};

/** Collects one completion: `accept` or `take` each chunk, then call `outcome`. */
export class ChatCompletionReader {
  readonly #expected: ExpectedModel;
  #text = '';
  /** Whether the model thought: the server may have taken the whole reply for thinking. */
  #reasoned = false;
  #refused = false;
  #finish: string | null = null;
  #usage: TokenUsage | null = null;
  #modelSeen = false;

  constructor(expected: ExpectedModel) {
    this.#expected = expected;
  }

  /** Whether the model has finished its reply. Usage may still follow. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  /** Reads one parsed chunk or whole reply. Returns its failure, or `null`. */
  accept(value: unknown): JudgeFailure | null {
    return this.take(readChunk(value));
  }

  /** Takes a chunk that `readChunk` or `readChunkText` has parsed. Returns its failure, or `null`. */
  take(read: ChunkResult): JudgeFailure | null {
    return read.ok ? this.#take(read.chunk) : judgeFailureOf(read.fault);
  }

  #take(chunk: CompletionChunk): JudgeFailure | null {
    const { choices, usage } = chunk;
    const model = modelOf(chunk);
    if (model !== null) {
      if (model !== this.#expected.answers_as) return otherModel('the backend answered as another model');
      this.#modelSeen = true;
    }
    if (usage !== undefined && usage !== null) this.#usage = usage;
    if (repeatsChoice(chunk)) return contradictory('the backend sent the same choice twice');
    for (const { index, delta, message, finish_reason } of choices) {
      // The request asks for one choice; others are ignored.
      if (typeof index === 'number' && index !== 0) continue;
      const part = delta ?? message;
      if (part?.content && this.finished) return contradictory('the backend went on with a reply that had ended');
      // Some servers repeat the reason next to the usage.
      if (finish_reason && this.finished && finish_reason !== this.#finish) {
        return contradictory('the backend ended the reply for two different reasons');
      }
      if (part?.content) this.#text += part.content;
      if (part?.['reasoning_content'] || part?.['reasoning']) this.#reasoned = true;
      if (part?.refusal) this.#refused = true;
      if (finish_reason) this.#finish = finish_reason;
    }
    if (this.#text.length <= MAX_REPLY_CHARS) return null;
    return backendFailure('judge_reply_cut', `the reply is longer than ${MAX_REPLY_CHARS} characters`);
  }

  /** The outcome after the last chunk. */
  outcome(): CompletionOutcome {
    if (this.#refused) return failed(backendFailure('judge_refusal', 'the model refused to answer'));
    if (this.#finish === null) {
      return failed(backendFailure('judge_interrupted', 'the reply broke off before the model had ended it'));
    }
    const failure = failureOfFinish(this.#finish);
    if (failure !== null) return failed(failure);
    if (!this.#modelSeen && this.#expected.echo === 'must') {
      return failed(otherModel('the backend did not say which model answered'));
    }
    if (this.#text === '' && this.#reasoned) return failed(backendFailure('judge_reply_invalid', ALL_REASONING));
    return { ok: true, completion: { text: this.#text, model: this.#expected.pinned, usage: this.#usage } };
  }
}

const ALL_REASONING =
  'the reply is in reasoning_content and content is empty: the server took it for thinking; start the server without ' +
  'its reasoning parser (--reasoning-parser), or choose a judge that does not think';

/** A reply whose parts contradict each other is no judgment, whichever part is right. */
function contradictory(detail: string): JudgeFailure {
  return backendFailure('judge_reply_invalid', detail);
}

function otherModel(detail: string): JudgeFailure {
  return backendFailure('judge_model_mismatch', detail);
}

/** Returns `null` for a complete reply. The default covers the unknown reasons of other servers. */
function failureOfFinish(finish: string): JudgeFailure | null {
  switch (finish) {
    case 'stop':
      return null;
    case 'length':
      return backendFailure('judge_reply_cut', 'the reply was cut off at the token limit');
    case 'repetition':
      return backendFailure('judge_reply_cut', 'the backend cut the reply off for repeating itself');
    case 'content_filter':
      return backendFailure('judge_refusal', 'a content filter withheld the reply');
    case 'tool_calls':
    case 'function_call':
      return backendFailure('judge_reply_invalid', 'the model called a tool instead of answering');
    case 'abort':
      return backendFailure('judge_interrupted', 'the backend aborted the reply');
    default:
      return backendFailure('judge_error', 'the reply ended for a reason that is no success');
  }
}
