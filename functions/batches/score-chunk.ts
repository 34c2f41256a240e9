/**
 * Scores one chunk in rounds. A round stores the results of the lines that it finishes as they come. The next round
 * scores the rest: lines whose judge failed, and lines for which the consumer had no time or no KV operations left. If two
 * consumers score the same chunk, the first stored result of a line counts, and both report the stored counts. An
 * exception on one line becomes the error of that line only.
 */

import { type AnswerRoom, answer } from '../../service/answer.ts';
import { evidenceOf } from '../../service/desk/circuit-breaker.ts';
import { describeError } from '../../service/error-log.ts';
import type { RequestFailure } from '../../service/failures.ts';
import type { ScoringPlatform } from '../../service/ports.ts';
import { failureOf, problemOf } from '../../service/problems.ts';
import { requiredScopes } from '../../service/required-scopes.ts';
import { REQUEST_WAIT } from '../../service/score.ts';
import { generationReason } from '../../src/generation/generator.ts';
import type { Result } from '../../src/result.ts';
import { isBlankLine } from '../../src/wire/batches/byte-lines.ts';
import { type Envelope, readEnvelope } from '../../src/wire/batches/request-line.ts';
import { type LineResult, outputLine, requestId } from '../../src/wire/batches/result-line.ts';
import type { KvOperations } from '../kv-operations.ts';
import { logEvent } from '../log-event.ts';
import type { FileStore } from '../storage/files.ts';
import { inputLines } from './batch-input.ts';
import type { ChunkCounts, ClaimedTask, LineTries, NewBatch, TaskReport } from './batch-messages.ts';
import { CHUNK_MAX_BACKOFF_MS, CHUNK_STORE_MS, CHUNK_WORK_MS, MAX_LINE_TRIES } from './batch-timing.ts';
import type { ChunkResults, FinishedLine, StoredResults } from './chunk-results.ts';

/** Requests of a chunk that run in parallel. More would not help: the platform allows six connections. */
const CHUNK_CONCURRENCY = 8;

type ChunkParts = {
  readonly files: FileStore;
  readonly results: ChunkResults;
  readonly platform: ScoringPlatform;
  /** The KV operations of this consumer. */
  readonly operations: Pick<KvOperations, 'takesWork'>;
  readonly room: AnswerRoom;
  /** Returns false once another consumer holds the chunk; the rest is then skipped. */
  readonly isHeld: () => boolean;
  readonly now: () => number;
};

type ClaimedChunk = Extract<ClaimedTask, { kind: 'chunk' }>;

export async function scoreChunk(task: ClaimedChunk, parts: ChunkParts): Promise<TaskReport> {
  const { batch, n, chunk, tries } = task;
  const there = await parts.results.find(batch.id, n);
  if (there.completed + there.failed === chunk.requests) return { kind: 'scored', ...countsOf(there) };
  const file = await parts.files.open(batch.input_file_id, { offset: chunk.start, length: chunk.end - chunk.start });
  if (file === null) return { kind: 'input_gone' };

  const requests: NumberedRequest[] = [];
  for await (const line of inputLines(file.body, { number: chunk.first_line, start: chunk.start })) {
    if (line.bytes === null || isBlankLine(line.bytes)) continue;
    const read = readEnvelope(line.bytes, line.number, batch.endpoint);
    // Files are immutable, so a validated line stays valid.
    if (!read.ok) return { kind: 'broke', reason: 'input_file_changed' };
    requests.push({ line: line.number, ...read.value });
  }
  if (requests.length !== chunk.requests) return { kind: 'broke', reason: 'input_file_changed' };

  const until = parts.now() + CHUNK_WORK_MS;
  /** The ports of a line, which waits for its judge no longer than the consumer has left. */
  const portsOfLine = (): ScoringPlatform => ({
    ...parts.platform,
    judgeWait: { ...REQUEST_WAIT, most_ms: Math.max(0, until - parts.now()) },
  });
  // The last round, if the next one would start after the window.
  const isLastRound = parts.now() + CHUNK_MAX_BACKOFF_MS >= batch.expires_at;
  const store = new RoundStore(batch.id, n, there, parts);
  const ask = (some: readonly NumberedRequest[], lastTry: boolean): Promise<Outcomes | null> =>
    answerAll(some, { ...parts, until }, async (request) => {
      const outcome = await answerLine(batch, request, { room: parts.room, platform: portsOfLine() }, lastTry);
      if (lastTry || backendFailureOf(outcome) === null) await store.add(finishedLine(batch.id, request, outcome));
      return outcome;
    });
  const unfinished = requests.filter(({ line }) => there.lines?.has(line) !== true);
  const outcomes = await ask(unfinished, isLastRound);
  if (outcomes === null) return LEASE_LOST;
  // A line whose judge is still running is handed on, like one for which the time was too short.
  const waiting = isLastRound ? NONE_WAIT : waitingLines(outcomes, tries);
  if (!isLastRound) {
    // From here on the request's own `on_judge_failure` applies. Finished judgments are not repeated.
    const lost = unfinished.filter(
      ({ line }) => !waiting.lines.has(line) && backendFailureOf(outcomes.get(line))?.isRunning === false,
    );
    if ((await ask(lost, true)) === null) return LEASE_LOST;
  }
  const done = await store.flush();
  const counts = countsOf(done);
  if (counts.completed + counts.failed === chunk.requests) return { kind: 'scored', ...counts };
  const isOpen = (line: number): boolean => done.lines?.has(line) === false;
  const handed_on = unfinished.some(({ line }) => isOpen(line) && !waiting.lines.has(line));
  const before = Object.entries(tries).filter(([line]) => isOpen(Number(line)));
  return {
    kind: 'again',
    ...counts,
    tries: { ...Object.fromEntries(before), ...waiting.tries },
    retry_after_s: waiting.retry_after_s,
    handed_on,
  };
}

