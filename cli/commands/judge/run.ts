/** `citeward judge check`: how far a judge can be trusted. */
/** The loop of `citeward judge check`: lines in, questions to the judge, and in the end one report. */

import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { mapInOrder } from '../../shared/in-order.ts';
import { type Input, openInput } from '../../shared/input.ts';
import { type Line, readLines } from '../../shared/lines.ts';
import { Progress } from '../../shared/progress.ts';
import type { LineProblem } from '../../shared/rows.ts';
import { Screen } from '../../shared/screen.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { readCheckRow } from './check-rows.ts';
import { ClaimsCheck } from './claims-check.ts';
import { CriteriaCheck } from './criteria-check.ts';
import { type CheckedJudge, lexicalUnderCheck, serverUnderCheck } from './judges.ts';
import { DEFAULT_REPLICATES, judgeSyntax, LIMIT_RANGE, REPLICATES_RANGE, serverFlags } from './options.ts';
import { print, summaryOf } from './render.ts';
import { type CheckReport, judgingReportsOf, reportOf } from './report.ts';

export const judgeCommand: Command = { ...judgeSyntax, run };

async function run(flags: Flags): Promise<number> {
  const [action, ...files] = flags.positionals;
  if (action !== 'check') {
    const hint = action === undefined ? null : didYouMean(action, ['check']);
    throw new UsageError('expected: citeward judge check FILE.jsonl', hint);
  }
  const replicates = flags.count('replicates', REPLICATES_RANGE) ?? DEFAULT_REPLICATES;
  const limit = flags.count('limit', LIMIT_RANGE);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const server = serverFlags(flags);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(files, 'judge check');
  const judge = server === null ? lexicalUnderCheck : await serverUnderCheck(server);
  for (const notice of judge.notices) screen.message(notice, 'dim');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);

  const started = performance.now();
  const report = await runCheck({ input, judge, replicates, limit, concurrency, screen, progress });
  await print(report, screen, flags.isOn('json'));
  screen.message(summaryOf(report, (performance.now() - started) / 1000), 'bold');
  if (report.stopped_early) {
    screen.message(
      `stopped: ${FAILED_ROWS_MAX} rows one after the other got no verdict at all; the rest was not read`,
      'red',
    );
  }
  return isComplete(report) ? EXIT_OK : EXIT_INCOMPLETE;
}

function isComplete(report: CheckReport): boolean {
  return (
    report.rows.bad === 0 &&
    !report.stopped_early &&
    judgingReportsOf(report).every((lane) => lane.failures.total === 0)
  );
}

type CheckRun = {
  readonly input: Input;
  readonly judge: CheckedJudge;
  /** Further joint judgings of each rollout. */
  readonly replicates: number;
  /** Rows that are read at most; `null` = all. */
  readonly limit: number | null;
  /** `null` = as suits the judge. */
  readonly concurrency: number | null;
  readonly screen: Screen;
  readonly progress: Progress;
};

/** Rows in a row without a single verdict, after which the judge is taken to have gone for good. */
const FAILED_ROWS_MAX = 20;

type RowEnd =
  | { readonly kind: 'bad'; readonly problems: readonly LineProblem[] }
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'rollout' | 'claim'; readonly cut: boolean; readonly anyVerdict: boolean };

/** Checks all rows. Bad lines are named on standard error as they come, and the rest goes on. */
async function runCheck(run: CheckRun): Promise<CheckReport> {
  const { judge, progress } = run;
  const criteria = new CriteriaCheck(judge, run.replicates);
  const claims = new ClaimsCheck(judge);
  const counts = { rollouts: 0, claims: 0, bad: 0, without_answer: 0, cut: 0 };
  const failed = { inARow: 0 };
  const isGone = (): boolean => failed.inARow >= FAILED_ROWS_MAX;

  const lines = some(readLines(run.input.chunks, MAX_BODY_BYTES), run.limit, isGone);
  const ends = mapInOrder(lines, run.concurrency ?? judge.concurrency, async (line) => ({
    line,
    end: await checkLine(line, criteria, claims),
  }));
  let rows = 0;
  for await (const { line, end } of ends) {
    switch (end.kind) {
      case 'bad':
        counts.bad++;
        nameBadLine(run.screen, line.number, end.problems);
        break;
      case 'without_answer':
        counts.rollouts++;
        counts.without_answer++;
        break;
      case 'rollout':
      case 'claim':
        if (end.kind === 'rollout') counts.rollouts++;
        else counts.claims++;
        if (end.cut) counts.cut++;
        failed.inARow = end.anyVerdict ? 0 : failed.inARow + 1;
        break;
    }
    rows++;
    progress.advance(rows, line.bytesRead);
  }
  progress.clear();
  return reportOf({
    judge,
    rows: counts,
    stopped_early: isGone(),
    criteria: criteria.report,
    claims: claims.report,
  });
}

/** The first lines, until there is no point in going on. */
async function* some(lines: AsyncIterable<Line>, limit: number | null, isGone: () => boolean): AsyncGenerator<Line> {
  let given = 0;
  for await (const line of lines) {
    if (isGone()) return;
    yield line;
    given++;
    if (given === limit) return;
  }
}

async function checkLine(line: Line, criteria: CriteriaCheck, claims: ClaimsCheck): Promise<RowEnd> {
  const read = readCheckRow(line);
  if (!read.ok) return { kind: 'bad', problems: read.problems };
  const { row } = read;
  if (row.kind === 'claim') return { kind: 'claim', ...(await claims.check(row.claim)) };
  const checked = await criteria.check(row.request);
  switch (checked.kind) {
    case 'refused':
      return { kind: 'bad', problems: checked.problems };
    case 'without_answer':
      return checked;
    case 'judged':
      return { kind: 'rollout', cut: checked.cut, anyVerdict: checked.anyVerdict };
  }
}

/** Problems of one line that are named; the rest are counted. */
const MAX_PROBLEMS_SHOWN = 8;

function nameBadLine(screen: Screen, line: number, problems: readonly LineProblem[]): void {
  for (const { field, message } of problems.slice(0, MAX_PROBLEMS_SHOWN)) {
    screen.message(field === null ? `line ${line}: ${message}` : `line ${line}: ${field}: ${message}`, 'red');
  }
  const more = problems.length - MAX_PROBLEMS_SHOWN;
  if (more > 0) screen.message(`line ${line}: and ${more} more`, 'red');
}
