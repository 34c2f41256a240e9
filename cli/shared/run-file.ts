/**
 * Reads an exported run: its recipes, its rollouts in the order of the ledger, and a last line that counts them. One
 * group is in memory at a time. A file that is cut off or in another order is refused.
 */

import { createReadStream } from 'node:fs';
import type { Recipe } from '../../src/families/composers.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import { MAX_RUN_GROUP, MAX_RUN_IMPORT_LINE_BYTES } from '../../src/limits.ts';
import { replayedRow } from '../../src/runs/replay-group.ts';
import type { RowsOfGroup } from '../../src/runs/replay-lines.ts';
import type { LedgerRow } from '../../src/runs/row.ts';
import { type RunFileLine, type RunFileRecipe, readRunLine } from '../../src/runs/run-file.ts';
import { readLines } from '../../src/text/lines.ts';
import type { ReplayRequest } from '../../src/wire/replay.ts';
import { RunError, UsageError } from './exit.ts';
import { readError, statOfFile } from './input.ts';

/** The id of the run, if the first line is that of an exported run; `null` = the file holds something else. */
export async function runOfFile(path: string): Promise<string | null> {
  await statOfFile(path);
  const stream = createReadStream(path);
  try {
    for await (const { content } of readLines(stream, MAX_RUN_IMPORT_LINE_BYTES)) {
      const read = content.ok ? readRunLine(content.value) : null;
      return read?.ok === true && read.value.kind === 'run' ? read.value.id : null;
    }
    return null;
  } catch (error) {
    throw readError(path, error);
  } finally {
    stream.destroy();
  }
}

/** The recipes of the run, which come before its rollouts. @throws UsageError or RunError for a wrong file. */
export async function recipesOfFile(
  path: string,
): Promise<{ readonly run: string; readonly recipes: ReadonlyMap<string, Recipe> }> {
  const recipes = new Map<string, Recipe>();
  let run: string | null = null;
  for await (const { line, number } of runFileLines(path)) {
    if (line.kind === 'run') run = line.id;
    if (line.kind === 'recipe') recipes.set(line.digest, await recipeOf(line, number));
    if (line.kind !== 'rollout') continue;
    if (run === null) break;
    return { run, recipes };
  }
  throw new RunError(`${path}: expected a run, its recipes, and then its rollouts`);
}

/** @throws RunError for a recipe that this version does not know, or that does not match its digest. */
async function recipeOf({ digest, recipe }: RunFileRecipe, number: number): Promise<Recipe> {
  const read = await resolveRecipe(recipe);
  if (!read.ok) throw new RunError(`line ${number}: this version does not know the recipe`);
  if (read.value.digest !== digest) throw new RunError(`line ${number}: the recipe does not match its digest`);
  return read.value.recipe;
}

/**
 * The groups of the run, with the latest attempt of each sample.
 * @throws RunError for a file that is incomplete or not in order.
 */
export async function* groupsOfFile(path: string, steps: ReplayRequest['steps']): AsyncGenerator<RowsOfGroup> {
  let rollouts = 0;
  let isComplete = false;
  let last: LedgerRow | null = null;
  let open: LedgerRow[] = [];
  const families = new Map<string, unknown>();
  for await (const { line, number } of runFileLines(path)) {
    if (line.kind === 'recipe' && last === null) families.set(line.digest, line.recipe['family']);
    if (line.kind === 'end') isComplete = line.rollouts === rollouts;
    if (line.kind !== 'rollout') continue;
    rollouts++;
    isComplete = false;
    const row = line.rollout;
    const fault = recipeFault(row, families);
    if (fault !== null) throw new RunError(`line ${number}: ${fault}`, 'Export the run again.');
    if (last !== null && compare(last, row) >= 0) {
      throw new RunError(`line ${number}: expected rollouts by step, group, sample and attempt, each once`);
    }
    const isSameGroup = last !== null && last.step === row.step && last.group === row.group;
    if (!isSameGroup && open.length > 0) {
      yield open;
      open = [];
    }
    const isLater = isSameGroup && last !== null && last.sample === row.sample;
    if (isLater && open.length > 0) open.pop();
    if (isWithin(row, steps)) open.push(replayedRow(row, row.counts));
    if (open.length > MAX_RUN_GROUP) throw new RunError(`a group has more than ${MAX_RUN_GROUP} rollouts`);
    last = row;
  }
  if (open.length > 0) yield open;
  if (!isComplete)
    throw new RunError(`${path}: the last line does not give the number of rollouts: cut off, or edited`);
}

/** What is wrong with the recipe of a row. @param families of the recipes before the rollouts, by digest. */
function recipeFault({ recipe, facts }: LedgerRow, families: ReadonlyMap<string, unknown>): string | null {
  if (!families.has(recipe)) return `no recipe of the file has the digest ${recipe} of this rollout`;
  return families.get(recipe) === facts.family ? null : `its facts are of another family than its recipe`;
}

/** Compares two rows by step (rollouts without one first), group, sample and attempt. */
function compare(one: LedgerRow, other: LedgerRow): number {
  return (
    (one.step ?? -1) - (other.step ?? -1) ||
    compareText(one.group, other.group) ||
    compareText(one.sample, other.sample) ||
    one.attempt - other.attempt
  );
}

/** Orders by code point, as the database does. */
function compareText(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function isWithin({ step }: LedgerRow, steps: ReplayRequest['steps']): boolean {
  if (steps?.from === undefined && steps?.to === undefined) return true;
  return step !== null && step >= (steps.from ?? 0) && step <= (steps.to ?? Number.POSITIVE_INFINITY);
}

async function* runFileLines(path: string): AsyncGenerator<{ readonly line: RunFileLine; readonly number: number }> {
  await requireFile(path);
  for await (const { number, content } of readLines(createReadStream(path), MAX_RUN_IMPORT_LINE_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.error === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    yield { line: readLine(content.value, number), number };
  }
}

function readLine(text: string, number: number): RunFileLine {
  const read = readRunLine(text);
  if (read.ok) return read.value;
  throw new RunError(
    `line ${number}: ${read.error === 'line_not_json' ? 'not JSON' : 'not a line of an exported run'}`,
  );
}

/** @throws UsageError unless the path is a regular file: it is read twice, which a pipe cannot. */
async function requireFile(path: string): Promise<void> {
  if (!(await statOfFile(path)).isFile()) throw new UsageError(`${path} is not a regular file`);
}
