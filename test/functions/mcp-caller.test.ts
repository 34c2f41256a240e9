/** What the requests of MCP tools have of the request that called the tool. */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { STALL_MS } from '../../functions/http/body-reader.ts';
import type { AppEnvironment } from '../../functions/http/context.ts';
import { mcpRoutes } from '../../functions/http/mcp/routes.ts';
import { Leases } from '../../functions/leases.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import { ORIGIN, TOOL_OUTPUT } from './api.ts';

it('is its key, its trace, the address of its connection, and the end of that', async () => {
  const asked: Request[] = [];
  const settings = createPlatformFactory().settingsOf({ ...env, CLIENT_ADDRESS_HEADER: 'x-client' });
  if (!settings.ok) throw new Error('the settings are malformed');
  const leases = new Leases({ limit: 1_000_000, leaseMs: 1_000 }, () => Date.now());
  const app = new Hono<AppEnvironment>()
    .use(async (c, next) => {
      c.set('requestId', 'outer-request');
      c.set('settings', settings.value);
      c.set('followCaller', () => undefined);
      c.set('bodyLease', leases.begin());
      c.set('arrivingLease', leases.begin());
      c.set('bodyStallMs', STALL_MS);
      await next();
    })
    .route(
      '/',
      mcpRoutes(async (request) => {
        asked.push(request);
        return Response.json({}, { status: 400 });
      }),
    );
  const connection = new AbortController();
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = {
    authorization: 'Bearer key',
    traceparent: '00-1-2-01',
    'cf-connecting-ip': '192.0.2.1',
    'x-client': '192.0.2.2',
    cookie: 'stays outside',
  };
  const transport = new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp`), {
    requestInit: { headers },
    fetch: async (url, init) => {
      const cf = { clientIp: '192.0.2.3' };
      const request = new Request<unknown, CfProperties>(url, { ...init, signal: connection.signal, cf });
      return app.fetch(request, env, createExecutionContext());
    },
  });
  await client.connect(transport);
  await client.callTool({ name: 'verify_citations', arguments: { response: 'x', tool_output: TOOL_OUTPUT } });
  const [inner] = asked;
  if (inner === undefined) throw new Error('the tool asked no route');
  expect(inner.cf).toEqual({ clientIp: '192.0.2.3' });
  expect(Object.fromEntries(inner.headers)).toEqual({
    authorization: 'Bearer key',
    'cf-connecting-ip': '192.0.2.1',
    'content-type': 'application/json',
    traceparent: '00-1-2-01',
    'x-client': '192.0.2.2',
    'x-request-id': 'outer-request',
  });
  expect(inner.signal.aborted).toBe(false);
  connection.abort();
  expect(inner.signal.aborted).toBe(true);
  await client.close();
});
