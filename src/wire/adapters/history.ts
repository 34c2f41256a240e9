/** The history of LongTraceRL's and CaRR's requests: a conversation, read like every other one. */
import * as z from 'zod';
import { MAX_MESSAGES } from '../../limits.ts';
import { readConversation } from '../../trajectory/rollout-messages.ts';

export const historySchema = z
  .array(z.record(z.string(), z.unknown()))
  .min(1, { abort: true })
  .max(MAX_MESSAGES, { abort: true })
  .superRefine((history, context) => {
    const read = readConversation({ messages: history });
    if (read.ok) return;
    for (const { path, message } of read.error) {
      // The reader names the list, and zod the field that holds it.
      context.addIssue({ code: 'custom', path: path.slice(1), message });
    }
  });

export type History = z.infer<typeof historySchema>;

/** The messages before the first assistant message, which all samples of a group share. */
export function promptOf(history: History): History {
  const first = history.findIndex(({ role }) => role === 'assistant');
  return first === -1 ? history : history.slice(0, first);
}
