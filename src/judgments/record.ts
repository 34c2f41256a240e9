/**
 * Stored judgments: the schema of a record, and how one is read. A record is used only if it is well formed and its key
 * follows from its preimage; anything else is `judgment_record_invalid`. Version 1 had no issuer and is read as
 * unsigned. Callers that hold public keys check signatures: `usableFor` and the import.
 */

import * as z from 'zod';
import { parsedJson } from '../json.ts';
import type { Failed } from '../result.ts';
import type { Judgment } from './judgment.ts';
import {
  judgmentKindSchema,
  recordSignatureSchema,
  samplingSchema,
  sha256Schema,
  tokenUsageSchema,
} from './judgment-schema.ts';
import { judgmentKey } from './key.ts';
import { verdictsSchema } from './kinds/registry.ts';
import type { JudgeFailure } from './protocol/failure.ts';

const preimageSchema = z.strictObject({
  v: z.literal([1, 2]).describe('Form of the key: 1 = SHA-256 of the preimage; 2 = partition, then the digest.'),
  kind: judgmentKindSchema,
  judge: z.strictObject({ model: z.string(), template: z.string(), sampling: samplingSchema }),
  parser: z.string(),
  replicate: z.int().min(0),
  inputs: z.record(z.string(), sha256Schema).describe('Input name to SHA-256 of its RFC 8785 JSON.'),
});

const recordFields = {
  key: sha256Schema.describe(
    'The partition, then the SHA-256 of the RFC 8785 JSON of `preimage`: 16 and 48 digits; version 1: the SHA-256 alone.',
  ),
  preimage: preimageSchema,
  verdicts: verdictsSchema,
  usage: tokenUsageSchema.nullable(),
  judged_at: z.iso.datetime(),
};

/** The judgment record, version 2, as stored and carried between deployments. */
export const judgmentSchema = z.strictObject({
  v: z.literal(2),
  ...recordFields,
  issuer: recordSignatureSchema.nullable().describe('null = unsigned.'),
});

/** Version 1 had no issuer. Written until 2026-11; still readable. */
const judgmentSchemaV1 = z.strictObject({ v: z.literal(1), ...recordFields });

/**
 * The result of reading a record: usable, invalid (`judgment_record_invalid`) or unreadable (`judgment_store_failed`).
 */
export type StoredJudgment = { readonly ok: true; readonly judgment: Judgment } | Failed<JudgeFailure>;

/** Parses and checks the JSON text that is stored under `key`. */
export function checkRecord(key: string, text: string): StoredJudgment {
  const value = parsedJson(text);
  if (value === undefined) return invalid('the stored record is not JSON');
  const read = readRecord(value);
  if (read.ok && read.judgment.key !== key) return invalid('the stored record carries another key');
  return read;
}

const partitionSchema = z.object({ v: z.literal(1), judgments: z.array(z.looseObject({ key: z.string() })) });

/** The judgments of a partition, stored as one text. @param records their JSON texts. */
export function partitionText(records: readonly string[]): string {
  return `{"v":1,"judgments":[${records.join(',')}]}`;
}

/** The judgments of one stored partition. */
export type StoredPartition = {
  readonly size: number;
  /** Checks and returns the record of a key; `null` = the partition has none. */
  readonly get: (key: string) => StoredJudgment | null;
};

/** Parses the text of a partition. If its form is unknown, all its records are invalid. */
export function readPartition(text: string): StoredPartition {
  const read = partitionSchema.safeParse(parsedJson(text));
  if (!read.success) return { size: 0, get: () => invalid('the stored partition is not of version 1') };
  const records = new Map(read.data.judgments.map((record) => [record.key, record]));
  return {
    size: records.size,
    get(key) {
      const record = records.get(key);
      return record === undefined ? null : readRecord(record);
    },
  };
}

/** Checks a record from any source: its form, its key (`judgmentKey` of its preimage), and the kind of its verdicts. */
export function readRecord(value: unknown): StoredJudgment {
  const judgment = currentForm(value);
  if (judgment === null) return invalid('the record is not a judgment of version 1 or 2');
  if (judgmentKey(judgment.preimage) !== judgment.key)
    return invalid('the key of the record does not follow from its preimage');
  if (judgment.verdicts.kind !== judgment.preimage.kind) return invalid('the verdicts are of another kind');
  return { ok: true, judgment };
}

function currentForm(value: unknown): Judgment | null {
  const current = judgmentSchema.safeParse(value);
  if (current.success) return current.data;
  const previous = judgmentSchemaV1.safeParse(value);
  return previous.success ? { ...previous.data, v: 2, issuer: null } : null;
}

function invalid(detail: string): StoredJudgment {
  return { ok: false, failure: { reason: 'judgment_record_invalid', detail, retryable: false } };
}
