/**
 * The outcome as the public server reads it from its AA-LCR judge's replies. It exists only to reproduce the public
 * numbers over recorded replies: a failed or unreadable reply ends as 0 here, and only here. Our routes return `null`
 * for a failed judgment. Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_aa_lcr_reward`.
 */

import { isPythonSpace } from '../../tools/python-text.ts';
import { finalAnswer } from './messages.ts';

const MOST_CALLS = 3;
const MOST_STARS = 2;
const COLON = 0x3a;

export type ReferenceOutcome = {
  readonly reward: 0 | 1;
  /** Replies read: the server asks again, up to three times, until one has both fields. */
  readonly calls: number;
};

/**
 * @param replies Recorded replies in order; a failed call is the empty text, as the server has it.
 * @throws RangeError if they end before the server would have stopped asking: what it paid is then unknown.
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
  // After three tries the last verdict still counts, as written: the server lower-cases only a complete reply's.
  return { reward: verdict === 'yes' ? 1 : 0, calls: MOST_CALLS };
}

/** The first `correct: yes` or `correct: no`, in any case and wherever it stands; the word as written. */
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
    // Only line feeds from here on, and so no later field has a value either.
    return false;
  }
  return false;
}

/** Where the values of `name` begin: after the name, up to two asterisks, white space and a colon. */
function* valuesOf(lower: string, name: string): Generator<number> {
  for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1)) {
    let i = at + name.length;
    for (let stars = 0; stars < MOST_STARS && lower.charAt(i) === '*'; stars++) i++;
    while (i < lower.length && isPythonSpace(lower.charCodeAt(i))) i++;
    if (lower.charCodeAt(i) === COLON) yield i + 1;
  }
}

/** Lower case of ASCII letters only, so that positions stay those of the reply. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
