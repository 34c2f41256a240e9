/**
 * Records each use of a route of the scope `admin`: one line in the log, and one row in D1 if the caller has the scope.
 * A refused caller gets no row, so that it cannot fill the table.
 */
import { createMiddleware } from 'hono/factory';
import { RequestError } from '../../service/failures.ts';
import { wireReason } from '../../service/problems.ts';
import { StorageError } from '../../service/storage-error.ts';
import { logEvent } from '../log-event.ts';
import { AuditTable, type NewUse } from '../projects/audit-table.ts';
import type { AppEnvironment, Context, Principal } from './context.ts';
import { routePattern } from './observe.ts';

/** Paths contain ids that callers chose. Others are not recorded. */
const PLAIN_PATH = /^[A-Za-z0-9._:/-]{1,256}$/;

export const auditAdminUse = createMiddleware<AppEnvironment>(async function auditAdminUse(c, next) {
  await next();
  const caller = c.get('principal');
  if (!c.get('isAdminUse') || caller === null) return;
  const use = useOf(c, caller);
  // A path has ids that callers chose, and the log has no text of a caller.
  const { path: _path, ...logged } = use;
  logEvent('log', { event: 'admin_use', request_id: c.get('requestId'), ...logged });
  if (!caller.scopes.has('admin')) return;
  try {
    await new AuditTable(c.env.DB).add(use);
  } catch (error) {
    // The storage has logged the failure, and the line above says what was done.
    if (!(error instanceof StorageError)) throw error;
  }
});

function useOf(c: Context, { id, name, project }: Principal): NewUse {
  return {
    at: Date.now(),
    project,
    key_id: id,
    key_label: name,
    method: c.req.method,
    route: routePattern(c),
    path: PLAIN_PATH.test(c.req.path) ? c.req.path : null,
    status: c.res.status,
    reason: c.error instanceof RequestError ? wireReason(c.error.failure) : null,
  };
}
