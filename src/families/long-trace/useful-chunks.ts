/**
 * The chunk rubric (data set `longrlvr`): F-beta, beta 2, of the chunk ids in the last `<useful_chunks>` block against
 * the gold ids. Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_rubric_reward`.
 *
 * Only ASCII digits form an id; the reference's `\d` accepts digits of every script.
 */
import { GREATER_THAN, isAsciiDigit } from '../../text/characters.ts';
import { isPythonSpace } from '../../text/python-text.ts';

const BLOCK_OPEN = '<useful_chunks>';
const BLOCK_CLOSE = '</useful_chunks>';
const CHUNK_OPEN = '<chunk';
const UNDERSCORE = 0x5f;
const BETA_SQUARED = 4;

/**
 * F-beta over distinct ids, [0, 1]; recall weighs more. 0 without gold ids (as on the server), without a closed block,
 * and without a hit.
 *
 * @param gold Chunk ids, non-negative integers.
 */
export function usefulChunksScore(gold: readonly number[], text: string): number {
  const wanted = new Set(gold.map((id) => String(id)));
  const named = chunkIds(lastBlock(text.toLowerCase()));
  let hits = 0;
  for (const id of named) if (wanted.has(id)) hits++;
  if (hits === 0) return 0;
  const precision = hits / named.size;
  const recall = hits / wanted.size;
  return ((1 + BETA_SQUARED) * precision * recall) / (BETA_SQUARED * precision + recall);
}

/** Content of the last closed block of lower-case text; a block ends at the first closing tag. */
function lastBlock(text: string): string {
  let content = '';
  let from = 0;
  while (true) {
    const open = text.indexOf(BLOCK_OPEN, from);
    if (open === -1) return content;
    const close = text.indexOf(BLOCK_CLOSE, open + BLOCK_OPEN.length);
    if (close === -1) return content;
    content = text.slice(open + BLOCK_OPEN.length, close);
    from = close + BLOCK_CLOSE.length;
  }
}

/**
 * Ids of `<chunk_3>`, `<chunk 3>` and `<chunk3>` without leading zeros; as text, so an id of any length is exact.
 */
function chunkIds(block: string): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let at = block.indexOf(CHUNK_OPEN); at !== -1; at = block.indexOf(CHUNK_OPEN, at + 1)) {
    let start = at + CHUNK_OPEN.length;
    const separator = block.charCodeAt(start);
    if (separator === UNDERSCORE || isPythonSpace(separator)) start++;
    let end = start;
    while (isAsciiDigit(block.charCodeAt(end))) end++;
    if (end === start || block.charCodeAt(end) !== GREATER_THAN) continue;
    while (start < end - 1 && block.charAt(start) === '0') start++;
    ids.add(block.slice(start, end));
  }
  return ids;
}
