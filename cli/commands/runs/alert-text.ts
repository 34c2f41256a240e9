/** The alerts of a run as lines of text. */
import type { AlertFigure } from '../../../src/runs/alert-rules.ts';
import { ALERT_WINDOW_STEPS } from '../../../src/runs/alert-rules.ts';
import type { Alert, AlertExample, RunAlerts, Unwatched } from '../../../src/runs/alerts.ts';

const FIGURE_WORDS: Readonly<Record<AlertFigure, string>> = {
  reward: 'reward',
  gap: 'above the reference',
  criteria_met: 'own criteria met',
  cited: 'cited statements',
  uncited: 'uncited statements',
  irrelevant: 'irrelevant citations',
  degenerate: 'groups without a signal',
  unscored: 'unscored',
};

/** Figures that are shares. */
const SHARES: ReadonlySet<string> = new Set(['criteria_met', 'irrelevant', 'degenerate', 'unscored']);

const REASON_WORDS: Readonly<Record<Unwatched['reason'], string>> = {
  no_reference: 'the family has no reference recipe',
  not_observed: 'the facts of the run do not say it',
};

/** One line for each alert, with its figures and rollouts below. */
export function alertLines({ steps, alerts, unwatched }: RunAlerts): string[] {
  const needed = 2 * ALERT_WINDOW_STEPS;
  const lines = alerts.flatMap(linesOf);
  if (steps < needed) lines.push(`${steps} steps: a rule needs ${needed}`);
  else if (alerts.length === 0) lines.push(`${steps} steps, no alerts`);
  for (const reason of new Set(unwatched.map((one) => one.reason))) {
    const rules = unwatched.filter((one) => one.reason === reason).map(({ rule }) => rule);
    lines.push(`not watched: ${rules.join(', ')}: ${REASON_WORDS[reason]}`);
  }
  return lines;
}

function linesOf({ rule, message, since, until, active, figures, rollouts }: Alert): string[] {
  const when = active ? `since step ${since}` : `steps ${since} to ${until}, no longer`;
  return [
    `${active ? '!' : ' '} ${rule}, ${when}: ${message}`,
    `    ${Object.entries(figures)
      .map(([name, { first, last }]) => `${wordsOf(name)} ${valueText(name, first)} -> ${valueText(name, last)}`)
      .join(' · ')}`,
    ...(rollouts.length === 0 ? [] : [`    see ${rollouts.map(exampleText).join(', ')}`]),
  ];
}

function wordsOf(name: string): string {
  return new Map<string, string>(Object.entries(FIGURE_WORDS)).get(name) ?? name;
}

function valueText(name: string, value: number | null): string {
  if (value === null) return 'unknown';
  return SHARES.has(name) ? `${(100 * value).toFixed(0)} %` : value.toFixed(2);
}

function exampleText({ step, group, sample, reward, reference }: AlertExample): string {
  const place = `${step}/${group}/${sample}`;
  if (reward === null) return `${place} (unscored)`;
  return `${place} (${reward.toFixed(2)}${reference === null ? '' : `, reference ${reference.toFixed(2)}`})`;
}
