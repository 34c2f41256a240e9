/**
 * Converts the events of a streamed `AI.run` to chunks in OpenAI's format. Some model families send that format; the
 * others send Workers AI's own `{response, tool_calls, usage}`, whose texts may arrive parsed (a number for "42") and
 * which mostly has no finish reason: `[DONE]` ends the reply, and a reply with the maximum number of tokens was cut.
 * Source for both: Cloudflare's client (cloudflare/ai@06ce1b3d, workers-ai-provider/src/streaming.ts).
 */

import * as z from 'zod';
import { backendFault } from '../../../lib/model-servers/calls/failures.ts';
import {
  type ChunkResult,
  type CompletionChunk,
  readChunk,
  readChunkText,
} from '../../../lib/model-servers/dialects/completion-chunk.ts';
import { openAiItem, type StreamItem } from '../../../lib/model-servers/dialects/sample-stream.ts';
import { parsedJson } from '../../../src/json.ts';
import type { TokenUsage } from '../../../src/judgments/protocol/failure.ts';

const usageSchema = z
  .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
  .nullish()
  .catch(null);

/** `{name, arguments}` of older models, or OpenAI's form with a `function`. */
const ownCallSchema = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.unknown().optional(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
});

const ownSchema = z.object({
  response: z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.unknown()), z.null()]).optional(),
  tool_calls: z.array(ownCallSchema).nullish(),
  finish_reason: z.string().nullish(),
  usage: usageSchema,
});

type OwnChunk = z.infer<typeof ownSchema>;
type OwnCall = z.infer<typeof ownCallSchema>;

/** Reads the reply of one run. */
export class RunStreamReader {
  readonly #maxTokens: number;
  #isOwn = false;
  /** Whether an event in Workers AI's own format had a finish reason. */
  #hasFinish = false;
  #usage: TokenUsage | null = null;
  /** Number of text pieces so far, which is a lower bound of the number of tokens. */
  #pieces = 0;
  #calls = 0;

  /** @param max_tokens the length limit of the request. */
  constructor(max_tokens: number) {
    this.#maxTokens = max_tokens;
  }

  /** Reads one event of the stream. */
  item(data: string): StreamItem {
    if (data === '[DONE]') return { read: this.#isOwn && !this.#hasFinish ? this.#lastChunk() : null, last: true };
    const value = parsedJson(data);
    if (value === undefined) return openAiItem(data);
    const own = ownChunkOf(value);
    return { read: own === null ? readChunk(value) : { ok: true, value: this.#chunkOf(own) }, last: false };
  }

  /** Reads a whole reply, from a model that ignores `stream`. */
  whole(value: unknown): ChunkResult {
    if (typeof value === 'string') return readChunkText(value);
    const own = ownChunkOf(value);
    if (own === null) return readChunk(value);
    if (own.response === null && !own.tool_calls?.length) {
      return { ok: false, error: backendFault('refusal', 'the model gave no answer') };
    }
    const { choices, usage } = this.#chunkOf(own);
    const finish_reason = own.finish_reason ?? this.#finishReason();
    return { ok: true, value: { choices: choices.map((choice) => ({ ...choice, finish_reason })), usage } };
  }

  #chunkOf({ response, tool_calls, finish_reason, usage }: OwnChunk): CompletionChunk {
    this.#isOwn = true;
    if (finish_reason) this.#hasFinish = true;
    if (usage !== null && usage !== undefined) this.#usage = usage;
    const content = response === undefined || response === null ? '' : replyText(response);
    if (content !== '') this.#pieces++;
    const calls = (tool_calls ?? []).map((call) => this.#callOf(call));
    return oneChoice({ content, tool_calls: calls }, finish_reason ?? null, this.#usage);
  }

  #callOf(call: OwnCall) {
    const name = call.function?.name ?? call.name ?? null;
    const given = call.function?.arguments ?? call.arguments ?? '';
    // A name starts a new call; a part without name and index continues the last call.
    if (name !== null && name !== '') this.#calls++;
    return {
      index: call.index ?? Math.max(0, this.#calls - 1),
      id: call.id ?? null,
      function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
    };
  }

  #lastChunk(): ChunkResult {
    return { ok: true, value: oneChoice({}, this.#finishReason(), this.#usage) };
  }

  #finishReason(): string {
    const tokens = Math.max(this.#pieces, this.#usage?.completion_tokens ?? 0);
    if (tokens >= this.#maxTokens) return 'length';
    return this.#calls > 0 ? 'tool_calls' : 'stop';
  }
}

function oneChoice(
  delta: NonNullable<CompletionChunk['choices'][number]['delta']>,
  finish_reason: string | null,
  usage: TokenUsage | null,
): CompletionChunk {
  return { choices: [{ index: 0, delta, finish_reason }], usage };
}

/** Reads an event in Workers AI's own format. Returns `null` for OpenAI's format, errors, and unknown values. */
function ownChunkOf(value: unknown): OwnChunk | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(Reflect.get(value, 'choices'))) return null;
  // Some models end with an event that only has usage.
  if (!('response' in value || 'tool_calls' in value || 'usage' in value)) return null;
  const parsed = ownSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

function replyText(response: NonNullable<OwnChunk['response']>): string {
  return typeof response === 'object' ? JSON.stringify(response) : String(response);
}
