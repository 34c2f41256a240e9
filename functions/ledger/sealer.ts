/**
 * Moves the content of records from the object of a shard into segments in R2 (segment-format.ts), while rollouts are
 * recorded and read. The entries of all records stay in the object, so attempts, order and figures need no segment.
 *
 * A segment is written in these steps; the manifest (segment-table.ts) stores the state after each of them:
 *
 * 1. **Plan.** One transaction fixes the range of records, by their numbers: when their content has 8 MB, or an hour
 *    after the first of them.
 * 2. **Write.** The segment is put into R2 under a name made of the run's prefix, the shard, the range and the digest
 *    of the bytes, with its SHA-256 and only if the name is free. Records never change, so whoever repeats this step
 *    writes the same bytes under the same name.
 * 3. **Commit.** One transaction enters the segment into the manifest and its place into each record. It does nothing
 *    if the plan is no longer there: then the run was erased, and the sealer deletes its object again, or another sealer
 *    committed the plan.
 * 4. **Drop.** 15 minutes later one transaction removes the content from the records.
 *
 * Small segments are merged in the same way: the plan covers their records, the commit marks them as replaced, and 15
 * minutes later their objects are deleted.
 *
 * What holds at every moment, also after a crash between any two steps:
 *
 * - **One copy counts.** A reader takes a record's content from the object while it is there, otherwise from the segment
 *   that the record names. Content is removed only after the commit, so one of the two exists.
 * - **A page is one state of the manifest.** Order and choice of rollouts come from the entries, which sealing does not
 *   change, and a page names every block that it needs. The objects it names exist for 15 more minutes. So a replay or an
 *   export sees each rollout exactly once, however often its records move in the meantime.
 * - **Erasure leaves no bytes.** An object that is put before the erasure lists the prefix is deleted with it; a
 *   sealer whose put ends later finds the run erased and deletes the object; for a sealer that died in between, the
 *   erased object lists the prefix again 15 minutes later.
 */
import { StorageError } from '../../service/storage-error.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import type { SegmentBlock, StoredContent } from './ledger-messages.ts';
import type { FiguresPart, LedgerRecords } from './ledger-records.ts';
import { inflateLines } from './packed-lines.ts';
import { putSegment, removeObject } from './run-objects.ts';
import { type Section, SegmentWriter } from './segment-format.ts';
import { SegmentReader } from './segment-reader.ts';
import type { PlannedSegment, SealingLimits, SegmentTable, WrittenSegment } from './segment-table.ts';

/**
 * - `bytes`: a segment is held in memory while it is written, and an object has at most 8 MB of content twice.
 * - `records`: a commit changes one row for each of them in one transaction, about 0.1 s.
 * - `ageMs`: a run that has ended is in R2 an hour later.
 * - `keptMs`: by then a reader has used the page that named an object.
 */
export const SEALING: SealingLimits = {
  bytes: 8 * 1024 * 1024,
  records: 8_192,
  ageMs: 60 * 60 * 1000,
  keptMs: 15 * 60 * 1000,
  merged: 8,
  mergedBytes: 1024 * 1024,
};

/** Rollouts whose figures are computed without a pause, which takes about 10 ms. */
const REFRESHED_AT_ONCE = 2_000;
/** Segments that are written in one turn; the next turn follows at once. */
const MAX_SEGMENTS_A_TURN = 16;

/** What the sealer needs of its object. */
export type SealedObject = {
  readonly storage: DurableObjectStorage;
  readonly records: LedgerRecords;
  readonly segments: SegmentTable;
  readonly bucket: R2Bucket;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly limits: SealingLimits;
};

export class Sealer {
  readonly #object: SealedObject;

  constructor(object: SealedObject) {
    this.#object = object;
  }

  /** Does all work that is due. It can be interrupted anywhere, and repeated. @throws StorageError if R2 fails. */
  async work(): Promise<void> {
    const { segments, limits, now } = this.#object;
    await this.#refreshFigures();
    for (let written = 0; written < MAX_SEGMENTS_A_TURN; written++) {
      const planned = this.#ifOpen(() => segments.plan(limits, now()));
      if (planned === null) break;
      await this.#seal(planned);
    }
    this.#ifOpen(() => segments.dropContent(now() - limits.keptMs));
    for (const { id, key } of this.#ifOpen(() => segments.replaced(now() - limits.keptMs)) ?? []) {
      await removeObject(this.#object.bucket, key);
      this.#ifOpen(() => segments.remove(id));
    }
  }

  /** Computes outdated figures: the first reader of a long run would wait seconds for them. */
  async #refreshFigures(): Promise<void> {
    const { records } = this.#object;
    let sincePause = 0;
    for (const part of this.#ifOpen(() => records.outdatedParts) ?? []) {
      const rollouts = this.#ifOpen(() => refreshed(records, part));
      if (rollouts === null) return;
      sincePause += rollouts;
      if (sincePause < REFRESHED_AT_ONCE) continue;
      await pause();
      sincePause = 0;
    }
  }

