/**
 * Imports the judgments of a file. Accepts a judgment only if a trusted issuer signed it and its key has no judgment
 * yet. Counts every refused line and lists the first ones with their reasons. An interrupted import keeps what it has
 * written; importing the file again completes it.
 */
import type { KnownIssuers } from './issuer.ts';
import type { StreamLine } from './jsonl.ts';
import type { Judgment } from './judgment.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import { readRecordLine } from './record-file.ts';

export type ImportOutcome = 'imported' | 'present' | { readonly failure: JudgeFailure };

/** Stores judgments whose keys are absent and returns one outcome each, in order. Never overwrites. */
type ImportSink = (judgments: readonly Judgment[]) => Promise<readonly ImportOutcome[]>;

export const REFUSAL_REASONS = [
  'line_too_long',
  'line_not_utf8',
  'line_not_json',
  'too_many_lines',
  'record_invalid',
  'unsigned',
  'issuer_unknown',
  'signature_wrong',
  'store_failed',
] as const;

type RefusedLine = {
  /** Number of the line, from 1. */
  readonly line: number;
  readonly reason: (typeof REFUSAL_REASONS)[number];
  /** Explains the reason to people; contains no text of the line. */
  readonly detail: string;
};

export type ImportReport = {
  readonly v: 1;
  readonly imported: number;
  readonly already_there: number;
  readonly refused: number;
  readonly refused_lines: readonly RefusedLine[];
  /** Whether the file ends with its writer's count, and the count is right. */
  readonly complete: boolean;
};

type ImportLimits = {
  readonly lines: number;
  /** Lines, and UTF-16 code units of lines, that are stored together. */
  readonly chunk: number;
  readonly chunkChars: number;
  readonly listed: number;
};

type Numbered = { readonly line: number; readonly judgment: Judgment };

export async function importJudgments(
  lines: AsyncIterable<StreamLine>,
  known: KnownIssuers,
  sink: ImportSink,
  limits: ImportLimits,
): Promise<ImportReport> {
  const tally = new Tally(limits.listed);
  let waiting: Numbered[] = [];
  let waitingChars = 0;
  let number = 0;
  let read = 0;
  let absent = 0;
  let complete = false;
  const flush = async (): Promise<void> => {
    await putChunk(waiting, sink, tally);
    waiting = [];
    waitingChars = 0;
  };
  for await (const line of lines) {
    number++;
    if (number > limits.lines) {
      tally.refuse(number, 'too_many_lines', `a file may have at most ${limits.lines} lines; the rest was not read`);
      complete = false;
      break;
    }
    if (line.ok && line.value.trim() === '') continue;
    complete = false;
    if (!line.ok) {
      tally.refuse(number, line.error, 'the line cannot be read');
      continue;
    }
    const parsed = readRecordLine(line.value);
    if (!parsed.ok) {
      tally.refuse(number, parsed.error.problem, parsed.error.detail);
      continue;
    }
    switch (parsed.value.kind) {
      case 'missing':
        absent++;
        break;
      case 'end':
        complete = parsed.value.judgments === read && parsed.value.missing === absent;
        break;
      case 'judgment':
        read++;
        if (await isTrusted(parsed.value.judgment, number, known, tally)) {
          waiting.push({ line: number, judgment: parsed.value.judgment });
          waitingChars += line.value.length;
        }
        if (waiting.length >= limits.chunk || waitingChars >= limits.chunkChars) await flush();
        break;
    }
  }
  await flush();
  return { ...tally.report(), complete };
}

async function isTrusted(judgment: Judgment, line: number, known: KnownIssuers, tally: Tally): Promise<boolean> {
  const check = await known.check(judgment);
  switch (check) {
    case 'valid':
      return true;
    case 'unsigned':
      tally.refuse(line, 'unsigned', 'the record has no issuer signature');
      return false;
    case 'unknown_key':
      tally.refuse(line, 'issuer_unknown', 'the issuer of the record is not one of TRUSTED_ISSUERS');
      return false;
    case 'wrong':
      tally.refuse(line, 'signature_wrong', 'the record is not what its issuer signed');
      return false;
  }
}

async function putChunk(waiting: readonly Numbered[], sink: ImportSink, tally: Tally): Promise<void> {
  if (waiting.length === 0) return;
  const outcomes = await sink(waiting.map(({ judgment }) => judgment));
  waiting.forEach(({ line }, position) => {
    const outcome = outcomes[position];
    if (outcome === undefined) throw new Error('importJudgments: fewer outcomes than judgments');
    if (outcome === 'imported') tally.imported++;
    else if (outcome === 'present') tally.present++;
    else tally.refuse(line, 'store_failed', outcome.failure.detail);
  });
}

class Tally {
  imported = 0;
  present = 0;
  #refused = 0;
  readonly #listed: RefusedLine[] = [];
  readonly #maxListed: number;

  constructor(maxListed: number) {
    this.#maxListed = maxListed;
  }

  refuse(line: number, reason: RefusedLine['reason'], detail: string): void {
    this.#refused++;
    if (this.#listed.length < this.#maxListed) this.#listed.push({ line, reason, detail });
  }

  report(): Omit<ImportReport, 'complete'> {
    const refused_lines = this.#listed.toSorted((a, b) => a.line - b.line);
    return { v: 1, imported: this.imported, already_there: this.present, refused: this.#refused, refused_lines };
  }
}
