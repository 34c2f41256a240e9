/**
 * Converts the chunks of a chat completion to generation events: interleaved choices, thinking that the server has
 * split off, and tool calls, which are collected until they are complete. Anything that is no sample of the policy is a
 * fault: text of another model, a refusal, a choice that is missing or incomplete.
 */

import * as z from 'zod';
import type { GenerationEvent, NativeToolCall } from '../../../src/generation/generator.ts';
import type { TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import { type BackendFault, backendFault, type GeneratorFaultKind, type SharedFault } from '../calls/failures.ts';
import {
  ANOTHER_MODEL,
  type ChunkResult,
  type CompletionChunk,
  type CompletionPart,
  interruptedReply,
  modelOf,
  repeatsChoice,
} from './completion-chunk.ts';

/** Limit of the incomplete tool calls in memory, over all choices, in UTF-16 code units. */
const MAX_HELD_CHARS = 4 * 1024 * 1024;
/** Tool calls per choice. */
const MAX_TOOL_CALLS = 128;

const samplePartSchema = z.object({
  // `reasoning`: vLLM and Ollama. `reasoning_content`: SGLang and llama.cpp.
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        index: z.int().min(0).nullish(),
        id: z.string().nullish(),
        function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});

type CallDelta = NonNullable<z.infer<typeof samplePartSchema>['tool_calls']>[number];

export type SampleFault = BackendFault<GeneratorFaultKind>;

type ExpectedSamples = {
  /** Requested choices. */
  readonly n: number;
  /** The model name that every chunk must have. */
  readonly answers_as: string;
  /** `must` = text without a model name is an error. `may` = the transport already fixes the model. */
  readonly echo: 'must' | 'may';
};

type Taken = { readonly events: readonly GenerationEvent[]; readonly fault: SampleFault | null };

type HeldCall = { id: string | null; name: string; arguments: string };

/** `finish` = why the choice ended; `null` = it has not. */
type Choice = { finish: string | null; readonly calls: Map<number, HeldCall> };

/** Reads one reply of the server: `take` each chunk, then call `end`. */
export class SampleReader {
  readonly #expected: ExpectedSamples;
  readonly #choices = new Map<number, Choice>();
  #usage: TokenUsage | null = null;
  #modelSeen = false;
  #heldChars = 0;

  constructor(expected: ExpectedSamples) {
    this.#expected = expected;
  }

  /** Whether every choice has ended. Usage may still follow. */
  get finished(): boolean {
    return this.#choices.size === this.#expected.n && this.#haveAllEnded();
  }

  /** Usage as the server counts it; `null` = not reported (yet). */
  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /** Reads one chunk or whole reply. Returns its events up to the first fault. */
  take(read: ChunkResult): Taken {
    if (!read.ok) return { events: [], fault: read.error };
    const events: GenerationEvent[] = [];
    return { events, fault: this.#takeChunk(read.value, events) };
  }

  /** Checks a reply that the server has ended. Returns the fault of an incomplete one, or `null`. */
  end(): SharedFault | null {
    if (this.finished) return null;
    const began = this.#choices.size;
    if (began === 0 || !this.#haveAllEnded()) return interruptedReply();
    const detail = `the backend gave ${began} of ${this.#expected.n} choices: set "native_n": false if it takes no n`;
    return backendFault('request_refused', detail);
  }

  #haveAllEnded(): boolean {
    return [...this.#choices.values()].every(({ finish }) => finish !== null);
  }

  #takeChunk(chunk: CompletionChunk, events: GenerationEvent[]): SampleFault | null {
    const { choices, usage } = chunk;
    const model = modelOf(chunk);
    if (model !== null) {
      if (model !== this.#expected.answers_as) return otherModel(ANOTHER_MODEL);
      this.#modelSeen = true;
    }
    if (usage !== undefined && usage !== null) this.#usage = usage;
    if (repeatsChoice(chunk)) return backendFault('error', 'the backend sent the same choice twice');
    for (const { index, delta, message, finish_reason } of choices) {
      const position = index ?? 0;
      // Choices beyond the requested number are ignored.
      if (!Number.isInteger(position) || position < 0 || position >= this.#expected.n) continue;
      if (!this.#modelSeen && this.#expected.echo === 'must') {
        return otherModel('the backend did not say which model answers');
      }
      const fault =
        this.#takePart(position, delta ?? message ?? {}, events) ?? this.#finish(position, finish_reason, events);
      if (fault !== null) return fault;
    }
    return null;
  }

  #takePart(choice: number, part: CompletionPart, events: GenerationEvent[]): SampleFault | null {
    if (part.refusal) return backendFault('refusal', 'the model refused to answer');
    const read = samplePartSchema.safeParse(part);
    if (!read.success) return backendFault('not_an_api', 'the backend sent a choice that is no chat completion');
    const { reasoning, reasoning_content, tool_calls } = read.data;
    const thinking = reasoning || reasoning_content;
    const state = this.#choiceOf(choice);
    if (state.finish !== null) {
      const more = Boolean(thinking || part.content || tool_calls?.length);
      return more ? backendFault('error', 'the backend went on with a choice that had ended') : null;
    }
    if (thinking) events.push({ type: 'thinking', choice, text: thinking });
    if (part.content) events.push({ type: 'text', choice, text: part.content });
    for (const [position, call] of (tool_calls ?? []).entries()) {
      const fault = this.#hold(state, call.index ?? position, call);
      if (fault !== null) return fault;
    }
    return null;
  }

  #hold({ calls }: Choice, index: number, { id, function: called }: CallDelta): SampleFault | null {
    // Some models end a call with a delta of nulls, whose index can be any number.
    if (!id && !called?.name && !called?.arguments) return null;
    const held = calls.get(index) ?? { id: null, name: '', arguments: '' };
    calls.set(index, held);
    if (id) held.id ??= id;
    held.name += called?.name ?? '';
    held.arguments += called?.arguments ?? '';
    this.#heldChars += (called?.name?.length ?? 0) + (called?.arguments?.length ?? 0);
    if (calls.size <= MAX_TOOL_CALLS && this.#heldChars <= MAX_HELD_CHARS) return null;
    return backendFault('reply_too_large', 'the tool calls of the reply are too large');
  }

  #finish(choice: number, reason: string | null | undefined, events: GenerationEvent[]): SampleFault | null {
    const state = this.#choiceOf(choice);
    if (!reason) return null;
    if (state.finish !== null) {
      // Some servers repeat the reason next to the usage.
      const differs = reason !== state.finish;
      return differs ? backendFault('error', 'the backend ended a choice for two different reasons') : null;
    }
    state.finish = reason;
    const fault = faultOfFinish(reason);
    if (fault !== null) return fault;
    const calls = [...state.calls].sort(([a], [b]) => a - b);
    // At the length limit the last call is incomplete.
    if (reason === 'length') calls.pop();
    for (const [index, held] of calls) {
      if (held.name === '') return backendFault('not_an_api', 'the backend sent a tool call without a name');
      this.#heldChars -= held.name.length + held.arguments.length;
      events.push({ type: 'tool_call', choice, call: callOf(choice, index, held) });
    }
    state.calls.clear();
    events.push({ type: 'finish', choice, finish_reason: reason });
    return null;
  }

  #choiceOf(choice: number): Choice {
    const known = this.#choices.get(choice);
    if (known !== undefined) return known;
    const made: Choice = { finish: null, calls: new Map() };
    this.#choices.set(choice, made);
    return made;
  }
}

function callOf(choice: number, index: number, { id, name, arguments: text }: HeldCall): NativeToolCall {
  return { id: id ?? `call_${choice}_${index}`, name, arguments: text };
}

function otherModel(detail: string): SharedFault {
  return backendFault('model_mismatch', detail);
}

/**
 * Returns `null` if the choice is a sample, for any reason of the server; a sample cut at its length limit is valid.
 */
function faultOfFinish(finish: string): SharedFault | null {
  switch (finish) {
    case 'content_filter':
      return backendFault('refusal', 'a content filter withheld the reply');
    case 'abort':
      return backendFault('interrupted', 'the backend aborted the reply');
    case 'error':
      return backendFault('error', 'the backend ended the reply with an error');
    default:
      return null;
  }
}
