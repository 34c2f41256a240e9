/** `/v1/runs`: lists runs, describes one step by step, lists its rollouts, gives it a title, and deletes it. */

import * as z from 'zod';
import { alertsOf } from '../../../service/alerts.ts';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import type { RolloutDetail, RowPosition, RowSelection, StoredRow, StoredRun } from '../../../service/ledger-port.ts';
import { ALERT_WINDOW_STEPS } from '../../../src/runs/alert-rules.ts';
import { isAlert } from '../../../src/runs/judge-check.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import { judgeCheckRequestSchema } from '../../../src/wire/alerts.ts';
import type { RecordedCheck } from '../../../src/wire/alerts-reply.ts';
import {
  type RunDetail,
  type RunReply,
  type RunRollout,
  type rolloutListQuerySchema,
  runChangeSchema,
} from '../../../src/wire/runs.ts';
import type { StoredCheck } from '../../ledger/check-table.ts';
import type { LedgerClient } from '../../ledger/ledger-client.ts';
import { readJson } from '../body.ts';
import { type Context, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';

export const runHandlers = {
  'GET /v1/runs': async (c, { after = null, limit }) => {
    const page = await storesOf(c).ledger.list({ after, limit });
    if (page === null) throw invalidInput(['query', 'after'], 'expected the id of a run');
    const runs = page.runs.map((run) => runReply(c, run));
    return c.json({ runs, next: page.has_more ? (runs.at(-1)?.id ?? null) : null, deleting: page.deleting });
  },
  'GET /v1/runs/{id}': async (c, { from_step, limit }) => {
    const run = await foundRun(c);
    const { ledger } = storesOf(c);
    const [{ rollouts, recipes }, { steps, next_step }] = await Promise.all([
      ledger.contents(run),
      ledger.steps(run, from_step ?? null, limit),
    ]);
    const detail: RunDetail = {
      ...runReply(c, run),
      rollouts,
      recipes: [...recipes.values()].map(({ digest, name, recipe }) => ({ digest, name, recipe: { ...recipe } })),
      steps: [...steps],
      next_step,
    };
    return c.json(detail);
  },
  'GET /v1/runs/{id}/alerts': async (c, { from_step }) => {
    const run = await foundRun(c);
    const { ledger } = storesOf(c);
    const [alerts, checks] = await Promise.all([alertsOf(ledger, run, from_step ?? null), ledger.checks(run)]);
    return c.json({ run: run.id, window: ALERT_WINDOW_STEPS, ...alerts, judge_checks: checks.map(recordedCheck) });
  },
  'POST /v1/runs/{id}/judge-checks': async (c) => {
    const check = await readJson(c, judgeCheckRequestSchema);
    const at = await storesOf(c).ledger.addCheck(await foundRun(c), check);
    if (at === null) throw new RequestError({ reason: 'run_not_found' });
    return c.json(recordedCheck({ check, at }));
  },
  'GET /v1/runs/{id}/rollouts': async (c, { step, group, sample, attempts, detail, limit, after }) => {
    const run = await foundRun(c);
    const position = after === undefined ? null : readCursor(after);
    if (position === 'malformed')
      throw invalidInput(['query', 'after'], 'expected the value of `next` of the previous page');
    const selection: RowSelection = { ...stepsOf(step), attempts, group, sample, after: position };
    const { ledger } = storesOf(c);
    const rows = await ledger.page(run, selection, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return c.json({
      rollouts: await Promise.all(page.map((row) => rolloutReply(row, detail, ledger))),
      next: rows.length > limit && last !== undefined ? writeCursor(last.position) : null,
    });
  },
  'PATCH /v1/runs/{id}': async (c) => {
    const { title } = await readJson(c, runChangeSchema);
    const run = await storesOf(c).ledger.setTitle(runIdOf(c), title);
    if (run === null) throw new RequestError({ reason: 'run_not_found' });
    return c.json(runReply(c, run));
  },
  'DELETE /v1/runs/{id}': async (c) => {
    const id = runIdOf(c);
    const { ledger } = storesOf(c);
    const now = Date.now();
    const removal = await ledger.remove(id, now);
    if (removal === null) throw new RequestError({ reason: 'run_not_found' });
    // Also continues interrupted deletions and deletes expired runs.
    await ledger.clear(now);
    return c.json({ id, deleted: true, complete: removal.complete });
  },
} satisfies Partial<Handlers>;

/** The run named in the path. @throws RequestError if it does not exist. */
export async function foundRun(c: Context): Promise<StoredRun> {
  const run = await storesOf(c).ledger.find(runIdOf(c));
  if (run === null) throw new RequestError({ reason: 'run_not_found' });
  return run;
}

/** The run id in the path. @throws RequestError if no run can have this id. */
export function runIdOf(c: Context): string {
  const id = runIdSchema.safeParse(pathParameter(c, 'id'));
  if (!id.success) throw new RequestError({ reason: 'run_not_found' });
  return id.data;
}

function recordedCheck({ check, at }: StoredCheck): RecordedCheck {
  return { ...check, at: new Date(at).toISOString(), alert: isAlert(check) };
}

function runReply(c: Context, run: StoredRun): RunReply {
  const { id, family, created_at, active_at, store_text, first_step, last_step, title } = run;
  const expires_at = storesOf(c).ledger.expiryOf(run);
  return {
    id,
    family,
    created_at: new Date(created_at).toISOString(),
    active_at: new Date(active_at).toISOString(),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
    store_text,
    first_step,
    last_step,
    ...(title === null ? {} : { title }),
  };
}

async function rolloutReply(
  { row, components, cached, detail }: StoredRow,
  depth: z.infer<typeof rolloutListQuerySchema>['detail'],
  ledger: LedgerClient,
): Promise<Partial<Record<keyof RunRollout, unknown>>> {
  const rollout = { ...row, components, cached };
  if (depth === 'false') return rollout;
  const stored = detail === null ? null : await ledger.detail(detail);
  return depth === 'true' ? { ...rollout, detail: stored } : { ...rollout, summary: stored && summaryOf(stored) };
}

function summaryOf({ report, rollout }: RolloutDetail): Readonly<Record<string, unknown>> {
  return { question: rollout?.['question'] ?? null, finding_counts: report?.['finding_counts'] ?? null };
}

function stepsOf(step: number | 'none' | undefined): Omit<RowSelection, 'attempts'> {
  if (step === undefined) return {};
  return step === 'none' ? { withoutStep: true } : { fromStep: step, toStep: step };
}

const cursorSchema = z.tuple([z.int(), z.string(), z.string(), z.int()]);

/** An opaque page cursor: the position of the last rollout of the page, as JSON in base64url. */
function writeCursor({ step, group, sample, attempt }: RowPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([step, group, sample, attempt]));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function readCursor(text: string): RowPosition | 'malformed' {
  let value: unknown;
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    value = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return 'malformed';
    throw error;
  }
  const parsed = cursorSchema.safeParse(value);
  if (!parsed.success) return 'malformed';
  const [step, group, sample, attempt] = parsed.data;
  return { step, group, sample, attempt };
}
