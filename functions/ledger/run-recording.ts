/**
 * Writes rollouts into the ledger of a run: one call and one transaction for each shard that they belong to, one row for
 * each group. Equal content at one position is one rollout, however often it is sent; other content is a new attempt. Only
 * the same content with fewer missing measurements replaces a rollout.
 */

import { newId } from '../../service/ids.ts';
import type { NewRollout, Recording, RecordingOutcome, RecordingResult, RunLife } from '../../service/ledger-port.ts';
import { StorageError } from '../../service/storage-error.ts';
import { callShard, type LedgerObjects, shardOf } from './ledger-calls.ts';
import {
  LEDGER_MESSAGE_VERSION,
  type NewEntry,
  type NewRecord,
  NO_STEP,
  type PackedContent,
} from './ledger-messages.ts';
import { packLines } from './packed-lines.ts';
import { beginRun, forgetRun } from './run-list.ts';
import { putObject, removeObject, runPrefix } from './run-objects.ts';

/** Packed bytes of a row of the ledger; larger content is stored in R2. The platform's limit is 2 MB. */
const MAX_PACKED_BYTES = 1_000_000;
/** How often a run may be deleted while rollouts are recorded in it. */
export const MAX_LIVES = 3;

/** Where the ledger of a project is stored. `shards`: of a new run. */
export type LedgerStores = {
  readonly project: string;
  readonly db: D1Database;
  readonly bucket: R2Bucket;
  readonly objects: LedgerObjects;
  readonly shards: number;
};

/** Records rollouts. @throws StorageError: the call can be repeated, and records nothing twice. */
export async function recordRollouts(stores: LedgerStores, recording: Recording): Promise<RecordingResult> {
  const { run, family, store_text, now, rollouts } = recording;
  const activity = { project: stores.project, run, family, store_text, now, steps: rollouts.map(({ step }) => step) };
  for (let life = 1; life <= MAX_LIVES; life++) {
    const begun = await beginRun(stores.db, activity, stores.shards);
    if (begun.status !== 'begun') return begun;
    const outcomes = await write(stores, recording, begun.life, begun.fresh);
    if (outcomes !== 'gone') return { status: 'done', rollouts: outcomes, created: begun.created };
    // This isolate remembered a run that was deleted meanwhile.
    forgetRun(stores.db, stores.project, run);
  }
  return { status: 'deleting' };
}

/** Writes the rollouts to their shards, all at once. @param fresh whether the list of runs was just read. */
async function write(
  { bucket, objects }: LedgerStores,
  { recipes, rollouts, shared, now }: Recording,
  life: RunLife,
  fresh: boolean,
): Promise<RecordingOutcome[] | 'gone'> {
  const prefix = runPrefix(life);
  const packedRecipes = recipes.map(({ digest, name, recipe }) => ({ digest, name, recipe: JSON.stringify(recipe) }));
  const groups = await Promise.all(groupsOf(rollouts).map((group) => pack(bucket, prefix, group, shared, now)));
  const outcomes = new Map<number, RecordingOutcome>();
  const isGone = await Promise.all(
    [...Map.groupBy(groups, ({ record }) => shardOf(life, record.group))].map(async ([shard, own]) => {
      const records = own.map(({ record }) => record);
      const call = { v: LEDGER_MESSAGE_VERSION, prefix, shard, open: fresh, recipes: packedRecipes, records };
      const answer = await callShard(objects, life, shard, async (object) => await object.record(call));
      await Promise.all(own.map((group, n) => removeUnused(bucket, group.record, answer.ok ? answer.value[n] : [])));
      if (!answer.ok) return true;
      for (const [n, { positions }] of own.entries()) {
        answer.value[n]?.forEach((outcome, line) => {
          const position = positions[line];
          if (position !== undefined) outcomes.set(position, outcome);
        });
      }
      return false;
    }),
  );
  if (isGone.includes(true)) return 'gone';
  return rollouts.map((_, position) => {
    const outcome = outcomes.get(position);
    if (outcome === undefined) throw new Error('recordRollouts: a rollout was not written');
    return outcome;
  });
}

type Positioned = { readonly position: number; readonly rollout: NewRollout };

function groupsOf(rollouts: readonly NewRollout[]): Positioned[][] {
  const positioned = rollouts.map((rollout, position) => ({ position, rollout }));
  return [...Map.groupBy(positioned, ({ rollout }) => JSON.stringify([rollout.step, rollout.group])).values()];
}

type PackedGroup = {
  readonly record: NewRecord;
  /** The index of each entry among the rollouts of the recording. */
  readonly positions: readonly number[];
};

async function pack(
  bucket: R2Bucket,
  prefix: string,
  group: readonly Positioned[],
  shared: Readonly<Record<string, unknown>>,
  now: number,
): Promise<PackedGroup> {
  const [first] = group;
  if (first === undefined) throw new Error('recordRollouts: a group without rollouts');
  const times = group.map(({ rollout }) => rollout.imported?.recorded_at ?? new Date(now).toISOString());
  const rows = group.map(({ rollout: { stored, recipe } }, line) => ({ ...stored, recipe, recorded_at: times[line] }));
  const details = group.some(({ rollout }) => rollout.report !== null)
    ? [shared, ...group.map(({ rollout: { report, rollout } }) => ({ report, rollout }))]
    : null;
  const content = await placed(
    bucket,
    prefix,
    await packLines(rows),
    details === null ? null : await packLines(details),
  );
  const record = {
    step: first.rollout.step ?? NO_STEP,
    group: first.rollout.group,
    entries: group.map(({ rollout }, line) => entryOf(rollout, line)),
    at: Math.max(...times.map((time) => Date.parse(time))),
    ...content,
  };
  return { record, positions: group.map(({ position }) => position) };
}

/** Puts content into R2 that is too large for a row. @throws StorageError. */
async function placed(
  bucket: R2Bucket,
  prefix: string,
  rows: ArrayBuffer,
  details: ArrayBuffer | null,
): Promise<PackedContent> {
  const largeRows = rows.byteLength > MAX_PACKED_BYTES;
  const inline = largeRows ? 0 : rows.byteLength;
  const largeDetails = details !== null && inline + details.byteLength > MAX_PACKED_BYTES;
  const name = prefix + newId('');
  const rows_key = largeRows ? `${name}.rows` : null;
  const details_key = largeDetails ? `${name}.details` : null;
  if (rows_key !== null) await putObject(bucket, rows_key, rows);
  if (details_key !== null) await putObject(bucket, details_key, details ?? new ArrayBuffer());
  return { rows: largeRows ? null : rows, rows_key, details: largeDetails ? null : details, details_key };
}

function entryOf(
  { sample, content, grouping, stored, statistics, counts, imported }: NewRollout,
  line: number,
): NewEntry {
  const { lacking, components, judgments, cached } = statistics;
  const { reward, reason } = stored;
  const attempt = imported?.attempt ?? null;
  const inferred = grouping === 'inferred';
  return { sample, content, attempt, lacking, line, inferred, reward, reason, components, judgments, cached, counts };
}

/**
 * Removes the objects of a record that was not written. A failed removal is logged and ignored: the objects are removed
 * with their run at the latest.
 */
async function removeUnused(
  bucket: R2Bucket,
  { rows_key, details_key }: NewRecord,
  outcomes: readonly RecordingOutcome[] | undefined,
): Promise<void> {
  if (outcomes?.some(({ status }) => status === 'recorded') === true) return;
  for (const key of [rows_key, details_key]) {
    try {
      if (key !== null) await removeObject(bucket, key);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }
}
