/**
 * `POST /v1/verify/stream`: a response is verified while it is sent. Pure CPU, as `/v1/verify` is: no binding is touched.
 * What is wrong with the first line is a plain problem; what goes wrong later is the event `error`, and the end.
 *
 * Events wait in a queue for a caller who sends first and reads then; only past MAX_QUEUED_BYTES is no more of the body
 * read. A caller who goes away ends it all: a comment is written every second, and a write that fails is noticed.
 */
import { Hono } from 'hono';
import { createIncrementalVerifier, type IncrementalVerifier } from '../../src/citations/incremental.ts';
import type { StreamEvent } from '../../src/citations/incremental-events.ts';
import { parseResponse } from '../../src/citations/parse.ts';
import { sizeProblems } from '../../src/citations/size.ts';
import { sourcesOf } from '../../src/citations/sources.ts';
import type { ParsedResponse, SourceSet } from '../../src/citations/types.ts';
import { describeResponse, type Verification } from '../../src/citations/verify.ts';
import type { InputProblem } from '../../src/input-problem.ts';
import { readLines } from '../../src/judgments/jsonl.ts';
import { MAX_BODY_BYTES, MAX_DISCARDED_BYTES, MAX_TEXT_CHARS } from '../../src/limits.ts';
import { problemsOfIssues } from '../../src/schema/issues.ts';
import { rolloutSources } from '../../src/schema/rollout.ts';
import {
  type VerifyStreamHead,
  verifyStreamDeltaSchema,
  verifyStreamHeadSchema,
  verifyStreamQuerySchema,
} from '../../src/schema/verify-stream.ts';
import { requireScope } from './auth.ts';
import { parseBody, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { failureOf, problemOf, RequestError } from './errors.ts';

const HEARTBEAT_MS = 1_000;
/** Events that wait for a caller who does not read, in bytes: ten times what a long answer with many faults gives. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
/** How long the rest of a refused body is read, so that a caller who is still sending gets to see the refusal. */
const DISCARD_MS = 2_000;

export const verifyStreamRoutes = new Hono<AppEnvironment>().post(
  '/v1/verify/stream',
  requireScope('verify'),
  async (c) => {
    const body = new LineBody(c.req.raw);
    try {
      const { evidence } = readQuery(c, verifyStreamQuerySchema);
      const head = parseBody(await body.first(), verifyStreamHeadSchema);
      const streaming = new VerifyStream(head, evidence, c.get('requestId'));
      return c.body(streaming.start(body), 200, { 'content-type': 'text/event-stream' });
    } catch (error) {
      await body.discard();
      throw error;
    }
  },
);

/** One verification: lines in, events out. */
class VerifyStream {
  readonly #head: VerifyStreamHead;
  readonly #evidence: 'none' | 'lexical';
  readonly #requestId: string;
  readonly #sources: SourceSet;
  readonly #verifier: IncrementalVerifier;
  #chars = 0;

  /** @throws RequestError if there are too many sources. */
  constructor(head: VerifyStreamHead, evidence: 'none' | 'lexical', requestId: string) {
    this.#head = head;
    this.#evidence = evidence;
    this.#requestId = requestId;
    this.#sources = sourcesOf(rolloutSources(head));
    this.#checkSize(parseResponse('', this.#sources));
    const { grammar, answer, mode } = head;
    const choice = answer === undefined ? {} : { answer };
    this.#verifier = createIncrementalVerifier({ sources: this.#sources, grammar, mode, evidence, ...choice });
  }

  /** The events of the body's lines. */
  start(body: LineBody): ReadableStream<Uint8Array> {
    const events = new EventQueue(() => body.cancel());
    const heartbeat = setInterval(() => events.comment(), HEARTBEAT_MS);
    void this.#run(body, events).finally(() => {
      clearInterval(heartbeat);
      return events.end();
    });
    return events.stream;
  }

  async #run(body: LineBody, events: EventQueue): Promise<void> {
    events.comment();
    try {
      for (const finding of this.#sources.findings) events.send('finding', finding);
      for (;;) {
        const line = await body.next();
        if (events.cancelled) return;
        if (line === null) break;
        sendAll(events, this.#verifier.push(this.#deltaOf(line, body.line)));
        await events.room();
      }
      const { events: last, response, parsed } = this.#verifier.finish();
      this.#checkSize(parsed);
      sendAll(events, last);
      events.send('done', this.#describe(response, parsed));
    } catch (error) {
      if (events.cancelled) return;
      const failure = failureOf(error);
      // Its message may quote content and stays out of the log.
      if (failure.reason === 'internal')
        console.error(JSON.stringify({ event: 'stream_failed', error: nameOf(error) }));
      events.send('error', problemOf(failure, this.#requestId));
      await body.discard();
    }
  }

  #deltaOf(line: string, number: number): string {
    const value = parseJson(line, number);
    const parsed = verifyStreamDeltaSchema.safeParse(value);
    if (!parsed.success) refuse(problemsOfIssues(parsed.error.issues, value, ['line', number]));
    const { delta } = parsed.data;
    this.#chars += delta.length;
    if (this.#chars > MAX_TEXT_CHARS) {
      refuse([{ path: ['response'], message: `expected at most ${MAX_TEXT_CHARS} characters` }]);
    }
    return delta;
  }

  #describe(response: string, parsed: ParsedResponse): Verification {
    return describeResponse(response, parsed, this.#sources, this.#head.mode, this.#evidence);
  }

  #checkSize(parsed: ParsedResponse): void {
    const field = this.#head.tool_output === undefined ? 'sources' : 'tool_output';
    const problems = sizeProblems(parsed, this.#sources, field);
    if (problems.length > 0) refuse(problems);
  }
}

function sendAll(events: EventQueue, all: readonly StreamEvent[]): void {
  for (const { type, ...data } of all) events.send(type, data);
}

function refuse(problems: readonly InputProblem[]): never {
  throw new RequestError({ reason: 'input_invalid', problems });
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse([{ path: ['line', number], message: 'expected JSON' }]);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** Server-sent events that wait to be read. */
class EventQueue {
  readonly stream: ReadableStream<Uint8Array>;
  /** The reader went away. */
  cancelled = false;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();

  /** @param onCancel is called when the reader goes away. */
  constructor(onCancel: () => Promise<void>) {
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, strategy);
    this.stream = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => {
      this.cancelled = true;
      return onCancel();
    });
  }

  send(name: string, data: unknown): void {
    this.#write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** A line that says nothing, if nothing else waits to be read: it keeps proxies patient, and notices who is gone. */
  comment(): void {
    if (this.#writer.desiredSize === MAX_QUEUED_BYTES) this.#write(':\n\n');
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    if (!this.cancelled) await this.#settled(this.#writer.ready);
  }

  async end(): Promise<void> {
    if (!this.cancelled) await this.#settled(this.#writer.close());
  }

  #n = 0;
  #write(text: string): void {
    if (++this.#n > 200_000) throw new Error('too many writes');
    if (!this.cancelled) void this.#settled(this.#writer.write(this.#encoder.encode(text)));
  }

  /** What fails here fails because the reader is gone, which `closed` tells. */
  #settled(done: Promise<void>): Promise<void> {
    return done.catch(() => {
      this.cancelled = true;
    });
  }
}

/** The lines of a body within the limit of any body. Blank ones are passed over. */
class LineBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #lines: AsyncGenerator<string>;
  #bytes = 0;
  /** Of the line read last, from 1. */
  line = 0;

  constructor(request: Request) {
    this.#reader = request.body === null ? null : request.body.getReader();
    this.#lines = this.#read();
  }

  /** The first line. @throws RequestError if it cannot be read. */
  async first(): Promise<Uint8Array> {
    const text = await this.next();
    return new TextEncoder().encode(text ?? '');
  }

  /** The next line, `null` at the end. @throws RequestError if it cannot be read. */
  #m = 0;
  async next(): Promise<string | null> {
    if (++this.#m > 3_000) throw new Error('too many lines');
    const { done, value } = await this.#lines.next();
    return done === true ? null : value;
  }

  /** Reads what is left without keeping it, for a while. */
  async discard(): Promise<void> {
    const patience = setTimeout(() => this.cancel(), DISCARD_MS);
    try {
      for (let bytes = 0; bytes <= MAX_DISCARDED_BYTES; ) {
        const chunk = await this.#chunk();
        if (chunk === null) return;
        bytes += chunk.byteLength;
      }
      await this.cancel();
    } catch (error) {
      // The connection is gone, and with it whoever would read the refusal.
      if (!(error instanceof RequestError)) throw error;
    } finally {
      clearTimeout(patience);
    }
  }

  /** Reads no more. */
  async cancel(): Promise<void> {
    await this.#reader?.cancel();
  }

  async *#read(): AsyncGenerator<string> {
    for await (const line of readLines(this.#chunks(), MAX_BODY_BYTES)) {
      this.line++;
      if (!line.ok) throw new RequestError({ reason: 'body_not_utf8' });
      if (line.text.trim() !== '') yield line.text;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = await this.#chunk();
      if (chunk === null) return;
      this.#bytes += chunk.byteLength;
      if (this.#bytes > MAX_BODY_BYTES) {
        throw new RequestError({ reason: 'body_too_large', limit_bytes: MAX_BODY_BYTES });
      }
      yield chunk;
    }
  }

  #k = 0;
  async #chunk(): Promise<Uint8Array | null> {
    if (++this.#k > 6_000) throw new Error('too many chunks');
    if (this.#reader === null) return null;
    try {
      const { done, value } = await this.#reader.read();
      return done ? null : value;
    } catch {
      // The stream's error says no more than that the connection went away.
      throw new RequestError({ reason: 'body_interrupted' });
    }
  }
}