/** Stores the finished lines of a round as they come, at most every CHUNK_STORE_MS. */
class RoundStore {
  readonly #batch: string;
  readonly #n: number;
  readonly #parts: Pick<ChunkParts, 'results' | 'now'>;
  #fresh: readonly FinishedLine[] = [];
  #known: StoredResults;
  #stored_at: number;
  #storing: Promise<void> = Promise.resolve();

  constructor(batch: string, n: number, known: StoredResults, parts: ChunkParts) {
    this.#batch = batch;
    this.#n = n;
    this.#known = known;
    this.#parts = parts;
    this.#stored_at = parts.now();
  }

  /** Adds a line. A failure of the store is logged: the lines wait for the next try. */
  async add(line: FinishedLine): Promise<void> {
    this.#fresh = [...this.#fresh, line];
    if (this.#parts.now() - this.#stored_at < CHUNK_STORE_MS) return;
    try {
      await this.flush();
    } catch (error) {
      logEvent('error', { event: 'chunk_results_failed', batch: this.#batch, ...describeError(error) });
    }
  }

  /** Stores all lines. Returns all that is stored of the chunk. @throws StorageError */
  flush(): Promise<StoredResults> {
    this.#stored_at = this.#parts.now();
    const flushed = this.#storing.then(async () => {
      const lines = this.#fresh.toSorted((one, other) => one.line - other.line);
      if (lines.length > 0) this.#known = await this.#parts.results.add(this.#batch, this.#n, this.#known, lines);
      const stored = new Set(lines);
      this.#fresh = this.#fresh.filter((line) => !stored.has(line));
      return this.#known;
    });
    // One after the other: each call goes on from what the one before has stored.
    this.#storing = flushed.then(
      () => undefined,
      () => undefined,
    );
    return flushed;
  }
}

function countsOf({ completed, failed, parts }: StoredResults): ChunkCounts {
  return { completed, failed, parts };
}

/** Another consumer holds the chunk, so the object ignores this report. */
const LEASE_LOST: TaskReport = { kind: 'broke', reason: 'lease_lost' };

type NumberedRequest = Envelope & { readonly line: number };

/** The reply or the failure of a line's request. */
type Outcome = Result<unknown, RequestFailure>;

/** Outcomes by line number. */
type Outcomes = Map<number, Outcome>;

/**
 * Answers requests with bounded concurrency, and begins none after `until`, or once the KV operations run out. Returns
 * `null` if the lease was lost meanwhile.
 */
