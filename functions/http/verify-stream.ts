/**
 * `POST /v1/verify/stream`: a response is verified while it is sent. Pure CPU, as `/v1/verify` is: no binding is touched.
 * What is wrong with the first line is a plain problem; what goes wrong later is the event `error`, and the end.
 *
 * Events wait for a caller who sends first and reads then; only past MAX_QUEUED_EVENT_BYTES is no more of the body read.
 */
import { Hono } from 'hono';
import { parseResponse, sizeProblems } from '../../src/citations/parse.ts';
import { sourcesOf } from '../../src/citations/sources.ts';
import type { StreamEvent } from '../../src/citations/stream/events.ts';
import { createIncrementalVerifier, type IncrementalVerifier } from '../../src/citations/stream/verifier.ts';
import type { ParsedResponse, SourceSet } from '../../src/citations/types.ts';
import { describeResponse, type Verification } from '../../src/citations/verify.ts';
import { rolloutSources } from '../../src/family/rollout-schema.ts';
import { type InputProblem, problemsOfIssues } from '../../src/input-problem.ts';
import { MAX_TEXT_CHARS } from '../../src/limits.ts';
import {
  type VerifyStreamHead,
  verifyStreamDeltaSchema,
  verifyStreamHeadSchema,
  verifyStreamQuerySchema,
} from '../../src/wire/verify-stream.ts';
import { RequestError } from '../failures.ts';
import { requireScope } from './auth.ts';
import { parseText, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { type EventStream, eventStream } from './event-stream.ts';
import { BodyLines } from './verify-stream-lines.ts';

/** A delta is verified in pieces of so many UTF-16 code units, so that the events of a long one do not pile up. */
const PIECE_CHARS = 65_536;

export const verifyStreamRoutes = new Hono<AppEnvironment>().post(
  '/v1/verify/stream',
  requireScope('verify'),
  async (c) => {
    const { evidence } = readQuery(c, verifyStreamQuerySchema);
    const body = new BodyLines(c.req.raw);
    try {
      const head = parseText((await body.next()) ?? '', verifyStreamHeadSchema);
      const verification = new VerificationOfLines(head, evidence);
      const events = eventStream(
        c.get('requestId'),
        (events) => verification.run(body, events),
        () => body.discard(),
      );
      return c.body(events, 200, { 'content-type': 'text/event-stream' });
    } catch (error) {
      await body.discard();
      throw error;
    }
  },
);

/** One verification: lines in, events out. */
class VerificationOfLines {
  readonly #head: VerifyStreamHead;
  readonly #evidence: 'none' | 'lexical';
  readonly #sources: SourceSet;
  readonly #verifier: IncrementalVerifier;
  #chars = 0;

  /** @throws RequestError if there are too many sources. */
  constructor(head: VerifyStreamHead, evidence: 'none' | 'lexical') {
    this.#head = head;
    this.#evidence = evidence;
    this.#sources = sourcesOf(rolloutSources(head));
    this.#checkSize(parseResponse('', this.#sources));
    const { grammar, answer, mode } = head;
    const choice = answer === undefined ? {} : { answer };
    this.#verifier = createIncrementalVerifier({ sources: this.#sources, grammar, mode, evidence, ...choice });
  }

  /** Sends the events of the lines that are left. @throws RequestError */
  async run(body: BodyLines, events: EventStream): Promise<void> {
    // Without this a caller who went away in the middle of a pause would be waited for.
    events.gone.addEventListener('abort', () => void body.cancel(), { once: true });
    for (const finding of this.#sources.findings) events.send('finding', finding);
    for (;;) {
      const line = await body.next();
      if (events.gone.aborted) return;
      if (line === null) break;
      await this.#push(deltaOf(line, body.number), events);
    }
    const { events: last, response, parsed } = this.#verifier.finish();
    this.#checkSize(parsed);
    sendAll(events, last);
    events.send('done', this.#describe(response, parsed));
  }

  async #push(delta: string, events: EventStream): Promise<void> {
    this.#chars += delta.length;
    if (this.#chars > MAX_TEXT_CHARS) {
      refuse([{ path: ['response'], message: `expected at most ${MAX_TEXT_CHARS} characters` }]);
    }
    for (let start = 0; start < delta.length && !events.gone.aborted; start += PIECE_CHARS) {
      sendAll(events, this.#verifier.push(delta.slice(start, start + PIECE_CHARS)));
      await events.room();
    }
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

function sendAll(events: EventStream, all: readonly StreamEvent[]): void {
  events.sendAll(all.map(({ type, ...data }) => ({ name: type, data })));
}

function deltaOf(line: string, number: number): string {
  const value = parseJson(line, number);
  const parsed = verifyStreamDeltaSchema.safeParse(value);
  if (!parsed.success) refuse(problemsOfIssues(parsed.error.issues, value, ['line', number]));
  return parsed.data.delta;
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse([{ path: ['line', number], message: 'expected JSON' }]);
  }
}

function refuse(problems: readonly InputProblem[]): never {
  throw new RequestError({ reason: 'input_invalid', problems });
}
