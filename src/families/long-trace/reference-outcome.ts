/**
 * Reads the outcome from the replies of the public server's AA-LCR judge, to reproduce the public numbers from recorded
 * replies. A failed or unreadable reply is 0 here; everywhere else a failed judgment gives `null`. Source:
 * THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_aa_lcr_reward`.
 */

import { isPythonSpace } from '../../tools/python-text.ts';
import { finalAnswer } from './messages.ts';

const MOST_CALLS = 3;
const MOST_STARS = 2;
const COLON = 0x3a;

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
    verdict = readVerdict(reply);
    if (verdict !== null && hasExtractedAnswer(reply)) {
      return { reward: verdict.toLowerCase() === 'yes' ? 1 : 0, calls: call };
    }
  }
  // After three tries the last verdict counts as written: the server lower-cases only that of a complete reply.
  return { reward: verdict === 'yes' ? 1 : 0, calls: MOST_CALLS };
}

/** The word after the first `correct:` that is yes or no, as written; case-insensitive. */
function readVerdict(reply: string): string | null {
  const lower = asciiLower(reply);
  for (const at of valuesOf(lower, 'correct')) {
    let start = at;
    while (start < lower.length && isPythonSpace(lower.charCodeAt(start))) start++;
    if (lower.startsWith('no', start)) return reply.slice(start, start + 2);
    if (lower.startsWith('yes', start)) return reply.slice(start, start + 3);
  }
  return null;
}

/** True if anything but line feeds follows some `extracted_final_answer:`. */
function hasExtractedAnswer(reply: string): boolean {
  for (const at of valuesOf(asciiLower(reply), 'extracted_final_answer')) {
    for (let i = at; i < reply.length; i++) if (reply.charAt(i) !== '\n') return true;
    // Only line feeds follow, so no later field has a value either.
    return false;
  }
  return false;
}

/** Yields the start of each value of `name`: after the name, up to two asterisks, white space and a colon. */
function* valuesOf(lower: string, name: string): Generator<number> {
  for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1)) {
    let i = at + name.length;
    for (let stars = 0; stars < MOST_STARS && lower.charAt(i) === '*'; stars++) i++;
    while (i < lower.length && isPythonSpace(lower.charCodeAt(i))) i++;
    if (lower.charCodeAt(i) === COLON) yield i + 1;
  }
}

/** Lower-cases ASCII letters only, so offsets stay those of the reply. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
