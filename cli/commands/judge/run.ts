/** `citeward judge check`: puts the questions of all rows to one or several judges and prints how good they are. */

import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RowLine } from '../../../src/wire/rows/row-line.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_BELOW_MINIMUM, EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { mapInOrder } from '../../shared/in-order.ts';
import type { RowInput } from '../../shared/input.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countOf } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Progress } from '../../shared/progress.ts';
import { openRowFile } from '../../shared/row-files/open-rows.ts';
import { type LineProblem, problemTexts } from '../../shared/rows.ts';
import { Screen } from '../../shared/screen.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { CONCURRENCY_RANGE } from '../../shared/worker.ts';
import { type CheckFormat, ROW_FORMATS, readCheckRow } from './check-rows.ts';
import { CriteriaCheck } from './criteria-check.ts';
import {
  type CheckedJudge,
  cascadeUnderCheck,
  classifierUnderCheck,
  lexicalUnderCheck,
  serverUnderCheck,
  type TierUnderCheck,
} from './judges.ts';
import type { JudgeDescription } from './judges-file.ts';
import { LabelledCheck, LabelledRows, type RowVerdicts } from './labelled-check.ts';
import {
  DEFAULT_REPLICATES,
  describedJudges,
  judgeSyntax,
  LIMIT_RANGE,
  REPLICATES_RANGE,
  SEED_RANGE,
} from './options.ts';
import { print, summaryOf } from './render.ts';
import { belowMinimum, type CheckReport, judgingReportsOf, reportOf } from './report.ts';
import { chooseShots, SHOTS_RANGE, type Shots, withShots } from './shots.ts';

const ROWS_HINT = `A row is a rollout, as in examples/rollouts.jsonl, or a labelled row: ${CITEWARD} help judge`;

export const judgeCommand: Command = { ...judgeSyntax, run };

async function run(flags: Flags): Promise<number> {
  const [action, ...files] = flags.positionals;
  if (action !== 'check') {
    const hint = action === undefined ? null : didYouMean(action, ['check']);
    throw new UsageError(`expected: ${CITEWARD} judge check [FILE.jsonl…]`, hint);
  }
  const settings = {
    replicates: flags.count('replicates', REPLICATES_RANGE) ?? DEFAULT_REPLICATES,
    quick: flags.isOn('quick'),
    logprobs: flags.isOn('logprobs'),
    format: flags.choice('format', ROW_FORMATS) ?? 'auto',
    seed: flags.count('seed', SEED_RANGE) ?? 0,
    limit: flags.count('limit', LIMIT_RANGE),
    concurrency: flags.count('concurrency', CONCURRENCY_RANGE),
  };
  const minimum = flags.number('min-balanced-accuracy', 'a number from 0 to 1', (value) => value <= 1);
  const shotCount = flags.count('shots', SHOTS_RANGE);
  const paths = files.length === 0 ? shippedFiles() : files;
  const openInputs = () => openAll(paths, flags);
  const named = await describedJudges(flags);
  const shots = shotCount === null ? null : await shotsOf(paths, openInputs, settings, shotCount);
  const described = shots === null ? named : withShots(named, shots);
  const screen = new Screen(flags);
  const inputs = await openInputs();
  const judges = await openJudges(described, settings);
  for (const notice of new Set(judges.flatMap(({ notices }) => notices))) screen.message(notice, 'dim');
  const sizes = inputs.map(({ bytes }) => bytes);
  const bytes = sizes.every((size) => size !== null) ? sizes.reduce((sum, size) => sum + size, 0) : null;
  const progress = new Progress(screen.errors, bytes);
  screen.show(progress);

  const started = performance.now();
  const report = await runCheck({ inputs, judges, shots, ...settings, screen, progress });
  await print(report, screen, flags.isOn('json'));
  screen.message(summaryOf(report, (performance.now() - started) / 1000), 'bold');
  if (report.stopped_early) {
    screen.message(`stopped: ${MAX_FAILED_ROWS} consecutive rows got no verdict; the other rows were not read`, 'red');
  }
  const below = minimum === null ? [] : belowMinimum(report, minimum);
  for (const one of below) screen.message(`balanced accuracy not shown to reach ${minimum}: ${one}`, 'red');
  if (!isComplete(report)) return EXIT_INCOMPLETE;
  return below.length > 0 ? EXIT_BELOW_MINIMUM : EXIT_OK;
}

async function openAll(paths: readonly string[], flags: Flags): Promise<readonly RowInput[]> {
  const inputs: RowInput[] = [];
  for (const path of paths) inputs.push(await openRowFile([path], flags, 'judge check examples/rollouts.jsonl'));
  return inputs;
}

