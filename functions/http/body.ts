/**
 * Reads and validates request bodies and queries within their limits. Bytes are counted when they have arrived, so a
 * missing or false Content-Length can neither fill the memory of the isolate nor keep others out. Lone surrogates and
 * NUL in JSON escapes are legal and are passed on unchanged.
 */
import type * as z from 'zod';
import { RequestError } from '../../service/failures.ts';
import { mostClaims, type PossibleGrammars } from '../../src/citations/answer-limits.ts';
import { problemsOfIssues } from '../../src/input-problem.ts';
import { MAX_BODY_BYTES, MAX_DISCARDED_BYTES, MAX_UNAUTHENTICATED_DISCARDED_BYTES } from '../../src/limits.ts';
import { parseJsonValue } from '../../src/wire/absent-fields.ts';
import type { Lease } from '../leases.ts';
import { BodyReader, inTime, PIECE_BYTES } from './body-reader.ts';
import type { Context } from './context.ts';

/** How long a piece of a refused body may take, and the rest of one of a stream. */
const DISCARD_MS = 2_000;

/**
 * Reads and validates the body. @throws RequestError for every error of the caller.
 * @param waitMs how long a body waits for room in the isolate before it is refused.
 */
export async function readJson<S extends z.ZodType>(c: Context, schema: S, waitMs = 0): Promise<z.output<S>> {
  c.get('followCaller')();
  return validated(await readUnchecked(c, waitMs), schema);
}

/**
 * Reads the body as JSON that is validated later. Work that waits with it calls `followCaller` before, as the ports do.
 * @throws RequestError for every error of the caller.
 */
export async function readUnchecked(c: Context, waitMs = 0): Promise<unknown> {
  requireType(c.req.raw.headers, 'json');
  const start = performance.now();
  const bytes = await readBytes(c, MAX_BODY_BYTES, waitMs);
  c.get('phases').body = performance.now() - start;
  return parseJson(decode(bytes));
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
  const parsed = parseJsonValue(schema, value);
  if (parsed.success) return parsed.data;
  throw new RequestError({ reason: 'input_invalid', problems: problemsOfIssues(parsed.error.issues, value) });
}

/** Validates the query. A repeated parameter is an error, like an unknown one. */
export function readQuery<T>(c: Context, schema: z.ZodType<T>): T {
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

const CONTENT_TYPES = { json: 'application/json', jsonl: 'application/jsonl' } as const;

/**
 * Requires a content type, which also keeps web pages out: without a preflight, which the Worker never grants, a page
 * can send neither of them. @throws RequestError
 */
export function requireType(headers: Headers, wanted: keyof typeof CONTENT_TYPES): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const encoding = headers.get('content-encoding') ?? 'identity';
  const isUtf8 = charset === undefined || charset === 'charset=utf-8' || charset === 'charset="utf-8"';
  if (type.trim() !== CONTENT_TYPES[wanted] || !isUtf8 || encoding !== 'identity')
    throw new RequestError({ reason: 'content_type_unsupported', wanted });
}

/** How long a body whose first piece has arrived waits for room, in all. */
const ROOM_WAIT_MS = 10_000;

/**
 * Reads the raw body, which then counts among those that the isolate holds. If there is no room, a body is refused at
 * its start; one that has begun to arrive waits. @throws RequestError if it is too large or too slow, there is no room,
 * or the connection closes.
 * @param waitMs how long the body waits for room at its start.
 */
export async function readBytes(c: Context, limit_bytes: number, waitMs = 0): Promise<Uint8Array> {
  const [body, arriving] = [c.get('bodyLease'), c.get('arrivingLease')];
  const length = declaredBytes(c.req.raw.headers);
  const isSmall = length !== null && length <= PIECE_BYTES;
  if (!isSmall || waitMs > 0) c.get('followCaller')();
  if (!isSmall && c.req.raw.body !== null && (length ?? 0) <= limit_bytes) {
    const hasRoom = await waitUntil(() => body.fits(length ?? PIECE_BYTES) && arriving.fits(1), waitMs);
    if (!hasRoom) throw new RequestError({ reason: 'overloaded' });
  }
  try {
    const bytes = await receiveBytes(c, limit_bytes, arriving);
    const room = new LeasedRoom(body, isSmall ? waitMs : Math.max(waitMs, ROOM_WAIT_MS));
    if (!(await room.take(bytes.byteLength))) throw new RequestError({ reason: 'overloaded' });
    return bytes;
  } finally {
    arriving.end();
  }
}

/**
 * Receives a raw body. A small one is read at once, and is not counted: that is several times cheaper. @throws
 * RequestError
 * @param arriving counts the bytes of a larger body as they arrive.
 */
