/**
 * Reads the outcome from the replies of the public server's AA-LCR judge, to reproduce the public numbers from recorded
 * replies. A failed or unreadable reply is 0 here; everywhere else a failed judgment gives `null`. Source:
 * THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_aa_lcr_reward`.
 */

import { finalAnswer } from '../../../src/families/long-trace/messages.ts';
import { readOutcomeFields } from '../../../src/judgments/kinds/free-text/outcome-fields.ts';

const MOST_CALLS = 3;

type ReferenceOutcome = {
  readonly reward: 0 | 1;
  /** Number of replies that were read: the server asks up to three times, until a reply has both fields. */
  readonly calls: number;
};

/**
 * @param replies Recorded replies in order; a failed call is the empty text, as on the server.
 * @throws RangeError if they end before the server would have stopped asking, so its reward is unknown.
 */
export function referenceOutcome(response: string, replies: readonly string[]): ReferenceOutcome {
  if (finalAnswer(response) === null) return { reward: 0, calls: 0 };
  let verdict: string | null = null;
  for (let call = 1; call <= MOST_CALLS; call++) {
    const reply = replies[call - 1];
    if (reply === undefined) throw new RangeError(`referenceOutcome: no recorded reply for call ${call}`);
    const fields = readOutcomeFields(reply);
    verdict = fields.verdict;
    if (verdict !== null && fields.answer !== null) {
      return { reward: verdict.toLowerCase() === 'yes' ? 1 : 0, calls: call };
    }
  }
  // After three tries the last verdict counts as written: the server lower-cases only that of a complete reply.
  return { reward: verdict === 'yes' ? 1 : 0, calls: MOST_CALLS };
}
