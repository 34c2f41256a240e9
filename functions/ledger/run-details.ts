/** Reads reports and texts of rollouts. The details of one record are unpacked once for all of its rollouts. */

import * as z from 'zod';
import type { DetailPlace, RolloutDetail } from '../../service/ledger-port.ts';
import { askShard, type LedgerObjects } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION, NO_CONTENT } from './ledger-messages.ts';
import { unpackLines } from './packed-lines.ts';
import { readObject } from './run-objects.ts';
import { SegmentReader } from './segment-reader.ts';

const sharedSchema = z.record(z.string(), z.unknown());
const lineSchema = z.strictObject({ report: sharedSchema.nullable(), rollout: sharedSchema.nullable() });

export class RunDetails {
  readonly #objects: LedgerObjects;
  readonly #bucket: R2Bucket;
  readonly #segments: SegmentReader;
  #last: { readonly name: string; readonly lines: Promise<readonly unknown[]> } | null = null;

  constructor(objects: LedgerObjects, bucket: R2Bucket) {
    this.#objects = objects;
    this.#bucket = bucket;
    this.#segments = new SegmentReader(bucket);
  }

  /** @throws StorageError, RequestError; ZodError for details of unknown form. */
  async read(place: DetailPlace): Promise<RolloutDetail> {
    const { life, shard, seq, line } = place;
    const name = `${life.run}/${life.incarnation}/${shard}/${seq}`;
    if (this.#last?.name !== name) this.#last = { name, lines: this.#lines(place) };
    const lines = await this.#last.lines;
    const shared = sharedSchema.parse(lines[0]);
    const { report, rollout } = lineSchema.parse(lines[line + 1]);
    return { report, rollout: rollout === null ? null : { ...shared, ...rollout } };
  }

  async #lines({ life, shard, seq }: DetailPlace): Promise<readonly unknown[]> {
    const { details, details_key, details_at } = await askShard(
      this.#objects,
      life,
      shard,
      NO_CONTENT,
      async (object) => object.content(LEDGER_MESSAGE_VERSION, seq),
    );
    if (details === null && details_at !== null) return this.#segments.lines(details_at);
    const packed = details_key === null ? details : await readObject(this.#bucket, details_key);
    return packed === null ? [] : unpackLines(packed);
  }
}
