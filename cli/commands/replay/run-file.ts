/**
 * A run as a file: its recipes, then its rollouts in the order of the ledger, then a line that counts them. It is read group
 * by group, so that its length does not matter. A file that is cut off, or that is in another order, is refused.
 */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Recipe } from '../../../src/families/recipes.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { MAX_RUN_GROUP, MAX_RUN_IMPORT_LINE_BYTES } from '../../../src/limits.ts';
import type { RowsOfGroup } from '../../../src/runs/replay-lines.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { type RunFileLine, type RunFileRecipe, readRunLine } from '../../../src/runs/run-file.ts';
import type { ReplayRequest } from '../../../src/wire/replay.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import { readLines } from '../../shared/lines.ts';

/** The recipes of the run, which stand before its rollouts. @throws UsageError, RunError for a file that is none. */
export async function recipesOfFile(
  path: string,
): Promise<{ readonly run: string; readonly recipes: ReadonlyMap<string, Recipe> }> {
  const recipes = new Map<string, Recipe>();
  let run: string | null = null;
  for await (const { line, number } of linesOf(path)) {
    if (line.kind === 'run') run = line.id;
    if (line.kind === 'recipe') recipes.set(line.digest, await recipeOf(line, number));
    if (line.kind !== 'rollout') continue;
    if (run === null) break;
    return { run, recipes };
  }
  throw new RunError(`${path}: expected a run, its recipes, and then its rollouts`);
}

/** @throws RunError for one that this version does not know, or that is not what its digest says. */
async function recipeOf({ digest, recipe }: RunFileRecipe, number: number): Promise<Recipe> {
  const read = await resolveRecipe(recipe);
  if (!read.ok) throw new RunError(`line ${number}: not a recipe of this version`);
  if (read.resolved.digest !== digest) throw new RunError(`line ${number}: the recipe does not have that digest`);
  return read.resolved.recipe;
}

/** The groups of the run, the latest attempt of each sample. @throws RunError for a file that is not whole or not in order. */
export async function* groupsOfFile(path: string, steps: ReplayRequest['steps']): AsyncGenerator<RowsOfGroup> {
  let rollouts = 0;
  let isWhole = false;
  let last: LedgerRow | null = null;
  let open: LedgerRow[] = [];
  for await (const { line, number } of linesOf(path)) {
    if (line.kind === 'end') isWhole = line.rollouts === rollouts;
    if (line.kind !== 'rollout') continue;
    rollouts++;
    isWhole = false;
    const row = line.rollout;
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
    if (isWithin(row, steps)) open.push(row);
    if (open.length > MAX_RUN_GROUP) throw new RunError(`a group has more than ${MAX_RUN_GROUP} rollouts`);
    last = row;
  }
  if (open.length > 0) yield open;
  if (!isWhole) throw new RunError(`${path} does not end with the right count of its rollouts: cut off, or edited`);
}

/** By step (those without one first), group, sample, attempt. */
function compare(one: LedgerRow, other: LedgerRow): number {
  return (
    (one.step ?? -1) - (other.step ?? -1) ||
    compareText(one.group, other.group) ||
    compareText(one.sample, other.sample) ||
    one.attempt - other.attempt
  );
}

/** In the order of the bytes of UTF-8, which is that of the code points; a database sorts so. */
function compareText(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function isWithin({ step }: LedgerRow, steps: ReplayRequest['steps']): boolean {
  if (steps?.from === undefined && steps?.to === undefined) return true;
  return step !== null && step >= (steps.from ?? 0) && step <= (steps.to ?? Number.POSITIVE_INFINITY);
}

async function* linesOf(path: string): AsyncGenerator<{ readonly line: RunFileLine; readonly number: number }> {
  await requireFile(path);
  for await (const { number, content } of readLines(createReadStream(path), MAX_RUN_IMPORT_LINE_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.problem === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    yield { line: readLine(content.text, number), number };
  }
}

function readLine(text: string, number: number): RunFileLine {
  const read = readRunLine(text);
  if (read.ok) return read.line;
  throw new RunError(`line ${number}: ${read.problem === 'line_not_json' ? 'not JSON' : 'no line of an exported run'}`);
}

/** It may be read twice, so it has to be one. */
async function requireFile(path: string): Promise<void> {
  try {
    if ((await stat(path)).isFile()) return;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new UsageError(`no such file: ${path}`);
    }
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${path} is not a file`);
}
