/**
 * Reads the two fields of a free-text outcome reply: the extracted answer, and `correct: yes|no`. CaRR's and
 * LongTraceRL's public servers search replies in this way, with these defects:
 * - the first `correct:` in the text counts, also inside a reason or a longer word (`incorrect: no`);
 * - the verdict needs no word border (`no` in `nothing`, `yes` in `yesterday`);
 * - asterisks after the colon are not skipped, so `**correct:** yes` has no verdict.
 *
 * Sources: THUDM/CaRR c97e7e89, `deepsearch_rm_with_rubrics/launch_server.py`; THU-KEG/LongTraceRL 415b6433,
 * `launch_server.py`.
 */
import { isPythonSpace, skipPythonSpace, stripPythonSpace } from '../../../text/python-text.ts';

const MOST_STARS = 2;
const COLON = 0x3a;

export type OutcomeFields = {
  /** `yes` or `no` as written; `null` = none was found. */
  readonly verdict: string | null;
  /** The line after the key, stripped; `null` = none was found. */
  readonly answer: string | null;
};

export function readOutcomeFields(reply: string): OutcomeFields {
  const lower = asciiLower(reply);
  return { verdict: verdictIn(reply, lower), answer: answerIn(reply, lower) };
}

/** The word after the first `correct:` that is yes or no. */
function verdictIn(reply: string, lower: string): string | null {
  for (const at of valuesOf(lower, 'correct')) {
    const start = skipPythonSpace(lower, at);
    if (lower.startsWith('no', start)) return reply.slice(start, start + 2);
    if (lower.startsWith('yes', start)) return reply.slice(start, start + 3);
  }
  return null;
}

function answerIn(reply: string, lower: string): string | null {
  for (const at of valuesOf(lower, 'extracted_final_answer')) {
    const start = skipPythonSpace(reply, at);
    if (start < reply.length) {
      const end = reply.indexOf('\n', start);
      return stripPythonSpace(reply.slice(start, end === -1 ? reply.length : end));
    }
    // Only white space follows, so no later key has a value either. A blank that is no line feed is an empty value.
    for (let i = at; i < reply.length; i++) if (reply.charAt(i) !== '\n') return '';
    return null;
  }
  return null;
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
