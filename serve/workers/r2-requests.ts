/** The requests of workerd's `r2Bucket` binding: JSON in a header, or before the bytes of the body. */
import * as z from 'zod';

const etagsSchema = z.array(z.object({ type: z.enum(['strong', 'weak', 'wildcard']), value: z.string().optional() }));
const timeSchema = z.coerce.number();

const conditionSchema = z.object({
  etagMatches: etagsSchema.optional(),
  etagDoesNotMatch: etagsSchema.optional(),
  uploadedBefore: timeSchema.optional(),
  uploadedAfter: timeSchema.optional(),
  secondsGranularity: z.boolean().optional(),
});

const fieldsSchema = z.array(z.object({ k: z.string(), v: z.string() }));
const httpSchema = z.record(z.string(), z.unknown());
const numberSchema = z.coerce.number();

const rangeSchema = z.object({
  offset: numberSchema.optional(),
  length: numberSchema.optional(),
  suffix: numberSchema.optional(),
});

const metadata = { customFields: fieldsSchema.optional(), httpFields: httpSchema.optional() };
const upload = { object: z.string(), uploadId: z.string() };

export const requestSchema = z.discriminatedUnion('method', [
  z.object({ method: z.literal('head'), object: z.string() }),
  z.object({
    method: z.literal('get'),
    object: z.string(),
    range: rangeSchema.optional(),
    rangeHeader: z.string().optional(),
    onlyIf: conditionSchema.optional(),
  }),
  z.object({
    method: z.literal('list'),
    limit: z.number().optional(),
    prefix: z.string().optional(),
    cursor: z.string().optional(),
    delimiter: z.string().optional(),
    startAfter: z.string().optional(),
    /** 0 = HTTP metadata, 1 = custom metadata. */
    include: z.array(z.number()).optional(),
  }),
  z.object({
    method: z.literal('put'),
    object: z.string(),
    ...metadata,
    onlyIf: conditionSchema.optional(),
    /** Base64; the others are hexadecimal. */
    md5: z.string().optional(),
    sha1: z.string().optional(),
    sha256: z.string().optional(),
    sha384: z.string().optional(),
    sha512: z.string().optional(),
  }),
  z.object({ method: z.literal('delete'), object: z.string().optional(), objects: z.array(z.string()).optional() }),
  z.object({ method: z.literal('createMultipartUpload'), object: z.string(), ...metadata }),
  z.object({ method: z.literal('uploadPart'), ...upload, partNumber: z.number() }),
  z.object({
    method: z.literal('completeMultipartUpload'),
    ...upload,
    parts: z.array(z.object({ etag: z.string(), part: z.number() })),
  }),
  z.object({ method: z.literal('abortMultipartUpload'), ...upload }),
]);

export type R2Request = z.infer<typeof requestSchema>;
export type RequestOf<M extends R2Request['method']> = Extract<R2Request, { readonly method: M }>;
type Condition = z.infer<typeof conditionSchema>;

/** Whether the condition holds for the stored object; `null` = there is none. RFC 9110, section 13. */
export function holds(
  condition: Condition | undefined,
  stored: { readonly etag: string; readonly uploaded_ms: number } | null,
): boolean {
  if (condition === undefined) return true;
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter, secondsGranularity } = condition;
  if (stored === null) return etagMatches === undefined && uploadedAfter === undefined;
  const rounded = (ms: number): number => (secondsGranularity === true ? Math.floor(ms / 1_000) : ms);
  const names = (etags: z.infer<typeof etagsSchema>): boolean =>
    etags.some(({ type, value }) => type === 'wildcard' || value === stored.etag);
  if (etagMatches !== undefined ? !names(etagMatches) : !isBefore(uploadedBefore)) return false;
  if (etagDoesNotMatch !== undefined) return !names(etagDoesNotMatch);
  return uploadedAfter === undefined || rounded(stored.uploaded_ms) > rounded(uploadedAfter);

  function isBefore(limit_ms: number | undefined): boolean {
    return limit_ms === undefined || stored === null || rounded(stored.uploaded_ms) < rounded(limit_ms);
  }
}

/** The bytes of a range; `null` = the object does not have them. */
export function bytesOfRange(
  { range, rangeHeader }: Pick<RequestOf<'get'>, 'range' | 'rangeHeader'>,
  size: number,
): { readonly offset: number; readonly length: number } | null {
  const given = rangeHeader === undefined ? range : rangeOfHeader(rangeHeader);
  if (given === undefined) return { offset: 0, length: size };
  const { offset, length, suffix } = given;
  if (suffix !== undefined) {
    const kept = Math.min(suffix, size);
    return suffix > 0 ? { offset: size - kept, length: kept } : null;
  }
  const start = offset ?? 0;
  const most = size - start;
  if (start < 0 || start > size || (length ?? most) <= 0) return null;
  return { offset: start, length: Math.min(length ?? most, most) };
}

/** `bytes=0-99`, `bytes=100-` or `bytes=-100`; undefined for anything else, which HTTP says to ignore. */
function rangeOfHeader(header: string): z.infer<typeof rangeSchema> | undefined {
  const found = /^bytes=(?<first>\d*)-(?<last>\d*)$/u.exec(header.trim())?.groups;
  const first = found?.['first'] ?? '';
  const last = found?.['last'] ?? '';
  if (first === '') return last === '' ? undefined : { suffix: Number(last) };
  return last === '' ? { offset: Number(first) } : { offset: Number(first), length: Number(last) - Number(first) + 1 };
}
