/**
 * Reads a judge's chat completion in OpenAI's format, chunk by chunk or whole, from vLLM, SGLang, llama.cpp, Ollama and
 * Workers AI. It drops reasoning (`reasoning`, `reasoning_content`), requires the expected model, and accepts a reply as
 * complete only if its `finish_reason` says that the model ended it.
 */

import type { CompletionOutcome } from '../../../src/judgments/chat-backend.ts';
import type { JudgeFailure, TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import { backendFailure, failed, judgeFailureOf } from '../calls/failures.ts';
import {
  ANOTHER_MODEL,
  type ChunkResult,
  type CompletionChunk,
  modelOf,
  readChunk,
  repeatsChoice,
} from './completion-chunk.ts';

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
  /** The log-probabilities of the tokens, if the request asked for them. */
  readonly logprobs: unknown[] = [];
  /** Whether the model thought: the server may have taken the whole reply for thinking. */
  #reasoned = false;
  #refused = false;
  #called = false;
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
    return read.ok ? this.#take(read.value) : judgeFailureOf(read.error);
  }

  #take(chunk: CompletionChunk): JudgeFailure | null {
    const { choices, usage } = chunk;
    const model = modelOf(chunk);
    if (model !== null) {
      if (model !== this.#expected.answers_as) return otherModel(ANOTHER_MODEL);
      this.#modelSeen = true;
    }
    if (usage !== undefined && usage !== null) this.#usage = usage;
    if (repeatsChoice(chunk)) return contradictory('the backend sent the same choice twice');
    for (const { index, delta, message, finish_reason, logprobs } of choices) {
      // The request asks for one choice; others are ignored.
      if (typeof index === 'number' && index !== 0) continue;
      const part = delta ?? message;
      if (part?.content && this.finished) return contradictory('the backend went on with a reply that had ended');
      // Some servers repeat the reason next to the usage.
      if (finish_reason && this.finished && finish_reason !== this.#finish) {
        return contradictory('the backend ended the reply for two different reasons');
      }
      if (part?.content) this.#text += part.content;
      for (const token of logprobs?.content ?? []) this.logprobs.push(token);
      if (THINKING.some((field) => isFilled(part?.[field]))) this.#reasoned = true;
      if (isFilled(part?.['tool_calls']) || part?.['function_call']) this.#called = true;
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
    const isEmpty = this.#text.trim() === '';
    const failure = failureOfFinish(this.#finish, isEmpty && this.#reasoned);
    if (failure !== null) return failed(failure);
    if (!this.#modelSeen && this.#expected.echo === 'must') {
      return failed(otherModel('the backend did not say which model answered'));
    }
    if (isEmpty && this.#called) return failed(backendFailure('judge_reply_invalid', CALLED_A_TOOL));
    if (isEmpty && this.#reasoned) return failed(backendFailure('judge_reply_invalid', ALL_REASONING));
    return { ok: true, completion: { text: this.#text, model: this.#expected.pinned, usage: this.#usage } };
  }
}

/** Fields of a part with thinking that the server has split off. */
const THINKING = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

const CALLED_A_TOOL = 'the model called a tool instead of answering';

const ALL_REASONING =
  'the reply is in reasoning_content and content is empty: the server took it for thinking; start the server without ' +
  'its reasoning parser (--reasoning-parser), or choose a judge that does not think';

/** Some servers send empty lists. */
function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** A reply whose parts contradict each other is no judgment, whichever part is right. */
function contradictory(detail: string): JudgeFailure {
  return backendFailure('judge_reply_invalid', detail);
}

function otherModel(detail: string): JudgeFailure {
  return backendFailure('judge_model_mismatch', detail);
}

/**
 * Returns `null` for a complete reply. Gateways pass reasons on as Anthropic, Gemini, Cohere, TGI and Together write
 * them. The default covers the unknown reasons of other servers.
 * @param onlyThought whether all that came is thinking.
 */
function failureOfFinish(finish: string, onlyThought: boolean): JudgeFailure | null {
  switch (finish.toLowerCase()) {
    case 'stop':
    case 'end_turn':
    case 'complete':
    case 'eos':
    case 'eos_token':
      return null;
    case 'length':
    case 'max_tokens':
      return backendFailure(
        'judge_reply_cut',
        onlyThought ? THOUGHT_TOO_LONG : 'the reply was cut off at the token limit',
      );
    case 'repetition':
      return backendFailure('judge_reply_cut', 'the backend cut the reply off for repeating itself');
    case 'content_filter':
    case 'safety':
    case 'recitation':
    case 'prohibited_content':
    case 'refusal':
      return backendFailure('judge_refusal', 'a content filter withheld the reply');
    case 'tool_calls':
    case 'function_call':
    case 'tool_use':
      return backendFailure('judge_reply_invalid', CALLED_A_TOOL);
    case 'abort':
      return backendFailure('judge_interrupted', 'the backend aborted the reply');
    default:
      return backendFailure('judge_error', 'the reply ended for a reason that is no success');
  }
}

const THOUGHT_TOO_LONG =
  'the model thought until the token limit: turn its thinking off at the server, let the recipe allow more ' +
  '(judge_options.thinking), or choose a judge that does not think';
