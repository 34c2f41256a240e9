/**
 * Files and uploads in the shape of OpenAI's API. Unknown members are ignored, because OpenAI's clients send some.
 */
import * as z from 'zod';
import {
  MAX_FILE_BYTES,
  MAX_FILE_LIFETIME_S,
  MAX_FILE_NAME_CHARS,
  MAX_FILES_LISTED,
  MAX_NAME_CHARS,
  MAX_UPLOAD_PARTS,
  MIN_FILE_LIFETIME_S,
} from '../limits.ts';

/** Purposes that OpenAI's clients can name and this API refuses. */
const OTHER_PURPOSES: readonly string[] = ['assistants', 'fine-tune', 'vision', 'user_data', 'evals'];

const purposeSchema = z
  .string()
  .refine((purpose) => !OTHER_PURPOSES.includes(purpose), {
    error: ({ input }) => `expected "batch": files are for batches here, and not for "${String(input)}"`,
    abort: true,
  })
  .meta({ enum: ['batch'] })
  .pipe(z.literal('batch'));

const fileLifetimeSchema = z.object({
  anchor: z.literal('created_at'),
  seconds: z.coerce.number().int().min(MIN_FILE_LIFETIME_S).max(MAX_FILE_LIFETIME_S),
});

const idSchema = z.string();
const timeSchema = z.int().describe('Unix time in seconds.');

/** The validated form fields beside the file; the form sends `expires_after` as two fields in brackets. */
export const fileFieldsSchema = z.object({
  purpose: purposeSchema,
  expires_after: fileLifetimeSchema.exactOptional(),
});

export const fileFormSchema = z.object({
  purpose: purposeSchema,
  'expires_after[anchor]': fileLifetimeSchema.shape.anchor.exactOptional(),
  'expires_after[seconds]': fileLifetimeSchema.shape.seconds.exactOptional(),
  file: z.string().describe(`The content, at most ${MAX_FILE_BYTES} bytes.`).meta({ format: 'binary' }),
});

export const fileSchema = z.strictObject({
  id: idSchema,
  object: z.literal('file'),
  bytes: z.int().min(0),
  created_at: timeSchema,
  expires_at: timeSchema.exactOptional(),
  filename: z.string(),
  purpose: z.enum(['batch', 'batch_output']),
  status: z.literal('processed'),
});

/** A stored file, in the shape of OpenAI's Files API. */
export type FileReply = z.infer<typeof fileSchema>;

export const fileListSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(fileSchema),
  has_more: z.boolean(),
  first_id: idSchema.nullable(),
  last_id: idSchema.nullable(),
});

export type FileListReply = z.infer<typeof fileListSchema>;

export const fileListQuerySchema = z.object({
  after: z.string().max(MAX_NAME_CHARS).exactOptional().describe('The last id of the previous page.'),
  limit: z.coerce.number().int().min(1).max(MAX_FILES_LISTED).default(MAX_FILES_LISTED),
  order: z.enum(['asc', 'desc']).default('desc').describe('Order by creation time.'),
  purpose: z.string().max(MAX_NAME_CHARS).exactOptional(),
});

export const fileDeletedSchema = z.strictObject({ id: idSchema, object: z.literal('file'), deleted: z.literal(true) });

export const uploadRequestSchema = z.object({
  bytes: z.int().min(0).max(MAX_FILE_BYTES).describe('Size of all parts together.'),
  filename: z.string().min(1).max(MAX_FILE_NAME_CHARS),
  mime_type: z.string().max(MAX_NAME_CHARS).exactOptional().describe('Ignored.'),
  purpose: purposeSchema,
  expires_after: fileLifetimeSchema.exactOptional(),
});

export const uploadPartFormSchema = z.object({
  data: z.string().describe('The bytes of the part.').meta({ format: 'binary' }),
});

export const uploadPartSchema = z.strictObject({
  id: idSchema,
  object: z.literal('upload.part'),
  created_at: timeSchema,
  upload_id: idSchema,
});

/** A part of an upload. */
export type UploadPartReply = z.infer<typeof uploadPartSchema>;

export const uploadCompletionSchema = z.object({
  part_ids: z.array(z.string().max(MAX_NAME_CHARS)).max(MAX_UPLOAD_PARTS).describe('In file order.'),
  md5: z
    .string()
    .regex(/^[0-9a-fA-F]{32}$/, { error: 'expected 32 hex digits' })
    .exactOptional()
    .describe('MD5 of the whole file, in hex.'),
});

export const uploadSchema = z.strictObject({
  id: idSchema,
  object: z.literal('upload'),
  bytes: z.int().min(0),
  created_at: timeSchema,
  expires_at: timeSchema,
  filename: z.string(),
  purpose: z.literal('batch'),
  status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
  file: fileSchema.exactOptional().describe('Present once the upload is completed.'),
});

/** An upload, with its file once it is complete. */
export type UploadReply = z.infer<typeof uploadSchema>;
