/** The output of the batch commands: the bar, the status, the summary. */

import { describe, expect, test } from 'vitest';
import { batchRow, endText, problemsOf, sentText, shareOf, statusRows } from '../../../cli/commands/batch/render.ts';
import { BatchSummary } from '../../../cli/commands/batch/results.ts';
import { exitCodeOf } from '../../../cli/commands/batch/watch.ts';
import { sizeText } from '../../../cli/shared/number-text.ts';
import { barText, type Share, shareText } from '../../../cli/shared/progress.ts';
import { textWidth } from '../../../cli/shared/text-width.ts';
import { batchOf } from './batch-fixtures.ts';

const SHARE: Share = { done: 1_234, total: 5_000, failed: 3, lines_per_second: 87, left_s: 43 };
const WORDS = '1,234 of 5,000 lines  24%  3 failed  87 lines/s  about 43.0 s left';

describe('the bar', () => {
  test('fills the available width, and is left out without room', () => {
    expect(shareText(SHARE)).toBe(WORDS);
    expect(barText(SHARE, 200)).toBe(`[${'█'.repeat(7)}${'░'.repeat(23)}]  ${WORDS}`);
    expect(barText(SHARE, 80)).toBe(`[${'█'.repeat(2)}${'░'.repeat(8)}]  ${WORDS}`);
    expect(barText(SHARE, 77)).toBe(WORDS);
    for (let columns = 78; columns < 120; columns++) {
      expect(textWidth(barText(SHARE, columns))).toBeLessThanOrEqual(columns);
    }
  });

  test.each([
    [{ done: 0 }, 0],
    [{ done: 5_000 }, 30],
    [{ done: 4_999 }, 29],
  ])('%j', (change, full) => {
    expect([...barText({ ...SHARE, ...change }, 200)].filter((one) => one === '█').length).toBe(full);
  });

  test('unknown values are left out', () => {
    const share = { done: 0, total: 10, failed: 0, lines_per_second: null, left_s: null };
    expect(shareText(share)).toBe('0 of 10 lines  0%');
    expect(shareText({ ...share, done: 10, lines_per_second: 4.25, left_s: 0 })).toBe(
      '10 of 10 lines  100%  4.3 lines/s',
    );
    expect(barText({ ...share, total: 0 }, 200)).toBe('0 of 0 lines');
  });
});

