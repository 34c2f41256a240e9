/**
 * Judgments as a file, version 1: JSON lines. A line is a judgment record; or names a key that was asked for and is not
 * there; and the last one counts the others, so that a file that was cut off is seen to be. Keys are content addresses:
 * a file holds digests and verdicts, no text.
 */
import * as z from 'zod';
import { sha256Schema } from '../schema/judgment.ts';
import type { Desk } from './desk.ts';
import { readRecord } from './record.ts';
import type { JudgmentStore } from './store.ts';
import type { Judgment } from './types.ts';

export const RECORD_FILE_VERSION = 1;

const missingReasons = ['judgment_missing', 'judgment_record_invalid', 'judgment_store_failed'] as const;

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

type MissingReason = (typeof missingReasons)[number];

export type RecordLine =
  | { readonly kind: 'judgment'; readonly judgment: Judgment }
  | { readonly kind: 'missing'; readonly key: string; readonly reason: MissingReason }
  | { readonly kind: 'end'; readonly judgments: number; readonly missing: number };

export type ReadRecordLine =
  | { readonly ok: true; readonly line: RecordLine }
  | { readonly ok: false; readonly problem: 'line_not_json' | 'record_invalid'; readonly detail: string };

/** One line with its line feed. */
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

/** Reads and checks one line; the signature is the importer's business. */
export async function readRecordLine(text: string): Promise<ReadRecordLine> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, problem: 'line_not_json', detail: 'the line is not JSON' };
  }
  const missing = missingLineSchema.safeParse(value);
  if (missing.success) return { ok: true, line: { kind: 'missing', ...missing.data.missing } };
  const end = endLineSchema.safeParse(value);
  if (end.success) {
    const { judgments, missing: absent } = end.data.end;
    return { ok: true, line: { kind: 'end', judgments, missing: absent } };
  }
  const record = await readRecord(value);
  if (record.ok) return { ok: true, line: { kind: 'judgment', judgment: record.judgment } };
  return { ok: false, problem: 'record_invalid', detail: record.failure.detail };
}

/**
 * The judgments of some keys as the lines of a file, in the order of the keys, a repeated key once. Read in bulk, so that
 * memory holds one bulk only.
 * @param desk asked for what the store misses, as it may have finished it just now; `null` = there is none.
 */
export async function* exportJudgments(
  store: Pick<JudgmentStore, 'get'>,
  desk: Pick<Desk, 'find'> | null,
  keys: readonly string[],
  keysPerRead: number,
): AsyncGenerator<string> {
  const distinct = [...new Set(keys)];
  let judgments = 0;
  let missing = 0;
  for (let i = 0; i < distinct.length; i += keysPerRead) {
    const some = distinct.slice(i, i + keysPerRead);
    const stored = await store.get(some);
    const open = some.filter((key) => stored.get(key)?.ok !== true);
    const kept = desk === null || open.length === 0 ? null : await desk.find(open);
    for (const key of some) {
      const keptOne = kept?.get(key);
      const found = keptOne?.ok === true ? keptOne : (stored.get(key) ?? keptOne);
      if (found?.ok === true) {
        judgments++;
        yield writeRecordLine({ kind: 'judgment', judgment: found.judgment });
      } else {
        missing++;
        yield writeRecordLine({ kind: 'missing', key, reason: missingReason(found?.failure.reason) });
      }
    }
  }
  yield writeRecordLine({ kind: 'end', judgments, missing });
}

function missingReason(reason: string | undefined): MissingReason {
  if (reason === undefined) return 'judgment_missing';
  return reason === 'judgment_record_invalid' ? reason : 'judgment_store_failed';
}
