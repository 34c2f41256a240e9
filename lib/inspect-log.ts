/** Reads inspect logs (.eval): ZIP archives with one file for each sample. */
import { isJsonObject, type JsonObject, parsedJson } from '../src/json.ts';
import type { Result } from '../src/result.ts';
import { ARCHIVE_WITHOUT_ROWS, type Unreadable } from '../src/wire/rows/unreadable-files.ts';
import { entryText, type Unpack, zipEntries } from './zip-archive.ts';

/**
 * The samples of a log, one in memory at a time. A broken sample is an error of its own, and the next ones are read on;
 * another error, such as that the archive is no log, is the last.
 * @param zstandard unpacks the samples of newer logs; `null` = the runtime cannot.
 */
export async function* inspectSamples(
  archive: Blob,
  zstandard: Unpack | null,
): AsyncGenerator<Result<JsonObject, Unreadable | 'broken_sample'>> {
  const entries = await zipEntries(archive);
  if (entries?.some(({ name }) => name === 'header.json' || name.startsWith('_journal/')) !== true) {
    yield { ok: false, error: ARCHIVE_WITHOUT_ROWS };
    return;
  }
  const samples = entries.filter(({ name }) => name.startsWith('samples/'));
  if (samples.length === 0) yield refused('is an inspect log without samples', 'Run inspect without --no-log-samples.');
  for (const entry of samples) {
    if (entry.method === ZSTANDARD && zstandard === null) {
      yield refused(
        'is packed in a way that browsers do not unpack',
        'Open it from a terminal: npx citeward view FILE.',
      );
      return;
    }
    // What unpacks says in its own ways that the data is broken.
    const text = await entryText(archive, entry, zstandard).catch(() => null);
    const sample = text === null ? null : parsedJson(text);
    yield isJsonObject(sample) ? { ok: true, value: sample } : { ok: false, error: 'broken_sample' };
  }
}

const ZSTANDARD = 93;

function refused(problem: string, hint: string): Result<JsonObject, Unreadable> {
  return { ok: false, error: { kind: 'unreadable', problem, hint } };
}
