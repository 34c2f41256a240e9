/**
 * Cutting a tool's output as the training loop does: verl's `tool_agent_loop.py` in Gen-Verse/Open-AgentRL 1fe5dbd2. Lengths
 * are Python's, in code points, so that the policy sees what it saw in training also where a character is two UTF-16 units.
 */

export const TRUNCATE_SIDES = ['left', 'middle', 'right'] as const;

/** What is kept: `left` the beginning, `right` the end, `middle` half of each. The names are verl's. */
export type TruncateSide = (typeof TRUNCATE_SIDES)[number];

const MARK = '(truncated)';

export type Truncated = {
  readonly text: string;
  /** Of the whole, in code points. */
  readonly raw_chars: number;
  readonly truncated: boolean;
};

/** @param max code points that are kept, the mark not counted; `middle` keeps an even number. */
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

/** Python's `text[-0:]` is the whole text; a limit is at least 2, so that cannot come up. */
function last(text: string, count: number): string {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start -= isPairEnd(text, start) ? 2 : 1;
  return text.slice(start);
}

/** Whether the two units before `end` are one character. */
function isPairEnd(text: string, end: number): boolean {
  return end >= 2 && (text.codePointAt(end - 2) ?? 0) > 0xffff;
}
