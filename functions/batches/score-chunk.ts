/**
 * Scores one chunk. The results of all its lines are written once (put if absent): if two consumers score the same chunk,
 * one of them writes and both report the stored counts. While a line needs another round nothing is written; finished
 * judgments are stored, so the next round only asks for the missing ones.
 */

import type { GenerationFailure, GenerationFailureReason } from '../../src/generation/generator.ts';
import { isBlankLine } from '../../src/wire/batches/byte-lines.ts';
import { type Envelope, readEnvelope } from '../../src/wire/batches/request-line.ts';
import { type LineResult, type OutputLine, outputLine, requestId } from '../../src/wire/batches/result-line.ts';
import { evidenceOf } from '../desk/circuit-breaker.ts';
import { problemOf } from '../problems.ts';
import { answer, type RequestOutcome } from '../services/answer-request.ts';
import type { ScoringPlatform } from '../services/ports.ts';
import type { FileStore } from '../storage/files.ts';
import { linesOf } from './batch-input.ts';
import type { ClaimedTask, LineTries, TaskReport } from './batch-messages.ts';
import { CHUNK_MAX_BACKOFF_MS, MAX_LINE_TRIES } from './batch-timing.ts';
import type { ChunkResults } from './chunk-results.ts';

/** Requests of a chunk that run in parallel. More would not help: the platform allows six connections. */
const CHUNK_CONCURRENCY = 8;

type ChunkParts = {
  readonly files: FileStore;
  readonly results: ChunkResults;
  readonly platform: ScoringPlatform;
  /** Returns false once another consumer holds the chunk; the rest is then skipped. */
  readonly isHeld: () => boolean;
  readonly now: () => number;
};

type ClaimedChunk = Extract<ClaimedTask, { kind: 'chunk' }>;

export async function scoreChunk(task: ClaimedChunk, parts: ChunkParts): Promise<TaskReport> {
  const { batch, n, chunk, tries } = task;
  const there = await parts.results.find(batch.id, n);
  if (there !== null) return { kind: 'scored', ...there };
  const file = await parts.files.open(batch.input_file_id, { offset: chunk.start, length: chunk.end - chunk.start });
  if (file === null) return { kind: 'input_gone' };

  const requests: NumberedRequest[] = [];
  for await (const line of linesOf(file.body, { number: chunk.first_line, start: chunk.start })) {
    if (line.bytes === null || isBlankLine(line.bytes)) continue;
    const read = readEnvelope(line.bytes, line.number, batch.endpoint);
    // Files are immutable, so a validated line stays valid.
    if (!read.ok) return { kind: 'broke', reason: 'input_file_changed' };
    requests.push({ line: line.number, ...read.envelope });
  }
  if (requests.length !== chunk.requests) return { kind: 'broke', reason: 'input_file_changed' };

  // The last round, if the next one would start after the window.
  const lastTry = parts.now() + CHUNK_MAX_BACKOFF_MS >= batch.expires_at;
  const ask = (some: readonly NumberedRequest[], last: boolean): Promise<Outcomes | null> =>
    answerAll(some, (request) => answer(batch.endpoint, request.body, parts.platform, last), parts);
  const outcomes = await ask(requests, lastTry);
  if (outcomes === null) return LEASE_LOST;
  if (!lastTry) {
    const again = anotherRound(outcomes, tries);
    if (again !== null) return again;
    // From here on the request's own `on_judge_failure` applies. Finished judgments are not repeated.
    const unanswered = requests.filter(({ line }) => backendFailureOf(outcomes.get(line)) !== null);
    const last = await ask(unanswered, true);
    if (last === null) return LEASE_LOST;
    for (const [line, outcome] of last) outcomes.set(line, outcome);
  }
  const lines = requests.map((request) => lineOf(batch.id, request, outcomes.get(request.line)));
  return { kind: 'scored', ...(await parts.results.putIfAbsent(batch.id, n, lines)) };
}

/** Another consumer holds the chunk, so the object ignores this report. */
const LEASE_LOST: TaskReport = { kind: 'broke', reason: 'lease_lost' };

type NumberedRequest = Envelope & { readonly line: number };

/** Outcomes by line number. */
type Outcomes = Map<number, RequestOutcome>;

/** Answers all requests with bounded concurrency. Returns `null` if the lease was lost meanwhile. */
async function answerAll(
  requests: readonly NumberedRequest[],
  answerOne: (request: NumberedRequest) => Promise<RequestOutcome>,
  { isHeld }: ChunkParts,
): Promise<Outcomes | null> {
  const outcomes: Outcomes = new Map();
  const left = requests.values();
  const work = async (): Promise<void> => {
    // All workers share one iterator.
    for (const request of left) {
      if (!isHeld()) return;
      outcomes.set(request.line, await answerOne(request));
    }
  };
  await Promise.all(Array.from({ length: Math.min(CHUNK_CONCURRENCY, requests.length) }, work));
  return isHeld() ? outcomes : null;
}

/** Returns the report of another round, or `null` if no line needs one. */
function anotherRound(outcomes: Outcomes, before: LineTries): TaskReport | null {
  const tries: Record<string, number> = { ...before };
  const waits: number[] = [];
  for (const [line, outcome] of outcomes) {
    const failure = backendFailureOf(outcome);
    if (failure === null || !failure.retryable) continue;
    // A backend that is down is retried until the window ends; one that answers gets MAX_LINE_TRIES per line.
    const { answered } = failure;
    const made = (before[line] ?? 0) + (answered ? 1 : 0);
    if (answered) tries[line] = made;
    if (!answered || made < MAX_LINE_TRIES) waits.push(failure.retry_after_s ?? 0);
  }
  return waits.length === 0 ? null : { kind: 'again', retry_after_s: Math.max(...waits), tries };
}

/** A failure of the judge, the generator or the run's ledger on a line. */
type BackendFailure = {
  readonly retryable: boolean;
  readonly retry_after_s?: number;
  /** The backend answered, but without a usable result. */
  readonly answered: boolean;
};

function backendFailureOf(outcome: RequestOutcome | undefined): BackendFailure | null {
  if (outcome === undefined || outcome.ok) return null;
  switch (outcome.failure.reason) {
    case 'judgment_failed':
      return { ...outcome.failure.failure, answered: evidenceOf(outcome.failure.failure) === 'up' };
    case 'generation_failed':
      return { ...outcome.failure.failure, answered: isAnswer(outcome.failure.failure) };
    case 'ledger_failed':
      return { retryable: true, answered: false };
    default:
      return null;
  }
}

function isAnswer({ reason }: GenerationFailure): boolean {
  return ANSWERS.has(reason);
}

const ANSWERS: ReadonlySet<GenerationFailureReason> = new Set([
  'generator_request_refused',
  'generator_prompt_too_long',
  'generator_reply_too_large',
  'generator_refusal',
  'generator_model_mismatch',
]);

function lineOf(batch: string, { line, custom_id }: NumberedRequest, outcome: RequestOutcome | undefined): OutputLine {
  if (outcome === undefined) throw new Error('scoreChunk: a request has no outcome');
  const result: LineResult = outcome.ok
    ? outcome
    : { ok: false, problem: problemOf(outcome.failure, requestId(batch, line)) };
  return outputLine(batch, line, custom_id, result);
}
