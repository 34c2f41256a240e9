/** Reads the log of workerd. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { isJsonObject, parsedJson } from '../src/json.ts';

export type LogLine = {
  /** ISO 8601. */
  readonly time: string;
  readonly level: string;
  readonly message: string;
  /** The message, if it is a JSON object: Citeward's own lines are. */
  readonly event: Readonly<Record<string, unknown>> | null;
};

/** Calls `use` for each line that the process writes. */
export function onLogLine(child: ChildProcess, use: (line: LogLine) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    // A child that could not be started has none.
    if (!(stream instanceof Readable)) continue;
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (text) => {
      if (text.trim() !== '') use(readLine(text));
    });
  }
}

function readLine(text: string): LogLine {
  const line = objectOf(text);
  const message = typeof line?.['message'] === 'string' ? line['message'] : text;
  const stamp = Number(line?.['timestamp']);
  const time = (Number.isFinite(stamp) ? new Date(stamp) : new Date()).toISOString();
  const level = typeof line?.['level'] === 'string' ? line['level'] : 'error';
  return { time, level, message, event: objectOf(message) };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  const value = text.startsWith('{') ? parsedJson(text) : null;
  return isJsonObject(value) ? value : null;
}
