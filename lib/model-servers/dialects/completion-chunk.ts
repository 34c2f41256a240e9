/**
 * Reads one chunk of a chat completion in OpenAI's format, or a whole completion, from vLLM, SGLang, llama.cpp, Ollama
 * and Workers AI. A null field equals a missing one, usage is optional, and an error may replace the chunk.
 */

import * as z from 'zod';
import { backendFault, type SharedFault } from '../calls/failures.ts';
import { errorOf, faultOfError } from './error-reply.ts';

/** Text, or a list of parts of which those with text count. */
const contentSchema = z.union([
  z.string(),
  z
    .array(z.looseObject({ text: z.string().nullish() }))
    .transform((parts) => parts.map(({ text }) => text ?? '').join('')),
]);

/** `delta` of a stream or `message` of a whole reply. Other fields are kept for the reader. */
const partSchema = z.looseObject({ content: contentSchema.nullish(), refusal: z.string().nullish() });

const choiceSchema = z.object({
  index: z.number().nullish(),
  delta: partSchema.nullish(),
  message: partSchema.nullish(),
  finish_reason: z.string().nullish(),
});

const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choiceSchema),
  // A malformed usage is dropped, so that it does not cost the reply.
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});

export type CompletionChunk = z.infer<typeof chunkSchema>;
export type CompletionPart = z.infer<typeof partSchema>;

export type ChunkResult =
  | { readonly ok: true; readonly chunk: CompletionChunk }
  | { readonly ok: false; readonly fault: SharedFault };

/** Reads one parsed chunk or whole reply. */
export function readChunk(value: unknown): ChunkResult {
  const error = errorOf(value);
  if (error !== null) return { ok: false, fault: faultOfError(error) };
  const read = chunkSchema.safeParse(value);
  if (read.success) return { ok: true, chunk: read.data };
  return { ok: false, fault: backendFault('not_an_api', 'the backend sent JSON that is no chat completion') };
}

/**
 * Parses one chunk or whole reply from its JSON text. Text that is not JSON counts as an interrupted reply, because
 * servers send only whole values.
 */
export function readChunkText(text: string): ChunkResult {
  try {
    return readChunk(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, fault: interruptedReply() };
    throw error;
  }
}

/** The model that a chunk names; `null` = none. Azure's chunks of its content filter name "" and have no text. */
export function modelOf({ model, choices }: CompletionChunk): string | null {
  const saysNothing = model === '' && choices.every(({ delta, message }) => !delta && !message);
  return saysNothing ? null : (model ?? null);
}

/** Returns whether a chunk has a choice twice. A missing index counts as 0. */
export function repeatsChoice({ choices }: CompletionChunk): boolean {
  return new Set(choices.map(({ index }) => index ?? 0)).size < choices.length;
}

/** The fault of an incomplete reply. */
export function interruptedReply(): SharedFault {
  return backendFault('interrupted', 'the reply broke off');
}
