/** The example for pull requests: which answers changed, and their table. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedRows, commentOf, rewardsOf } from '../../../examples/github/score-changed.ts';

it('lists changed answers, the largest loss first, and means over those with both rewards', () => {
  const before = new Map<string, number | null>([
    ['a', 8],
    ['b', 2],
    ['c', null],
  ]);
  const after = new Map<string, number | null>([
    ['b', 3],
    ['a', 4.5],
    ['c', 6],
    ['new', 1],
  ]);
  expect(commentOf(before, after).split('\n')).toEqual([
    '**Citeward**: 4 changed answers; mean 5.00 → 3.75',
    '',
    '| answer | before | after | change |',
    '|---|---:|---:|---:|',
    '| `a` | 8.00 | 4.50 | -3.50 |',
    '| `c` | not scored | 6.00 |  |',
    '| `new` | new | 1.00 |  |',
    '| `b` | 2.00 | 3.00 | +1.00 |',
  ]);
});

it('shows an id as text: no markup, no mention, no cell of its own', () => {
  const rows = commentOf(new Map(), new Map([['x` | <b>@all</b>\n| y', null]])).split('\n');
  expect(rows.slice(4)).toEqual(['| `x <b>@all</b> y` | new | not scored |  |']);
  expect(rows[0]).toBe('**Citeward**: 1 changed answer; 1 not scored');
});

it('prints no table without changed answers', () => {
  expect(commentOf(new Map(), new Map())).toBe('**Citeward**: 0 changed answers');
});

it('shows a row that score refuses, of which it prints nothing, as not scored', () => {
  const rewards = rewardsOf(['bad', '7'], '{"line":2,"id":7,"reward":1.5}\n');
  expect([...rewards]).toEqual([
    ['bad', null],
    ['7', 1.5],
  ]);
});

describe('rows of a repository', () => {
  let folder = '';
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  };
  const write = (file: string, ...rows: readonly object[]): void =>
    writeFileSync(join(folder, file), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'citeward-github-'));
    git('init', '--quiet', '--initial-branch', 'base');
    write('old.jsonl', { id: 'kept', response: 'x'.repeat(500) }, { id: 'edited', response: 'before' });
    write('other.jsonl', { id: 'else', response: 'same' });
    git('add', '.');
    git('commit', '--quiet', '--message', 'answers');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('finds the rows of a file that is renamed and edited, with those before', () => {
    renameSync(join(folder, 'old.jsonl'), join(folder, 'new.jsonl'));
    write('new.jsonl', { id: 'kept', response: 'x'.repeat(500) }, { id: 'edited', response: 'after' }, { id: 3 });
    git('add', '.');
    expect(changedRows(folder, 'base', ['*.jsonl'])).toEqual({
      old: new Map([['edited', '{"id":"edited","response":"before"}']]),
      changed: new Map([
        ['edited', '{"id":"edited","response":"after"}'],
        ['3', '{"id":3}'],
      ]),
    });
  });

  it('names rows without an id, and rows with the id of another', () => {
    write('old.jsonl', { response: 'no id' });
    expect(() => changedRows(folder, 'base', ['*.jsonl'])).toThrow('old.jsonl:1: expected a JSON object with an id');
    write('old.jsonl', { id: 'edited' }, { id: 'twice' });
    write('other.jsonl', { id: 'twice' });
    expect(() => changedRows(folder, 'base', ['*.jsonl'])).toThrow(
      'other.jsonl:1: old.jsonl:2 has the id twice too; give each row its own',
    );
  });
});
