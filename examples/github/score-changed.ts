/**
 * Scores the answers that a pull request changes, and prints a Markdown table of them, before and after.
 *
 *     node score-changed.ts BASE [PATH…]        BASE: a branch or commit; PATH: as git takes it, default '*.jsonl'
 *
 * Each row has an `id` of its own, by which a row of BASE and one of the working tree are the same, also in a file that
 * was renamed. CITEWARD is the command line, default `npx citeward`; SCORE_FLAGS are flags of `citeward score`, such as
 * --judge-url and --judge-model.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Rewards = ReadonlyMap<string, number | null>;

/** Rows that the comment lists, the largest loss first. */
const MOST_ROWS = 30;

type Row = { readonly id: string; readonly now: number | null; readonly was: number | null; readonly isNew: boolean };

/** The table of changed rows, and a line of means before it. A new row has no reward before. */
export function commentOf(before: Rewards, after: Rewards): string {
  const rows = [...after].map(([id, now]) => ({ id, now, was: before.get(id) ?? null, isNew: !before.has(id) }));
  const kept = rows.filter(({ was, now }) => was !== null && now !== null);
  const mean = (values: readonly (number | null)[]): string =>
    text(values.length === 0 ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length);
  const unscored = rows.filter(({ now }) => now === null).length;
  return [
    `**Citeward**: ${rows.length} changed ${rows.length === 1 ? 'answer' : 'answers'}` +
      (kept.length === 0 ? '' : `; mean ${mean(kept.map(({ was }) => was))} → ${mean(kept.map(({ now }) => now))}`) +
      (unscored === 0 ? '' : `; ${unscored} not scored`),
    ...(rows.length === 0 ? [] : tableOf(rows)),
  ].join('\n');
}

function tableOf(rows: readonly Row[]): readonly string[] {
  const change = ({ was, now }: Row): number => (was === null || now === null ? 0 : now - was);
  return [
    '',
    '| answer | before | after | change |',
    '|---|---:|---:|---:|',
    ...rows
      .toSorted((one, other) => change(one) - change(other))
      .slice(0, MOST_ROWS)
      .map(
        (row) =>
          `| ${cell(row.id)} | ${row.isNew ? 'new' : text(row.was)} | ${text(row.now)} | ${
            row.was === null || row.now === null ? '' : signed(change(row))
          } |`,
      ),
    ...(rows.length > MOST_ROWS ? ['', `${rows.length - MOST_ROWS} more rows are not shown.`] : []),
  ];
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

export type ChangedRows = {
  /** Lines of BASE by id, of the rows below that it has. */
  readonly old: ReadonlyMap<string, string>;
  /** Lines of the working tree by id, new or other than those of BASE. */
  readonly changed: ReadonlyMap<string, string>;
};

/**
 * The rows that the working tree of a folder has changed since it left a branch.
 *
 * @throws Error naming the file and the line of a row without an id, or with the id of another changed file's row.
 */
export function changedRows(folder: string, branch: string, paths: readonly string[]): ChangedRows {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30 });
  const base = git('merge-base', branch, 'HEAD').trim();
  const known = new Set(git('ls-tree', '-r', '--name-only', '-z', base).split('\0'));
  // A renamed file is one that is gone and one that is new: rows are found again by their ids.
  const files = git('diff', '--name-only', '--no-renames', '--relative', '-z', base, '--', ...paths)
    .split('\0')
    .filter((file) => file !== '');
  const before = new Map<string, string>();
  const now = new Map<string, { readonly line: string; readonly place: string }>();
  for (const file of files) {
    if (known.has(file)) {
      for (const { id, line } of rowsOf(git('show', `${base}:./${file}`))) if (id !== null) before.set(id, line);
    }
    if (!existsSync(join(folder, file))) continue;
    for (const { id, line, number } of rowsOf(readFileSync(join(folder, file), 'utf8'))) {
      const place = `${file}:${number}`;
      if (id === null) throw new Error(`${place}: expected a JSON object with an id, a string or a number`);
      const other = now.get(id);
      if (other !== undefined) throw new Error(`${place}: ${other.place} has the id ${id} too; give each row its own`);
      now.set(id, { line, place });
    }
  }
  const changed = new Map(
    [...now].map(([id, { line }]) => [id, line] as const).filter(([id, line]) => before.get(id) !== line),
  );
  return { changed, old: new Map([...before].filter(([id]) => changed.has(id))) };
}

/** A line of a file of JSON lines; id `null` = it is no row with an id. */
type Line = { readonly id: string | null; readonly line: string; readonly number: number };

function* rowsOf(text: string): Generator<Line> {
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') yield { id: idOf(line), line, number: index + 1 };
  }
}

function idOf(line: string): string | null {
  try {
    const row: { id?: unknown } | null = JSON.parse(line);
    return typeof row?.id === 'string' || typeof row?.id === 'number' ? String(row.id) : null;
  } catch {
    return null;
  }
}

/** The rewards that `citeward score --json` printed. It prints none for a row that it refuses: that is unscored, too. */
export function rewardsOf(ids: Iterable<string>, printed: string): Rewards {
  const rewards = new Map<string, number | null>([...ids].map((id) => [id, null]));
  for (const line of printed.split('\n')) {
    if (line === '') continue;
    const { id, reward = null }: { id: string | number | null; reward?: number | null } = JSON.parse(line);
    rewards.set(String(id), reward);
  }
  return rewards;
}

function score(rows: ReadonlyMap<string, string>): Rewards {
  if (rows.size === 0) return new Map();
  const [command = 'npx', ...first] = (process.env['CITEWARD'] ?? 'npx citeward').split(' ');
  const flags = (process.env['SCORE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');
  const ended = spawnSync(command, [...first, 'score', '-', '--json', ...flags], {
    input: `${[...rows.values()].join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // 1: some rows are not scored, which the table says.
  if (ended.status !== 0 && ended.status !== 1) throw new Error(`citeward score ended with ${ended.status}`);
  return rewardsOf(rows.keys(), ended.stdout);
}

function main([branch, ...paths]: readonly string[]): void {
  if (branch === undefined) throw new Error('expected the branch to compare with: node score-changed.ts BASE [PATH…]');
  const { old, changed } = changedRows(process.cwd(), branch, paths.length === 0 ? ['*.jsonl'] : paths);
  process.stdout.write(`${commentOf(score(old), score(changed))}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
