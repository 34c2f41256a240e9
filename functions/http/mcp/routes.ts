/**
 * `POST /mcp`: the Worker as a server of the Model Context Protocol, with the API keys and scopes of the other routes.
 * It keeps no session: each request is answered alone, so any isolate can answer it.
 */
import { createMcpHandler, McpServer, preloadSchemas } from '@modelcontextprotocol/server';
import { HonoBase } from 'hono/hono-base';
import { TrieRouter } from 'hono/router/trie-router';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { Environment } from '../../environment.ts';
import { readBytes } from '../body.ts';
import { refuseForeignOrigins } from '../browser-guard.ts';
import type { AppEnvironment, Context } from '../context.ts';
import { type AskRoute, addTools } from './tools.ts';

// When the isolate starts, as the SDK does on this platform, instead of in the first request.
preloadSchemas();

/** The whole app, which the tools ask. */
type AskApp = (request: Request, environment: Environment, context: Context['executionCtx']) => Promise<Response>;

const INSTRUCTIONS =
  'Citeward verifies and scores answers whose claims cite their sources. Use verify_citations for a check without a ' +
  'model, score_answer for a reward, and replay_run or explain_reward for runs that a trainer recorded.';

export function mcpRoutes(askApp: AskApp): HonoBase<AppEnvironment> {
  return new HonoBase<AppEnvironment>({ router: new TrieRouter() }).post('/mcp', async (c) => {
    // The protocol demands this check of servers with keys, too.
    refuseForeignOrigins(c);
    c.get('followCaller')();
    const body = await readBytes(c, MAX_BODY_BYTES);
    const handler = createMcpHandler(
      () => {
        const server = new McpServer({ name: 'citeward', version: '0.1.0' }, { instructions: INSTRUCTIONS });
        addTools(server, routesOf(c, askApp));
        return server;
      },
      { responseMode: 'json', maxRequestBodySize: MAX_BODY_BYTES },
    );
    const { method, url } = c.req.raw;
    const headers = new Headers(c.req.raw.headers);
    const accepted = typesOf(headers.get('accept'));
    const takesStream = accepted.some((type) => STREAM_TYPES.has(type));
    // The SDK asks for both types, although it sends one message a reply.
    if (takesStream || accepted.some((type) => JSON_TYPES.has(type))) {
      headers.set('accept', `${JSON_TYPE}, ${STREAM_TYPE}`);
    }
    const reply = await handler.fetch(new Request(url, { method, headers, body }));
    return takesStream ? reply : inJson(reply, body.find((byte) => byte > SPACE) === OPENING_BRACKET);
  });
}

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const JSON_TYPES: ReadonlySet<string> = new Set(['*/*', 'application/*', JSON_TYPE]);
const STREAM_TYPES: ReadonlySet<string> = new Set(['*/*', 'text/*', STREAM_TYPE]);

/** The types that a client accepts (RFC 9110); a client that names none accepts all. */
function typesOf(accept: string | null): string[] {
  return (accept ?? '*/*').split(',').map((type) => (type.split(';')[0] ?? '').trim().toLowerCase());
}

const SPACE = 0x20;
const OPENING_BRACKET = 0x5b;

/** The message of an event stream as JSON, those of a batch as an array; any other reply as it is. */
async function inJson(reply: Response, isBatch: boolean): Promise<Response> {
  if (reply.headers.get('content-type')?.startsWith(STREAM_TYPE) !== true) return reply;
  const lines = (await reply.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const messages = lines.map((line) => line.slice('data: '.length));
  const headers = new Headers(reply.headers);
  headers.set('content-type', JSON_TYPE);
  const text = isBatch ? `[${messages.join()}]` : messages.join();
  return new Response(text, { status: reply.status, headers });
}

/** The headers of the caller's request that its tools' requests have too. */
const PASSED_ON = ['authorization', 'traceparent', 'tracestate', 'cf-connecting-ip'];

/** The connection of the caller's request: its address, and the signal of its end. */
function connectionOf({ req: { raw } }: Context): RequestInit<CfProperties> {
  return { signal: raw.signal, ...(raw.cf === undefined ? {} : { cf: raw.cf }) };
}

/** Asks routes with the key of the caller, within the trace of the caller's request. */
function routesOf(c: Context, askApp: AskApp): AskRoute {
  return (path, body) => {
    const headers = new Headers();
    const { clientAddressHeader } = c.get('settings');
    for (const name of clientAddressHeader === null ? PASSED_ON : [...PASSED_ON, clientAddressHeader]) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    headers.set('x-request-id', c.get('requestId'));
    const url = new URL(path, c.req.url);
    const connection = connectionOf(c);
    if (body === undefined) return askApp(new Request(url, { ...connection, headers }), c.env, c.executionCtx);
    headers.set('content-type', 'application/json');
    const request = new Request(url, { ...connection, method: 'POST', headers, body: JSON.stringify(body) });
    return askApp(request, c.env, c.executionCtx);
  };
}
