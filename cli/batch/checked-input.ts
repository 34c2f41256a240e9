/** The input of `batch submit` and `batch run`: its flags, and its errors by line on standard error. */
import { MAX_BATCH_ERRORS } from '../../src/limits.ts';
import { BATCH_ENDPOINTS } from '../../src/wire/batches/batch.ts';
import type { Flags } from '../arguments/flags.ts';
import { type FlagDescription, RunError } from '../command.ts';
import type { Input } from '../input/open-input.ts';
import { countText } from '../output/progress.ts';
import { badLinesText } from '../output/reward-tally.ts';
import type { Screen } from '../output/screen.ts';
import { type Asked, defaultRecipe, fieldsAsked, SCORING_FLAGS } from '../score/asked.ts';
import { checkRecipe } from '../score/service.ts';
import { type BatchFile, prepareBatch } from './prepare.ts';
import { errorText } from './status-text.ts';

export const INPUT_FLAGS: readonly FlagDescription[] = [
  {
    name: 'endpoint',
    kind: 'text',
    value: 'PATH',
    help: `One of ${BATCH_ENDPOINTS.join(', ')} (default: that of the first line, else /v1/score).`,
  },
  ...SCORING_FLAGS,
];

export const INPUT_DETAILS: readonly string[] = [
  'FILE holds one request a line, as OpenAI has it: {"custom_id", "method": "POST", "url", "body"}; or',
  'plain rows, as citeward score takes them: their id, or line-N, is then the custom_id, and the flags',
  'for scoring apply. The whole file is checked before anything is done.',
];

/** @throws UsageError for flags, RunError if lines are bad; they are named by then. */
export async function checkedInput(
  flags: Flags,
  input: Input,
  asked: Asked,
  directory: string,
  screen: Screen,
): Promise<BatchFile> {
  const endpoint = flags.choice('endpoint', BATCH_ENDPOINTS);
  if (fieldsAsked(asked).has('recipe')) await checkRecipe(defaultRecipe(asked));
  const prepared = await prepareBatch({ input, endpoint, asked, directory });
  if (prepared.ok) return prepared.file;
  const { errors, error_count } = prepared;
  for (const error of errors) screen.message(errorText(error), 'red');
  if (error_count > MAX_BATCH_ERRORS) screen.message(`… ${countText(error_count)} in all`, 'red');
  throw new RunError(`${badLinesText(error_count)}: nothing was done`);
}
