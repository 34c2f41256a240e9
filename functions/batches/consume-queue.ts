/**
 * The queue's consumer. A message is a hint: the task is claimed from the batch's object, done under its lease, and reported
 * there. Whatever goes wrong is reported too, and the object decides about another try; the message itself is done with.
 * Only where not even the object can be reached is it given back to the queue, and in the end to the dead-letter queue,
 * which is logged: the object's alarm finds the task again all the same.
 */
import * as z from 'zod';
import { TASK_HEARTBEAT_MS } from '../../src/limits.ts';
import type { Environment } from '../environment.ts';
import type { PlatformFactory } from '../platform.ts';
import { FileStore } from '../storage/files.ts';
import { BATCH_MESSAGE_VERSION, type ClaimedTask, type TaskReport } from './batch-messages.ts';
import { ChunkResults } from './chunk-results.ts';
import { finalise } from './finalise.ts';
import { scoreChunk } from './score-chunk.ts';
import { validateInput } from './validate.ts';

const messageSchema = z.object({
  v: z.literal(BATCH_MESSAGE_VERSION),
  kind: z.literal('batch'),
  batch: z.string(),
  task: z.int(),
});

const DEAD_LETTERS = 'citeward-jobs-dead';
/** After an object that could not be reached. */
const REDELIVER_S = 10;

export async function consumeJobs(
  queued: MessageBatch,
  environment: Environment,
  platforms: PlatformFactory,
): Promise<void> {
  for (const message of queued.messages) {
    const read = messageSchema.safeParse(message.body);
    if (queued.queue === DEAD_LETTERS || !read.success) {
      const named = read.success ? { batch: read.data.batch, task: read.data.task } : {};
      console.error(JSON.stringify({ event: 'job_dead_lettered', queue: queued.queue, id: message.id, ...named }));
      message.ack();
      continue;
    }
    try {
      await doTask(read.data.batch, read.data.task, environment, platforms);
      message.ack();
    } catch (error) {
      console.error(JSON.stringify({ event: 'job_failed', ...read.data, error: nameOf(error) }));
      message.retry({ delaySeconds: REDELIVER_S });
    }
  }
}

async function doTask(
  batch: string,
  task: number,
  environment: Environment,
  platforms: PlatformFactory,
): Promise<void> {
  // A new stub for each call: one whose call failed stays broken, whatever becomes of the object.
  const object = () => environment.BATCH.getByName(batch);
  const claimed = await object().claim(BATCH_MESSAGE_VERSION, task);
  if (claimed === null) return;
  const { token } = claimed;
  let held = true;
  // The lease is extended while the work goes on; a heartbeat that fails costs at most the lease.
  const heart = setInterval(() => {
    void object()
      .extend(task, token)
      .then(
        (still) => {
          held = still;
        },
        (error: unknown) => {
          console.error(JSON.stringify({ event: 'heartbeat_failed', batch, task, error: nameOf(error) }));
        },
      );
  }, TASK_HEARTBEAT_MS);
  try {
    const report = await work(claimed, environment, platforms, () => held);
    try {
      await object().report(task, token, report);
    } catch (error) {
      // An object that was just restarted, as a deployment does: it takes the same report, once more or for the first time.
      console.error(JSON.stringify({ event: 'report_failed', batch, task, error: nameOf(error) }));
      await object().report(task, token, report);
    }
  } finally {
    clearInterval(heart);
  }
}

async function work(
  claimed: ClaimedTask,
  environment: Environment,
  platforms: PlatformFactory,
  isHeld: () => boolean,
): Promise<TaskReport> {
  const files = new FileStore(environment.FILES, environment.DB);
  const results = new ChunkResults(environment.FILES);
  const now = (): number => Date.now();
  try {
    switch (claimed.kind) {
      case 'validate':
        return await validateInput(claimed.batch, files);
      case 'chunk': {
        const platform = await platforms.createPlatform(environment, 'batch');
        if (!platform.ok) return { kind: 'broke', reason: 'config_invalid' };
        return await scoreChunk(claimed, { files, results, platform: platform.value, isHeld, now });
      }
      case 'finalise':
        return await finalise(claimed, { files, results, isHeld, now });
    }
  } catch (error) {
    // Storage that failed, or a bug: neither says anything about the lines. Its message may quote content.
    console.error(
      JSON.stringify({ event: 'task_broke', batch: claimed.batch.id, kind: claimed.kind, error: nameOf(error) }),
    );
    return { kind: 'broke', reason: 'internal' };
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