test.each([
  [0, '0 bytes'],
  [9_999, '9,999 bytes'],
  [83_412, '0.08 MB'],
  [4_160_000, '4.2 MB'],
  [128_000_000, '128 MB'],
])('%i bytes read %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

test('the upload shows its size, and its rate once it is known', () => {
  expect(sentText(0, 400_000_000, 0)).toBe('sending  0 bytes of 400 MB  0%');
  expect(sentText(100_000_000, 400_000_000, 10)).toBe('sending  100 MB of 400 MB  25%  10 MB/s  about 30.0 s left');
  expect(sentText(400_000_000, 400_000_000, 40)).toBe('sending  400 MB of 400 MB  100%');
});

describe('the status', () => {
  const texts = (change: Parameters<typeof batchOf>[0] = {}) =>
    new Map(statusRows(batchOf(change)).map(({ cells: [title, text] }) => [title?.text, text?.text]));

  test('shows counts, rate and remaining time', () => {
    const said = texts({ metadata: { run: 'a' } });
    expect(said.get('lines')).toBe('250 of 1,000 lines  25%  10 failed  50 lines/s  about 15.0 s left');
    expect(said.get('chunks')).toBe('2 of 10 done');
    expect(said.get('expires')).toBe('2001-09-10 01:46:40 UTC');
    expect(said.get('metadata')).toBe('run=a');
    expect(said.has('output')).toBe(false);
  });

  test('of an ended batch shows its end and its files', () => {
    const said = texts({ status: 'completed', completed_at: 1_000_000_060, output_file_id: 'file-2' });
    expect([said.get('ended'), said.get('output')]).toEqual(['2001-09-09 01:47:40 UTC', 'file-2']);
    expect(said.has('expires')).toBe(false);
  });

  test('dead letters and errors by line', () => {
    const dead = { chunk: 3, first_line: 301, requests: 100, attempts: 8, reason: 'internal' };
    const error = { code: 'invalid_json_line', message: 'This line is not JSON.', param: null, line: 4 };
    const more = { code: 'more_errors', message: '12 more lines are wrong.', param: null, line: null };
    const progress = { ...batchOf().progress, chunks: { total: 10, done: 6, waiting: 1, dead: 3 } };
    const batch = batchOf({ progress, dead_letters: [dead], errors: { object: 'list', data: [error, more] } });
    expect(problemsOf(batch)).toEqual([
      'dead letter: 100 lines from line 301 on: internal, after 8 attempts',
      'line 4: This line is not JSON.',
      '12 more lines are wrong.',
    ]);
    expect(texts({ progress }).get('chunks')).toBe('6 of 10 done, 1 waiting for a retry, 3 dead');
  });

  test('a row of the list', () => {
    const cells = batchRow(batchOf({ metadata: { run: 'a', step: '2' } })).cells.map(({ text }) => text);
    expect(cells).toEqual([
      ...['batch_1', 'in_progress', '/v1/score', '2001-09-09 01:46'],
      ...['250/1,000', '10', 'run=a step=2'],
    ]);
  });

  test('the end, and its exit code', () => {
    const counts = { total: 19, completed: 17, failed: 2 };
    const done = batchOf({ status: 'completed', completed_at: 1_000_000_005, request_counts: counts });
    expect(endText(done)).toBe('batch_1: completed · 19 lines · 17 done · 2 failed · 4.0 s');
    expect(exitCodeOf(done)).toBe(1);
    expect(exitCodeOf({ ...done, request_counts: { total: 19, completed: 19, failed: 0 } })).toBe(0);
    for (const status of ['failed', 'expired', 'cancelled', 'in_progress'] as const) {
      expect(exitCodeOf({ ...done, status, request_counts: { total: 0, completed: 0, failed: 0 } })).toBe(1);
    }
  });

  test('a share counts failed lines as done', () => {
    expect(shareOf(batchOf())).toEqual({ done: 250, total: 1_000, failed: 10, lines_per_second: 50, left_s: 15 });
  });
});

describe('the summary', () => {
  const reply = (body: Record<string, unknown>) => ({ response: { status_code: 200, body }, error: null });
  const failed = (code: string) => ({ response: null, error: { code, message: 'm' } });
  const summary = (lines: readonly Parameters<BatchSummary['add']>[0][]) => {
    const counts = new BatchSummary();
    for (const line of lines) counts.add(line);
    return counts.text(null);
  };

  test('the mean is over rewards, never over lines without one', () => {
    const lines = [
      reply({ reward: 4, reason: null }),
      reply({ reward: 0, reason: null }),
      reply({ reward: null, reason: 'judgment_skipped' }),
      failed('input_invalid'),
      failed('batch_expired'),
      failed('batch_expired'),
    ];
    expect(summary(lines)).toBe(
      '6 lines · 3 done · mean reward 2.000 · unscored: 1 judgment_skipped · failed: 2 batch_expired, 1 input_invalid',
    );
  });

  test('a group counts each of its samples, a verification none', () => {
    const member = (reward: number | null) => ({ reward, reason: reward === null ? 'judge_timeout' : null });
    const members = [member(1), member(2), member(null)];
    expect(summary([reply({ rewards: [1, 2, null], members })])).toBe(
      '1 line · 1 done · mean reward 1.500 · unscored: 1 judge_timeout',
    );
    expect(summary([reply({ claims: [], ratios: {} })])).toBe('1 line · 1 done');
    expect(summary([])).toBe('0 lines · 0 done');
  });
});
