/**
 * Sends HTTP requests to a backend, whole or streamed, each with a timeout. It neither retries nor follows redirects,
 * because the check must see the failures that a retry would hide. Bodies are read up to a limit, because a login page
 * or a broken proxy may send anything.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { parsedJson } from '../../src/json.ts';

export type Target = {
  /** Base URL without `/v1` and without a trailing slash. */
  readonly url: string;
  readonly key: string | null;
  /** Further headers of every request, such as those of Cloudflare Access. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit of one request, in milliseconds. */
  readonly timeout_ms: number;
};

export type Reply = {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** `undefined` where the text is not JSON. */
  readonly json: unknown;
  readonly ms: number;
};

/** The request got no complete reply: refused, reset, timed out, too long, or dropped by the caller. */
export class ConnectionError extends Error {
  readonly reason: 'refused' | 'reset' | 'timeout' | 'dropped' | 'too_long' | 'other';

  constructor(reason: ConnectionError['reason'], message: string) {
    super(message);
    this.name = 'ConnectionError';
    this.reason = reason;
  }
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

// Every request has its own connection: a dropped stream then cannot break another request on a pooled connection, and
// the times to the first token include the cost of a new connection.
const AGENTS = { 'http:': new Agent({ keepAlive: false }), 'https:': new TlsAgent({ keepAlive: false }) } as const;

export type Call = {
  readonly method: 'GET' | 'POST';
  /** A path below the base URL, or a whole URL. */
  readonly path: string;
  readonly body?: unknown;
  /** False = the request is sent without the key. Default: true. */
  readonly authorized?: boolean;
  readonly timeout_ms?: number;
  /** Aborts the request, even before the server has replied. */
  readonly signal?: AbortSignal;
};

/** Sends a request and reads the whole reply. @throws ConnectionError */
export async function send(target: Target, call: Call): Promise<Reply> {
  const started = performance.now();
  const open = await openReply(target, call);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of open.chunks()) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      open.drop();
      throw new ConnectionError('too_long', `the reply is longer than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const { status, type } = open;
  return { status, type, text, json: parsedJson(text), ms: performance.now() - started };
}

export type OpenReply = {
  readonly status: number;
  readonly type: string;
  /** Yields the body as it arrives. @throws ConnectionError if the connection breaks. */
  chunks(): AsyncGenerator<Buffer>;
  /** Closes the connection, like a caller that disconnects. */
  drop(): void;
};

/** Sends a request and returns once the headers of the reply have arrived. @throws ConnectionError */
export function openReply(target: Target, call: Call): Promise<OpenReply> {
  const url = new URL(call.path.startsWith('/') ? `${target.url}${call.path}` : call.path);
  const secure = url.protocol === 'https:';
  const timeoutMs = call.timeout_ms ?? target.timeout_ms;
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const authorized = call.authorized !== false && target.key !== null;
  return new Promise((opened, failed) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(url, {
      method: call.method,
      agent: AGENTS[secure ? 'https:' : 'http:'],
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(call.signal === undefined ? [] : [call.signal])]),
      headers: {
        ...target.headers,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(authorized ? { authorization: `Bearer ${target.key}` } : {}),
      },
    });
    outgoing.once('error', (error) => failed(connectionError(error, call, timeoutMs)));
    outgoing.once('response', (incoming) =>
      opened({
        status: incoming.statusCode ?? 0,
        type: incoming.headers['content-type'] ?? '',
        chunks: () => readChunks(incoming, call, timeoutMs),
        drop: () => {
          // The caller closed the socket on purpose, so the error that follows is ignored.
          incoming.on('error', () => undefined);
          outgoing.destroy();
        },
      }),
    );
    outgoing.end(body);
  });
}

async function* readChunks(incoming: IncomingMessage, call: Call, timeoutMs: number): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of incoming) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
  } catch (error) {
    throw connectionError(error, call, timeoutMs);
  }
}

function connectionError(error: unknown, call: Call, timeoutMs: number): ConnectionError {
  if (call.signal?.aborted === true) return new ConnectionError('dropped', 'dropped by the caller');
  if (!(error instanceof Error)) return new ConnectionError('other', String(error));
  const code = 'code' in error ? String(error.code) : '';
  if (error.name === 'TimeoutError' || code === 'ABORT_ERR') {
    return new ConnectionError('timeout', `no complete reply within ${Math.round(timeoutMs / 100) / 10} s`);
  }
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') return new ConnectionError('refused', error.message);
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new ConnectionError('reset', `connection broken: ${error.message}`);
  return new ConnectionError('other', error.message);
}
