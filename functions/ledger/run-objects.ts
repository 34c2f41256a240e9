/**
 * The R2 objects of a run: each rollout's report (spans and findings), its text if the caller asked to store it, and
 * its row if that is too large for D1. All rollouts of one request share one object of JSON lines, because a group of
 * 64 would otherwise cost 64 writes. The first line has the shared fields, then one line follows per rollout; rows
 * point at their lines. Object names are random and never reused, so a pointer is never wrong.
 */
import * as z from 'zod';
import { stored } from '../storage/storage-error.ts';

/** One incarnation of a run: its id may be used again after a deletion. */
export type RunLife = { readonly run: string; readonly incarnation: string };

/** The prefix of all R2 keys of a run. */
export function runPrefix({ run, incarnation }: RunLife): string {
  return `runs/${run}/${incarnation}/`;
}

/** The byte range of one line in an object, and of its first line. */
export type ObjectPlace = RunLife & {
  readonly write_id: string;
  readonly start: number;
  readonly bytes: number;
  /** Bytes of the line with the shared fields; 0 = there is none. */
  readonly shared: number;
};

type ObjectName = RunLife & Pick<ObjectPlace, 'write_id'>;

/** The stored parts of a rollout besides its row. */
export type RolloutDetail = {
  /**
   * The report of the reply: components, claims and so on, without text unless the run stores text. `null` = the
   * rollout was imported.
   */
  readonly report: Readonly<Record<string, unknown>> | null;
  /** The rollout as sent; `null` = its text is not stored. */
  readonly rollout: Readonly<Record<string, unknown>> | null;
};

type DetailLine = RolloutDetail & {
  /** JSON text of the fields that replay reads; `null` = they are in D1. */
  readonly row: string | null;
};

const sharedSchema = z.strictObject({ v: z.literal(1), shared: z.record(z.string(), z.unknown()) });

const lineSchema = z.strictObject({
  v: z.literal(1),
  report: z.record(z.string(), z.unknown()).nullable(),
  rollout: z.record(z.string(), z.unknown()).nullable(),
  row: z.string().nullable(),
});

type PackedObject = {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Bytes of the first line; 0 = nothing is shared. */
  readonly shared: number;
  /** The byte range of each line, in their order. */
  readonly lines: readonly { readonly start: number; readonly bytes: number }[];
};

/** Serialises an object. @param shared fields that all rollouts share, which `lines` omit. */
export function packObject(shared: Readonly<Record<string, unknown>>, lines: readonly DetailLine[]): PackedObject {
  const encoder = new TextEncoder();
  const encode = (value: unknown): Uint8Array<ArrayBuffer> =>
    new Uint8Array(encoder.encode(`${JSON.stringify(value)}\n`));
  const first = Object.keys(shared).length === 0 ? new Uint8Array() : encode({ v: 1, shared });
  const places: { start: number; bytes: number }[] = [];
  const pieces = [first];
  let at = first.byteLength;
  for (const line of lines) {
    const piece = encode({ v: 1, ...line });
    places.push({ start: at, bytes: piece.byteLength });
    pieces.push(piece);
    at += piece.byteLength;
  }
  const body = new Uint8Array(at);
  let end = 0;
  for (const piece of pieces) {
    body.set(piece, end);
    end += piece.byteLength;
  }
  return { body, shared: first.byteLength, lines: places };
}

/** Writes an object. @throws StorageError. */
export async function putObject(bucket: R2Bucket, place: ObjectName, { body }: PackedObject): Promise<void> {
  const options = { httpMetadata: { contentType: 'application/jsonl' } };
  await stored('r2', 'run_put', () => bucket.put(keyOf(place), body, options));
}

/** Removes an object that no row points at. @throws StorageError. */
export async function removeObject(bucket: R2Bucket, place: ObjectName): Promise<void> {
  await stored('r2', 'run_remove', () => bucket.delete(keyOf(place)));
}

/** Reads what is stored of a rollout beside its row. @throws StorageError if R2 fails or the object does not exist. */
export async function readDetail(bucket: R2Bucket, place: ObjectPlace): Promise<RolloutDetail> {
  const [shared, line] = await Promise.all([readShared(bucket, place), readLine(bucket, place)]);
  const { report, rollout } = line;
  return { report, rollout: rollout === null ? null : { ...shared, ...rollout } };
}

/** Reads the JSON text of a row that is too large for D1. @throws StorageError. */
export async function readOutsizedRow(bucket: R2Bucket, place: ObjectPlace | null): Promise<string> {
  const row = place === null ? null : (await readLine(bucket, place)).row;
  if (row === null) throw new Error('readOutsizedRow: the row is neither in D1 nor in R2');
  return row;
}

async function readLine(bucket: R2Bucket, place: ObjectPlace): Promise<z.infer<typeof lineSchema>> {
  return lineSchema.parse(await readJsonLine(bucket, place, place.start, place.bytes));
}

async function readShared(bucket: R2Bucket, place: ObjectPlace): Promise<Readonly<Record<string, unknown>>> {
  if (place.shared === 0) return {};
  return sharedSchema.parse(await readJsonLine(bucket, place, 0, place.shared)).shared;
}

async function readJsonLine(bucket: R2Bucket, place: ObjectPlace, offset: number, length: number): Promise<unknown> {
  const text = await stored('r2', 'run_get', async () => {
    const object = await bucket.get(keyOf(place), { range: { offset, length } });
    if (object === null) throw new Error('an object of a run is not there');
    return object.text();
  });
  return JSON.parse(text);
}

function keyOf(place: ObjectName): string {
  return `${runPrefix(place)}${place.write_id}.jsonl`;
}