async function answerAll(
  requests: readonly NumberedRequest[],
  { isHeld, now, operations, until }: Pick<ChunkParts, 'isHeld' | 'now' | 'operations'> & { readonly until: number },
  answerOne: (request: NumberedRequest) => Promise<Outcome>,
): Promise<Outcomes | null> {
  const outcomes: Outcomes = new Map();
  const left = requests.values();
  const work = async (): Promise<void> => {
    // All concurrent workers take their requests from one iterator.
    for (const request of left) {
      if (!isHeld() || now() >= until || !operations.takesWork) return;
      outcomes.set(request.line, await answerOne(request));
    }
  };
  await Promise.all(Array.from({ length: Math.min(CHUNK_CONCURRENCY, requests.length) }, work));
  return isHeld() ? outcomes : null;
}

/**
 * Answers one request, if the batch has the scopes. An exception (a bug, or a failed store) must not cost the other
 * lines their results.
 */
async function answerLine(
  batch: NewBatch,
  { line, body }: NumberedRequest,
  { platform, room }: Pick<ChunkParts, 'platform' | 'room'>,
  lastTry: boolean,
): Promise<Outcome> {
  const missing = requiredScopes(batch.endpoint, body).find(({ scope }) => !batch.scopes.includes(scope));
  if (missing !== undefined) {
    const { scope, needed_by } = missing;
    return { ok: false, error: { reason: 'scope_missing', scope, needed_by: `Line ${line}, ${needed_by},` } };
  }
  try {
    return (await answer(batch.endpoint, body, () => platform, { lastTry, room, readSources: platform.readSources }))
      .result;
  } catch (error) {
    logEvent('error', { event: 'batch_line_failed', batch: batch.id, line, ...describeError(error) });
    return { ok: false, error: failureOf(error) };
  }
}

/** The lines that need another round, because their judge failed. */
type WaitingLines = {
  readonly lines: ReadonlySet<number>;
  /** Their tries, this round included. */
  readonly tries: LineTries;
  /** The longest wait that a judge asked for, in seconds. */
  readonly retry_after_s: number;
};

const NONE_WAIT: WaitingLines = { lines: new Set(), tries: {}, retry_after_s: 0 };

function waitingLines(outcomes: Outcomes, before: LineTries): WaitingLines {
  const lines = new Set<number>();
  const tries: Record<string, number> = {};
  let longest_s = 0;
  for (const [line, outcome] of outcomes) {
    const failure = backendFailureOf(outcome);
    if (failure === null || !failure.retryable || failure.isRunning) continue;
    // A backend that is down is retried until the completion window ends. A backend that answers without a usable
    // result gets MAX_LINE_TRIES tries per line.
    const made = (before[line] ?? 0) + (failure.answered ? 1 : 0);
    if (failure.answered && made >= MAX_LINE_TRIES) continue;
    lines.add(line);
    if (made > 0) tries[line] = made;
    longest_s = Math.max(longest_s, failure.retry_after_s ?? 0);
  }
  return { lines, tries, retry_after_s: longest_s };
}

/** A failure of the judge, the generator or a store on a line. */
type BackendFailure = {
  readonly retryable: boolean;
  readonly retry_after_s?: number;
  /** The backend answered, but without a usable result. */
  readonly answered: boolean;
  /** The judge's call goes on, and the next round joins it. */
  readonly isRunning: boolean;
};

function backendFailureOf(outcome: Outcome | undefined): BackendFailure | null {
  if (outcome === undefined || outcome.ok) return null;
  switch (outcome.error.reason) {
    case 'judgment_failed': {
      const { failure } = outcome.error;
      return { ...failure, answered: evidenceOf(failure) === 'up', isRunning: failure.reason === 'judge_running' };
    }
    case 'generation_failed': {
      const { failure } = outcome.error;
      return { ...failure, answered: generationReason(failure.reason).answered === true, isRunning: false };
    }
    case 'ledger_failed':
    case 'storage_failed':
      return { retryable: true, answered: false, isRunning: false };
    default:
      return null;
  }
}

function finishedLine(batch: string, { line, custom_id }: NumberedRequest, outcome: Outcome): FinishedLine {
  const result: LineResult = outcome.ok
    ? { ok: true, body: outcome.value }
    : { ok: false, problem: problemOf(outcome.error, requestId(batch, line)) };
  return { line, ...outputLine(batch, line, custom_id, result) };
}
