/**
 * Golden vectors: rows made by running the public reference implementations (test/golden/README.md names each
 * repository and commit) on inputs written for this project.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const GOLDEN_DIRECTORY = resolve(import.meta.dirname, '../golden');

export type GoldenRow = {
  readonly id: string;
  readonly fn: string;
  readonly note: string;
  readonly defect?: boolean;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: unknown;
};

/** All rows of one golden file. */
export function goldenRows(file: string): GoldenRow[] {
  const lines = readFileSync(resolve(GOLDEN_DIRECTORY, file), 'utf8').split('\n');
  return lines.filter((line) => line.length > 0).map((line): GoldenRow => JSON.parse(line));
}

/** Golden numbers are compared with this absolute tolerance. */
export const GOLDEN_TOLERANCE = 1e-9;
