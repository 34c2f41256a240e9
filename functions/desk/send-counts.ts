/** Moves the counts of this isolate to desk 0 from time to time. */
import { isolateCounts } from '../metrics/counts.ts';
import { type DeskNamespace, deskIn } from './desk-client.ts';
import { DESK_MESSAGE_VERSION } from './desk-messages.ts';

/** The binding of the desks. */
type Desks = { readonly JUDGE_DESK: DeskNamespace };

/** A busy isolate sends its counts this often, in milliseconds; an idle one with its next request. */
const SEND_EVERY_MS = 15_000;

let sentAt: number | null = null;

/** Sends the counts, and never rejects: figures must not fail what they describe. `null` = they are not due. */
export function sendCounts(desks: Desks): Promise<void> | null {
  const now = Date.now();
  // The first counts of an isolate wait for others, too.
  sentAt ??= now;
  if (isolateCounts.isEmpty || now - sentAt < SEND_EVERY_MS) return null;
  sentAt = now;
  return sendNow(desks);
}

async function sendNow({ JUDGE_DESK }: Desks): Promise<void> {
  const increments = isolateCounts.drain();
  try {
    const added = await deskIn(JUDGE_DESK, 0).addFigures({ v: DESK_MESSAGE_VERSION, increments, read: false });
    if (added !== null) return;
  } catch {
    // Desk 0 restarts, as in a deployment. Some of the increments may be counted twice.
  }
  // They wait for the next time.
  isolateCounts.restore(increments);
}

/** Runs the work of an alarm: counts its failure and sends the counts of the isolate. @throws what the work throws. */
export async function countedAlarm(
  object: 'Batch' | 'Deliveries' | 'RunLedger',
  environment: Desks,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    isolateCounts.count('citeward_alarm_failures', [object]);
    throw error;
  } finally {
    await sendCounts(environment);
  }
}
