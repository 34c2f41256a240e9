/** `citeward runs risk`: how many signs of a run's advantages the errors of its judge may have changed. */
import * as z from 'zod';
import type { MeasuredKind } from '../../../src/family/verdict-levels.ts';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import { type LabelKind, LEVELS } from '../../../src/labels/labelled-row.ts';
import { type JudgeError, LABELLED_AS, type RunRisk, runRisk } from '../../../src/labels/run-risk.ts';
import { MAX_NAME_CHARS } from '../../../src/limits.ts';
import { sampledGroups } from '../../../src/runs/group-sample.ts';
import { leftOutTexts } from '../../../src/runs/judge-check.ts';
import type { Estimate } from '../../../src/runs/judge-check-schema.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { countOf, countText, NONE, percentText } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { groupsOfFile, recipesOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';
import { type Column, resultTable } from '../../shared/table.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { withExport } from './exported-run.ts';
import { connectForRuns, runIdOf } from './options.ts';

const syntax: CommandSyntax = {
  json: 'one object: `judge`, and the check `judge_error` of `RecordedCheck`',
  usage: [
    'runs risk RUN --check REPORT.json --url URL [flags]',
    'runs risk --file RUN.jsonl --check REPORT.json [flags]',
  ],
  flags: [
    { name: 'check', kind: 'text', value: 'REPORT.json', help: 'What judge check --json printed about the judge.' },
    { name: 'judge', kind: 'text', value: 'NAME', help: 'The judge of the run, if the report has several.' },
    { name: 'file', kind: 'text', value: 'RUN.jsonl', help: 'An exported run, instead of one of a Worker.' },
    { name: 'draws', kind: 'text', value: 'N', help: 'How often the labels are drawn (default 200).' },
    { name: 'share', kind: 'text', value: 'PERCENT', help: 'Only a random share of the groups (default 100).' },
    { name: 'seed', kind: 'text', value: 'N', help: 'Another seed draws other labels and groups (default 0).' },
    { name: 'json', kind: 'switch', help: 'Print one JSON object.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'Draws the labels behind the recorded verdicts from the errors that the report found, and scores each group again.',
    `The report: ${CITEWARD} judge check --quick --json > REPORT.json`,
    'A run of a Worker keeps the finding: its page and runs watch name it. docs/guides/judge-check.md explains it.',
    'Exit code: 0 done, 1 the run cannot be read or has no such verdicts, 2 wrong command line.',
  ],
};

export const riskCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const [file, path] = [flags.text('file'), flags.text('check')];
  if (path === null) throw new UsageError('runs risk needs --check REPORT.json', CHECK_HINT);
  if (file !== null && flags.positionals.length > 0) throw new UsageError('--file names the run; leave RUN out');
  if (file !== null && flags.text('url') !== null) throw new UsageError('--file and --url exclude each other');
  const draws = flags.count('draws', { min: 20, max: 10_000 }) ?? 200;
  const share = (flags.count('share', { min: 1, max: 100 }) ?? 100) / 100;
  const seed = flags.count('seed', { min: 0, max: 100_000 }) ?? 0;
  const { name, error } = await judgeOfReport(path, flags.text('judge'));
  const screen = new Screen(flags);
  const riskOf = async (exported: string): Promise<RunRisk> => {
    const { recipes } = await recipesOfFile(exported);
    const groups = () => sampledGroups(groupsOfFile(exported, undefined), share === 1 ? undefined : { share, seed });
    const risk = await runRisk(groups, recipes, error, { draws, seed });
    if ('reason' in risk) throw new RunError(REFUSALS[risk.reason]);
    if (risk.rollouts === 0) throw new RunError('no rollout has a reward, so there are no advantages');
    return risk;
  };
  if (file !== null) {
    await print(await riskOf(file), { name, error }, { flags, screen });
    return EXIT_OK;
  }
  const id = runIdOf(flags.positionals, 'risk');
  const client = await connectForRuns(flags, screen);
  const risk = await withExport(client, id, riskOf);
  await print(risk, { name, error }, { flags, screen });
  const { groups: _groups, last_step: step, ...figures } = risk;
  if (step === null) {
    screen.message(`${id} has no steps, so it cannot keep the finding`, 'dim');
    return EXIT_OK;
  }
  const recorded = await client.runs.recordJudgeCheck(id, { rule: 'judge_error', judge: name, step, ...figures });
  if (!recorded.ok) throw runErrorOf(recorded.failure);
  return EXIT_OK;
}

const CHECK_HINT = `Make it with: ${CITEWARD} judge check --quick --json > REPORT.json`;

const REFUSALS = {
  panel: 'several judges voted in this run, and a report is about one judge',
  family: 'labelled rows measure no verdict of this family: only those of refiner and dr-tulu',
} as const;

