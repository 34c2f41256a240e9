/**
 * The outermost middleware: the request id, one log line per request, and the headers of every reply. The line contains
 * no content, only method, route pattern, status, time and key name. The clock of a Worker stops while it computes, so
 * `ms` is the time spent on I/O.
 */
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import { describeError } from '../../service/error-log.ts';
import { RequestError } from '../../service/failures.ts';
import { wireReason } from '../../service/problems.ts';
import { receivedTrace } from '../../service/trace-context.ts';
import { logEvent } from '../log-event.ts';
import { writeRequestPoint } from '../metrics/analytics.ts';
import { isolateCounts } from '../metrics/counts.ts';
import { inSpan, type SpanEnd } from '../metrics/spans.ts';
import type { AppEnvironment, Context, PhaseTimings } from './context.ts';

const SAFE_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export const observe = createMiddleware<AppEnvironment>(async function observe(c, next) {
  const start = performance.now();
  const inbound = c.req.header('x-request-id');
  const requestId = inbound !== undefined && SAFE_REQUEST_ID.test(inbound) ? inbound : crypto.randomUUID();
  c.set('requestId', requestId);
  c.set('principal', null);
  c.set('phases', {});
  c.set('storeProblems', 0);
  c.set('namedRun', null);
  c.set('isAdminUse', false);
  const trace = receivedTrace(c.req.header('traceparent'), c.req.header('tracestate'));
  await inSpan(c.env.LOG_SPANS === 'true', trace, next, () => spanEnd(c));
  // Not by `c.header`, which copies a finished reply for each header.
  const { headers } = c.res;
  headers.set('x-request-id', requestId);
  headers.set('cache-control', 'no-store');
  headers.set('x-content-type-options', 'nosniff');
  const timing = serverTiming(c.get('phases'));
  if (timing !== '') headers.set('server-timing', timing);
  const ms = performance.now() - start;
  const done = { route: routePattern(c), status: c.res.status, reason: reasonOf(c.error) };
  isolateCounts.count('citeward_requests', [done.route, String(done.status), done.reason]);
  const { project = '', name: key = '' } = c.get('principal') ?? {};
  writeRequestPoint(c.env.ANALYTICS, { ...done, project, key, ms });
  if (isLogged(c)) logEvent('log', { ...logLine(c, ms), trace_id: trace.trace_id });
});

/** Reads the setting itself, because a request whose settings are malformed has none, and is logged. */
function isLogged(c: Context): boolean {
  return c.env.REQUEST_LOG !== 'failures' || c.res.status >= 400 || c.get('storeProblems') > 0;
}

function serverTiming(phases: PhaseTimings): string {
  return Object.entries(phases)
    .map(([phase, ms]) => `${phase};dur=${ms.toFixed(1)}`)
    .join(', ');
}

function logLine(c: Context, ms: number): Readonly<Record<string, unknown>> {
  const storeProblems = c.get('storeProblems');
  return {
    event: 'request',
    method: methodOf(c),
    route: routePattern(c),
    status: c.res.status,
    ms: Math.round(ms),
    key: c.get('principal')?.name ?? null,
    project: c.get('principal')?.project ?? null,
    request_id: c.get('requestId'),
    ...(storeProblems > 0 ? { store_problems: storeProblems } : {}),
    ...c.get('namedRun'),
    ...(c.error === undefined ? {} : failedWith(c.error)),
  };
}

/** An unknown method is text of the caller and is not logged. */
function methodOf(c: Context): string {
  return KNOWN_METHODS.has(c.req.method) ? c.req.method : 'other';
}

/** A caller's mistake is no error of the server, as OpenTelemetry's conventions say. */
function spanEnd(c: Context): SpanEnd {
  const [method, route, status] = [methodOf(c), routePattern(c), c.res.status];
  const reason = reasonOf(c.error);
  return {
    name: `${method} ${route}`,
    kind: 'server',
    error: status < 500 ? null : reason || String(status),
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'citeward.request_id': c.get('requestId'),
      ...(reason === '' ? {} : { 'citeward.reason': reason }),
    },
  };
}

/** The most specific pattern that matched; patterns of middleware end in `*`. */
export function routePattern(c: Context): string {
  return matchedRoutes(c).findLast(({ path }) => !path.endsWith('*'))?.path ?? 'none';
}

/** Empty for a request that did not fail. */
function reasonOf(error: Error | undefined): string {
  if (error === undefined) return '';
  return error instanceof RequestError ? wireReason(error.failure) : 'internal';
}

function failedWith(error: Error): Readonly<Record<string, unknown>> {
  return error instanceof RequestError ? { reason: wireReason(error.failure) } : describeError(error);
}
