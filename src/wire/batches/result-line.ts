/**
 * Writes the lines of a batch's output and error files in OpenAI's shape: one line per request, in the file that its
 * status selects. Ids derive from batch and line, so scoring a chunk twice gives the same ids.
 */
import type { Problem } from '../problem.ts';

export type LineResult =
  | { readonly ok: true; readonly body: unknown }
  /** The request was answered with a problem. */
  | { readonly ok: false; readonly problem: Problem }
  /** The request was never sent. */
  | { readonly ok: false; readonly unsent: 'batch_expired' | 'batch_cancelled' };

export type OutputLine = { readonly file: 'output' | 'error'; readonly text: string };

const UNSENT: Readonly<Record<'batch_expired' | 'batch_cancelled', string>> = {
  batch_expired: 'This request could not be made before the completion window ended.',
  batch_cancelled: 'The batch was cancelled before this request was made.',
};

/** Returns the id of one request of a batch, from the batch and the number of the line. */
export function requestId(batch: string, line: number): string {
  return `batch_req_${batch.replace(/^batch_/, '')}_${line}`;
}

/** Serializes one line, with its line feed. */
export function outputLine(batch: string, line: number, custom_id: string, result: LineResult): OutputLine {
  const id = requestId(batch, line);
  if (result.ok) {
    const response = { status_code: 200, request_id: id, body: result.body };
    return { file: 'output', text: `${JSON.stringify({ id, custom_id, response, error: null })}\n` };
  }
  if ('unsent' in result) {
    const error = { code: result.unsent, message: UNSENT[result.unsent] };
    return { file: 'error', text: `${JSON.stringify({ id, custom_id, response: null, error })}\n` };
  }
  const { status, reason, detail, errors = [] } = result.problem;
  const response = { status_code: status, request_id: id, body: result.problem };
  // Repeats the first invalid field, because some clients show the message only.
  const [first] = errors;
  const message = first === undefined ? detail : `${detail} ${first.path}: ${first.message}.`;
  const error = { code: reason, message };
  return { file: 'error', text: `${JSON.stringify({ id, custom_id, response, error })}\n` };
}
