/** `runs watch --live`: the view of a terminal, and the lines of another output. */
import { expect, test } from 'vitest';
import { type LiveRun, liveLines, newsLines, sparkline } from '../../../cli/commands/runs/live-view.ts';
import type { Style } from '../../../cli/shared/style.ts';
import { STEP } from './recorded-step.ts';

const tagged: Style = (colour, text) => (colour === null ? text : `<${colour}>${text}</>`);

const ALERT: LiveRun['alerts'][number] = {
  rule: 'no_signal',
  message: 'all rewards are equal',
  since: 300,
  until: 300,
  active: true,
  figures: {},
  rollouts: [],
  shown: null,
  paying: null,
  remedy: null,
};
const response = 'It is deep. It is\u001b[2J wide, and old.';
const report = {
  claims: [
    { span: { start: 0, end: 11 }, support: 1 },
    { span: { start: 12, end: response.length }, support: 0 },
  ],
};
const RUN: LiveRun = {
  id: 'first',
  title: 'A try',
  rollouts: 1600,
  steps: [STEP],
  alerts: [],
  answers: [{ reward: 6.5, detail: { report, rollout: { response } } }],
};

test('a view has rewards, alerts and answers with coloured claims, and nothing that commands the terminal', () => {
  const lines = liveLines(RUN, 40, tagged);
  expect(lines).toEqual([
    '<bold>first · A try · 1,600 rollouts</>',
    '▄  step 300 · mean 6.500 · 16 rollouts',
    '<dim>no alert is active</>',
    '6.50  <green>It is deep.</> <red>It is wide, and old.</>',
  ]);
  expect(liveLines({ ...RUN, alerts: [ALERT] }, 40, tagged)[2]).toMatch(/^<red>no_signal .*…<\/>$/u);
  expect(liveLines(RUN, 22, tagged).at(-1)).toBe('6.50  <green>It is deep.</> <red>It…</>');
  const long = { ...RUN, steps: Array.from({ length: 80 }, () => STEP) };
  for (const columns of [20, 79, 100]) expect(liveLines(long, columns, tagged)[1]?.length).toBeLessThanOrEqual(columns);
});

test('a line tells of each step that changed and of each alert that became active, once', () => {
  expect(newsLines(null, RUN)).toEqual(['step 300 · mean 6.500 · 16 rollouts']);
  const next = { ...STEP, step: 301, reward: { ...STEP.reward, mean: null } };
  const later = { ...RUN, steps: [STEP, next], alerts: [ALERT] };
  expect(newsLines(RUN, later)).toEqual([
    'step 301 · none scored · 16 rollouts',
    expect.stringMatching(/^alert no_signal .*: all rewards are equal$/u),
  ]);
  expect(newsLines(later, later)).toEqual([]);
});

test('bars go from the least to the greatest of the last values; one without a value is a gap', () => {
  expect(sparkline([9, 0, 1, null, 2], 4)).toBe('▁▅ █');
  expect(sparkline([], 4)).toBe('');
});
