/** A batch as the Worker describes it, and small rows and requests. */
import { openInput } from '../../../cli/shared/input.ts';
import type { ScoringOptions } from '../../../cli/shared/scoring-flags.ts';
import { type BatchReply, batchSchema } from '../../../src/wire/batches/batch.ts';

export const NO_SCORING_FLAGS: ScoringOptions = {
  recipe: null,
  changes: {},
  judge: null,
  judges: null,
  judgments: null,
  receipt: false,
  offsets: null,
};

export const ROW = {
  question: 'When did it open?',
  response: '<answer><snippet id="S1">It opened in 1937.</snippet></answer>',
  sources: [{ id: 'S1', text: 'The bridge opened in 1937.' }],
  positive_rubrics: ['States that it opened in 1937'],
};

export function envelope(custom_id: string, body: unknown = ROW, url = '/v1/score'): string {
  return JSON.stringify({ custom_id, method: 'POST', url, body });
}

/** Standard input, or a pipe. */
export function piped(text: string | Uint8Array, pieceBytes = 1_000) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.byteLength; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  return { name: 'standard input', unit: 'line' as const, chunks: chunks(), path: null, bytes: null };
}

export const fileInput = (path: string) => openInput([path], process.stdin, 'batch submit');

export function batchOf(change: Partial<BatchReply> = {}): BatchReply {
  return batchSchema.parse({
    id: 'batch_1',
    object: 'batch',
    endpoint: '/v1/score',
    errors: null,
    input_file_id: 'file-1',
    completion_window: '24h',
    status: 'in_progress',
    output_file_id: null,
    error_file_id: null,
    created_at: 1_000_000_000,
    in_progress_at: 1_000_000_001,
    expires_at: 1_000_086_400,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    expired_at: null,
    cancelling_at: null,
    cancelled_at: null,
    request_counts: { total: 1_000, completed: 240, failed: 10 },
    metadata: null,
    progress: { chunks: { total: 10, done: 2, waiting: 0, dead: 0 }, lines_per_second: 50, eta_s: 15 },
    dead_letters: [],
    ...change,
  });
}
