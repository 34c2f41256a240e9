/**
 * Finds the program of a code answer: the last complete ```` ```python ```` block.
 *
 * Rule: `code_math.py` of Gen-Verse/Open-AgentRL 1fe5dbd2. The label is exactly `python` and ends its line, and a
 * program ends at the next fence, even inside a string. One difference: with several `</think>`, this reads the text
 * after the last one. The code of Open-AgentRL reads the text between the first two, which loses the answer of a
 * rollout that thinks more than once.
 */

const THINK_END = '</think>';
const OPENING = '```python\n';
const FENCE = '```';

/**
 * Returns the program between its fences, or `null` if there is no complete block, which scores -1. A program that does
 * not parse scores -1 too, but only running it shows that. Takes linear time.
 *
 * @example
 * runnableBlock('```python\nprint(1)\n```'); // 'print(1)\n'
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
