/**
 * Reads the replies of OpenAI-compatible servers: reasoning under two names, errors in three forms, optional usage. All
 * other fields are ignored.
 */
import * as z from 'zod';

const usageSchema = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number().optional(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});

export type Usage = z.infer<typeof usageSchema>;

const messageSchema = z.object({
  content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
});

const completionSchema = z.object({
  model: z.string().optional(),
  choices: z.array(z.object({ index: z.number(), message: messageSchema, finish_reason: z.string().nullish() })),
  usage: usageSchema.nullish(),
});

const chunkSchema = z.object({
  choices: z
    .array(z.object({ index: z.number(), delta: messageSchema.nullish(), finish_reason: z.string().nullish() }))
    .optional(),
  usage: usageSchema.nullish(),
  error: z.unknown().optional(),
});

const modelsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_model_len: z.number().nullish(),
      meta: z.object({ n_ctx: z.number().nullish() }).nullish(),
    }),
  ),
});

export type Completion = {
  readonly model: string | null;
  readonly choices: readonly {
    readonly index: number;
    readonly content: string;
    readonly reasoning: string;
    readonly finish_reason: string | null;
  }[];
  readonly usage: Usage | null;
};

/** A chat completion, or `null` for anything else. */
export function readCompletion(json: unknown): Completion | null {
  const parsed = completionSchema.safeParse(json);
  if (!parsed.success) return null;
  return {
    model: parsed.data.model ?? null,
    choices: parsed.data.choices.map(({ index, message, finish_reason }) => ({
      index,
      content: message.content ?? '',
      reasoning: message.reasoning ?? message.reasoning_content ?? '',
      finish_reason: finish_reason ?? null,
    })),
    usage: parsed.data.usage ?? null,
  };
}

export type Chunk = {
  readonly content: string;
  readonly reasoning: string;
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** An error that came inside the stream, after the 200. */
  readonly error: string | null;
};

/** One event of a stream, or `null` for anything else. Only the first choice is read. */
export function readChunk(json: unknown): Chunk | null {
  const parsed = chunkSchema.safeParse(json);
  if (!parsed.success) return null;
  const { choices, usage, error } = parsed.data;
  const first = choices?.find(({ index }) => index === 0);
  return {
    content: first?.delta?.content ?? '',
    reasoning: first?.delta?.reasoning ?? first?.delta?.reasoning_content ?? '',
    finish_reason: first?.finish_reason ?? null,
    usage: usage ?? null,
    error: error === undefined || error === null ? null : (errorMessage(json) ?? 'an error without a message'),
  };
}

export type ServedModel = { readonly id: string; readonly context_tokens: number | null };

/** The list of models, or `null` for anything else. */
export function readModels(json: unknown): readonly ServedModel[] | null {
  const parsed = modelsSchema.safeParse(json);
  if (!parsed.success) return null;
  return parsed.data.data.map(({ id, max_model_len, meta }) => ({
    id,
    context_tokens: max_model_len ?? meta?.n_ctx ?? null,
  }));
}

const errorSchemas = [
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ object: z.literal('error'), message: z.string() }).transform(({ message }) => message),
] as const;

/** The message of an error body, in any of the three shapes. */
export function errorMessage(json: unknown): string | null {
  for (const schema of errorSchemas) {
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
  }
  return null;
}
