/** Lines of output and error files as they are read back: by whom they were asked for, and what a summary counts of them. */
import * as z from 'zod';
import { contentOfLine } from '../input/lines.ts';
import { lineFields } from '../input/rows.ts';

/** Longest line that is read, in bytes: a reply names every claim and statement with its place, and has no texts. */
export const MAX_RESULT_LINE_BYTES = 64 * 1024 * 1024;

const resultSchema = z.object({
  id: z.string(),
  custom_id: z.string(),
  response: z.object({ status_code: z.int(), body: z.looseObject({}) }).nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export type ResultLine = z.infer<typeof resultSchema>;

/** Reads one line; `null` if it is no line of a batch's results. */
export function readResultLine(bytes: Uint8Array | null): ResultLine | null {
  const read = lineFields(contentOfLine(bytes, false));
  if (!read.ok) return null;
  const parsed = resultSchema.safeParse(read.fields);
  return parsed.success ? parsed.data : null;
}
