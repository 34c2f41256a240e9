/**
 * Scores the answers that a pull request changes, and prints a Markdown table of them, before and after.
 *
 *     node score-changed.ts BASE [PATH…]        BASE: a branch or commit; PATH: as git takes it, default '*.jsonl'
 *
 * Each row has an `id`, by which a row of BASE and one of the working tree are the same. CITEWARD is the command line,
 * default `npx citeward`; SCORE_FLAGS are flags of `citeward score`, such as --judge-url and --judge-model.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export type Rewards = ReadonlyMap<string, number | null>;

/** Rows that the comment lists, the largest loss first. */
const MOST_ROWS = 30;

/** The table of changed rows, and a line of means before it. A new row has no reward before. */
export function commentOf(before: Rewards, after: Rewards): string {
  const rows = [...after].map(([id, now]) => ({ id, now, was: before.get(id) ?? null, isNew: !before.has(id) }));
  const change = ({ was, now }: (typeof rows)[number]): number => (was === null || now === null ? 0 : now - was);
  const inOrder = rows.toSorted((one, other) => change(one) - change(other));
  const kept = rows.filter(({ was, now }) => was !== null && now !== null);
  const mean = (values: readonly (number | null)[]): string =>
    text(values.length === 0 ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length);
  const unscored = rows.filter(({ now }) => now === null).length;
  return [
    `**Citeward**: ${rows.length} changed ${rows.length === 1 ? 'answer' : 'answers'}` +
      (kept.length === 0 ? '' : `; mean ${mean(kept.map(({ was }) => was))} → ${mean(kept.map(({ now }) => now))}`) +
      (unscored === 0 ? '' : `; ${unscored} not scored`),
    '',
    '| answer | before | after | change |',
    '|---|---:|---:|---:|',
    ...inOrder
      .slice(0, MOST_ROWS)
      .map(
        (row) =>
          `| ${cell(row.id)} | ${row.isNew ? 'new' : text(row.was)} | ${text(row.now)} | ${
            row.was === null || row.now === null ? '' : signed(change(row))
          } |`,
      ),
    ...(rows.length > MOST_ROWS ? ['', `${rows.length - MOST_ROWS} more rows are not shown.`] : []),
  ].join('\n');
}

function text(value: number | null): string {
  return value === null ? 'not scored' : value.toFixed(2);
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(2)}`;
}

/** An id as text in one cell: nothing in it is markup, a mention or a link. */
function cell(id: string): string {
  return `\`${id.replaceAll(/[`|\s]+/gu, ' ').slice(0, 80)}\``;
}

/** The rows of a text of JSON lines, by id. */
function rowsOf(lines: string): Map<string, string> {
  const rows = new Map<string, string>();
  for (const line of lines.split('\n')) {
    if (line.trim() === '') continue;
    const { id }: { id?: string | number } = JSON.parse(line);
    if (id !== undefined) rows.set(String(id), line);
  }
  return rows;
}

function score(rows: readonly string[]): Rewards {
  if (rows.length === 0) return new Map();
  const [command = 'npx', ...first] = (process.env['CITEWARD'] ?? 'npx citeward').split(' ');
  const flags = (process.env['SCORE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');
  const ended = spawnSync(command, [...first, 'score', '-', '--json', ...flags], {
    input: `${rows.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // 1: some rows are not scored, which the table says.
  if (ended.status !== 0 && ended.status !== 1) throw new Error(`citeward score ended with ${ended.status}`);
  const rewards = new Map<string, number | null>();
  for (const line of ended.stdout.trim().split('\n')) {
    if (line === '') continue;
    const { id, reward = null }: { id: string | number | null; reward?: number | null } = JSON.parse(line);
    rewards.set(String(id), reward);
  }
  return rewards;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
}

function main([branch, ...paths]: readonly string[]): void {
  if (branch === undefined) throw new Error('expected the branch to compare with: node score-changed.ts BASE [PATH…]');
  // What the branch changed since it left the other one.
  const base = git('merge-base', branch, 'HEAD').trim();
  const asked = paths.length === 0 ? ['*.jsonl'] : paths;
  const known = git('ls-tree', '-r', '--name-only', '-z', base).split('\0');
  const [old, changed] = [new Map<string, string>(), new Map<string, string>()];
  for (const file of git('diff', '--name-only', '-z', '--diff-filter=AM', base, '--', ...asked).split('\0')) {
    if (file === '' || !existsSync(file)) continue;
    const before = known.includes(file) ? rowsOf(git('show', `${base}:${file}`)) : new Map<string, string>();
    for (const [id, row] of rowsOf(readFileSync(file, 'utf8'))) {
      const was = before.get(id);
      if (was === row) continue;
      changed.set(id, row);
      if (was !== undefined) old.set(id, was);
    }
  }
  const rewards = commentOf(score([...old.values()]), score([...changed.values()]));
  process.stdout.write(`${rewards}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
