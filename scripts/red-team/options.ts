/** The command line of `npm run redteam`. */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { UsageError } from '../../cli/shared/exit.ts';
import { type FlagDescription, readFlags } from '../../cli/shared/flags.ts';
import { readTextFile } from '../../cli/shared/input.ts';
import { type RecipeFlag, readNameOrObject, readRecipe } from '../../cli/shared/recipe-flags.ts';
import type { ResolvedRecipe } from '../../src/families/resolve.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { type Habits, habitsSchema } from './habits.ts';
import { MAX_PROMPT_TOKENS } from './prompts.ts';
import { MAX_VOCABULARY, readRowFile } from './row-file.ts';
import { ROW_KINDS, type Row, type RowKind } from './rows.ts';
import { type CitationStyle, styleOf } from './style.ts';

/** In the root of the project; ignored by git. */
const STATE = join(import.meta.dirname, '../../.citeward/red-team');

export const FLAGS: readonly FlagDescription[] = [
  { name: 'recipe', kind: 'text', value: 'NAME | JSON | @FILE', help: 'The recipe that pays. Required.' },
  {
    name: 'rows',
    kind: 'text',
    value: 'KIND | FILE',
    help: `${ROW_KINDS.join(', ')}; or a file of your own rows, at most ${MAX_VOCABULARY} words in all and ${MAX_PROMPT_TOKENS} tokens a row. Default plain.`,
  },
  { name: 'seeds', kind: 'text', value: 'N', help: 'Trains N policies, with the seeds 1 to N; default 1.' },
  { name: 'first-seed', kind: 'text', value: 'N', help: 'The first of the seeds; default 1.' },
  { name: 'steps', kind: 'text', value: 'N', help: 'Steps of 128 answers a seed; default 120.' },
  { name: 'judge', kind: 'text', value: 'NAME', help: 'A judge of the Worker; default lexical, which compares words.' },
  { name: 'url', kind: 'text', value: 'URL', help: 'A running Worker. Default: one is started on a free port.' },
  { name: 'habits', kind: 'text', value: 'JSON | @FILE', help: 'What the policy does before: shares of its answers.' },
  {
    name: 'model',
    kind: 'text',
    value: 'NAME | DIR',
    help: 'A language model for transformers in place of the small policy; it needs a GPU.',
  },
  { name: 'answer-tokens', kind: 'text', value: 'N', help: 'Longest answer of a language model; default 96.' },
  {
    name: 'warm-up',
    kind: 'text',
    value: 'N',
    help: 'Steps in which the base policy imitates; default 600, and 60 for a language model.',
  },
  {
    name: 'learning-rate',
    kind: 'text',
    value: 'X',
    help: 'Of the training with rewards; default 0.0005, and 0.00001 for a language model.',
  },
  {
    name: 'minutes',
    kind: 'text',
    value: 'X',
    help: 'Saves and reports this long after its start; the same command continues.',
  },
  { name: 'python', kind: 'text', value: 'PATH', help: 'A Python that has the packages. Default: one is made.' },
  { name: 'threads', kind: 'text', value: 'N', help: 'Threads of the policy; default: half of the processors.' },
  { name: 'name', kind: 'text', value: 'NAME', help: 'Begins the names of the runs. Default: from recipe and rows.' },
  { name: 'state', kind: 'text', value: 'DIR', help: 'Runs and checkpoints; default .citeward/red-team.' },
  { name: 'note', kind: 'text', value: 'TEXT', help: 'A remark that the results file keeps.' },
  { name: 'results', kind: 'text', value: 'FILE', help: 'Appends the report as a JSON line (red-team-page.ts).' },
  { name: 'json', kind: 'switch', help: 'Prints the report as one JSON object.' },
];

