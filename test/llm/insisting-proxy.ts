/**
 * A proxy before a model server that changes each request. By default it requires exactly one tool call: without that, the
 * random model makes calls until its budget is spent. Replies pass unchanged.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export type InsistingProxy = { readonly url: string; readonly stop: () => void };

type Body = Readonly<Record<string, unknown>>;

const withOneCall = (body: Body): Body => ({ ...body, tool_choice: 'required', parallel_tool_calls: false });

export async function startInsistingProxy(target: string, change = withOneCall): Promise<InsistingProxy> {
  const server = createServer((request, response) => {
    // A connection that breaks on one side is closed on the other.
    handOn(target, change, request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function handOn(
  target: string,
  change: (body: Body) => Body,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = new AbortController();
  response.once('close', () => caller.abort());
  const body = change(JSON.parse(await text(request)));
  const reply = await fetch(`${target}${request.url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' },
    body: JSON.stringify(body),
    signal: caller.signal,
  });
  response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
  for await (const chunk of reply.body ?? []) response.write(chunk);
  response.end();
}