/** The figures of one kind of rows. Their table has a row for each label and a column for each verdict. */
function kindSchema<K extends LabelKind>(kind: K) {
  const levels = LEVELS[kind].length;
  const all = z.object({
    table: z.array(z.array(z.int().min(0)).length(levels)).length(levels),
    interval: z.tuple([z.number(), z.number()]).nullable(),
  });
  // The first part is all rows.
  return z.object({ kind: z.literal(kind), parts: z.tuple([all], z.unknown()) });
}

/** What is read of the report of `judge check --json`. */
const reportSchema = z.object({
  v: z.literal(2),
  judges: z.array(
    z.object({
      name: z.string().min(1).max(MAX_NAME_CHARS),
      labelled: z
        .object({
          kinds: z.array(
            z.discriminatedUnion('kind', [kindSchema('criterion'), kindSchema('claim'), kindSchema('needs_citation')]),
          ),
        })
        .nullable(),
    }),
  ),
});

/** A judge, and what the report found about it. */
type ReportedJudge = { readonly name: string; readonly error: JudgeError };

/** Reads the errors of one judge. @throws UsageError for another file, or a judge that it does not have. */
async function judgeOfReport(path: string, wanted: string | null): Promise<ReportedJudge> {
  const content = parsedJson(await readTextFile(path));
  if (content === undefined) throw new UsageError(`${path} is not JSON`, CHECK_HINT);
  const report = reportSchema.safeParse(content);
  if (!report.success) {
    const [problem] = problemsOfIssues(report.error.issues, content);
    throw new UsageError(`${path}: ${pathText(problem?.path ?? [])}: ${problem?.message}`, CHECK_HINT);
  }
  const { judges } = report.data;
  const names = judges.map((judge) => judge.name).join(', ');
  if (wanted === null && judges.length !== 1)
    throw new UsageError(`${path} has the judges ${names}`, 'Add --judge NAME.');
  const judge = wanted === null ? judges[0] : judges.find((one) => one.name === wanted);
  if (judge === undefined) throw new UsageError(`${path} has no judge ${wanted}: it has ${names}`);
  if (judge.labelled === null) throw new UsageError(`${path} is about rows without labels`, CHECK_HINT);
  return {
    name: judge.name,
    error: Object.fromEntries(judge.labelled.kinds.map(({ kind, parts: [all] }) => [kind, all])),
  };
}

const COLUMNS: readonly Column[] = [
  { title: 'verdicts', align: 'left', most: 16 },
  { title: 'count', align: 'right', most: 10 },
  { title: 'yes', align: 'right', most: 7 },
  { title: 'corrected', align: 'right', most: 9 },
  { title: '95 % interval', align: 'right', most: 15 },
  { title: 'changes alone', align: 'left', most: 40 },
];

async function print(
  risk: RunRisk,
  { name: judge, error }: ReportedJudge,
  { flags, screen }: { readonly flags: Flags; readonly screen: Screen },
): Promise<void> {
  if (flags.isOn('json')) {
    await screen.result(JSON.stringify({ judge, ...risk }));
    return;
  }
  const { kinds, flipped, changed, groups, rollouts } = risk;
  const table = resultTable(COLUMNS, screen);
  const why = (kind: MeasuredKind): string =>
    error[LABELLED_AS[kind]] === undefined
      ? 'the report has no such rows'
      : `${judge} is not shown to tell yes from no`;
  for (const { kind, verdicts, yes, corrected, changed: alone } of kinds) {
    await table.add({
      cells: [
        { text: kind },
        { text: countText(verdicts) },
        { text: percentText(yes) },
        { text: percentText(corrected?.share ?? null) },
        { text: corrected === null ? NONE : intervalText(corrected) },
        { text: alone === null ? `not drawn: ${why(kind)}` : estimateText(alone) },
      ],
    });
  }
  await table.end();
  const of = `${countOf(rollouts, 'rollout')} in ${countOf(groups, 'group')}`;
  await screen.result(`\nadvantages whose sign the errors of ${plainLine(judge)} may have changed, of ${of}`);
  await screen.result(`positive to negative or back: ${estimateText(flipped)}`);
  await screen.result(`to or from 0 too: ${estimateText(changed)}`);
  for (const text of leftOutTexts(kinds)) await screen.result(text);
  // Clipped in nearly every draw: the verdicts are yes more or less often than for any labels.
  const clipped = kinds.flatMap(({ kind, corrected: c }) => (c !== null && c.low === c.high ? [kind] : []));
  if (clipped.length > 0) {
    const words = "the run's verdicts are yes more or less often than the report allows for any labels";
    screen.message(`${words}: ${clipped.join(', ')}. Label rows that are like those of the run.`, 'yellow');
  }
}

/** `8.2% (5.1% - 12.0%)` */
function estimateText(estimate: Estimate | null): string {
  return estimate === null ? NONE : `${percentText(estimate.share)} (${intervalText(estimate)})`;
}

function intervalText({ low, high }: Estimate): string {
  return `${percentText(low)} - ${percentText(high)}`;
}
