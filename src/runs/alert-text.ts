/** The alerts of a run as lines of text. */
import { plainLine } from '../text/foreign-line.ts';
import { ALERT_FIGURES, ALERT_WINDOW_STEPS, type AlertFigure } from './alert-rules.ts';
import type { Alert, AlertExample, RunAlerts, Unwatched } from './alerts.ts';
import { checkTexts, isAlert, latestChecks } from './judge-check.ts';
import type { JudgeCheck } from './judge-check-schema.ts';

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
const SHARES: ReadonlySet<AlertFigure> = new Set(['criteria_met', 'irrelevant', 'degenerate', 'unscored']);

export const UNWATCHED_WORDS: Readonly<Record<Unwatched['reason'], string>> = {
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
    lines.push(`not watched: ${rules.join(', ')}: ${UNWATCHED_WORDS[reason]}`);
  }
  return lines;
}

/** One line for the latest check of each rule and judge. @param checks in the order of their steps. */
export function checkLines(checks: readonly JudgeCheck[]): string[] {
  return latestChecks(checks).map((check) => {
    const { rule, judge, step } = check;
    return `${isAlert(check) ? '!' : ' '} ${rule}, ${plainLine(judge)} at step ${step}: ${checkTexts(check).join(' · ')}`;
  });
}

function linesOf(alert: Alert): string[] {
  const { rule, message, active, rollouts } = alert;
  return [
    `${active ? '!' : ' '} ${rule}, ${alertTime(alert)}: ${message}`,
    `    ${figureTexts(alert).join(' · ')}`,
    ...(rollouts.length === 0 ? [] : [`    see ${rollouts.map(exampleText).join(', ')}`]),
  ];
}

/** The steps during which an alert holds. */
export function alertTime({ since, until, active }: Alert): string {
  return active ? `since step ${since}` : `steps ${since} to ${until}, no longer`;
}

/** The figures of an alert, each with its first and last value: `reward 4.25 -> 9.53`. */
export function figureTexts({ figures }: Alert): string[] {
  return ALERT_FIGURES.flatMap((name) => {
    const values = figures[name];
    if (values === undefined) return [];
    return [`${FIGURE_WORDS[name]} ${valueText(name, values.first)} -> ${valueText(name, values.last)}`];
  });
}

function valueText(name: AlertFigure, value: number | null): string {
  if (value === null) return 'unknown';
  return SHARES.has(name) ? `${(100 * value).toFixed(0)} %` : value.toFixed(2);
}

function exampleText({ step, group, sample, reward, reference }: AlertExample): string {
  const place = `${step}/${plainLine(group)}/${plainLine(sample)}`;
  if (reward === null) return `${place} (unscored)`;
  return `${place} (${reward.toFixed(2)}${reference === null ? '' : `, reference ${reference.toFixed(2)}`})`;
}
