/** The replies to workerd's `r2Bucket` binding: JSON with its length in a header, then the bytes of the object. */

/** An object as it is stored, without its bytes. */
export type StoredObject = {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly uploaded_ms: number;
  /** JSON: hexadecimal digests by the number of their algorithm. */
  readonly checksums: string;
  /** JSON. */
  readonly http: string;
  /** JSON: a list of `{k, v}`. */
  readonly custom: string;
  /** JSON: the blobs in order, `[id, bytes]`. */
  readonly blobs: string;
};

export type ByteRange = { readonly offset: number; readonly length: number };

const METADATA_SIZE = 'cf-r2-metadata-size';

/** The error codes of R2 that the binding turns into a message or into `null`. */
const ERRORS = {
  internal: [500, 10_001, 'We encountered an internal error. Please try again.'],
  missing: [404, 10_007, 'The specified key does not exist.'],
  part_too_small: [400, 10_011, 'A part must have at least 5 MiB, and all but the last the same size.'],
  bad_name: [400, 10_020, 'An object name must have at most 1,024 bytes.'],
  bad_limit: [400, 10_022, 'MaxKeys must be from 1 to 1000.'],
  no_upload: [400, 10_024, 'The specified multipart upload does not exist.'],
  no_part: [400, 10_025, 'One or more of the specified parts could not be found.'],
  bad_request: [400, 10_029, 'The request is malformed.'],
  precondition: [412, 10_031, 'At least one of the pre-conditions you specified did not hold.'],
  bad_digest: [400, 10_037, 'The checksum you specified did not match what we received.'],
  bad_range: [416, 10_039, 'The requested range is not satisfiable.'],
} as const;

export type R2Error = keyof typeof ERRORS;

/** @param stored of a failed condition: the binding returns it without its body. */
export function refused(error: R2Error, stored?: StoredObject): Response {
  const [status, v4code, message] = ERRORS[error];
  const headers = { 'cf-r2-error': JSON.stringify({ version: 1, v4code, message }) };
  if (stored === undefined) return new Response(null, { status, headers });
  const text = JSON.stringify(described(stored));
  return new Response(text, { status, headers: { ...headers, [METADATA_SIZE]: lengthOf(text) } });
}

export function replied(value: object): Response {
  const text = JSON.stringify(value);
  return new Response(text, { headers: { [METADATA_SIZE]: lengthOf(text), 'content-type': 'application/json' } });
}

/** @param body the bytes of the range. */
export function repliedWith(stored: StoredObject, range: ByteRange, body: AsyncIterable<Uint8Array>): Response {
  const head = new TextEncoder().encode(JSON.stringify(described(stored, range)));
  const fixed = new FixedLengthStream(head.byteLength + range.length);
  void send(fixed.writable, head, body);
  return new Response(fixed.readable, { headers: { [METADATA_SIZE]: String(head.byteLength) } });
}

async function send(
  writable: WritableStream<Uint8Array>,
  head: Uint8Array,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    await writer.write(head);
    for await (const bytes of body) await writer.write(bytes);
    await writer.close();
  } catch (error) {
    // The reader went away, or the object lost its bytes: the reply ends early, and its reader fails.
    await writer.abort(error).catch(() => undefined);
  }
}

/** The properties of an object in the names of the binding. */
export function described(stored: StoredObject, range: ByteRange = { offset: 0, length: stored.size }): object {
  return {
    name: stored.key,
    version: stored.version,
    size: stored.size,
    etag: stored.etag,
    uploaded: stored.uploaded_ms,
    httpFields: JSON.parse(stored.http),
    customFields: JSON.parse(stored.custom),
    range,
    checksums: JSON.parse(stored.checksums),
  };
}

function lengthOf(text: string): string {
  return String(new TextEncoder().encode(text).byteLength);
}
