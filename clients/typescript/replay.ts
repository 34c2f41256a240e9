/**
 * Replays a run under another recipe (`POST /v1/runs/{id}/replay`) and streams the lines of the reply. Slow reading
 * applies back-pressure; ending the iteration early closes the connection.
 */

import { parsedJson } from '../../src/json.ts';
import { readLines } from '../../src/judgments/jsonl.ts';
import type { ReplayInput } from '../../src/wire/replay.ts';
import { type ReplayLine, replayLineSchema } from '../../src/wire/replay-reply.ts';
import type { Connection } from './connection.ts';
import type { ClientFailure, Reply } from './reply.ts';
import { routePath } from './route-path.ts';
import { reasonOf } from './transport.ts';

/** `lost` is produced by the client: the connection broke, or a line was invalid. */
export type ReceivedReplayLine = ReplayLine | { readonly kind: 'lost'; readonly failure: ClientFailure };

/** A group of 10,000 samples with long names takes about 5 MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Starts a replay and yields its lines. A request refused before the first line is a failure. */
export async function replayRun(
  connection: Connection,
  run: string,
  request: ReplayInput,
): Promise<Reply<AsyncGenerator<ReceivedReplayLine, void>>> {
  const opened = await connection.streamPost(routePath('POST /v1/runs/{id}/replay', { id: run }), request);
  return opened.ok ? { ok: true, body: receivedLines(opened.body) } : opened;
}

/** Yields lines up to the last one: `summary`, `error` or `lost`. */
async function* receivedLines(content: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedReplayLine, void> {
  const reader = content.getReader();
  const broken: { why: string | null } = { why: null };
  try {
    for await (const line of readLines(chunksOf(reader, broken), MAX_LINE_BYTES)) {
      const read = line.ok ? understoodLine(line.value) : notALine(`a line that cannot be read: ${line.error}`);
      yield read;
      if (read.kind === 'summary' || read.kind === 'error' || read.kind === 'lost') return;
    }
    yield { kind: 'lost', failure: { kind: 'unreachable', why: broken.why ?? 'the reply ended before its last line' } };
  } finally {
    // Cancelling fails only if the stream has already ended.
    await reader.cancel().catch(() => undefined);
  }
}

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  broken: { why: string | null },
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const read = await reader.read().catch((error: unknown) => ({ lost: reasonOf(error) }));
    if ('lost' in read) {
      broken.why = read.lost;
      return;
    }
    if (read.done) return;
    yield read.value;
  }
}

function understoodLine(text: string): ReceivedReplayLine {
  const parsed = replayLineSchema.safeParse(parsedJson(text));
  return parsed.success ? parsed.data : notALine('200, but a line of the reply is not one of a replay');
}

function notALine(detail: string): ReceivedReplayLine {
  return { kind: 'lost', failure: { kind: 'unexpected_reply', status: 200, detail } };
}
