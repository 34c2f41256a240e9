/** `citeward score`: rows in, rewards out. */
import { RECIPE_NAMES } from '../../src/families/resolve.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import type { Flags } from '../arguments/flags.ts';
import { type Command, UsageError } from '../command.ts';
import { HELP_WIDTH, wrapped } from '../help.ts';
import { openInput } from '../input/open-input.ts';
import { sayEnd } from '../output/end.ts';
import { Progress } from '../output/progress.ts';
import { Screen } from '../output/screen.ts';
import { Table } from '../output/table.ts';
import { CONCURRENCY_RANGE, connect, REMOTE_FLAGS } from '../remote/connect.ts';
import { type Finished, runRows } from '../run-rows.ts';
import { type Asked, defaultRecipe, fieldsAsked, readAsked, SCORING_FLAGS, withAsked } from '../score/asked.ts';
import { RUN_PLACE_FLAGS, runPlaces } from '../score/run-places.ts';
import { checkLocalFlags, localScoring, remoteScoring, type ScoreService } from '../score/service.ts';
import { idCell, SCORE_COLUMNS, scoreRow, unscoredRow } from '../score/table.ts';
import { ScoreTally } from '../score/tally.ts';

export const scoreCommand: Command = {
  name: 'score',
  summary: 'Score rollouts: one reward a row, with its parts.',
  usage: ['score FILE.jsonl [flags]', 'score - [flags]          (rows from standard input)'],
  flags: [
    ...SCORING_FLAGS,
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, instead of the table.' },
    ...RUN_PLACE_FLAGS,
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/score, and if you like id and note. Flags win over a row.',
    ...wrapped(`Recipes: ${RECIPE_NAMES.join(', ')}.`, HELP_WIDTH),
    'Exit code: 0 all rows done, 1 some lines bad or not scored, 2 wrong command line.',
  ],
  run,
};

async function run(flags: Flags): Promise<number> {
  const asked = await readAsked(flags);
  const places = runPlaces(flags);
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
    prepare: (fields) => withAsked(places?.(fields) ?? fields, asked),
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
  return sayEnd(screen, tally, started);
}

async function serviceFor(flags: Flags, asked: Asked, progress: Progress): Promise<ScoreService> {
  const url = flags.text('url');
  if (url === null) {
    if (flags.text('key') !== null) throw new UsageError('--key is for a Worker: give its --url too');
    const { judge, judgments, receipt } = asked;
    await checkLocalFlags({ recipe: defaultRecipe(asked), judge, judgments, receipt });
    return localScoring();
  }
  const client = await connect(url, flags.text('key'), ({ why, wait_ms }) => {
    progress.remark(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`);
  });
  return remoteScoring(client, fieldsAsked(asked));
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
