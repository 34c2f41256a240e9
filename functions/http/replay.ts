/**
 * `POST /v1/runs/{id}/replay`: what the rewards and advantages of a run would have been under another recipe, as JSON lines
 * that are made while the run is read. A reader that is slow slows the reading of the run; nothing piles up. What can be
 * refused is refused before the first line; what goes wrong later is a last line of the kind `error`.
 */
import { Hono } from 'hono';
import { runIdSchema } from '../../src/runs/placement.ts';
import { planReplay, type ReplayPlan } from '../../src/runs/plan-replay.ts';
import { findMissing, type RowsOfGroup, replayLines } from '../../src/runs/replay-lines.ts';
import { emptyQuerySchema } from '../../src/wire/query.ts';
import { type ReplayLine, type ReplayRequest, replayRequestSchema } from '../../src/wire/replay.ts';
import { chooseJudge } from '../backends/configured.ts';
import { findRun, readGroups, recipesOf, type StoredRun } from '../ledger/run-list.ts';
import { GroupTooLargeError, RunGoneError } from '../ledger/run-rows.ts';
import { createMeasurer } from '../services/measurer.ts';
import type { ScoringPlatform } from '../services/score.ts';
import { requireScope } from './auth.ts';
import { readJson, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { failureOf, problemOf, RequestError, type RequestFailure } from './errors.ts';
import type { ScoringPlatformOf } from './scoring-platform.ts';

/** Lines of a replay are sent together up to this many UTF-16 code units; the end of a step is sent at once. */
const REPLAY_CHUNK_CHARS = 32 * 1024;

export function replayRoutes(platformOf: ScoringPlatformOf): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>().post('/v1/runs/:id/replay', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, replayRequestSchema);
    const id = runIdSchema.safeParse(c.req.param('id'));
    const run = id.success ? await findRun(c.env.DB, id.data) : null;
    if (run === null) throw new RequestError({ reason: 'run_not_found' });
    const platform = await platformOf(c);
    const { DB: db, FILES: bucket } = c.env;
    const groups = () => rowsOfGroups(db, bucket, run.id, request.steps);

    const recorded = new Map([...(await recipesOf(db, run.id))].map(([digest, { recipe }]) => [digest, recipe]));
    const planned = await planReplay(run.id, recorded, request);
    if (!planned.ok) throw new RequestError({ reason: 'input_invalid', problems: planned.problems });
    const { plan } = planned;
    await check(plan, run, platform, groups);

    const lines = replayLines(groups(), plan, createMeasurer(plan, { db, bucket, platform }));
    const isSlow = plan.measures.kind !== 'nothing';
    return c.body(streamOf(lines, c.get('requestId'), isSlow), 200, { 'content-type': 'application/jsonl' });
  });
}

/** @throws RequestError where the replay cannot be whole: no judge of that name, no text, or measurements missing. */
async function check(
  plan: ReplayPlan,
  run: StoredRun,
  platform: ScoringPlatform,
  groups: () => AsyncIterable<RowsOfGroup>,
): Promise<void> {
  const { measures } = plan;
  const judge = measures.kind === 'nothing' ? null : measures.judge;
  if (judge !== null && chooseJudge(platform.backends, judge) === null) {
    const configured = platform.backends.named.map((backend) => backend.judge.name);
    throw new RequestError({ reason: 'judge_unknown', configured });
  }
  if (measures.kind === 'all' && !run.store_text) throw new RequestError({ reason: 'text_not_kept', missing: null });
  if (!plan.mayLeaveGaps || measures.kind === 'all' || (measures.kind === 'missing' && run.store_text)) return;
  const missing = await findMissing(groups(), plan);
  if (missing.open === 0) return;
  throw new RequestError(
    measures.kind === 'missing'
      ? { reason: 'text_not_kept', missing }
      : { reason: 'measurement_missing', missing, can_fill: run.store_text },
  );
}

/** @throws RequestError for a run that goes while it is read, or a group that is too large; StorageError. */
async function* rowsOfGroups(
  db: D1Database,
  bucket: R2Bucket,
  run: string,
  steps: ReplayRequest['steps'],
): AsyncGenerator<RowsOfGroup> {
  try {
    const range = { fromStep: steps?.from, toStep: steps?.to };
    for await (const { rows } of readGroups(db, bucket, run, range)) yield rows;
  } catch (error) {
    if (error instanceof RunGoneError) throw new RequestError({ reason: 'run_gone' });
    if (error instanceof GroupTooLargeError) throw new RequestError({ reason: 'run_group_too_large' });
    throw error;
  }
}

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
