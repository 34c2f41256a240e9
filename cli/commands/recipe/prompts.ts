/** Reads the rows of a file as prompts with samples. */
import { MAX_GROUP } from '../../../src/limits.ts';
import { probeRowSchema } from '../../../src/wire/probe.ts';
import { PromptCollector, type PromptRow, promptFields } from '../../../src/wire/probe-prompts.ts';
import { RunError } from '../../shared/exit.ts';
import type { RowInput } from '../../shared/input.ts';
import { countOf } from '../../shared/number-text.ts';
import type { Progress } from '../../shared/progress.ts';
import { problemTexts, readRow } from '../../shared/rows.ts';
import { MAX_BAD_AT_START, ROWS_HINT } from '../../shared/run-rows.ts';
import type { Screen } from '../../shared/screen.ts';

/**
 * Reads the first `most` prompts of the input. Problems of a line go to the screen, and the other lines are still read.
 *
 * @throws RunError if the input has no valid row.
 */
export async function readPrompts(
  input: RowInput,
  most: number,
  screen: Screen,
  progress: Progress,
): Promise<{ readonly prompts: readonly PromptRow[]; readonly badLines: number }> {
  const collector = new PromptCollector(most);
  let [badLines, rows] = [0, 0];
  for await (const line of input.lines) {
    progress.advance(++rows, line.bytesRead);
    const read = readRow(line, probeRowSchema, promptFields);
    if (read.ok) {
      const { id } = read.value.labels;
      collector.add(line.number, { ...read.value.request, ...(id === null ? {} : { id }) });
      continue;
    }
    badLines++;
    for (const text of problemTexts(line.number, read.error, input.unit)) screen.message(text, 'red');
    if (badLines === MAX_BAD_AT_START && badLines === rows) {
      throw new RunError(`the first ${badLines} ${input.unit}s are all bad, so the others were not read`, ROWS_HINT);
    }
  }
  progress.clear();
  const { prompts, left } = collector;
  if (prompts.length === 0) throw new RunError(`the input has no ${rows === 0 ? '' : 'valid '}rows`, ROWS_HINT);
  if (left > 0) screen.message(`${countOf(left, 'sample')} beyond ${MAX_GROUP} of one prompt are not read`, 'dim');
  return { badLines, prompts };
}
