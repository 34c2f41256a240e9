/**
 * Reads and validates request bodies and queries within their limits. Bytes are counted as they arrive, so a missing or
 * false Content-Length cannot fill the memory of the isolate. Lone surrogates and NUL in JSON escapes are legal and are
 * passed on unchanged.
 */
import type * as z from 'zod';
import { RequestError } from '../../service/failures.ts';
import { mostClaims, type PossibleGrammars } from '../../src/citations/answer-limits.ts';
import { problemsOfIssues } from '../../src/input-problem.ts';
import { MAX_BODY_BYTES, MAX_DISCARDED_BYTES, MAX_UNAUTHENTICATED_DISCARDED_BYTES } from '../../src/limits.ts';
import type { Lease } from '../leases.ts';
import type { Context } from './context.ts';

/** How long the rest of a refused body of unknown length is read. */
const DISCARD_MS = 2_000;

/**
 * Reads and validates the body. @throws RequestError for every error of the caller.
 * @param waitMs how long a body waits for room in the isolate before it is refused.
 */
export async function readJson<S extends z.ZodType>(c: Context, schema: S, waitMs = 0): Promise<z.output<S>> {
  requireJson(c.req.raw.headers);
  const start = performance.now();
  const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES, c.get('bodyLease'), waitMs);
  c.get('phases').body = performance.now() - start;
  return parseBody(bytes, schema);
}

/** Validates a body that has been read. @throws RequestError for every error of the caller. */
export function parseBody<S extends z.ZodType>(bytes: Uint8Array, schema: S): z.output<S> {
  return parseText(decode(bytes), schema);
}

/** Validates the text of a body, or of its first line. @throws RequestError for every error of the caller. */
export function parseText<S extends z.ZodType>(text: string, schema: S): z.output<S> {
  return validated(parseJson(text), schema);
}

/** Validates a value that has been read. @throws RequestError for every error of the caller. */
export function validated<S extends z.ZodType>(value: unknown, schema: S): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RequestError({ reason: 'input_invalid', problems: problemsOfIssues(parsed.error.issues, value) });
}

/** Validates the query. A repeated parameter is an error, like an unknown one. */
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

/**
 * Reads the raw body, whose bytes the lease reserves before they are read. @throws RequestError if it is too large, the
 * isolate holds too many bodies, or the connection closes.
 * @param waitMs how long the body waits for room in the isolate.
 */
export async function readBytes(request: Request, limit_bytes: number, lease: Lease, waitMs = 0): Promise<Uint8Array> {
  const room = new LeasedRoom(lease, waitMs);
  if (request.body === null) return new Uint8Array();
  // Made on demand, because an error captures the stack.
  const tooLarge = () => new RequestError({ reason: 'body_too_large', limit_bytes });
  const length = declaredBytes(request.headers);
  if (length !== null && length <= limit_bytes) {
    if (!(await room.take(length))) throw new RequestError({ reason: 'overloaded' });
    return new Uint8Array(await readWhole(request));
  }
  const reader = request.body.getReader();
  if (length !== null) {
    await discard(reader);
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === null) return joined(chunks, bytes);
    bytes += chunk.byteLength;
    if (bytes > limit_bytes) {
      await discard(reader);
      throw tooLarge();
    }
    if (!(await room.take(chunk.byteLength))) {
      await discardForAWhile(reader);
      throw new RequestError({ reason: 'overloaded' });
    }
    chunks.push(chunk);
  }
}

/** How often a waiting body asks for room. Requests cannot wake one another: each has its own I/O context. */
const ROOM_POLL_MS = 250;

/** Takes what one request needs from its lease, and waits for room for a limited time in all. */
class LeasedRoom {
  readonly #lease: Lease;
  #waitsMs: number;

  constructor(lease: Lease, waitMs: number) {
    this.#lease = lease;
    this.#waitsMs = waitMs;
  }

