/** `citeward runs canary` and `citeward runs audit`: watch the judge of a run in a Worker, off the path of replies. */

import type { Client } from '../../../clients/typescript/client.ts';
import { ALERT_WINDOW_STEPS } from '../../../src/runs/alert-rules.ts';
import { Audit, canaryCheck } from '../../../src/runs/drift.ts';
import { checkTexts, isAlert } from '../../../src/runs/judge-check.ts';
import type { JudgeCheck } from '../../../src/runs/judge-check-schema.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { ReplayInput } from '../../../src/wire/replay.ts';
import type { ReplayLineOf } from '../../../src/wire/replay-reply.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_ALERT, EXIT_INCOMPLETE, EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { Screen } from '../../shared/screen.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';
import { flagProblem, runErrorOf } from '../../shared/worker-failures.ts';
import { connectForRuns, runIdOf } from './options.ts';

const JSON_FLAG = { name: 'json', kind: 'switch', help: 'Print one JSON object.' } as const;

/** Rounds count from here, apart from the replicates that members of a panel or users name. */
const CANARY_REPLICATES = 500_000;

const EXITS = [
  'The run keeps what was found: its alerts (runs watch) and its page name it. No reward changes.',
  'What is judged needs stored text (--store-text). Exit code: 0 no alert, 1 refused, or some rollouts could not',
  'be judged, 2 wrong command line, 3 an alert.',
];

