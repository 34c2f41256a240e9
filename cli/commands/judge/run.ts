/** `citeward judge check`: puts the questions of all rows to a judge and prints a report on its agreement. */

import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { mapInOrder } from '../../shared/in-order.ts';
import { type Input, openInput } from '../../shared/input.ts';
import { type Line, readLines } from '../../shared/lines.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Progress } from '../../shared/progress.ts';
import { type LineProblem, problemTexts } from '../../shared/rows.ts';
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
    throw new UsageError(`expected: ${CITEWARD} judge check FILE.jsonl`, hint);
  }
  const replicates = flags.count('replicates', REPLICATES_RANGE) ?? DEFAULT_REPLICATES;
  const limit = flags.count('limit', LIMIT_RANGE);
  const concurrency = flags.count('concurrency', CONCURRENCY_RANGE);
  const server = serverFlags(flags);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(files, 'judge check examples/rollouts.jsonl');
  const judge = server === null ? lexicalUnderCheck : await serverUnderCheck(server);
  for (const notice of judge.notices) screen.message(notice, 'dim');
  const progress = new Progress(process.stderr, input.bytes);
  screen.show(progress);

  const started = performance.now();
  const report = await runCheck({ input, judge, replicates, limit, concurrency, screen, progress });
  await print(report, screen, flags.isOn('json'));
  screen.message(summaryOf(report, (performance.now() - started) / 1000), 'bold');
  if (report.stopped_early) {
    screen.message(`stopped: ${MAX_FAILED_ROWS} consecutive rows got no verdict; the other rows were not read`, 'red');
  }
  return isComplete(report) ? EXIT_OK : EXIT_INCOMPLETE;
}

function isComplete(report: CheckReport): boolean {
  return (
    report.rows.bad === 0 &&
    !report.stopped_early &&
    judgingReportsOf(report).every((judging) => judging.failures.total === 0)
  );
}

type CheckRun = {
  readonly input: Input;
  readonly judge: CheckedJudge;
  /** How many times each rollout is judged jointly again. */
  readonly replicates: number;
  /** Maximum number of rows; `null` = all. */
  readonly limit: number | null;
  /** `null` = the default of the judge. */
  readonly concurrency: number | null;
  readonly screen: Screen;
  readonly progress: Progress;
};

/** Consecutive rows without a verdict after which the check stops. */
const MAX_FAILED_ROWS = 20;

type RowEnd =
  | { readonly kind: 'bad'; readonly problems: readonly LineProblem[] }
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'rollout' | 'claim'; readonly cut: boolean; readonly anyVerdict: boolean };

/** Checks all rows. Problems of a line go to standard error, and the other lines are still checked. */
async function runCheck(run: CheckRun): Promise<CheckReport> {
  const { judge, progress } = run;
  const criteria = new CriteriaCheck(judge, run.replicates);
  const claims = new ClaimsCheck(judge);
  const counts = { rollouts: 0, claims: 0, bad: 0, without_answer: 0, cut: 0 };
  const failed = { consecutive: 0 };
  const hasStopped = (): boolean => failed.consecutive >= MAX_FAILED_ROWS;

  const lines = firstLines(readLines(run.input.chunks, MAX_BODY_BYTES), run.limit, hasStopped);
  const ends = mapInOrder(lines, run.concurrency ?? judge.concurrency, async (line) => ({
    line,
    end: await checkLine(line, criteria, claims),
  }));
  let rows = 0;
  for await (const { line, end } of ends) {
    switch (end.kind) {
      case 'bad':
        counts.bad++;
        for (const text of problemTexts(line.number, end.problems)) run.screen.message(text, 'red');
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
        failed.consecutive = end.anyVerdict ? 0 : failed.consecutive + 1;
        break;
    }
    rows++;
    progress.advance(rows, line.bytesRead);
  }
  progress.clear();
  return reportOf({
    judge,
    rows: counts,
    stopped_early: hasStopped(),
    criteria: criteria.report,
    claims: claims.report,
  });
}

/** The first `limit` lines, until the check stops. */
async function* firstLines(
  lines: AsyncIterable<Line>,
  limit: number | null,
  hasStopped: () => boolean,
): AsyncGenerator<Line> {
  let given = 0;
  for await (const line of lines) {
    if (hasStopped()) return;
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
