/** Requests chat completions for the check, whole or streamed, and measures their times. */

import { parsedJson } from '../../src/json.ts';
import { ConnectionError, openReply, type Reply, send, type Target } from './connection.ts';
import { type Completion, errorMessage, readChunk, readCompletion, type Usage } from './wire.ts';

export type ChatBody = Readonly<Record<string, unknown>>;

/** The backend answered with something other than a completion; the message says with what. */
export class BackendAnswer extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'BackendAnswer';
    this.status = status;
  }
}

export type Chat = Completion & { readonly ms: number };

/** Requests a whole completion. @throws ConnectionError | BackendAnswer */
export async function chat(target: Target, body: ChatBody, timeoutMs = target.timeout_ms): Promise<Chat> {
  const reply = await send(target, { method: 'POST', path: '/v1/chat/completions', body, timeout_ms: timeoutMs });
  const completion = reply.status === 200 ? readCompletion(reply.json) : null;
  if (completion === null) throw unexpected(reply);
  return { ...completion, ms: reply.ms };
}

export type Stream = {
  readonly text: string;
  readonly reasoning: string;
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** Number of stream events with text. */
  readonly pieces: number;
  /** Milliseconds from the request to the first text; `null` = there was none. */
  readonly first_ms: number | null;
  readonly ms: number;
  readonly done_marker: boolean;
  readonly error: string | null;
  readonly content_type: string;
};

/** Requests a streamed completion and reads it to its end. @throws ConnectionError | BackendAnswer */
export async function streamChat(target: Target, body: ChatBody): Promise<Stream> {
  const open = await openStream(target, body);
  let text = '';
  let reasoning = '';
  let pieces = 0;
  let firstMs: number | null = null;
  let finish: string | null = null;
  let usage: Usage | null = null;
  let error: string | null = null;
  let doneMarker = false;
  for await (const data of open.events()) {
    if (data === '[DONE]') {
      doneMarker = true;
      continue;
    }
    const chunk = readChunk(parsedJson(data));
    if (chunk === null) throw new BackendAnswer(200, 'the stream holds an event that is not a completion chunk');
    if (chunk.content !== '' || chunk.reasoning !== '') {
      firstMs ??= performance.now() - open.started;
      pieces++;
    }
    text += chunk.content;
    reasoning += chunk.reasoning;
    finish = chunk.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
    error = chunk.error ?? error;
  }
  return {
    ...{ text, reasoning, finish_reason: finish, usage, pieces, first_ms: firstMs, error, done_marker: doneMarker },
    ms: performance.now() - open.started,
    content_type: open.type,
  };
}

export type OpenStream = {
  /** When the request was sent, as a time of `performance.now()`. */
  readonly started: number;
  readonly type: string;
  /** The data of each event. @throws ConnectionError */
  events(): AsyncGenerator<string>;
  drop(): void;
};

/** Opens a stream and leaves reading it, or dropping it, to the caller. @throws ConnectionError | BackendAnswer */
export async function openStream(target: Target, body: ChatBody, signal?: AbortSignal): Promise<OpenStream> {
  const started = performance.now();
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
  const open = await openReply(target, {
    method: 'POST',
    path: '/v1/chat/completions',
    body: streamed,
    ...(signal === undefined ? {} : { signal }),
  });
  if (open.status !== 200) {
    let text = '';
    for await (const chunk of open.chunks()) text += chunk.toString('utf8');
    throw unexpected({ status: open.status, type: open.type, text, json: parsedJson(text), ms: 0 });
  }
  return { started, type: open.type, events: () => eventData(open.chunks()), drop: () => open.drop() };
}

/** The `data:` of server-sent events. Events of several data lines do not occur here, so a line is an event. */
async function* eventData(chunks: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) yield line.slice('data:'.length).trim();
    }
  }
}

const SHOWN_CHARS = 160;

/** Describes a reply that is no completion. */
export function unexpected({ status, type, text, json }: Reply): BackendAnswer {
  const message = errorMessage(json);
  if (message !== null) return new BackendAnswer(status, `HTTP ${status}: ${shortened(message)}`);
  if (type.includes('text/html'))
    return new BackendAnswer(status, `HTTP ${status} with an HTML page, such as a login page`);
  if (text === '') return new BackendAnswer(status, `HTTP ${status} with an empty body`);
  return new BackendAnswer(
    status,
    `HTTP ${status} with ${json === undefined ? 'a body that is not JSON' : 'JSON of another shape'}`,
  );
}

/** Returns one printable line, without control characters, which could manipulate a terminal. */
export function shortened(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`;
}

/** Describes the two errors that a backend can cause. Rethrows any other error, which is a bug of the check. */
export function failureText(error: unknown): string {
  if (error instanceof ConnectionError || error instanceof BackendAnswer) return shortened(error.message);
  throw error;
}