  async take(amount: number): Promise<boolean> {
    while (!this.#lease.grow(amount)) {
      if (this.#waitsMs <= 0) return false;
      this.#waitsMs -= ROOM_POLL_MS;
      await new Promise((resolve) => setTimeout(resolve, ROOM_POLL_MS));
    }
    return true;
  }
}

/**
 * Reserves the buffers of a route that streams its body. They count less than a parsed body, which takes about eight
 * times its bytes. @throws RequestError if the isolate holds too much.
 */
export function reserveBuffers(lease: Lease, bytes: number): void {
  if (!lease.grow(Math.ceil(bytes / PARSED_BYTES_PER_BODY_BYTE))) throw new RequestError({ reason: 'overloaded' });
}

const PARSED_BYTES_PER_BODY_BYTE = 8;

/**
 * Reserves the claims of the answers that a request scores together or verifies. @throws RequestError if the isolate
 * holds too many.
 * @param options.waitMs how long the request waits for room. Default 0.
 * @param options.grammars Default: those of recipes.
 */
export async function admitAnswers(
  c: Context,
  responses: readonly string[],
  { waitMs = 0, grammars = 'recipes' }: { readonly waitMs?: number; readonly grammars?: PossibleGrammars } = {},
): Promise<void> {
  const claims = responses.reduce((sum, response) => sum + mostClaims(response, responses.length, grammars), 0);
  const room = new LeasedRoom(c.get('claimLease'), waitMs);
  if (!(await room.take(claims))) throw new RequestError({ reason: 'overloaded' });
}

/** Reserves claims that were counted. Returns false if the isolate holds too many. */
export function admitClaims(c: Context, claims: number): boolean {
  return c.get('claimLease').grow(claims);
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

/** The declared length, which HTTP enforces; `null` = the body is chunked or undeclared and must be counted. */
export function declaredBytes(headers: Headers): number | null {
  const length = headers.get('content-length');
  if (length === null || headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return null;
  return Number(length);
}

/** Reads a whole body in one read, which is several times cheaper than reading chunk by chunk. */
async function readWhole(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch {
    // Reading fails only if the caller's connection closes.
    throw new RequestError({ reason: 'body_interrupted' });
  }
}

/**
 * Reads the rest of a body and drops it, up to a limit. If the reply came before the end of the body, some
 * proxies (the local one, too) would drop the connection, and the caller would not receive the problem.
 */
async function discard(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limitBytes = MAX_DISCARDED_BYTES,
): Promise<void> {
  let bytes = 0;
  for (;;) {
    const chunk = await readChunk(reader);
    if (chunk === null) return;
    bytes += chunk.byteLength;
    if (bytes > limitBytes) return reader.cancel();
  }
}

/**
 * Discards the body of a request that was refused before its body was read, so that the caller receives the reply. Of a
 * caller that is not authenticated nothing longer than MAX_UNAUTHENTICATED_DISCARDED_BYTES is read.
 */
export async function discardUnread(request: Request, authenticated: boolean): Promise<void> {
  if (request.body === null || request.bodyUsed || request.body.locked) return;
  const reader = request.body.getReader();
  const length = declaredBytes(request.headers);
  const limitBytes = authenticated ? MAX_DISCARDED_BYTES : MAX_UNAUTHENTICATED_DISCARDED_BYTES;
  if (length === null) await discardForAWhile(reader, limitBytes);
  else if (length > limitBytes) await reader.cancel();
  else await discard(reader, limitBytes);
}

/**
 * Discards a body of unknown length, which may arrive arbitrarily slowly, for DISCARD_MS. A connection that closes
 * meanwhile is no failure: its client cannot receive the reply anyway.
 */
export async function discardForAWhile(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limitBytes = MAX_DISCARDED_BYTES,
): Promise<void> {
  // Cancelling fails only if the stream has already ended.
  const patience = setTimeout(() => reader.cancel().catch(() => undefined), DISCARD_MS);
  try {
    await discard(reader, limitBytes);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  } finally {
    clearTimeout(patience);
  }
}

/** Reads the next bytes; returns null at the end. @throws RequestError if the caller's connection closes. */
export async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  try {
    const { done, value } = await reader.read();
    return done ? null : value;
  } catch {
    // The error of the stream says no more than `body_interrupted`, so it is dropped.
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
    // V8 appends the index of the error to its message. The rest of the message may quote the body and is dropped.
    const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1];
    throw new RequestError({ reason: 'body_not_json', position: position === undefined ? null : Number(position) });
  }
}
