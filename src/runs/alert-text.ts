/** The alerts of a run as lines of text. */
import { plainLine } from '../text/foreign-line.ts';
import { ALERT_FIGURES, type AlertFigure } from './alert-figures.ts';
import { ALERT_WINDOW_STEPS, ALERT_WINDOWS } from './alert-rules.ts';
import type { Alert, RunAlerts, Unwatched } from './alerts.ts';
import { checkTexts, isAlert, latestChecks } from './judge-check.ts';
import type { JudgeCheck } from './judge-check-schema.ts';
import { partsInWords } from './paying-parts.ts';
import type { AlertExample } from './shown-rollouts.ts';

const FIGURE_WORDS: Readonly<Record<AlertFigure, string>> = {
  reward: 'reward',
  gap: 'above the reference',
  criteria_met: 'own criteria met',
  paid_met: 'own criteria that pay met',
  held_out_met: 'held-out ones met',
  criteria_rank: 'rank correlation with own criteria',
  unmet: 'answers that meet less than half',
  unmet_reward: 'their reward',
  outcome: 'outcome',
  outcome_rank: 'rank correlation with the outcome',
  right: 'right answers',
  copies: 'copies off the question',
  words: 'words',
  repeated: 'answers of three prompts or more',
  cited: 'cited statements',
  uncited: 'uncited statements',
  ids: 'sources a claim',
  repeated_ids: 'ids that a claim repeats',
  sources_cited: 'sources cited',
  same_place: 'answers that cite one place of the list',
  irrelevant: 'irrelevant citations',
  empty_claims: 'claims that state nothing',
  hedged: 'answers that cite a claim and abstain',
  degenerate: 'groups without a signal',
  unscored: 'unscored',
};

/** Figures that are shares. */
const SHARES: ReadonlySet<AlertFigure> = new Set([
  'paid_met',
  'held_out_met',
  'criteria_met',
  'unmet',
  'copies',
  'repeated',
  'sources_cited',
  'same_place',
  'irrelevant',
  'empty_claims',
  'hedged',
  'degenerate',
  'unscored',
]);

export const UNWATCHED_WORDS: Readonly<Record<Unwatched['reason'], string>> = {
  no_reference: 'the family has no reference recipe',
  no_outcome: 'the trainer sends no outcome',
  no_words: 'not recorded: the run has no counts of its answers',
  no_structure: 'not recorded: the run has no counts of what its answers cite',
  no_range: 'the reward of the recipe is unbounded',
  few_groups: 'fewer than 16 groups of four steps have differences',
  no_holdout: 'the recipe holds no criteria out',
  no_own_criteria:
    'the rows have no positive criterion of their own, so an answer that says nothing is paid; give each row one',
  not_observed: 'the facts of the run do not say it',
};

/** Steps from which the first rules can hold, and all of them. */
const FIRST_RULES_STEPS = ALERT_WINDOW_STEPS + ALERT_WINDOWS - 1;
const ALL_RULES_STEPS = 2 * ALERT_WINDOW_STEPS + ALERT_WINDOWS - 1;

/** One line for each alert, with its figures and rollouts below; what several say alike is the last line. */
export function alertLines({ steps, alerts, unwatched }: RunAlerts): string[] {
  const shared = sharedPayingText(alerts);
  const lines = alerts.flatMap((alert) => linesOfAlert(alert, shared));
  if (shared !== null) lines.push(`  ${shared}`);
  if (steps < ALL_RULES_STEPS) {
    lines.push(`${steps} steps so far: an alert needs ${FIRST_RULES_STEPS}, some rules ${ALL_RULES_STEPS}`);
  } else if (alerts.length === 0) lines.push(`${steps} steps, no alerts`);
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

function linesOfAlert(alert: Alert, sharedPaying: string | null): string[] {
  const { rule, message, active, rollouts } = alert;
  return [
    `${active ? '!' : ' '} ${rule}, ${alertTime(alert)}: ${message}`,
    `    ${figureTexts(alert).join(' · ')}`,
    ...[ownPayingText(alert, sharedPaying), remedyText(alert)].flatMap((text) =>
      text === null ? [] : [`    ${text}`],
    ),
    ...(rollouts.length === 0 ? [] : [`    see ${rollouts.map(exampleText).join(', ')}`]),
  ];
}

/** Parts that are named: the first ones, as long as they pay for something. */
const NAMED_PARTS = 3;

/**
 * What two alerts or more say pays, as they do whose last windows are the same; `null` = there are no two. The alerts
 * themselves then leave it out.
 */
export function sharedPayingText(alerts: readonly Alert[]): string | null {
  const counts = new Map<string, number>();
  for (const text of alerts.flatMap((alert) => payingText(alert) ?? [])) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most === undefined || most[1] < 2 ? null : most[0];
}

/** What pays in the window of an alert, unless the shared line says it. */
export function ownPayingText(alert: Alert, shared: string | null): string | null {
  const text = payingText(alert);
  return text === shared ? null : text;
}

/** What the rewards differ by inside groups, and so what the advantages pay for; `null` = no rollout earned anything. */
function payingText({ paying }: Alert): string | null {
  if (paying === null) return null;
  const parts = partsInWords(paying.parts, ({ share }) => share).slice(0, NAMED_PARTS);
  const names = parts
    .filter(({ number }) => number >= 0.01)
    .map(({ name, number }) => `${name} (${(100 * number).toFixed(0)} %)`);
  const says = paying.by === 'covariance' ? 'inside groups the rewards differ by' : 'all rewards are equal, made of';
  return `${says} ${names.join(', ')}`;
}

/** What to change, and what the same rollouts would have earned; `null` = no change is known to help. */
export function remedyText({ remedy }: Alert): string | null {
  if (remedy === null) return null;
  const { change, rollouts, shown, others } = remedy;
  const fields = Object.entries(change).map(([field, value]) => `${field}=${JSON.stringify(value)}`);
  const rewards = (mean: typeof shown): string =>
    mean === null ? '-' : `${mean.before.toFixed(2)} -> ${mean.after.toFixed(2)}`;
  const rest = others === null ? '' : `, others ${rewards(others)}`;
  return `try ${fields.join(' ')}: such answers ${rewards(shown)}${rest} (${rollouts} rollouts replayed)`;
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
