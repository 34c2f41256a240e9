/** Reads an answer whose text has gone by: with `last`, only the end says which one is judged. */
import { BlockState } from '../blocks.ts';
import type { JudgedBlock } from './end.ts';
import type { AnswerReader } from './reader.ts';
import { TagScanner } from './tags.ts';
import type { StreamedText } from './text.ts';

/** Gives the answer to its reader as if it came now. `names`: of the tags, as blocks.ts has them. */
export function readAgain(
  text: StreamedText,
  names: readonly string[],
  { content, element }: JudgedBlock,
  reader: AnswerReader,
): void {
  const blocks = new BlockState('first');
  const scanner = new TagScanner(text, names, element.start);
  const inside = text.slice(element.start, element.end);
  for (let at = 0; at < inside.length; ) {
    at = scanner.step(inside, at);
    if (scanner.found === null) continue;
    const step = blocks.step(scanner.found.tag);
    if (step === 'cited' || step === 'answer_opened_again') reader.tag(scanner.found);
  }
  reader.reach(content.end, true);
  reader.close(content.end);
}
