/** Runs: reads, exports, imports and deletes the ledger of scored rollouts. Replay is in replay.ts. */

import type * as z from 'zod';
import { parsedJson } from '../../src/json.ts';
import { type RunImportReport, runImportReportSchema } from '../../src/runs/import-run.ts';
import type { JudgeCheck } from '../../src/runs/judge-check-schema.ts';
import {
  type RecordedCheck,
  type RunAlertsReply,
  recordedCheckSchema,
  runAlertsSchema,
} from '../../src/wire/alerts-reply.ts';
import {
  type RunDetail,
  type RunReply,
  rolloutListSchema,
  runDeletionSchema,
  runDetailSchema,
  runListSchema,
  runSchema,
} from '../../src/wire/runs.ts';
import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import { routePath } from './route-path.ts';
import { createRunRubrics, type RunRubricsClient } from './run-rubrics.ts';
import { reasonOf } from './transport.ts';

/** A page of runs. */
export type RunPage = z.infer<typeof runListSchema>;
/** A page of recorded rollouts. */
export type RolloutPage = z.infer<typeof rolloutListSchema>;
/** How far the deletion of a run got. */
export type RunDeletion = z.infer<typeof runDeletionSchema>;

/** Selects recorded rollouts of a run. */
export type RolloutQuery = {
  /** A step number, or `none` for rollouts without a step. */
  readonly step?: number | 'none';
  readonly group?: string;
  readonly sample?: string;
  /** Default: `latest`, the attempt that counts. */
  readonly attempts?: 'latest' | 'all';
  /** Includes reports and stored text; limits a page to 20 rollouts. */
  readonly detail?: boolean;
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
};

/** Reads, exports, imports and deletes recorded runs. */
export type RunsClient = {
  /** Lists runs, newest first. @param query `after`: `next` of the previous page; `limit`: at most 100. */
  list(query?: { readonly after?: string; readonly limit?: number }): Promise<Reply<RunPage>>;
  /**
   * Reads a run with its steps. @param query `from_step`: `next_step` of the previous page; `limit`: at most 1,000
   * steps.
   */
  retrieve(id: string, query?: { readonly from_step?: number; readonly limit?: number }): Promise<Reply<RunDetail>>;
  /**
   * Watches a run: signs that it earns its reward in a way nobody wanted. @param query `from_step`: the first step to
   * watch; the first four are always read.
   */
  alerts(id: string, query?: { readonly from_step?: number }): Promise<Reply<RunAlertsReply>>;
  /** Records what a canary or an audit of the run's judge found (runs canary, runs audit). */
  recordJudgeCheck(id: string, check: JudgeCheck): Promise<Reply<RecordedCheck>>;
  rollouts(id: string, query?: RolloutQuery): Promise<Reply<RolloutPage>>;
  /** Exports the run file as a stream. The file is complete only with its end record. */
  export(id: string): Promise<Reply<ReadableStream<Uint8Array>>>;
  /** Exports the judgments of a run as a stream, for `POST /v1/judgments:import`. */
  judgments(id: string): Promise<Reply<ReadableStream<Uint8Array>>>;
  /**
   * Imports the rows that are absent. Not retried, but idempotent. @param content in Node, use `openAsBlob` for a file
   * on disk.
   */
  import(id: string, content: Blob): Promise<Reply<RunImportReport>>;
  /** Gives a run a title, which lists show beside its id. @param title one line; `null` removes it. */
  setTitle(id: string, title: string | null): Promise<Reply<RunReply>>;
  /** Deletes ledger, reports and text of a run. If the reply is not `complete`, call it again to continue. */
  delete(id: string): Promise<Reply<RunDeletion>>;
  /** The evolving rubrics of the run's prompts. */
  readonly rubrics: RunRubricsClient;
};

export function createRuns(connection: Connection): RunsClient {
  return {
    list: (query = {}) => connection.get(routePath('GET /v1/runs', {}, query), runListSchema),
    retrieve: (id, query = {}) => connection.get(routePath('GET /v1/runs/{id}', { id }, query), runDetailSchema),
    alerts: (id, query = {}) => connection.get(routePath('GET /v1/runs/{id}/alerts', { id }, query), runAlertsSchema),
    recordJudgeCheck: (id, check) =>
      connection.post(routePath('POST /v1/runs/{id}/judge-checks', { id }), { json: check }, recordedCheckSchema),
    rollouts: (id, query = {}) =>
      connection.get(routePath('GET /v1/runs/{id}/rollouts', { id }, query), rolloutListSchema),
    export: (id) => connection.stream(routePath('GET /v1/runs/{id}/export', { id })),
    judgments: (id) => connection.stream(routePath('GET /v1/runs/{id}/judgments.jsonl', { id })),
    async import(id, content) {
      const opened = await connection.exchange(
        routePath('POST /v1/runs/{id}/import', { id }),
        content.stream(),
        'application/jsonl',
      );
      return opened.ok ? reportOf(opened.body) : opened;
    },
    setTitle: (id, title) => connection.patch(routePath('PATCH /v1/runs/{id}', { id }), { title }, runSchema),
    delete: (id) => connection.remove(routePath('DELETE /v1/runs/{id}', { id }), runDeletionSchema),
    rubrics: createRunRubrics(connection),
  };
}

async function reportOf(content: ReadableStream<Uint8Array>): Promise<Reply<RunImportReport>> {
  let text: string;
  try {
    text = await new Response(content).text();
  } catch (error) {
    return { ok: false, failure: { kind: 'unreachable', why: reasonOf(error) } };
  }
  const parsed = runImportReportSchema.safeParse(parsedJson(text));
  if (parsed.success) return { ok: true, body: parsed.data };
  const detail = '200, but not the report of an import';
  return { ok: false, failure: { kind: 'unexpected_reply', status: 200, detail } };
}
