/**
 * Truncates tool output as the training loop does: verl's `tool_agent_loop.py` in Gen-Verse/Open-AgentRL 1fe5dbd2.
 * Lengths are in code points, as in Python, so the policy sees the same text as in training.
 */

export const TRUNCATE_SIDES = ['left', 'middle', 'right'] as const;

/** The part that is kept: `left` the beginning, `right` the end, `middle` half of each. The names are verl's. */
export type TruncateSide = (typeof TRUNCATE_SIDES)[number];

const MARK = '(truncated)';

type Truncated = {
  readonly text: string;
  /** Length before truncation, in code points. */
  readonly raw_chars: number;
  readonly truncated: boolean;
};

/** @param max code points to keep, without the mark; `middle` keeps an even number. */
export function truncateToolOutput(text: string, max: number, side: TruncateSide): Truncated {
  const raw_chars = codePoints(text);
  if (raw_chars <= max) return { text, raw_chars, truncated: false };
  const half = Math.floor(max / 2);
  switch (side) {
    case 'left':
      return { text: `${first(text, max)}...${MARK}`, raw_chars, truncated: true };
    case 'right':
      return { text: `${MARK}...${last(text, max)}`, raw_chars, truncated: true };
    case 'middle':
      return { text: `${first(text, half)}...${MARK}...${last(text, half)}`, raw_chars, truncated: true };
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function first(text: string, count: number): string {
  let end = 0;
  let left = count;
  for (const point of text) {
    if (left-- === 0) break;
    end += point.length;
  }
  return text.slice(0, end);
}

/** Requires count > 0: Python's `text[-0:]` is the whole text. The smallest limit is 2. */
function last(text: string, count: number): string {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start -= isPairEnd(text, start) ? 2 : 1;
  return text.slice(start);
}

/** Whether the two code units before `end` form one character. */
function isPairEnd(text: string, end: number): boolean {
  return end >= 2 && (text.codePointAt(end - 2) ?? 0) > 0xffff;
}
