/**
 * `POST /v1/runs/{id}/replay`: what the rewards and advantages of a run would have been under another recipe, as JSON lines
 * that are made while the run is read. A reader that is slow slows the reading of the run; nothing piles up. What can be
 * refused is refused before the first line; what goes wrong later is a last line of the kind `error`.
 */
import { Hono } from 'hono';
import { runIdSchema } from '../../../src/runs/placement.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { type ReplayLine, replayRequestSchema } from '../../../src/wire/replay.ts';
import { RequestError, type RequestFailure } from '../../failures.ts';
import { startReplay } from '../../services/replay.ts';
import { requireScope } from '../auth.ts';
import { readJson, readQuery } from '../body.ts';
import { type AppEnvironment, platformOf, storesOf } from '../context.ts';
import { JSON_LINES } from '../json-lines.ts';
import { failureOf, problemOf } from '../problems.ts';

/** Lines of a replay are sent together up to this many UTF-16 code units; the end of a step is sent at once. */
const REPLAY_CHUNK_CHARS = 32 * 1024;

export const replayRoutes = new Hono<AppEnvironment>().post('/v1/runs/:id/replay', requireScope('score'), async (c) => {
  readQuery(c, emptyQuerySchema);
  const request = await readJson(c, replayRequestSchema);
  const id = runIdSchema.safeParse(c.req.param('id'));
  const run = id.success ? await storesOf(c).ledger.find(id.data) : null;
  if (run === null) throw new RequestError({ reason: 'run_not_found' });
  const started = await startReplay(run, request, await platformOf(c));
  if (!started.ok) throw new RequestError(started.error);
  const { lines, judges } = started.value;
  return c.body(streamOf(lines, c.get('requestId'), judges), 200, JSON_LINES);
});

/**
 * Lines as they are asked for, many in one chunk.
 * @param isSlow each line takes a while: it is sent at once.
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

/** The next line, `null` at the end. What breaks is a line too, so that no reply ends without a word. */
async function nextLine(lines: AsyncGenerator<ReplayLine>, requestId: string): Promise<ReplayLine | null> {
  try {
    const { done, value } = await lines.next();
    return done === true ? null : value;
  } catch (error) {
    const failure: RequestFailure = failureOf(error);
    // Its message may quote content and stays out of the log.
    const name = error instanceof Error ? error.name : typeof error;
    if (failure.reason === 'internal')
      console.error(JSON.stringify({ event: 'replay_failed', error: name, request_id: requestId }));
    return { kind: 'error', problem: problemOf(failure, requestId) };
  }
}