const canarySyntax: CommandSyntax = {
  json: 'one object: `check` (`RecordedCheck` without time), `alert`, `lines`, `judge_calls`, `unjudged`',
  usage: ['runs canary RUN --judge JUDGE --url URL [flags]'],
  flags: [
    { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The judge of the run, by its name in the Worker.' },
    { name: 'canaries', kind: 'text', value: 'N', help: 'The canaries are the first N steps of the run (default 1).' },
    {
      name: 'canary-run',
      kind: 'text',
      value: 'CANARIES',
      help: 'Take the canaries from this run, such as a file that score --run recorded.',
    },
    { name: 'every', kind: 'text', value: 'N', help: 'Judge them again every N steps (default 10).' },
    JSON_FLAG,
    ...WORKER_FLAGS,
  ],
  details: [
    'Judges the first steps of a run again, and compares verdicts and advantages with the recorded ones.',
    'Each round of N steps has its own judgments, so repeating the command within a round costs nothing:',
    'let cron run it. Round n is the replicate 500,000 + n of the judge.',
    ...EXITS,
  ],
};

const auditSyntax: CommandSyntax = {
  json: 'one object: `check` (`RecordedCheck` without time), `alert`, `lines`, `judge_calls`, `unjudged`',
  usage: ['runs audit RUN --judge JUDGE --url URL [flags]'],
  flags: [
    { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The second, stronger judge, by its name in the Worker.' },
    { name: 'share', kind: 'text', value: 'PERCENT', help: 'The share of the groups to judge (default 5).' },
    { name: 'seed', kind: 'text', value: 'N', help: 'Another seed chooses other groups (default 0).' },
    JSON_FLAG,
    ...WORKER_FLAGS,
  ],
  details: [
    'Judges a random share of the groups of a run with a second judge, and shows how far the recorded',
    'rewards are above its rewards, step by step. The recorded rewards do not change.',
    'Judgments are stored, so repeating the command asks only about new groups: let cron run it.',
    ...EXITS,
  ],
};

export const canaryCommand: Command = { ...canarySyntax, run: runCanary };
export const auditCommand: Command = { ...auditSyntax, run: runAudit };

async function runCanary(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'canary');
  const judge = judgeOf(flags);
  const canaries = flags.count('canaries', { min: 1, max: 1_000 }) ?? 1;
  const every = flags.count('every', { min: 1, max: 1_000_000 }) ?? 10;
  const screen = new Screen(flags);
  const client = await connectForRuns(flags, screen);
  const { first, last } = await stepsOf(client, id);
  const round = Math.floor((last - first) / every);
  if (round === 0) {
    screen.message(`${id} · the canaries are judged again from step ${first + every} on`, 'dim');
    return EXIT_OK;
  }
  const named = flags.text('canary-run');
  const source = named === null ? id : runIdOf([named], 'canary');
  const from = source === id ? first : (await stepsOf(client, source)).first;
  const steps = { from, to: from + canaries - 1 };
  const replicate = CANARY_REPLICATES + round;
  const { summary } = await replayed(client, source, { judge, replicate, steps });
  const { figures, judges } = summary;
  const due = first + round * every;
  const check = figures === null || judges === null ? null : canaryCheck(due, figures, judges);
  const owner = source === id ? '' : `${source} `;
  const title = `${id} · ${owner}steps ${steps.from} to ${steps.to} judged again at step ${due}`;
  return print({ flags, screen, client, run: id }, summary, check, [`${title}, ${summary.rollouts} rollouts`]);
}

/** The first and the last step of a run. @throws RunError if there is no such run, or it has no steps. */
async function stepsOf(client: Client, id: string): Promise<{ readonly first: number; readonly last: number }> {
  const found = await client.runs.retrieve(id, { limit: 1 });
  if (!found.ok) throw runErrorOf(found.failure);
  const { first_step: first, last_step: last } = found.body;
  if (first === null || last === null) throw new RunError(`${id} has no steps: its trainer sends none`);
  return { first, last };
}

async function runAudit(flags: Flags): Promise<number> {
  const id = runIdOf(flags.positionals, 'audit');
  const judge = judgeOf(flags);
  const share = (flags.count('share', { min: 1, max: 100 }) ?? 5) / 100;
  const seed = flags.count('seed', { min: 0, max: 1_000_000_000 }) ?? 0;
  const screen = new Screen(flags);
  const client = await connectForRuns(flags, screen);
  const { audit, summary } = await replayed(client, id, { judge, sample: { share, seed } });
  const { check } = audit;
  const steps = check?.steps ?? [];
  const lines = steps.map(
    ({ step, rollouts, gap }) => `step ${step}: ${gap.toFixed(2)} above the audit, ${rollouts} rollouts`,
  );
  if ((check?.growth ?? null) === null)
    lines.push(`${steps.length} audited steps: the rule needs ${2 * ALERT_WINDOW_STEPS}`);
  return print({ flags, screen, client, run: id }, summary, check, lines);
}

function judgeOf(flags: Flags): string {
  const judge = flags.text('judge');
  if (judge === null) throw new UsageError('expected --judge JUDGE, a judge of the Worker');
  return judge;
}

type Replayed = { readonly summary: ReplayLineOf<'summary'>; readonly audit: Audit };

/** @throws RunError if the Worker refuses or the replay is interrupted, UsageError for a judge that does not exist. */
async function replayed(client: Client, run: string, input: ReplayInput): Promise<Replayed> {
  const replay = await client.replayRun(run, input);
  if (!replay.ok) {
    const { failure } = replay;
    if (failure.kind !== 'problem' || failure.status !== 422 || failure.problem.errors === undefined) {
      throw runErrorOf(failure);
    }
    throw new UsageError(failure.problem.errors.map(({ path, message }) => flagProblem(path, message)).join('\n'));
  }
  const audit = new Audit(input.judge ?? '');
  for await (const line of replay.body) {
    if (line.kind === 'lost') throw runErrorOf(line.failure);
    if (line.kind === 'error')
      throw new RunError(plainLine(`interrupted: ${line.problem.reason}: ${line.problem.detail}`));
    if (line.kind === 'step') audit.add(line.step, line);
    if (line.kind === 'summary') return { summary: line, audit };
  }
  throw new RunError('the replay ended without its summary', 'Run the command again.');
}

type Watched = {
  readonly flags: Flags;
  readonly screen: Screen;
  readonly client: Client;
  readonly run: string;
};

/** Prints a check and records it in the run. @param check `null` = nothing was compared, so nothing is recorded. */
async function print(
  { flags, screen, client, run }: Watched,
  { measured, judge_calls, figures }: ReplayLineOf<'summary'>,
  check: JudgeCheck | null,
  lines: readonly string[],
): Promise<number> {
  // A rollout that the judge could not judge is in no figure.
  const unjudged = Object.values(figures?.unscored.after ?? {}).reduce((sum, count) => sum + count, 0);
  const refused = (measured?.without_text ?? 0) + (measured?.refused ?? 0);
  const alert = check !== null && isAlert(check);
  if (flags.isOn('json')) {
    await screen.result(JSON.stringify({ check, alert, lines, judge_calls, unjudged }));
  } else {
    for (const line of lines) await screen.result(plainLine(line));
    if (check !== null) await screen.result(`${alert ? '!' : ' '} ${check.rule}: ${checkTexts(check).join(' · ')}`);
    screen.message(`${judge_calls} judge calls · ${unjudged} rollouts without a reward of this judge`, 'dim');
  }
  if (check !== null) {
    const recorded = await client.runs.recordJudgeCheck(run, check);
    if (!recorded.ok) throw runErrorOf(recorded.failure);
  }
  if (alert) return EXIT_ALERT;
  return refused > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}
