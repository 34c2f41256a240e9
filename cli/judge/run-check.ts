/** The loop of `citeward judge check`: lines in, questions to the judge, and in the end one report. */
import { MAX_BODY_BYTES } from '../../src/limits.ts';
import { mapInOrder } from '../input/in-order.ts';
import { type Line, readLines } from '../input/lines.ts';
import type { Input } from '../input/open-input.ts';
import type { LineProblem } from '../input/rows.ts';
import type { Progress } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import type { CheckedJudge } from './checked-judge.ts';
import { ClaimsCheck } from './claims-check.ts';
import { CriteriaCheck } from './criteria-check.ts';
import { type CheckReport, reportOf } from './report.ts';
import { readCheckRow } from './rows.ts';

export type CheckRun = {
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
export const FAILED_ROWS_MAX = 20;

type RowEnd =
  | { readonly kind: 'bad'; readonly problems: readonly LineProblem[] }
  | { readonly kind: 'without_answer' }
  | { readonly kind: 'rollout' | 'claim'; readonly cut: boolean; readonly anyVerdict: boolean };

/** Checks all rows. Bad lines are named on standard error as they come, and the rest goes on. */
export async function runCheck(run: CheckRun): Promise<CheckReport> {
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
