/**
 * The program in a code answer: the last complete ```` ```python ```` block. Rule: `code_math.py` of Gen-Verse/Open-AgentRL
 * 1fe5dbd2: the label is exactly `python` and ends its line, and a program ends at the next fence, even one inside a
 * string. Ours: with several `</think>` the text after the last one is read, where that code takes what stands between
 * the first two and so loses the answer of any rollout that thinks more than once.
 */

const THINK_END = '</think>';
const OPENING = '```python\n';
const FENCE = '```';

/**
 * The program as written between its fences, or `null` where there is no complete block: then the outcome is -1. The reference
 * pays -1 for a program that does not parse as well, which only running it can tell. Linear time.
 */
export function runnableBlock(response: string): string | null {
  const thought = response.lastIndexOf(THINK_END);
  let last: string | null = null;
  let opening = response.indexOf(OPENING, thought === -1 ? 0 : thought + THINK_END.length);
  while (opening !== -1) {
    const start = opening + OPENING.length;
    const end = response.indexOf(FENCE, start);
    if (end === -1) break;
    last = response.slice(start, end);
    opening = response.indexOf(OPENING, end + FENCE.length);
  }
  return last;
}
