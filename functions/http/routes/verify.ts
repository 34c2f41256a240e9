/**
 * `POST /v1/verify` verifies the citations of a response; `POST /v1/verify/stream` does so while the response is being
 * sent. Both are pure computation and use no binding.
 *
 * The stream takes JSON lines and returns server-sent events. A problem with the first line is a plain problem reply; a
 * later one is the event `error`, after which the stream ends. A client may send everything before it reads: the body
 * is read until MAX_QUEUED_EVENT_BYTES of events are waiting.
 */

import { invalidInput, RequestError } from '../../../service/failures.ts';
import { StreamedVerification } from '../../../service/verify.ts';
import type { StreamEvent } from '../../../src/citations/stream/events.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import {
  type VerifyStreamHead,
  verifyStreamDeltaSchema,
  verifyStreamHeadSchema,
} from '../../../src/wire/verify-stream.ts';
import { answered } from '../answered.ts';
import { parseText } from '../body.ts';
import { type EventStream, eventStream } from '../event-stream.ts';
import type { Handlers } from '../handlers.ts';
import { BodyLines } from '../json-lines.ts';

export const verifyHandlers = {
  'POST /v1/verify': async (c, query) => {
    return c.json(await answered(c, '/v1/verify', { verifying: query }));
  },
  'POST /v1/verify/stream': async (c, { evidence }) => {
    const lease = c.get('streams').begin(c.req.raw.signal);
    const body = new BodyLines(c.req.raw, lease);
    try {
      const head = headOf((await body.next()) ?? '');
      const verification = new StreamedVerification(head, evidence);
      const events = eventStream(
        c.get('requestId'),
        lease,
        (events) => verifyLines(body, verification, events),
        () => body.discard(),
      );
      return c.body(events, 200, { 'content-type': 'text/event-stream' });
    } catch (error) {
      await body.discard();
      throw error;
    } finally {
      lease.end();
    }
  },
} satisfies Partial<Handlers>;

/** Verifies the remaining lines and sends the events. @throws RequestError for an invalid line. */
async function verifyLines(body: BodyLines, verification: StreamedVerification, events: EventStream): Promise<void> {
  // A disconnected client must also end the wait for its next line.
  events.gone.addEventListener('abort', () => void body.cancel(), { once: true });
  for (const finding of verification.findings) events.send('finding', finding);
  for (;;) {
    const line = await body.next();
    if (events.gone.aborted) return;
    if (line === null) break;
    const delta = deltaOf(line, body.number);
    body.dropped(line.length - delta.length);
    for (const some of verification.push(delta)) {
      sendAll(events, some);
      await events.room();
      if (events.gone.aborted) return;
    }
  }
  const { events: last, verification: whole } = verification.finish();
  sendAll(events, last);
  events.send('done', whole);
}

function sendAll(events: EventStream, all: readonly StreamEvent[]): void {
  events.sendAll(all.map(({ type, ...data }) => ({ name: type, data })));
}

/** Citations of a vendor's stream come after their text, so its claims cannot be told while it arrives. */
const NO_VENDOR_STREAM =
  "a stream takes the response's text; collect the vendor's answer, or the list of its events, and send it whole as " +
  'cited_answer to POST /v1/verify';

function headOf(line: string): VerifyStreamHead {
  try {
    return parseText(line, verifyStreamHeadSchema);
  } catch (error) {
    if (!(error instanceof RequestError) || error.failure.reason !== 'input_invalid') throw error;
    const problems = error.failure.problems.map(({ path, message }) =>
      path[0] === 'cited_answer' || path[0] === 'answer_format'
        ? { path, message: NO_VENDOR_STREAM }
        : { path, message },
    );
    throw new RequestError({ reason: 'input_invalid', problems });
  }
}

function deltaOf(line: string, number: number): string {
  const value = parseJson(line, number);
  const parsed = verifyStreamDeltaSchema.safeParse(value);
  if (parsed.success) return parsed.data.delta;
  if (isVendorEvent(value)) throw invalidInput(['line', number], NO_VENDOR_STREAM);
  const problems = problemsOfIssues(parsed.error.issues, value, ['line', number]);
  throw new RequestError({ reason: 'input_invalid', problems });
}

/** Whether the line is an event of a vendor's stream: Anthropic, OpenAI and Cohere name a type, Gemini has candidates. */
function isVendorEvent(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = ['type', 'candidates', 'choices', 'contentBlockDelta'];
  return names.some((name) => Object.hasOwn(value, name));
}

function parseJson(line: string, number: number): unknown {
  const value = parsedJson(line);
  if (value === undefined) throw invalidInput(['line', number], 'expected JSON');
  return value;
}
