/** What a report of a run says, and its short form in Markdown. */
import { alertTime } from '../../../src/runs/alert-text.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { RunAlertsReply } from '../../../src/wire/alerts-reply.ts';
import type { RunDetail, RunRollout } from '../../../src/wire/runs.ts';
import { recipeText } from '../../shared/summary.ts';

export type LedgerFigures = {
  /** Each once, by its latest attempt. */
  readonly rollouts: number;
  /** As `runs digest` prints it. */
  readonly digest: string;
  /** How many recorded rewards the recorded facts give again; `alone`: those of a rollout that was scored alone. */
  readonly recomputed: { readonly equal: number; readonly alone: number; readonly different: number };
  /** When the first and the last of them were recorded, in UTC; `null` = there are none. */
  readonly first: string | null;
  readonly last: string | null;
};

export type RunReport = {
  readonly run: RunDetail;
  readonly steps: readonly RunStep[];
  readonly alerts: RunAlertsReply;
  /** Of the last step, the highest reward first. */
  readonly answers: readonly RunRollout[];
  readonly ledger: LedgerFigures;
  /** Of Citeward. */
  readonly version: string;
};

/** What the report says in numbers: a name and a text each. */
export function reportFacts({ run, steps, alerts, ledger }: RunReport): readonly (readonly [string, string])[] {
  const { rollouts, scored, degenerate, groups } = sumsOf(steps);
  const [first, last] = [steps.at(0)?.reward.mean ?? null, steps.at(-1)?.reward.mean ?? null];
  const active = alerts.alerts.filter((alert) => alert.active).length;
  const { equal, alone, different } = ledger.recomputed;
  return [
    ['recipe', run.recipes.map((recipe) => plainLine(recipeText(recipe))).join(', ')],
    ['steps', String(steps.length)],
    ['rollouts', `${rollouts} in ${groups} groups`],
    ['mean reward, first to last step', `${numberText(first)} to ${numberText(last)}`],
    ['without a reward', String(rollouts - scored)],
    ['groups without a training signal', String(degenerate)],
    ['active alerts', String(active)],
    [
      'rewards computed again from the recorded facts',
      `${equal + alone} of ${equal + alone + different} are those recorded`,
    ],
  ];
}

/** The figures as a table, the active alerts, and the digests; a line each. */
export function reportMarkdown(report: RunReport): readonly string[] {
  const { run, alerts, ledger, version } = report;
  const active = alerts.alerts.filter((alert) => alert.active);
  return [
    `### Run ${codeOf(run.id)}`,
    '',
    '| | |',
    '|---|---|',
    ...reportFacts(report).map(([name, text]) => `| ${name} | ${codeOf(text)} |`),
    '',
    ...active.map((alert) => `- **${alert.rule}**, ${alertTime(alert)}: ${codeOf(alert.message)}`),
    ...(active.length === 0 ? [] : ['']),
    `Run digest ${codeOf(ledger.digest)}, ${run.recipes
      .map(({ digest }) => `recipe ${codeOf(digest)}`)
      .join(', ')}, Citeward ${version}.`,
  ];
}

/** Text as code, in which Markdown means nothing. */
function codeOf(text: string): string {
  return `\`${plainLine(text).replaceAll(/[`|]/g, "'")}\``;
}

function sumsOf(steps: readonly RunStep[]) {
  const sums = { rollouts: 0, scored: 0, degenerate: 0, groups: 0 };
  for (const { rollouts, scored, degenerate, groups } of steps) {
    sums.rollouts += rollouts;
    sums.scored += scored;
    sums.degenerate += degenerate.groups;
    sums.groups += groups;
  }
  return sums;
}

export function numberText(value: number | null): string {
  return value === null ? 'n/a' : value.toFixed(2);
}
