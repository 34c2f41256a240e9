/**
 * Reads receipts, alone or in their replies, and the scored requests. Both are JSON or JSON lines: saved replies, the
 * output of `citeward score --json`, or files of batches.
 */

import { text as textOf } from 'node:stream/consumers';
import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import {
  type Receipt,
  type ReceiptedReply,
  receiptedReplySchema,
  receiptSchema,
} from '../../../src/scoring/receipt-schema.ts';
import { UsageError } from '../../shared/exit.ts';
import { readTextFile } from '../../shared/input.ts';
import type { Shell } from '../../shared/shell.ts';

/** One JSON value of a file, and its line; `null` if the whole file is one value. */
export type Document = { readonly line: number | null; readonly value: unknown };

/**
 * Identifies the request of a receipt: by its custom_id in a batch, by the line of its row, or by its index in the
 * file.
 */
export type Origin = {
  readonly custom_id: string | null;
  readonly row: number | null;
  readonly position: number;
  /** Index among the members of a group; `null` = the request was scored alone. */
  readonly member: number | null;
};

export type Receipted = {
  /** Where the receipt is, for messages: `line 3, member 2`. */
  readonly place: string | null;
  readonly origin: Origin;
  /** `null` = the reply has no receipt. */
  readonly receipt: Receipt | null;
  /** `null` = the receipt comes without its reply. */
  readonly reply: ReceiptedReply | null;
};

/** Reads a file, or standard input for `-`. @throws UsageError if it cannot be read or is not JSON. */
export async function readDocuments(path: string, stdin: Shell['stdin']): Promise<Document[]> {
  const text = path === '-' ? await textOf(stdin) : await readTextFile(path);
  const whole = parsedJson(text);
  if (whole !== undefined) return [{ line: null, value: whole }];
  return text.split('\n').flatMap((line, index): Document[] => {
    if (line.trim() === '') return [];
    const value = parsedJson(line);
    if (value === undefined) throw new UsageError(`${path}: line ${index + 1} is not JSON`);
    return [{ line: index + 1, value }];
  });
}

const batchLineSchema = z.looseObject({
  custom_id: z.string(),
  response: z.looseObject({ body: z.unknown() }).nullable(),
});

const groupSchema = z.looseObject({ members: z.array(z.unknown()) });

/** A line of `citeward score --json`. */
const rowSchema = z.looseObject({ line: z.int().min(1) });

/** The receipts of a document; `null` if it is neither a receipt nor a reply that can have one. */
export function receiptedIn({ line, value }: Document, position: number): Receipted[] | null {
  const batch = batchLineSchema.safeParse(value);
  const body = batch.success ? batch.data.response?.body : value;
  const row = rowSchema.safeParse(body);
  const origin = {
    custom_id: batch.success ? batch.data.custom_id : null,
    row: row.success ? row.data.line : null,
    position,
  };
  const place = batch.success ? batch.data.custom_id : line === null ? null : `line ${line}`;
  const group = groupSchema.safeParse(body);
  if (!group.success) {
    const one = receipted(body, place, { ...origin, member: null });
    return one === null ? null : [one];
  }
  const members = group.data.members.map((member, n) =>
    receipted(member, `${place === null ? '' : `${place}, `}member ${n + 1}`, { ...origin, member: n }),
  );
  const read = members.filter((member) => member !== null);
  return read.length === members.length ? read : null;
}

function receipted(value: unknown, place: string | null, origin: Origin): Receipted | null {
  const alone = receiptSchema.safeParse(value);
  if (alone.success) return { place, origin, receipt: alone.data, reply: null };
  const reply = receiptedReplySchema.safeParse(value);
  return reply.success ? { place, origin, receipt: reply.data.receipt, reply: reply.data } : null;
}