/** Chooses examples in a pass over the rows of their own. Lines that are no labelled row are reported later. */
async function shotsOf(
  paths: readonly string[],
  openInputs: () => Promise<readonly RowInput[]>,
  { format, seed }: { readonly format: CheckFormat; readonly seed: number },
  count: number,
): Promise<Shots> {
  if (paths.includes('-')) throw new UsageError('--shots reads the rows twice', 'Give a file instead of -.');
  const inputs = await openInputs();
  const labelled = async function* () {
    for await (const line of fileLines(inputs)) {
      const read = readCheckRow(line, format);
      if (read.ok && read.value.kind === 'labelled') yield read.value.row;
    }
  };
  return chooseShots(labelled(), count, seed);
}

/** The labelled rows that come with a clone. @throws UsageError where there are none, as in the npm package. */
function shippedFiles(): readonly string[] {
  const folder = fileURLToPath(new URL('../../../examples/judge-check/', import.meta.url));
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
  if (files.length === 0) throw new UsageError('no input: give a file, or - for standard input');
  return files.sort().map((name) => relative(process.cwd(), join(folder, name)));
}

/** @throws UsageError for two judges of one name, RunError for a server without the model. */
async function openJudges(
  described: readonly JudgeDescription[],
  { logprobs }: Pick<CheckRun, 'logprobs'>,
): Promise<readonly CheckedJudge[]> {
  const judges: CheckedJudge[] = [];
  for (const one of described) {
    const judge = await judgeUnderCheck(one, logprobs);
    if (judges.some(({ name }) => name === judge.name)) {
      throw new UsageError(`two judges are called "${judge.name}"`, 'Give them a "name" in the file of --compare.');
    }
    judges.push(judge);
  }
  return judges;
}

async function judgeUnderCheck(one: JudgeDescription, logprobs: boolean): Promise<CheckedJudge> {
  switch (one.kind) {
    case 'lexical':
      return withoutLogprobs(lexicalUnderCheck(one.name, one), logprobs, 'it is no language model');
    case 'classifier':
      return withoutLogprobs(await classifierUnderCheck(one), logprobs, 'its own probabilities are checked');
    case 'server':
      return serverUnderCheck(one, logprobs);
    case 'cascade': {
      const tiers: TierUnderCheck[] = [];
      for (const { judge, band } of one.tiers) tiers.push({ judge: await judgeUnderCheck(judge, false), band });
      const reason = 'its judges decide different rows; check its language model alone';
      return withoutLogprobs(cascadeUnderCheck(one.name, tiers), logprobs, reason);
    }
  }
}

/** A judge that `--logprobs` does not concern, with a line that says why if they were asked for. */
function withoutLogprobs(judge: CheckedJudge, areAsked: boolean, reason: string): CheckedJudge {
  if (!areAsked) return judge;
  return { ...judge, notices: [...judge.notices, `--logprobs: not asked of ${judge.name}: ${reason}`] };
}

function isComplete(report: CheckReport): boolean {
  return (
    report.rows.bad === 0 &&
    !report.stopped_early &&
    judgingReportsOf(report).every((judging) => judging.failures.total === 0)
  );
}

type CheckRun = {
  readonly inputs: readonly RowInput[];
  readonly judges: readonly CheckedJudge[];
  /** Examples of the judges; `null` = none. */
  readonly shots: Shots | null;
  /** How many times each row is judged again. */
  readonly replicates: number;
  readonly quick: boolean;
  /** Language models are asked for log-probabilities. */
  readonly logprobs: boolean;
  readonly format: CheckFormat;
  readonly seed: number;
  /** Maximum number of rows; `null` = all. */
  readonly limit: number | null;
  /** `null` = the default of the judges. */
  readonly concurrency: number | null;
  readonly screen: Screen;
  readonly progress: Progress;
};

/** Consecutive rows without a verdict of one judge after which the check stops. */
const MAX_FAILED_ROWS = 20;

/** Labelled rows of one check; they stay in memory. */
const MAX_LABELLED_ROWS = 200_000;

/** The checks of one judge. */
class JudgeUnderWay {
  readonly judge: CheckedJudge;
  readonly criteria: CriteriaCheck;
  readonly labelled: LabelledCheck;
  readonly verdicts: RowVerdicts[] = [];
  #failedRows = 0;

  constructor(judge: CheckedJudge, run: Pick<CheckRun, 'replicates' | 'quick' | 'seed'>) {
    this.judge = judge;
    this.criteria = new CriteriaCheck(judge, run);
    this.labelled = new LabelledCheck(judge, run);
  }

  /** Counts a row. */
  end(anyVerdict: boolean): void {
    this.#failedRows = anyVerdict ? 0 : this.#failedRows + 1;
  }

  get hasStopped(): boolean {
    return this.#failedRows >= MAX_FAILED_ROWS;
  }
}

type RowEnd =
  | { readonly kind: 'bad'; readonly problems: readonly LineProblem[] }
  | { readonly kind: 'without_answer' | 'left_out' }
  /** `end` counts the row; it is called in the order of the rows. */
  | { readonly kind: 'rollout' | 'labelled'; readonly cut: boolean; readonly end: () => void };

