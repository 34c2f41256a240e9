/**
 * One chunk of a chat completion in OpenAI's shape, or a whole one, across the dialects of vLLM, SGLang, llama.cpp, Ollama
 * and Workers AI: null and missing fields are the same, usage may be missing, an error may stand in its place.
 */

import * as z from 'zod';
import { backendFault, type SharedFault } from '../calls/failures.ts';
import { errorOf, faultOfError } from './error-reply.ts';

/** `delta` in a stream, `message` in a whole reply. What else stands in it, its reader reads. */
const partSchema = z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() });

const choiceSchema = z.object({
  index: z.number().nullish(),
  delta: partSchema.nullish(),
  message: partSchema.nullish(),
  finish_reason: z.string().nullish(),
});

const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choiceSchema),
  // A server's odd way of counting is no reason to lose a reply.
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

/** The same from its text. Text that is no JSON is a reply that broke off: servers do not send half a value knowingly. */
export function readChunkText(text: string): ChunkResult {
  try {
    return readChunk(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, fault: brokeOff() };
    throw error;
  }
}

/** The fault of a reply that ended before its end. */
export function brokeOff(): SharedFault {
  return backendFault('interrupted', 'the reply broke off');
}
