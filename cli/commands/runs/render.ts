/** Formats runs and their steps as tables. */
import type { RunStep } from '../../../src/runs/summary.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import type { Column, TableRow } from '../../shared/table.ts';

export const RUN_COLUMNS: readonly Column[] = [
  { title: 'run', align: 'left', most: 40 },
  { title: 'family', align: 'left', most: 12 },
  { title: 'steps', align: 'right', most: 16 },
  { title: 'created', align: 'left', most: 16 },
  { title: 'last recorded', align: 'left', most: 16 },
  { title: 'text', align: 'left', most: 4 },
  { title: 'until', align: 'left', most: 20 },
  { title: 'title', align: 'left', most: 60 },
];

export function runRow({
  id,
  family,
  first_step,
  last_step,
  created_at,
  active_at,
  store_text,
  expires_at,
  title,
}: RunReply): TableRow {
  const steps = first_step === null || last_step === null ? '' : `${first_step}–${last_step}`;
  const texts = [id, family, steps, minuteOf(created_at), minuteOf(active_at), store_text ? 'kept' : ''];
  return { cells: [...texts, expires_at === null ? '' : minuteOf(expires_at), title ?? ''].map((text) => ({ text })) };
}

export const STEP_COLUMNS: readonly Column[] = [
  { title: 'step', align: 'right', most: 12 },
  { title: 'groups', align: 'right', most: 7 },
  { title: 'rollouts', align: 'right', most: 9 },
  { title: 'unscored', align: 'right', most: 8 },
  { title: 'reward', align: 'right', most: 8 },
  { title: 'min', align: 'right', most: 8 },
  { title: 'max', align: 'right', most: 8 },
  { title: 'spread', align: 'right', most: 7 },
  { title: 'no signal', align: 'right', most: 9 },
  { title: 'cached', align: 'right', most: 6 },
  { title: 'components', align: 'left', most: 80 },
];

export function stepRow(step: RunStep): TableRow {
  const { groups, rollouts, scored, reward, spread, degenerate, judgments, components, persistent_reward } = step;
  const unscored = rollouts - scored;
  const parts = Object.entries(components)
    .map(([name, { mean }]) => `${name} ${number(mean)}`)
    .join(', ');
  // First, because the cell is cut at its end.
  const persistent = persistent_reward === undefined ? '' : `persistent ${number(persistent_reward.mean)}; `;
  return {
    cells: [
      { text: step.step === null ? 'none' : String(step.step) },
      { text: String(groups) },
      { text: String(rollouts) },
      { text: String(unscored), colour: unscored > 0 ? 'red' : null },
      { text: number(reward.mean) },
      { text: number(reward.min) },
      { text: number(reward.max) },
      { text: number(spread.mean_std) },
      { text: percent(degenerate.share) },
      { text: percent(judgments.hit_rate) },
      { text: `${persistent}${parts}` },
    ],
  };
}

/** The reasons for missing rewards in a step: `step 3: 2 unscored, judge_timeout` */
export function unscoredTexts({ step, unscored }: RunStep): string[] {
  return Object.entries(unscored).map(([reason, count]) => `step ${step ?? 'none'}: ${count} unscored, ${reason}`);
}

/** Which models judged single samples, where it was not one: `step 3: judged by qwen (28), llama (4): …` */
export function mixedJudgesText({ step, judged_by = {} }: Pick<RunStep, 'step' | 'judged_by'>): string[] {
  const models = Object.entries(judged_by).map(([model, count]) => `${model} (${count})`);
  if (models.length < 2) return [];
  return [`step ${step ?? 'none'}: single samples were judged by ${models.join(', ')}: a group may mix judges`];
}

function number(value: number | null): string {
  return value === null ? '-' : value.toFixed(3);
}

function percent(share: number | null): string {
  return share === null ? '-' : `${Math.round(100 * share)}%`;
}

/** `2026-11-22 03:40`, in UTC */
function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