/** Checks all rows. Problems of a line go to standard error, and the other lines are still checked. */
async function runCheck(run: CheckRun): Promise<CheckReport> {
  const { judges, progress } = run;
  const underWay = judges.map((judge) => new JudgeUnderWay(judge, run));
  const labelled = new LabelledRows();
  const counts = { rollouts: 0, labelled: 0, left_out: 0, bad: 0, without_answer: 0, cut: 0 };
  const hasStopped = (): boolean => underWay.some((one) => one.hasStopped);

  const lines = firstLines(fileLines(run.inputs), run.limit, hasStopped);
  const concurrency = run.concurrency ?? Math.max(...judges.map((judge) => judge.concurrency));
  const ends = mapInOrder(lines, concurrency, async (line) => ({
    line,
    end: await checkLine(line, run, underWay, labelled),
  }));
  let rows = 0;
  const removeHandler = onInterruption(() => {
    const again = rows === 0 ? 'Run the command again.' : `For a report on these rows add --limit ${rows}.`;
    run.screen.message(`interrupted after ${countOf(rows, 'row')}, without a report. ${again}`, 'bold');
  });
  for await (const { line, end } of ends) {
    switch (end.kind) {
      case 'bad':
        counts.bad++;
        for (const text of problemTexts(line.number, end.problems, line.unit)) {
          run.screen.message(run.inputs.length > 1 ? `${line.file}: ${text}` : text, 'red');
        }
        break;
      case 'without_answer':
        counts.rollouts++;
        counts.without_answer++;
        break;
      case 'left_out':
        counts.left_out++;
        break;
      case 'rollout':
      case 'labelled':
        if (end.kind === 'rollout') counts.rollouts++;
        else counts.labelled++;
        if (counts.labelled > MAX_LABELLED_ROWS) {
          throw new RunError(`more than ${MAX_LABELLED_ROWS} labelled rows`, 'Read a part of them with --limit N.');
        }
        if (end.cut) counts.cut++;
        end.end();
        break;
    }
    rows++;
    progress.advance(rows, line.bytesRead);
  }
  progress.clear();
  removeHandler();
  if (rows === 0) throw new RunError('the input has no rows', ROWS_HINT);
  return reportOf({
    rows: counts,
    stopped_early: hasStopped(),
    seed: run.seed,
    labelled: labelled.rows,
    by: underWay.map(({ judge, criteria, labelled: own, verdicts }) => ({
      judge,
      criteria: criteria.report,
      judging: own.judging,
      verdicts,
    })),
  });
}

/** A line with its file. `bytesRead` counts the files before it too. */
type FileLine = RowLine & { readonly file: string; readonly unit: RowInput['unit'] };

async function* fileLines(inputs: readonly RowInput[]): AsyncGenerator<FileLine> {
  let before = 0;
  for (const { name, unit, lines, bytes } of inputs) {
    for await (const line of lines) {
      yield { ...line, bytesRead: before + line.bytesRead, file: name, unit };
    }
    before += bytes ?? 0;
  }
}

/** The first `limit` lines, until the check stops. */
async function* firstLines(
  lines: AsyncIterable<FileLine>,
  limit: number | null,
  hasStopped: () => boolean,
): AsyncGenerator<FileLine> {
  let given = 0;
  for await (const line of lines) {
    if (hasStopped()) return;
    yield line;
    given++;
    if (given === limit) return;
  }
}

/** Puts a row to all judges at the same time. */
async function checkLine(
  line: RowLine,
  { format, shots }: Pick<CheckRun, 'format' | 'shots'>,
  judges: readonly JudgeUnderWay[],
  labelled: LabelledRows,
): Promise<RowEnd> {
  const read = readCheckRow(line, format);
  if (!read.ok) return { kind: 'bad', problems: read.error };
  if (read.value.kind === 'labelled') {
    const { row } = read.value;
    if (shots?.covers(row) === true) return { kind: 'left_out' };
    const ends = await Promise.all(judges.map(async (one) => ({ one, ...(await one.labelled.check(row)) })));
    return {
      kind: 'labelled',
      cut: ends.some(({ cut }) => cut),
      end: () => {
        labelled.add(row);
        for (const { one, verdicts, anyVerdict } of ends) {
          one.verdicts.push(verdicts);
          one.end(anyVerdict);
        }
      },
    };
  }
  const { request } = read.value;
  const ends = await Promise.all(judges.map(async (one) => ({ one, checked: await one.criteria.check(request) })));
  const judged: { readonly one: JudgeUnderWay; readonly cut: boolean; readonly anyVerdict: boolean }[] = [];
  for (const { one, checked } of ends) {
    switch (checked.kind) {
      case 'refused':
        return { kind: 'bad', problems: checked.problems };
      case 'without_answer':
        return checked;
      case 'judged':
        judged.push({ one, ...checked });
    }
  }
  return {
    kind: 'rollout',
    cut: judged.some(({ cut }) => cut),
    end: () => {
      for (const { one, anyVerdict } of judged) one.end(anyVerdict);
    },
  };
}
