/** The exports of the library that need Node: `import { fileStore } from 'citeward/node'`. */

import { appendFile, readFile, truncate } from 'node:fs/promises';
import { parsedJson } from '../src/json.ts';
import type { Judgment } from '../src/judgments/judgment.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import { createMemoryJudgmentStore, type JudgmentStore } from '../src/judgments/store.ts';

/**
 * Keeps judgments in a file of JSON lines, one record per line, and in memory (about 2 KB per record). Reads what
 * `citeward judgments export` writes. Each judgment is appended when it is stored, so a crash loses at most the line
 * that was being written; that line is removed when the file is opened again. One process writes a file at a time.
 *
 * @example
 * ```ts
 * import { createScorer, lexicalJudge } from 'citeward';
 * import { fileStore } from 'citeward/node';
 *
 * const store = await fileStore('judgments.jsonl');
 * const scorer = createScorer({ judge: lexicalJudge, store });
 * ```
 * @param path The file; it is created by the first judgment.
 * @throws Error if the file cannot be read, or a line of it is not a judgment; the message names the line.
 */
export async function fileStore(path: string): Promise<JudgmentStore> {
  const { records, missingLineFeed } = await readRecords(path);
  const memory = createMemoryJudgmentStore(records);
  let separator = missingLineFeed ? '\n' : '';
  // One write at a time, so that lines never mix.
  let writing: Promise<unknown> = Promise.resolve();
  const append = (judgment: Judgment): Promise<void> => {
    const written = writing.then(async () => {
      await appendFile(path, `${separator}${JSON.stringify(judgment)}\n`);
      separator = '';
    });
    writing = written.catch(() => undefined);
    return written;
  };
  return {
    get: (keys) => memory.get(keys),
    async put(judgment) {
      try {
        await append(judgment);
      } catch (error) {
        return { ok: false, failure: writeFailed(error) };
      }
      return memory.put(judgment);
    },
    remember: (judgment) => memory.remember(judgment),
  };
}

type Records = {
  /** JSON text of each record, by judgment key. If several lines have one key, the last line counts. */
  readonly records: Map<string, string>;
  readonly missingLineFeed: boolean;
};

async function readRecords(path: string): Promise<Records> {
  const records = new Map<string, string>();
  const text = await fileText(path);
  const lines = text.split('\n');
  const last = lines.length - 1;
  for (const [position, line] of lines.entries()) {
    if (line === '') continue;
    const value = parsedJson(line);
    if (value === undefined && position === last) {
      // A crash cut off the last line. Truncating the file lets the next record begin on a line of its own.
      await truncate(path, Buffer.byteLength(text.slice(0, text.length - line.length)));
      return { records, missingLineFeed: false };
    }
    if (isListing(value)) continue;
    const key = keyOf(value);
    if (key === null) throw new Error(`${path}, line ${position + 1}: this is not a judgment`);
    records.set(key, line);
  }
  return { records, missingLineFeed: text !== '' && !text.endsWith('\n') };
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Returns whether an exported line is no judgment record: a key that was missing, or the count at the end. */
function isListing(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('missing' in value || 'end' in value);
}

/** Returns the key that a record names, or `null`. The store checks on reading that it is the record's own key. */
function keyOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('key' in value)) return null;
  return typeof value.key === 'string' && /^[0-9a-f]{64}$/.test(value.key) ? value.key : null;
}

function writeFailed(error: unknown): JudgeFailure {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return {
    reason: 'judgment_store_failed',
    detail: `the judgment could not be written to its file${code}`,
    retryable: true,
  };
}
