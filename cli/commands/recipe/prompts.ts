/** Reads rows as prompts with samples: rows of one prompt, one response each, become one group. */
import type * as z from 'zod';
import { responseFields } from '../../../src/family/rollout-schema.ts';
import { MAX_BODY_BYTES, MAX_GROUP } from '../../../src/limits.ts';
import { outcomeFields } from '../../../src/runs/rollout-counts.ts';
import { probeRowSchema } from '../../../src/wire/probe.ts';
import { scoringFields } from '../../../src/wire/score.ts';
import { RunError } from '../../shared/exit.ts';
import type { Input } from '../../shared/input.ts';
import { readLines } from '../../shared/lines.ts';
import { countOf } from '../../shared/number-text.ts';
import type { Progress } from '../../shared/progress.ts';
import { type Fields, problemTexts, readRow } from '../../shared/rows.ts';
import { MAX_BAD_AT_START, ROWS_HINT } from '../../shared/run-rows.ts';
import type { Screen } from '../../shared/screen.ts';

/** Fields of scored rows that say how they are scored and recorded: the flags say it for a probe. */
const UNREAD: ReadonlySet<string> = new Set([
  ...Object.keys(scoringFields),
  'on_judge_failure',
  'advantages',
  'run',
  'store_text',
  'evolution',
]);

/** Fields of one sample; the others are the prompt's. */
const OF_SAMPLE: ReadonlySet<string> = new Set([...Object.keys(responseFields), ...Object.keys(outcomeFields)]);

/** A prompt as a request has it. */
export type PromptRow = z.output<typeof probeRowSchema>;
type Sample = NonNullable<PromptRow['responses']>[number];

/** `line`: of the first row with the prompt. */
export type Prompt = { readonly line: number; readonly row: PromptRow };

type OpenPrompt = { readonly line: number; readonly row: Omit<PromptRow, 'responses'>; readonly samples: Sample[] };

/**
 * Reads the first `most` prompts of the input, with all their samples up to the limit of a group. Problems of a line go
 * to the screen, and the other lines are still read.
 *
 * @throws RunError if the input has no valid row.
 */
export async function readPrompts(
  input: Input,
  most: number,
  screen: Screen,
  progress: Progress,
): Promise<{ readonly prompts: readonly Prompt[]; readonly badLines: number }> {
  const open = new Map<string, OpenPrompt>();
  let [badLines, rows, left] = [0, 0, 0];
  for await (const line of readLines(input.chunks, MAX_BODY_BYTES)) {
    progress.advance(++rows, line.bytesRead);
    const read = readRow(line, probeRowSchema, promptFields);
    if (!read.ok) {
      badLines++;
      for (const text of problemTexts(line.number, read.problems, input.unit)) screen.message(text, 'red');
      if (badLines === MAX_BAD_AT_START && badLines === rows) {
        throw new RunError(`the first ${badLines} ${input.unit}s are all bad, so the others were not read`, ROWS_HINT);
      }
      continue;
    }
    const { id } = read.row.labels;
    const { responses: samples = [], ...prompt } = read.row.request;
    const key = JSON.stringify(prompt);
    const known = open.get(key);
    if (known === undefined && open.size === most) continue;
    const row = known ?? { line: line.number, row: { ...prompt, ...(id === null ? {} : { id }) }, samples: [] };
    open.set(key, row);
    for (const sample of samples) {
      if (row.samples.length < MAX_GROUP) row.samples.push(sample);
      else left++;
    }
  }
  progress.clear();
  if (open.size === 0) {
    throw new RunError(`the input has no ${rows === 0 ? '' : 'valid '}rows`, ROWS_HINT);
  }
  if (left > 0) screen.message(`${countOf(left, 'sample')} beyond ${MAX_GROUP} of one prompt are not read`, 'dim');
  return {
    badLines,
    prompts: [...open.values()].map(({ line, row, samples }) => ({
      line,
      row: samples.length === 0 ? row : { ...row, responses: samples },
    })),
  };
}

/** The fields of a row as those of a prompt: a response with its own fields becomes the only one of its samples. */
function promptFields(fields: Fields): Fields {
  const read = Object.entries(fields).filter(([name]) => !UNREAD.has(name));
  const own = Object.fromEntries(read.filter(([name]) => OF_SAMPLE.has(name)));
  const prompt = Object.fromEntries(read.filter(([name]) => !OF_SAMPLE.has(name)));
  return Object.keys(own).length === 0 || 'responses' in prompt
    ? { ...prompt, ...own }
    : { ...prompt, responses: [own] };
}