export async function receiveBytes(c: Context, limit_bytes: number, arriving: Lease): Promise<Uint8Array> {
  const { body, headers } = c.req.raw;
  if (body === null) return new Uint8Array();
  const stallMs = c.get('bodyStallMs');
  const length = declaredBytes(headers);
  if (length !== null && length > limit_bytes) {
    await new BodyReader(body, DISCARD_MS).discard();
    throw new RequestError({ reason: 'body_too_large', limit_bytes });
  }
  if (length !== null && length <= PIECE_BYTES) return new Uint8Array(await inTime(c.req.raw.arrayBuffer(), stallMs));
  const reader = new BodyReader(body, stallMs);
  const room = new LeasedRoom(arriving, ROOM_WAIT_MS);
  let bytes = 0;
  // Grows with what has arrived, up to the announced length, so that nothing is held for bytes that are not sent.
  let buffer = new ArrayBuffer(PIECE_BYTES);
  for (;;) {
    if (bytes === buffer.byteLength) buffer = grown(buffer, length ?? limit_bytes + 1);
    const piece = await reader.read(new Uint8Array(buffer, bytes));
    buffer = piece.buffer;
    if (piece.byteLength === 0) return new Uint8Array(buffer, 0, bytes);
    bytes += piece.byteLength;
    if (bytes > limit_bytes) {
      await reader.discard();
      throw new RequestError({ reason: 'body_too_large', limit_bytes });
    }
    if (!(await room.take(piece.byteLength))) {
      await reader.discard();
      throw new RequestError({ reason: 'overloaded' });
    }
    if (bytes === length) return new Uint8Array(buffer);
  }
}

/** A copy with room for more: for 1 MB at first, then for twice as much, and for no more than the whole. */
function grown(buffer: ArrayBuffer, wholeBytes: number): ArrayBuffer {
  const larger = new ArrayBuffer(Math.min(wholeBytes, Math.max(FIRST_GROWTH_BYTES, 2 * buffer.byteLength)));
  new Uint8Array(larger).set(new Uint8Array(buffer));
  return larger;
}

const FIRST_GROWTH_BYTES = 1024 * 1024;

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
    return waitUntil(
      () => this.#lease.grow(amount),
      this.#waitsMs,
      (ms) => {
        this.#waitsMs -= ms;
      },
    );
  }
}

/** Waits until something holds, for a limited time. Returns whether it does. @param onWait counts the time. */
async function waitUntil(holds: () => boolean, limitMs: number, onWait?: (ms: number) => void): Promise<boolean> {
  for (let leftMs = limitMs; !holds(); leftMs -= ROOM_POLL_MS) {
    if (leftMs <= 0) return false;
    onWait?.(ROOM_POLL_MS);
    await new Promise((resolve) => setTimeout(resolve, ROOM_POLL_MS));
  }
  return true;
}

/**
 * Reserves buffers for content that is no request body. They count less than a parsed body, which takes about eight
 * times its bytes. @throws RequestError if the isolate holds too much.
 */
export function reserveBuffers(lease: Lease, bytes: number): void {
  if (!lease.grow(Math.ceil(bytes / PARSED_BYTES_PER_BODY_BYTE))) throw new RequestError({ reason: 'overloaded' });
}

/** Counts what a route holds of a body that it passes on while it arrives. */
export class PassingBody {
  readonly #lease: Lease;
  readonly #room: LeasedRoom;
  #left: number;

  /**
   * @param most the route holds at a time.
   * @throws RequestError if there is no room for another body.
   */
  constructor(c: Context, most: number) {
    c.get('followCaller')();
    this.#lease = c.get('arrivingLease');
    this.#room = new LeasedRoom(this.#lease, ROOM_WAIT_MS);
    this.#left = most;
    if (!this.#lease.fits(1)) throw new RequestError({ reason: 'overloaded' });
  }

  /** Counts bytes that have arrived, and waits for their room. @throws RequestError if there is none for too long. */
  async add(bytes: number): Promise<void> {
    // Also renews the lease: a body may take minutes to arrive.
    const more = Math.min(this.#left, bytes);
    if (!(await this.#room.take(more))) throw new RequestError({ reason: 'overloaded' });
    this.#left -= more;
  }
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

/** The declared length, which HTTP enforces; `null` = the body is chunked or undeclared and must be counted. */
function declaredBytes(headers: Headers): number | null {
  const length = headers.get('content-length');
  if (length === null || headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return null;
  return Number(length);
}

/**
 * Discards the body of a request that was refused before its body was read, so that the caller receives the reply:
 * otherwise some proxies (the local one, too) would drop the connection. Of a caller that is not authenticated nothing
 * longer than MAX_UNAUTHENTICATED_DISCARDED_BYTES is read.
 */
export async function discardUnread(request: Request, authenticated: boolean): Promise<void> {
  if (request.body === null || request.bodyUsed || request.body.locked) return;
  const length = declaredBytes(request.headers);
  const limitBytes = authenticated ? MAX_DISCARDED_BYTES : MAX_UNAUTHENTICATED_DISCARDED_BYTES;
  if (length !== null && length > limitBytes) await request.body.cancel();
  else await new BodyReader(request.body, DISCARD_MS).discard(limitBytes);
}

/**
 * Discards a body of unknown length, which may arrive arbitrarily slowly, for DISCARD_MS. A connection that closes
 * meanwhile is no failure: its client cannot receive the reply anyway.
 */
export async function discardForAWhile(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  // Cancelling fails only if the stream has already ended.
  const patience = setTimeout(() => reader.cancel().catch(() => undefined), DISCARD_MS);
  try {
    let bytes = 0;
    for (let chunk = await readChunk(reader); chunk !== null; chunk = await readChunk(reader)) {
      bytes += chunk.byteLength;
      if (bytes > MAX_DISCARDED_BYTES) return await reader.cancel();
    }
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

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
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
