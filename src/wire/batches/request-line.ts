/**
 * Parses a line of a batch's input: OpenAI's envelope around a request body. Extra members are ignored, because
 * OpenAI's clients send some.
 */
import * as z from 'zod';
import { parsedJson } from '../../json.ts';
import { MAX_CUSTOM_ID_CHARS } from '../../limits.ts';
import type { Failure, Result } from '../../result.ts';
import { BATCH_ENDPOINTS, type BatchEndpoint } from './batch.ts';

/** Every code of a problem of an input file. */
export const BATCH_ERROR_CODES = [
  'empty_file',
  'file_not_found',
  'line_too_large',
  'too_many_requests',
  'duplicate_custom_id',
  'invalid_encoding',
  'invalid_json_line',
  'invalid_request',
  'invalid_value',
  'mismatched_endpoint',
  'missing_required_parameter',
  // A row of a file of rollouts, which the command line turns into a request.
  'invalid_row',
  // Stands for the problems that are not listed.
  'more_errors',
] as const;

type BatchErrorCode = (typeof BATCH_ERROR_CODES)[number];

/** A problem of an input file, in the shape of OpenAI's `errors.data`. */
export type BatchError = {
  /** Stable identifier for programs. */
  readonly code: BatchErrorCode;
  readonly message: string;
  /** The invalid member; `null` = the line or the file as a whole. */
  readonly param: string | null;
  /** Line number from 1; `null` = the file as a whole. */
  readonly line: number | null;
};

export type Envelope = { readonly custom_id: string; readonly body: Readonly<Record<string, unknown>> };

const envelopeSchema = z.object({
  custom_id: z.string().min(1).max(MAX_CUSTOM_ID_CHARS),
  method: z.literal('POST'),
  url: z.enum(BATCH_ENDPOINTS),
  body: z.record(z.string(), z.unknown()),
});

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses one line. Messages name the expected value and quote nothing of the line. */
export function readEnvelope(bytes: Uint8Array, line: number, endpoint: BatchEndpoint): Result<Envelope, BatchError> {
  const value = parseLine(bytes);
  if (value === NOT_UTF8) return refused('invalid_encoding', 'This line is not UTF-8.', null, line);
  if (value === undefined) return refused('invalid_json_line', 'This line is not parseable as valid JSON.', null, line);
  const parsed = envelopeSchema.safeParse(value);
  if (!parsed.success) return refusedMember(parsed.error, value, line);
  const { url, custom_id, body } = parsed.data;
  if (url !== endpoint) {
    return refused('mismatched_endpoint', `All requests of this batch go to ${endpoint}.`, 'url', line);
  }
  return { ok: true, value: { custom_id, body } };
}

const NOT_UTF8 = Symbol('not UTF-8');

/** The value of a line; `undefined` if it is not JSON. */
function parseLine(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return NOT_UTF8;
    throw error;
  }
  return parsedJson(text);
}

const EXPECTED: Readonly<Record<string, string>> = {
  custom_id: `custom_id: expected a string of 1 to ${MAX_CUSTOM_ID_CHARS} characters.`,
  method: 'method: expected "POST".',
  url: `url: expected one of ${BATCH_ENDPOINTS.join(', ')}.`,
  body: 'body: expected an object.',
};

/** Reports the first invalid member. */
function refusedMember(error: z.ZodError, value: unknown, line: number): Failure<BatchError> {
  const member = error.issues[0]?.path[0];
  const expected = typeof member === 'string' ? EXPECTED[member] : undefined;
  if (typeof member !== 'string' || expected === undefined) {
    return refused('invalid_request', 'This line is not an object.', null, line);
  }
  const missing = typeof value === 'object' && value !== null && !Object.hasOwn(value, member);
  return refused(missing ? 'missing_required_parameter' : 'invalid_value', expected, member, line);
}

function refused(code: BatchErrorCode, message: string, param: string | null, line: number): Failure<BatchError> {
  return { ok: false, error: { code, message, param, line } };
}
