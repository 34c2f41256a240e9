/**
 * Judgment files, version 1: JSON lines. Each line is a judgment record or names a requested key that is missing; the
 * last line counts the others, so a truncated file is detected. A file contains digests and verdicts, no text.
 */
import * as z from 'zod';
import { digestJson } from '../digest.ts';
import { parsedJson } from '../json.ts';
import { MAX_EXPORT_KEYS } from '../limits.ts';
import type { Result } from '../result.ts';
import type { Desk } from './desk.ts';
import type { Judgment } from './judgment.ts';
import { sha256Schema } from './judgment-schema.ts';
import { judgmentSchema, readRecord } from './record.ts';
import type { JudgmentStore } from './store.ts';

const RECORD_FILE_VERSION = 1;

/** `judgment_differs`: the stored judgment of the key has other verdicts than the requested ones. */
const missingReasons = [
  'judgment_missing',
  'judgment_record_invalid',
  'judgment_store_failed',
  'judgment_differs',
] as const;

const missingLineSchema = z.strictObject({
  missing: z.strictObject({ key: sha256Schema, reason: z.enum(missingReasons) }),
});

const endLineSchema = z.strictObject({
  end: z.strictObject({
    v: z.literal(RECORD_FILE_VERSION),
    judgments: z.int().min(0),
    missing: z.int().min(0),
  }),
});

/** Schema of every line of a file. */
export const recordFileLineSchema = z.union([judgmentSchema, missingLineSchema, endLineSchema]);

type MissingReason = (typeof missingReasons)[number];

type RecordLine =
  | { readonly kind: 'judgment'; readonly judgment: Judgment }
  | { readonly kind: 'missing'; readonly key: string; readonly reason: MissingReason }
  | { readonly kind: 'end'; readonly judgments: number; readonly missing: number };

type RecordLineError = { readonly problem: 'line_not_json' | 'record_invalid'; readonly detail: string };

export type ReadRecordLine = Result<RecordLine, RecordLineError>;

/** Writes one line, with its line feed. */
export function writeRecordLine(line: RecordLine): string {
  return `${JSON.stringify(lineValue(line))}\n`;
}

function lineValue(line: RecordLine): unknown {
  switch (line.kind) {
    case 'judgment':
      return line.judgment;
    case 'missing':
      return { missing: { key: line.key, reason: line.reason } };
    case 'end':
      return { end: { v: RECORD_FILE_VERSION, judgments: line.judgments, missing: line.missing } };
  }
}

/** Reads and checks one line, except for its signature, which the importer checks. */
export function readRecordLine(text: string): ReadRecordLine {
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, error: { problem: 'line_not_json', detail: 'the line is not JSON' } };
  const missing = missingLineSchema.safeParse(value);
  if (missing.success) return { ok: true, value: { kind: 'missing', ...missing.data.missing } };
  const end = endLineSchema.safeParse(value);
  if (end.success) {
    const { judgments, missing: absent } = end.data.end;
    return { ok: true, value: { kind: 'end', judgments, missing: absent } };
  }
  const record = readRecord(value);
  if (record.ok) return { ok: true, value: { kind: 'judgment', judgment: record.judgment } };
  return { ok: false, error: { problem: 'record_invalid', detail: record.failure.detail } };
}

export type WantedRecord = {
  readonly key: string;
  /**
   * Digest of the verdicts that the caller requires, since a key may be judged again; `null` = any verdicts will do.
   */
  readonly verdicts: string | null;
};

/**
 * Yields the judgments of some keys as the lines of a file, in order, without repetitions. Reads `keysPerRead` keys at
 * a time. Remembers the last MAX_EXPORT_KEYS keys, so a longer file may repeat one.
 * @param desk finds judgments that the store does not show yet; `null` = no desk.
 */
export async function* exportJudgments(
  store: Pick<JudgmentStore, 'get'>,
  desk: Pick<Desk, 'find'> | null,
  wanted: Iterable<WantedRecord> | AsyncIterable<WantedRecord>,
  keysPerRead: number,
): AsyncGenerator<string> {
  const counts = { judgments: 0, missing: 0 };
  const lineOf = async (record: WantedRecord, find: FindRecord): Promise<string> => {
    const line = recordLine(record, find(record.key));
    if (line.kind === 'judgment') counts.judgments++;
    else counts.missing++;
    return writeRecordLine(line);
  };
  const seen = new Set<string>();
  let waiting: WantedRecord[] = [];
  for await (const record of wanted) {
    const name = `${record.key} ${record.verdicts ?? ''}`;
    if (seen.has(name)) continue;
    if (seen.size === MAX_EXPORT_KEYS) seen.clear();
    seen.add(name);
    waiting.push(record);
    if (waiting.length < keysPerRead) continue;
    const find = await readBulk(store, desk, waiting);
    for (const one of waiting) yield await lineOf(one, find);
    waiting = [];
  }
  if (waiting.length > 0) {
    const find = await readBulk(store, desk, waiting);
    for (const one of waiting) yield await lineOf(one, find);
  }
  yield writeRecordLine({ kind: 'end', ...counts });
}

type FoundRecord = Awaited<ReturnType<JudgmentStore['get']>> extends ReadonlyMap<string, infer Found> ? Found : never;
type FindRecord = (key: string) => FoundRecord | undefined;

async function readBulk(
  store: Pick<JudgmentStore, 'get'>,
  desk: Pick<Desk, 'find'> | null,
  wanted: readonly WantedRecord[],
): Promise<FindRecord> {
  const keys = [...new Set(wanted.map(({ key }) => key))];
  const stored = await store.get(keys);
  const open = keys.filter((key) => stored.get(key)?.ok !== true);
  const kept = desk === null || open.length === 0 ? null : await desk.find(open);
  return (key) => {
    const keptOne = kept?.get(key);
    return keptOne?.ok === true ? keptOne : (stored.get(key) ?? keptOne);
  };
}

function recordLine(
  { key, verdicts }: WantedRecord,
  found: FoundRecord | undefined,
): Exclude<RecordLine, { kind: 'end' }> {
  if (found?.ok !== true) return { kind: 'missing', key, reason: missingReason(found?.failure.reason) };
  const { judgment } = found;
  const isOther = verdicts !== null && digestJson(judgment.verdicts) !== verdicts;
  return isOther ? { kind: 'missing', key, reason: 'judgment_differs' } : { kind: 'judgment', judgment };
}

function missingReason(reason: string | undefined): MissingReason {
  if (reason === undefined) return 'judgment_missing';
  return reason === 'judgment_record_invalid' ? reason : 'judgment_store_failed';
}
