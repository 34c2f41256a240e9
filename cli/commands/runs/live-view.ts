/** A run while it is recorded, as lines of a terminal: rewards by step, alerts, and answers of the last step. */
import { alertTime } from '../../../src/runs/alert-text.ts';
import type { RunAlerts } from '../../../src/runs/alerts.ts';
import type { RunStep } from '../../../src/runs/summary.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { countText } from '../../shared/number-text.ts';
import type { Colour, Style } from '../../shared/style.ts';
import { fitText, textWidth } from '../../shared/text-width.ts';
import { markedAnswer, type Tone } from './marked-answer.ts';

type ShownRollout = Pick<RunRollout, 'reward' | 'detail'>;

export type LiveRun = {
  readonly id: string;
  readonly title?: string;
  readonly rollouts: number;
  readonly steps: readonly RunStep[];
  readonly alerts: RunAlerts['alerts'];
  /** Some rollouts of the last step. */
  readonly answers: readonly ShownRollout[];
};

const TONE_COLOURS: Readonly<Record<Tone, Colour | null>> = {
  unjudged: null,
  full: 'green',
  partial: 'yellow',
  none: 'red',
};

/** The view, at most `columns` wide. */
export function liveLines(run: LiveRun, columns: number, style: Style): string[] {
  const { id, title, rollouts, steps, alerts, answers } = run;
  const cut = (text: string): string => fitText(plainLine(text), columns);
  const means = steps.map(({ reward }) => reward.mean);
  const last = steps.at(-1);
  const active = alerts.filter((alert) => alert.active);
  const now = last === undefined ? 'no step yet' : stepText(last);
  const bars = sparkline(means, Math.max(1, Math.min(60, columns - textWidth(now) - 2)));
  return [
    style('bold', cut(`${title === undefined ? id : `${id} · ${title}`} · ${countText(rollouts)} rollouts`)),
    fitText(`${bars}  ${now}`, columns),
    ...(active.length === 0 ? [style('dim', 'no alert is active')] : []),
    ...active.map((alert) => style('red', cut(`${alert.rule} ${alertTime(alert)}: ${alert.message}`))),
    ...answers.map((rollout) => {
      const head = `${rollout.reward === null ? 'unscored' : rollout.reward.toFixed(2)}  `;
      return `${head}${answerLine(rollout, columns - head.length, style)}`;
    }),
  ];
}

/** What is new since `before`, one event a line, for output that is no terminal. */
export function newsLines(before: LiveRun | null, run: LiveRun): string[] {
  const known = new Map(before?.steps.map((step) => [step.step, step.rollouts]));
  const wasActive = new Set(before?.alerts.flatMap(({ rule, active }) => (active ? [rule] : [])));
  return [
    ...run.steps.filter(({ step, rollouts }) => known.get(step) !== rollouts).map(stepText),
    ...run.alerts
      .filter(({ rule, active }) => active && !wasActive.has(rule))
      .map((alert) => `alert ${alert.rule} ${alertTime(alert)}: ${alert.message}`),
  ];
}

function stepText({ step, reward, rollouts }: RunStep): string {
  const mean = reward.mean === null ? 'none scored' : `mean ${reward.mean.toFixed(3)}`;
  return `step ${step ?? 'none'} · ${mean} · ${countText(rollouts)} rollouts`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** The last `width` values as bars between their least and their greatest; a space where there is none. */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = values.slice(-Math.max(1, width));
  const known = shown.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const level = (value: number): number =>
    most === least ? 3 : Math.round(((value - least) / (most - least)) * (BARS.length - 1));
  return shown.map((value) => (value === null ? ' ' : (BARS[level(value)] ?? ' '))).join('');
}

/** The answer in one line, its claims coloured by their support. */
function answerLine(rollout: ShownRollout, columns: number, style: Style): string {
  const answer = markedAnswer(rollout);
  if (answer === null) return style('dim', fitText('the run does not keep the text', columns));
  let line = '';
  let left = columns;
  for (const { text, tone } of answer.pieces) {
    // The edges of a piece are inside the answer: their spaces count.
    const plain = `${/^\s/u.test(text) ? ' ' : ''}${plainLine(text)}${/\S\s+$/u.test(text) ? ' ' : ''}`;
    const fitted = fitText(plain, left);
    line += style(tone === null ? null : TONE_COLOURS[tone], fitted);
    left -= textWidth(fitted);
    if (fitted !== plain || left < 2) break;
  }
  return line;
}
