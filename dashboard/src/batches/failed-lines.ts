/** Reads the error file of a batch by reason, and sends selected lines again as a new batch. */
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import type { FileReply } from '../../../src/wire/files.ts';
import { callApi, fileContentPath, openApi, type Reply } from '../api/call.ts';
import { textLines } from '../api/text-lines.ts';

type FailureReason = {
  readonly code: string;
  readonly count: number;
  /** Whether the same lines can succeed later; otherwise lines or settings must change first. */
  readonly canSucceedUnchanged: boolean;
  /** The first line with this reason. */
  readonly example: { readonly custom_id: string; readonly message: string };
};

export type FailedLines = {
  /** Most frequent first. */
  readonly reasons: readonly FailureReason[];
  /** Reason by custom_id. */
  readonly codes: ReadonlyMap<string, string>;
};

/** Counts the failed lines by reason. @throws DOMException (AbortError) when `signal` aborts. */
export async function loadFailedLines(errorFile: string, signal: AbortSignal): Promise<Reply<FailedLines>> {
  const file = await openApi(fileContentPath(errorFile), { signal });
  if (!file.ok) return file;
  const codes = new Map<string, string>();
  const reasons = new Map<string, FailureReason>();
  for await (const line of textLines(file.value)) {
    const { custom_id, code, message, canSucceedUnchanged } = failureOf(line);
    if (custom_id !== null) codes.set(custom_id, code);
    const known = reasons.get(code);
    const example = known?.example ?? { custom_id: custom_id ?? '', message };
    reasons.set(code, { code, count: (known?.count ?? 0) + 1, canSucceedUnchanged, example });
  }
  return { ...file, value: { reasons: [...reasons.values()].sort((a, b) => b.count - a.count), codes } };
}

type FailedLine = {
  readonly custom_id: string | null;
  readonly code: string;
  readonly message: string;
  readonly canSucceedUnchanged: boolean;
};

/** A line without an error code counts as `not_said`. */
function failureOf(line: string): FailedLine {
  const fields = membersOf(JSON.parse(line));
  const { code, message } = textsOf(fields.get('error'));
  const id = fields.get('custom_id');
  const response = fields.get('response');
  return {
    custom_id: typeof id === 'string' ? id : null,
    code: code ?? 'not_said',
    message: message ?? '',
    // Without a response the request was never sent: the batch ended before.
    canSucceedUnchanged: response === null || membersOf(membersOf(response).get('body')).get('retryable') === true,
  };
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

function textsOf(value: unknown): Readonly<Partial<Record<'code' | 'message', string>>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}

/** The lines are held in memory until they are sent. */
const MAX_REDRIVE_BYTES = 64 * 1024 * 1024;

export type Redriven =
  | { readonly ok: true; readonly batch: BatchReply; readonly lines: number }
  | { readonly ok: false; readonly reason: 'too_large' | 'nothing' }
  | Extract<Reply<never>, { ok: false }>;

/** Creates a batch from the lines of the input file whose custom_id is in `ids`, unchanged. */
export async function redriveLines(batch: BatchReply, ids: ReadonlySet<string>): Promise<Redriven> {
  const input = await openApi(fileContentPath(batch.input_file_id));
  if (!input.ok) return input;
  const lines: string[] = [];
  let bytes = 0;
  for await (const line of textLines(input.value)) {
    const id = membersOf(JSON.parse(line)).get('custom_id');
    if (typeof id !== 'string' || !ids.has(id)) continue;
    const text = `${line}\n`;
    bytes += text.length;
    if (bytes > MAX_REDRIVE_BYTES) return { ok: false, reason: 'too_large' };
    lines.push(text);
  }
  if (lines.length === 0) return { ok: false, reason: 'nothing' };
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob(lines, { type: 'application/jsonl' }), `${batch.id}_again.jsonl`);
  const file = await callApi<FileReply>('/v1/files', { method: 'POST', form });
  if (!file.ok) return file;
  const { endpoint, completion_window, metadata } = batch;
  const body = { input_file_id: file.value.id, endpoint, completion_window, metadata };
  const made = await callApi<BatchReply>('/v1/batches', { method: 'POST', body });
  return made.ok ? { ok: true, batch: made.value, lines: lines.length } : made;
}
