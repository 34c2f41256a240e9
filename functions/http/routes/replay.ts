/**
 * `POST /v1/runs/{id}/replay`: the rewards and advantages that a run would have had under another recipe, as JSON
 * lines. Lines are produced while the run is read, at the speed of the client. Whatever can be refused is refused
 * before the first line; a later failure is a last line of the kind `error`.
 */

import { RequestError, type RequestFailure } from '../../../service/failures.ts';
import { failureOf, problemOf } from '../../../service/problems.ts';
import { startReplay } from '../../../service/replay.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import { replayRequestSchema } from '../../../src/wire/replay.ts';
import type { ReplayLine } from '../../../src/wire/replay-reply.ts';
import { logEvent } from '../../log-event.ts';
import { readJson } from '../body.ts';
import { platformOf, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { JSON_LINES_HEADERS } from '../json-lines.ts';

/** Lines are sent in chunks of up to this many UTF-16 code units; the end of a step is sent at once. */
const REPLAY_CHUNK_CHARS = 32 * 1024;

export const replayHandlers = {
  'POST /v1/runs/{id}/replay': async (c) => {
    const request = await readJson(c, replayRequestSchema);
    const id = runIdSchema.safeParse(pathParameter(c, 'id'));
    const run = id.success ? await storesOf(c).ledger.find(id.data) : null;
    if (run === null) throw new RequestError({ reason: 'run_not_found' });
    const started = await startReplay(run, request, await platformOf(c));
    if (!started.ok) throw new RequestError(started.error);
    const { lines, judges } = started.value;
    return c.body(streamOf(lines, c.get('requestId'), judges), 200, JSON_LINES_HEADERS);
  },
} satisfies Partial<Handlers>;

/**
 * Encodes the lines as a stream of bytes, many lines per chunk.
 * @param isSlow a judge is called, so each line is sent at once.
 */
function streamOf(lines: AsyncGenerator<ReplayLine>, requestId: string, isSlow: boolean): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let chunk = '';
      for (;;) {
        const next = await nextLine(lines, requestId);
        if (next !== null) chunk += `${JSON.stringify(next)}\n`;
        const isLast = next === null || next.kind === 'error';
        const isSent =
          isSlow || chunk.length >= REPLAY_CHUNK_CHARS || next?.kind === 'step' || next?.kind === 'progress';
        if (!isLast && !isSent) continue;
        if (chunk !== '') controller.enqueue(encoder.encode(chunk));
        if (isLast) controller.close();
        return;
      }
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}

/** Reads the next line; returns null at the end. A failure becomes a line, too, so that the client learns of it. */
async function nextLine(lines: AsyncGenerator<ReplayLine>, requestId: string): Promise<ReplayLine | null> {
  try {
    const { done, value } = await lines.next();
    return done === true ? null : value;
  } catch (error) {
    const failure: RequestFailure = failureOf(error);
    // The message of an error may quote content, so it is not logged.
    const name = error instanceof Error ? error.name : typeof error;
    if (failure.reason === 'internal')
      logEvent('error', { event: 'replay_failed', error: name, request_id: requestId });
    return { kind: 'error', problem: problemOf(failure, requestId) };
  }
}
