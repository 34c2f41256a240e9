/**
 * What an error body says, in each dialect: `{error: {...}}` (vLLM, llama.cpp, Ollama), `{error: "..."}` (vLLM's 401,
 * TGI), flat `{object: "error", ...}` (SGLang). Only what classifies the failure is kept; the words stay unread by
 * anyone, as they quote prompts.
 */
import * as z from 'zod';

export type BackendError = {
  /** The HTTP status that the body names, as it is all there is behind a 200 that streams. */
  readonly status: number | null;
  /** The prompt and the reply do not fit into the model's context. */
  readonly too_long: boolean;
};

const describedSchema = z.object({
  message: z.unknown().optional(),
  type: z.unknown().optional(),
  code: z.unknown().optional(),
});

const errorSchema = z.union([
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error, type: null, code: null })),
  z.object({ error: describedSchema }).transform(({ error }) => error),
  z.object({ object: z.literal('error') }).and(describedSchema),
]);

/** The error that a JSON value is; `null` if it is none. */
export function errorOf(value: unknown): BackendError | null {
  const parsed = errorSchema.safeParse(value);
  if (!parsed.success) return null;
  const { message, type, code } = parsed.data;
  return { status: statusOf(code), too_long: [message, type, code].some(saysTooLong) };
}

/** The error in the text of a body; `null` if it is not JSON or no error. */
export function errorInText(text: string): BackendError | null {
  try {
    return errorOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function statusOf(code: unknown): number | null {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : null;
}

/** How vLLM, SGLang, llama.cpp and OpenAI say it, in messages, types and codes. */
const TOO_LONG = [
  'maximum context length',
  'context length',
  'context_length_exceeded',
  'context size',
  'exceed_context_size_error',
  'max_model_len',
];

function saysTooLong(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const plain = text.toLowerCase();
  return TOO_LONG.some((marker) => plain.includes(marker));
}
