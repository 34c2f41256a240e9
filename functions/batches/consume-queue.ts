/**
 * Consumes the job queue. A message names a task: the consumer claims it from the batch's object, works under a lease,
 * and reports the result or the failure. The object decides about retries, so the message is acknowledged either way.
 * Only if the object cannot be reached does the message return to the queue and finally to the dead-letter queue, which
 * is logged; the object's alarm sends the task again in any case.
 */
import * as z from 'zod';
import type { AnswerRoom } from '../../service/answer.ts';
import { receivedTrace } from '../../service/trace-context.ts';
import { mostClaims } from '../../src/citations/answer-limits.ts';
import { MAX_CLAIMS, MAX_FULL_ANSWERS } from '../../src/limits.ts';
import { CHUNK_LIMITS, type ChunkLimits } from '../../src/wire/batches/chunk-plan.ts';
import type { Environment } from '../environment.ts';
import { KvOperations } from '../kv-operations.ts';
import { Leases } from '../leases.ts';
import { logEvent } from '../log-event.ts';
import { isolateCounts } from '../metrics/counts.ts';
import { inSpan } from '../metrics/spans.ts';
import type { PlatformFactory } from '../platform.ts';
import { FileStore } from '../storage/files.ts';
import { batchObjectName } from './batch-client.ts';
import { validateInput } from './batch-input.ts';
import { BATCH_MESSAGE_VERSION, type ClaimedTask, type TaskReport } from './batch-messages.ts';
import { TASK_HEARTBEAT_MS } from './batch-timing.ts';
import { ChunkResults } from './chunk-results.ts';
import { finalise } from './finalise.ts';
import { scoreChunk } from './score-chunk.ts';

const messageSchema = z.object({
  v: z.literal(BATCH_MESSAGE_VERSION),
  kind: z.literal('batch'),
  project: z.string(),
  batch: z.string(),
  task: z.int(),
});

/**
 * The name of a dead-letter queue, in every environment: `citeward-jobs-dead`, `citeward-jobs-dead-staging`. A binding
 * does not tell the name of its queue, so the names are a convention (docs/guides/deploy.md).
 */
const DEAD_LETTERS = /-dead(-|$)/;
/** Longer than the scoring of a line, whose deadline is 95 s and which is recorded then. */
const CLAIM_LEASE_MS = 150_000;
/** How often a line that waits for room asks for it. */
const ROOM_POLL_MS = 250;
/** Delay of a message whose object could not be reached, in seconds. */
const REDELIVER_S = 10;

type ConsumerParts = { readonly platforms: PlatformFactory; readonly chunkLimits: ChunkLimits };

/**
 * One per isolate: batches have a limit of their own, so that live requests and batches cannot keep each other out. It
 * is one group of the largest size. A line may wait for the group before it.
 */
const claims = new Leases({ limit: MAX_FULL_ANSWERS * MAX_CLAIMS, leaseMs: CLAIM_LEASE_MS }, () => Date.now());

const room: AnswerRoom = async (responses, grammars) => {
  const needed = responses.reduce((sum, response) => sum + mostClaims(response, responses.length, grammars), 0);
  const lease = claims.begin();
  while (!lease.grow(needed)) await new Promise((resolve) => setTimeout(resolve, ROOM_POLL_MS));
  return lease.end;
};

/** Consumes the messages of one delivery. Acknowledges or retries each of them. */
export async function consumeJobs(
  queued: MessageBatch,
  environment: Environment,
  platforms: PlatformFactory,
  chunkLimits: ChunkLimits = CHUNK_LIMITS,
): Promise<void> {
  for (const message of queued.messages) {
    const read = messageSchema.safeParse(message.body);
    if (DEAD_LETTERS.test(queued.queue) || !read.success) {
      const named = read.success ? { project: read.data.project, batch: read.data.batch, task: read.data.task } : {};
      isolateCounts.count('citeward_dead_letters', []);
      logEvent('error', { event: 'job_dead_lettered', queue: queued.queue, id: message.id, ...named });
      message.ack();
      continue;
    }
    try {
      // A task has a trace of its own: its batch may have been created days ago.
      await inSpan(
        environment.LOG_SPANS === 'true',
        receivedTrace(null),
        () => doTask(read.data, environment, { platforms, chunkLimits }),
        ({ ok }) => ({
          name: 'batch task',
          kind: 'consumer',
          error: ok ? null : 'object_unreachable',
          attributes: { 'citeward.batch': read.data.batch },
        }),
      );
      message.ack();
    } catch (error) {
      isolateCounts.count('citeward_task_failures', ['object_unreachable']);
      logEvent('error', { event: 'job_failed', ...read.data, error: nameOf(error) });
      message.retry({ delaySeconds: REDELIVER_S });
    }
  }
}

async function doTask(
  { project, batch, task }: z.infer<typeof messageSchema>,
  environment: Environment,
  parts: ConsumerParts,
): Promise<void> {
  // A new stub per call: a stub whose call failed stays broken even after the object recovers.
  const object = () => environment.BATCH.getByName(batchObjectName(project, batch));
  const claimed = await object().claim(BATCH_MESSAGE_VERSION, task);
  if (claimed === null) return;
  const { token } = claimed;
  let held = true;
  // Extends the lease while the work runs. At worst, a failed heartbeat loses the lease.
  const heart = setInterval(() => {
    void object()
      .extend(task, token)
      .then(
        (still) => {
          held = still;
        },
        (error: unknown) => {
          logEvent('error', { event: 'heartbeat_failed', batch, task, error: nameOf(error) });
        },
      );
  }, TASK_HEARTBEAT_MS);
  try {
    const report = await work(claimed, environment, parts, () => held);
    try {
      await object().report(task, token, report);
    } catch (error) {
      // The object may have restarted, as in a deployment. Reports are idempotent, so the consumer sends the report
      // once more.
      logEvent('error', { event: 'report_failed', batch, task, error: nameOf(error) });
      await object().report(task, token, report);
    }
  } finally {
    clearInterval(heart);
  }
}

async function work(
  claimed: ClaimedTask,
  environment: Environment,
  { platforms, chunkLimits }: ConsumerParts,
  isHeld: () => boolean,
): Promise<TaskReport> {
  const { project } = claimed.batch;
  const files = new FileStore(environment.FILES, environment.DB, project);
  const results = new ChunkResults(environment.FILES, project);
  const now = (): number => Date.now();
  try {
    switch (claimed.kind) {
      case 'validate':
        return await validateInput(claimed.batch, files, chunkLimits);
      case 'chunk': {
        const operations = new KvOperations();
        const platform = await platforms.createProjectPlatform(environment, project, {
          callClass: 'batch',
          operations,
        });
        if (!platform.ok) return { kind: 'broke', reason: 'config_invalid' };
        return await scoreChunk(claimed, { files, results, platform: platform.value, operations, room, isHeld, now });
      }
      case 'finalise':
        return await finalise(claimed, { files, results, isHeld, now });
    }
  } catch (error) {
    // A storage failure or a bug, not a fault of the lines. The message may quote content, so it is not logged.
    isolateCounts.count('citeward_task_failures', [claimed.kind]);
    logEvent('error', { event: 'task_broke', batch: claimed.batch.id, kind: claimed.kind, error: nameOf(error) });
    return { kind: 'broke', reason: 'internal' };
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
