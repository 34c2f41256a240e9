/** `citeward score`: rows in, rewards out. */
import { RECIPE_NAMES } from '../../src/recipes/resolve.ts';
import { type ScoreResponse, scoreRequestSchema } from '../../src/schema/score.ts';
import type { Flags } from '../arguments/flags.ts';
import { changedRecipe, type FieldChanges, type RecipeFlag, readChanges, readRecipe } from '../arguments/recipe.ts';
import { type Command, EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../command.ts';
import { openInput } from '../input/open-input.ts';
import { Progress } from '../output/progress.ts';
import { Screen } from '../output/screen.ts';
import { Table } from '../output/table.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_FLAGS } from '../remote/connect.ts';
import { type Finished, runRows } from '../run-rows.ts';
import { checkLocalFlags, localScoring, remoteScoring, type ScoreService } from '../score/service.ts';
import { idCell, SCORE_COLUMNS, scoreRow, unscoredRow } from '../score/table.ts';
import { ScoreTally } from '../score/tally.ts';

const DEFAULT_RECIPE = 'refiner-gpt54-instance-rubric';

export const scoreCommand: Command = {
  name: 'score',
  summary: 'Score rollouts: one reward a row, with its parts.',
  usage: ['score FILE.jsonl [flags]', 'score - [flags]          (rows from standard input)'],
  flags: [
    { name: 'recipe', kind: 'text', value: 'NAME|JSON|@FILE', help: `The recipe (default ${DEFAULT_RECIPE}).` },
    { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
    { name: 'judge', kind: 'text', value: 'NAME', help: 'The judge, by the name that the Worker has for it.' },
    {
      name: 'judgments',
      kind: 'text',
      value: 'use|only|skip',
      help: 'use stored ones or judge now; only stored ones; skip judging.',
    },
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, instead of the table.' },
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/score, and if you like id and note. Flags win over a row.',
    `Recipes: ${RECIPE_NAMES.join(', ')}.`,
    'Exit code: 0 all rows done, 1 some lines bad or not scored, 2 wrong command line.',
  ],
  run,
};

type Asked = {
  /** `null` = not said: a row's own, else the default. */
  readonly recipe: RecipeFlag | null;
  readonly changes: FieldChanges;
  readonly judge: string | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
};

async function run(flags: Flags): Promise<number> {
  const asked = await readAsked(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'score');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);
  const service = await serviceFor(flags, asked, progress);
  for (const notice of service.notices) screen.message(notice, 'dim');

  const table = flags.isOn('json')
    ? null
    : new Table(SCORE_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const tally = new ScoreTally();
  const started = performance.now();
  await runRows({
    input,
    schema: scoreRequestSchema,
    prepare: (fields) => withFlags(fields, asked),
    service,
    concurrency,
    screen,
    progress,
    async onFinished(finished) {
      tally.add(finished.outcome);
      if (table === null) await printJson(finished, screen);
      else await addToTable(finished, table);
    },
  });
  await table?.end();
  screen.message(tally.summary((performance.now() - started) / 1000), 'bold');
  if (tally.madeBy() !== '') screen.message(tally.madeBy(), 'dim');
  return tally.isComplete ? EXIT_OK : EXIT_INCOMPLETE;
}

async function readAsked(flags: Flags): Promise<Asked> {
  const named = flags.text('recipe');
  return {
    recipe: named === null ? null : await readRecipe(named),
    changes: readChanges(flags.list('set')),
    judge: flags.text('judge'),
    judgments: flags.choice('judgments', ['use', 'only', 'skip']),
  };
}

/** A row's fields with what the flags say, which wins. `--set` changes whichever recipe the row ends up with. */
function withFlags(
  fields: Readonly<Record<string, unknown>>,
  { recipe, changes, judge, judgments }: Asked,
): Readonly<Record<string, unknown>> {
  const base = recipe ?? fields['recipe'] ?? DEFAULT_RECIPE;
  return {
    ...fields,
    recipe: typeof base === 'string' || isFields(base) ? changedRecipe(base, changes) : base,
    ...(judge === null ? {} : { judge }),
    ...(judgments === null ? {} : { judgments }),
  };
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function serviceFor(flags: Flags, asked: Asked, progress: Progress): Promise<ScoreService> {
  const url = flags.text('url');
  if (url === null) {
    if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
    const { judge, judgments, changes } = asked;
    await checkLocalFlags({ recipe: changedRecipe(asked.recipe ?? DEFAULT_RECIPE, changes), judge, judgments });
    return localScoring();
  }
  const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
    progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  return remoteScoring(client, fieldsOfFlags(asked));
}

/** Fields that flags set for every row. */
function fieldsOfFlags({ recipe, changes, judge, judgments }: Asked): ReadonlySet<string> {
  const fields = new Set<string>();
  if (recipe !== null || Object.keys(changes).length > 0) fields.add('recipe');
  if (judge !== null) fields.add('judge');
  if (judgments !== null) fields.add('judgments');
  return fields;
}

async function addToTable({ line, labels, outcome }: Finished<ScoreResponse>, table: Table): Promise<void> {
  switch (outcome.kind) {
    case 'done':
      return table.add(scoreRow(line, labels, outcome.reply));
    case 'failed':
      return table.add(unscoredRow(idCell(line, labels), outcome.reason, outcome.detail));
    case 'refused':
  }
}

/** Bad lines have no result: they are named on standard error only. */
async function printJson({ line, labels, outcome }: Finished<ScoreResponse>, screen: Screen): Promise<void> {
  const { id } = labels;
  switch (outcome.kind) {
    case 'done':
      return screen.result(JSON.stringify({ line, id, ...outcome.reply }));
    case 'failed': {
      const { reason, detail } = outcome;
      return screen.result(JSON.stringify({ line, id, reward: null, status: 'unscored', reason, detail }));
    }
    case 'refused':
  }
}
