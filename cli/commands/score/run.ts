/**
 * `citeward score`: prints a reward for each row. This process and a Worker give the same replies for the same rows.
 */
import { type ScoreRequest, type ScoreResponse, scoreRequestSchema } from '../../../src/wire/score.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import type { Command } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { openRowHost, type RowHost } from '../../shared/row-host.ts';
import { rowPrinter } from '../../shared/row-printer.ts';
import { type RowHandler, runRows } from '../../shared/run-rows.ts';
import { applyScoringOptions, readScoringOptions, scoringFieldsSet } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { outcomeOfFailure } from '../../shared/worker-failures.ts';
import { reportsAsked, runPlaces, scoreSyntax } from './options.ts';
import { SCORE_COLUMNS, ScoreSummary, scoreRow } from './render.ts';

export const scoreCommand: Command = { ...scoreSyntax, run };

async function run(flags: Flags): Promise<number> {
  const scoring = await readScoringOptions(flags);
  const addRun = runPlaces(flags);
  const askReports = reportsAsked(flags);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const screen = new Screen(flags);
  const input = await openRows(flags, 'score examples/rollouts.jsonl', true);
  const progress = new Progress(screen.errors, input.bytes);
  screen.show(progress);
  const rows = await openRowHost(flags, (text) => progress.remark(text), scoring);
  if (flags.text('url') === null) await checkRecipe(scoring);

  const printer = rowPrinter(flags, screen, [SCORE_COLUMNS, scoreRow], { reward: null });
  const summary = new ScoreSummary();
  const started = performance.now();
  await runRows({
    input,
    schema: scoreRequestSchema,
    prepare: (fields) => applyScoringOptions(askReports(addRun?.(fields) ?? fields), scoring),
    handler: scoringRows(rows, scoringFieldsSet(scoring)),
    concurrency,
    screen,
    progress,
    onInterrupted: printer.end,
    async onFinished(finished) {
      summary.add(finished.outcome);
      await printer.print(finished);
    },
  });
  await printer.end();
  return summary.print(screen, started, rows.judged());
}

/** Rows of `/v1/score` may ask for the short reply, which lacks what the table and the summary show. */
const REFUSED_DETAIL = {
  kind: 'refused',
  problems: [{ field: 'detail', message: 'expected "full", which the table shows; a batch takes "reward", too' }],
} as const;

/** @param flagFields the fields that flags set in every row. */
export function scoringRows(
  { client, judgeNotices, concurrency }: Omit<RowHost, 'judged'>,
  flagFields: ReadonlySet<string>,
): RowHandler<ScoreRequest, ScoreResponse> {
  return {
    notices: judgeNotices,
    concurrency,
    async handle(request) {
      if (request.detail === 'reward') return REFUSED_DETAIL;
      const reply = await client.score({ ...request, detail: 'full' });
      return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
    },
  };
}