  /** Runs a step in a transaction. Returns null if the run was erased in the meantime. */
  #ifOpen<T>(step: () => T): T | null {
    const { storage, records } = this.#object;
    try {
      return storage.transactionSync(() => (records.run?.state === 'open' ? step() : null));
    } catch (error) {
      // The transaction was undone.
      records.forget();
      throw error;
    }
  }

  async #seal(planned: PlannedSegment): Promise<void> {
    const { bucket, segments, now } = this.#object;
    const segment = await this.#write(planned);
    if (segment === null) return;
    const isCommitted = this.#ifOpen(() => segments.commit(planned, segment, now()));
    const isNamed = this.#ifOpen(() => segments.names(segment.key));
    if (isCommitted === true || isNamed === true) return;
    await removeUnnamed(bucket, segment.key);
  }

  /** Puts the segment into R2. Returns null if the run was erased in the meantime. */
  async #write({ first, last }: PlannedSegment): Promise<WrittenSegment | null> {
    const { records, bucket } = this.#object;
    const run = this.#ifOpen(() => records.run);
    const numbers = this.#ifOpen(() => records.inOrder(first, last));
    if (run?.state !== 'open' || numbers === null) return null;
    const writer = new SegmentWriter();
    for (const seq of numbers) writer.addRecord(seq);
    for (const section of ['rows', 'details'] as const) {
      if (!(await this.#add(section, writer, numbers))) return null;
    }
    const { bytes, blocks } = writer.finish();
    const key = await putSegment(bucket, `${run.prefix}segments/${run.shard}/${first}-${last}`, bytes);
    return { key, blocks, bytes: bytes.byteLength };
  }

  /** Adds one kind of lines of all records. Returns false if the run was erased in the meantime. */
  async #add(section: Section, writer: SegmentWriter, numbers: readonly number[]): Promise<boolean> {
    const { bucket, records } = this.#object;
    const reader = new SegmentReader(bucket);
    for (let from = 0; from < numbers.length; from += RECORDS_AT_ONCE) {
      const some = this.#ifOpen(() =>
        numbers.slice(from, from + RECORDS_AT_ONCE).map((seq) => {
          const header = section === 'rows' ? records.headerOf(seq) : JSON.stringify({ seq });
          return { seq, header, ...sectionLines(section, records.content(seq)) };
        }),
      );
      if (some === null) return false;
      await reader.prepare(some.flatMap(({ packed, block }) => (packed === null && block !== null ? [block] : [])));
      for (const { seq, header, packed, block } of some) {
        const lines = packed !== null ? await inflateLines(packed) : block !== null ? await reader.text(block) : null;
        // Lines that are an object of their own in R2 stay there.
        if (lines !== null && (await writer.add(section, seq, header, lines))) await pause();
      }
    }
    await writer.endMember(section);
    return true;
  }
}

/** Computes the figures of a part unless a later version recorded in it: then a reader says so. Returns of how many rollouts. */
function refreshed(records: LedgerRecords, part: FiguresPart): number {
  try {
    return records.refreshPart(part);
  } catch (error) {
    if (!(error instanceof UnknownForm)) throw error;
    return 0;
  }
}

/** Records whose content is in memory at once, besides the segment. */
const RECORDS_AT_ONCE = 64;

function sectionLines(section: Section, { rows, rows_at, details, details_at }: StoredContent): SectionLines {
  return section === 'rows' ? { packed: rows, block: rows_at } : { packed: details, block: details_at };
}

type SectionLines = { readonly packed: ArrayBuffer | null; readonly block: SegmentBlock | null };

/** Lets requests to the object run between two members: compressing a member takes about 2 ms. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Deletes a segment that no manifest names. A failure is logged and ignored: erasing the run deletes the object. */
async function removeUnnamed(bucket: R2Bucket, key: string): Promise<void> {
  try {
    await removeObject(bucket, key);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