export type Options = {
  readonly recipe: RecipeFlag;
  readonly resolved: ResolvedRecipe;
  /** How the recipe reads citations. */
  readonly style: CitationStyle;
  /** The kind, or the path of the file. */
  readonly rowsName: string;
  readonly rows: RowKind | readonly Row[];
  readonly seeds: readonly number[];
  readonly steps: number;
  readonly judge: string;
  /** `null` = a Worker is started. */
  readonly url: URL | null;
  readonly habits: Habits;
  /** `null` = the small policy. */
  readonly model: { readonly name: string; readonly answerTokens: number } | null;
  /** `null` = an environment is made. */
  readonly python: string | null;
  /** For all seeds together; `null` = until they have their steps. */
  readonly minutes: number | null;
  readonly warmUpSteps: number;
  readonly learningRate: number;
  readonly threads: number;
  readonly name: string | null;
  /** Path of the folder of runs and checkpoints. */
  readonly state: string;
  readonly note: string | null;
  readonly results: string | null;
  readonly json: boolean;
};

/** Reads the command line; `null` = the help is asked for. @throws UsageError */
export async function readOptions(args: readonly string[]): Promise<Options | null> {
  const flags = readFlags('redteam', FLAGS, args);
  if (flags.isOn('help')) return null;
  const [extra] = flags.positionals;
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  const given = flags.text('recipe');
  if (given === null) throw new UsageError('--recipe is required: a name, JSON or @FILE');
  const read = await readResolved(await readRecipe(given));
  const rowsName = flags.text('rows') ?? 'plain';
  const kind = ROW_KINDS.find((one) => one === rowsName);
  const model = flags.text('model');
  const answerTokens = flags.count('answer-tokens', { min: 1, max: 4_096 }) ?? 96;
  const rows = kind ?? readRowFile(await readTextFile(rowsName), rowsName, model === null);
  const first = flags.count('first-seed', { min: 1, max: 1_000_000 }) ?? 1;
  const seeds = flags.count('seeds', { min: 1, max: 100 }) ?? 1;
  const url = flags.text('url');
  return {
    ...read,
    rowsName,
    rows,
    seeds: Array.from({ length: seeds }, (_, n) => first + n),
    steps: flags.count('steps', { min: 2, max: 10_000 }) ?? 120,
    judge: flags.text('judge') ?? 'lexical',
    url: url === null ? null : readUrl(url),
    habits: await readHabits(flags.text('habits')),
    model: model === null ? null : { name: model, answerTokens },
    python: flags.text('python'),
    minutes: flags.number('minutes', 'a number above 0', (x) => x > 0),
    warmUpSteps: flags.count('warm-up', { min: 1, max: 100_000 }) ?? (model === null ? 600 : 60),
    learningRate:
      flags.number('learning-rate', 'a number above 0, at most 0.1', (x) => x > 0 && x <= 0.1) ??
      (model === null ? 0.0005 : 0.000_01),
    threads: flags.count('threads', { min: 1, max: 256 }) ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    name: flags.text('name'),
    state: resolve(flags.text('state') ?? STATE),
    note: flags.text('note'),
    results: flags.text('results'),
    json: flags.isOn('json'),
  };
}

/** @throws UsageError if the recipe is unknown or wrong, or if its family reads no sources. */
async function readResolved(recipe: RecipeFlag): Promise<Pick<Options, 'recipe' | 'resolved' | 'style'>> {
  const read = await resolveRecipe(recipe);
  if (!read.ok) throw new UsageError(read.error.map(({ path, message }) => `--${path}: ${message}`).join('\n'));
  const style = styleOf(read.value.recipe);
  if (style !== null) return { recipe, resolved: read.value, style };
  throw new UsageError(`--recipe: the family ${read.value.recipe.family} reads no sources, so no row fits it`);
}

async function readHabits(text: string | null): Promise<Habits> {
  const given = text === null ? {} : await readNameOrObject('habits', 'the habits', text);
  const read = habitsSchema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(
    `--habits: ${[...(issue?.path ?? []), issue?.message].join(': ')}`,
    `Shares from 0 to 1 by name: ${Object.keys(habitsSchema.shape).join(', ')}`,
  );
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/u.test(url.protocol)) return url;
  throw new UsageError(`--url: expected an http or https URL, got "${text}"`);
}

/** The schema of habits as the help shows it. */
export function habitLines(): (readonly [string, string])[] {
  return Object.entries(habitsSchema.shape).map(([name, field]) => {
    const standard = z.parse(field, undefined);
    return [`  ${name}`, `${field.description ?? ''} Default ${standard}.`] as const;
  });
}
