/**
 * Reads one chunk of a chat completion in OpenAI's format, or a whole completion, from vLLM, SGLang, llama.cpp, Ollama
 * and Workers AI. A null field equals a missing one, usage is optional, and an error may replace the chunk.
 */

import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import type { Result } from '../../../src/result.ts';
import { backendFault, type SharedFault } from '../calls/failures.ts';
import { errorOf, faultOfError } from './error-reply.ts';

const textsSchema = z.union([z.string(), z.array(z.looseObject({ text: z.string().nullish() }))]);

/** A part of a content in parts. Mistral nests parts of thinking under `thinking`. */
const contentPartSchema = z.looseObject({
  type: z.string().nullish(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  // Malformed thinking is dropped, so that it does not cost the reply.
  thinking: textsSchema.nullish().catch(null),
});
type ContentPart = z.infer<typeof contentPartSchema>;

/** A part of a reply as servers write it whose content is no list. Other fields are kept for the reader. */
export type CompletionPart = {
  readonly [field: string]: unknown;
  readonly content?: string | null | undefined;
  readonly refusal?: string | null | undefined;
};

/**
 * `delta` of a stream or `message` of a whole reply. In a content of parts, thinking and refusals are no text of the
 * reply; the text of parts of any other type is.
 */
const partSchema = z
  .looseObject({
    content: z.union([z.string(), z.array(contentPartSchema)]).nullish(),
    refusal: z.string().nullish(),
  })
  .transform(({ content, ...part }): CompletionPart => {
    if (!Array.isArray(content)) return { ...part, content };
    const partsOf = (kind: PartKind): ContentPart[] => content.filter((one) => kindOf(one) === kind);
    const reasoning_content = partsOf('thinking')
      .map(({ text, thinking }) => text ?? nestedText(thinking ?? ''))
      .join('');
    const refusal = partsOf('refusal')
      .map((one) => one.refusal ?? one.text ?? '')
      .join('');
    return {
      ...part,
      content: nestedText(partsOf('text')),
      ...(reasoning_content === '' ? {} : { reasoning_content }),
      ...(refusal === '' ? {} : { refusal }),
    };
  });

type PartKind = 'text' | 'thinking' | 'refusal';

/** Only the others are listed, because servers name text in many ways (`output_text`, `response_text`, `json`). */
function kindOf({ type }: ContentPart): PartKind {
  if (/thinking|thought|reasoning|summary/i.test(type ?? '')) return 'thinking';
  return /^refusal$/i.test(type ?? '') ? 'refusal' : 'text';
}

function nestedText(texts: z.infer<typeof textsSchema>): string {
  return typeof texts === 'string' ? texts : texts.map(({ text }) => text ?? '').join('');
}

const choiceSchema = z.object({
  index: z.number().nullish(),
  delta: partSchema.nullish(),
  message: partSchema.nullish(),
  finish_reason: z.string().nullish(),
  error: z.unknown().optional(),
  // Servers send it only to requests that ask for log-probabilities; the judge check reads its tokens.
  logprobs: z
    .object({ content: z.array(z.unknown()).nullish() })
    .nullish()
    .catch(null),
});

const chunkSchema = z.object({
  object: z.unknown().optional(),
  model: z.string().nullish(),
  choices: z.array(choiceSchema).nullish(),
  // A malformed usage is dropped, so that it does not cost the reply.
  usage: z
    .object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});

type WrittenChunk = z.infer<typeof chunkSchema>;
export type CompletionChunk = Pick<WrittenChunk, 'model' | 'usage'> & {
  readonly choices: NonNullable<WrittenChunk['choices']>;
};

export type ChunkResult = Result<CompletionChunk, SharedFault>;

/** Reads one parsed chunk or whole reply. */
export function readChunk(value: unknown): ChunkResult {
  const error = errorOf(value);
  if (error !== null) return { ok: false, error: faultOfError(error) };
  const read = chunkSchema.safeParse(value);
  if (read.success && (read.data.choices || isPartial(read.data))) {
    const choices = read.data.choices ?? [];
    // OpenRouter puts an error of its provider into the choice, whatever its finish reason. An empty one says nothing.
    const failed = choices
      .map((choice) => (isBlank(choice.error) ? null : errorOf(choice)))
      .find((one) => one !== null);
    return failed ? { ok: false, error: faultOfError(failed) } : { ok: true, value: { ...read.data, choices } };
  }
  return { ok: false, error: backendFault('not_an_api', 'the backend sent JSON that is no chat completion') };
}

function isBlank(error: unknown): boolean {
  return error === '' || (typeof error === 'object' && error !== null && Object.keys(error).length === 0);
}

/** Whether a chunk without choices belongs to a stream: some servers leave them out of the chunk with the usage. */
function isPartial({ object, usage }: WrittenChunk): boolean {
  return object === 'chat.completion.chunk' || Boolean(usage);
}

/**
 * Parses one chunk or whole reply from its JSON text. Text that is not JSON counts as an interrupted reply, because
 * servers send only whole values.
 */
export function readChunkText(text: string): ChunkResult {
  const value = parsedJson(text);
  return value === undefined ? { ok: false, error: interruptedReply() } : readChunk(value);
}

/** The model that a chunk names; `null` = none. Azure's chunks of its content filter name "" and have no text. */
export function modelOf({ model, choices }: CompletionChunk): string | null {
  const saysNothing = model === '' && choices.every(({ delta, message }) => !(delta ?? message)?.content);
  return saysNothing ? null : (model ?? null);
}

/** The detail of a reply whose model is not the expected one. */
export const ANOTHER_MODEL =
  'the backend answered as another model: if it is the right one, set answers_as to the name in its replies';

/** Returns whether a chunk has a choice twice. A missing index counts as 0. */
export function repeatsChoice({ choices }: CompletionChunk): boolean {
  return new Set(choices.map(({ index }) => index ?? 0)).size < choices.length;
}

/** The fault of an incomplete reply. */
export function interruptedReply(): SharedFault {
  return backendFault('interrupted', 'the reply broke off');
}
