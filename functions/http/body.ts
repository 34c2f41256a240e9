/**
 * Reading a JSON body within its limits. Bytes are counted while they stream in, so that a body without or with a false
 * Content-Length cannot fill the isolate. Lone surrogates and NUL as JSON escapes are legal and arrive as they are.
 */
import type * as z from 'zod';
import { problemsOfIssues } from '../../src/input-problem.ts';
import { MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from '../../src/limits.ts';
import { RequestError } from '../failures.ts';
import type { Context } from './context.ts';

/** How long the rest of a refused body of unknown length is read. */
const DISCARD_MS = 2_000;

/** Reads and validates the body. @throws RequestError for anything that is the caller's to mend. */
export async function readJson<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  requireJson(c.req.raw.headers);
  const start = performance.now();
  const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES);
  c.get('phases').body = performance.now() - start;
  return parseBody(bytes, schema);
}

/** Validates a body that was read. @throws RequestError for anything that is the caller's to mend. */
export function parseBody<S extends z.ZodType>(bytes: Uint8Array, schema: S): z.output<S> {
  return parseText(decode(bytes), schema);
}

/** Validates the text of a body, or of one that comes before the rest. @throws RequestError likewise. */
export function parseText<S extends z.ZodType>(text: string, schema: S): z.output<S> {
  const value = parseJson(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RequestError({ reason: 'input_invalid', problems: problemsOfIssues(parsed.error.issues, value) });
}

/** Validates the query. A repeated parameter is refused like an unknown one. */
export function readQuery<S extends z.ZodType>(c: Context, schema: S): z.output<S> {
  const values = Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, all]) => [name, all.length === 1 ? all[0] : all]),
  );
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw new RequestError({
    reason: 'input_invalid',
    problems: problemsOfIssues(parsed.error.issues, values, ['query']),
  });
}

function requireJson(headers: Headers): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const encoding = headers.get('content-encoding') ?? 'identity';
  const isJson = type.trim() === 'application/json';
  const isUtf8 = charset === undefined || charset === 'charset=utf-8' || charset === 'charset="utf-8"';
  if (!isJson || !isUtf8 || encoding !== 'identity')
    throw new RequestError({ reason: 'content_type_unsupported', wanted: 'json' });
}

/** A body as it came in. @throws RequestError for one that is too large, or whose connection broke. */
export async function readBytes(request: Request, limit_bytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const tooLarge = new RequestError({ reason: 'body_too_large', limit_bytes });
  const length = declaredBytes(request.headers);
  if (length !== null && length <= limit_bytes) return new Uint8Array(await readWhole(request));
  const reader = request.body.getReader();
  if (length !== null) {
    await discard(reader);
    throw tooLarge;
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === null) return joined(chunks, bytes);
    bytes += chunk.byteLength;
    if (bytes > limit_bytes) {
      await discard(reader);
      throw tooLarge;
    }
    chunks.push(chunk);
  }
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** What HTTP itself holds the body to; `null` where it is chunked or nothing was declared, and has to be counted. */
function declaredBytes(headers: Headers): number | null {
  const length = headers.get('content-length');
  if (length === null || headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return null;
  return Number(length);
}

/** The common case, in one read: several times cheaper than chunk by chunk. */
async function readWhole(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch {
    // Reading fails only when the caller's connection does.
    throw new RequestError({ reason: 'body_interrupted' });
  }
}

/**
 * Reads the rest of a body without keeping it: a reply before the body's end makes some proxies, the local one among
 * them, drop the connection, and the caller would not see why. Gives up on bodies that do not end.
 */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === null) return;
    bytes += chunk.byteLength;
    if (bytes > MAX_DISCARDED_BYTES) return reader.cancel();
  }
}

/** Discards a body that nobody read, as the request was refused before. */
export async function discardUnread(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed || request.body.locked) return;
  const reader = request.body.getReader();
  await (declaredBytes(request.headers) === null ? discardForAWhile(reader) : discard(reader));
}

/**
 * The same for a body of unknown length: it may come as slowly as somebody writes it. A connection that breaks meanwhile
 * is no failure, as whoever would read of it is gone.
 */
export async function discardForAWhile(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  // What cannot be cancelled is over already.
  const patience = setTimeout(() => reader.cancel().catch(() => undefined), DISCARD_MS);
  try {
    await discard(reader);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  } finally {
    clearTimeout(patience);
  }
}

/** The next bytes, or `null` at the end. Reading fails only when the caller's connection does. */
export async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch {
    // The stream's error says no more than that the connection went away.
    throw new RequestError({ reason: 'body_interrupted' });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new RequestError({ reason: 'body_not_utf8' });
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // V8 says where at the end of its message; the rest of the message may quote the body and stays here.
    const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1];
    throw new RequestError({ reason: 'body_not_json', position: position === undefined ? null : Number(position) });
  }
}
