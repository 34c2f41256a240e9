/**
 * Lines of a batch's input: either requests in their envelopes, or plain rows as `citeward score` takes them, which are
 * put into envelopes here. The first line that is an object says which of the two a file holds.
 */
import type * as z from 'zod';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { groupRequestSchema } from '../../src/wire/groups.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';
import type { Line } from '../input/lines.ts';
import { type LineProblem, lineFields, type RowResult, readRow, withoutFields } from '../input/rows.ts';
import { refineFields } from '../refine/fields.ts';
import { type Asked, withAsked } from '../score/asked.ts';
import { SCORING_ONLY_FIELDS } from '../verify/fields.ts';

export type FileKind =
  | { readonly kind: 'rows' }
  /** `url` is that of the line; `null` where it is no endpoint. */
  | { readonly kind: 'envelopes'; readonly url: BatchEndpoint | null };

/** Members that only an envelope has. */
const ENVELOPE_MEMBERS = ['custom_id', 'method', 'url', 'body'] as const;

export type KindResult =
  | { readonly ok: true; readonly kind: FileKind }
  /** The line is no object, and so says nothing. */
  | { readonly ok: false; readonly problem: LineProblem };

/** What kind of file a line belongs to. */
export function kindOf(content: Line['content']): KindResult {
  const read = lineFields(content);
  if (!read.ok) return read;
  const { fields } = read;
  if (!ENVELOPE_MEMBERS.some((member) => Object.hasOwn(fields, member))) return { ok: true, kind: { kind: 'rows' } };
  const url = BATCH_ENDPOINTS.find((endpoint) => endpoint === fields['url']) ?? null;
  return { ok: true, kind: { kind: 'envelopes', url } };
}

export type WrappedRow =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly LineProblem[] };

/** The envelope of a row: the flags applied, its id or else its line as custom_id. Labels are not sent. */
export function wrapRow(line: Line, endpoint: BatchEndpoint, asked: Asked): WrappedRow {
  const read = readFor(line, endpoint, asked);
  if (!read.ok) return { ok: false, problems: read.problems };
  const { labels, request } = read.row;
  const custom_id = labels.id === null ? `line-${line.number}` : String(labels.id);
  return { ok: true, text: JSON.stringify({ custom_id, method: 'POST', url: endpoint, body: request }) };
}

function readFor(line: Line, endpoint: BatchEndpoint, asked: Asked): RowResult<z.output<z.ZodObject>> {
  switch (endpoint) {
    case '/v1/score':
      return readRow(line, scoreRequestSchema, (fields) => withAsked(fields, asked));
    case '/v1/groups':
      return readRow(line, groupRequestSchema, (fields) => withAsked(fields, asked));
    case '/v1/verify':
      return readRow(line, verifyRequestSchema, (fields) => withoutFields(fields, SCORING_ONLY_FIELDS));
    case '/v1/refine':
      return readRow(line, refineRequestSchema, (fields) => refineFields(fields, asked));
  }
}
