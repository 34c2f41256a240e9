/**
 * A run as files: its ledger out (`/export`) and in (`/import`), and the judgments that it rests on (`/judgments.jsonl`).
 * All are streamed: a Worker has 128 MB, a run may have a million rollouts. A file that is not whole lacks its last line.
 */
import { Hono } from 'hono';
import { readLines } from '../../src/judgments/jsonl.ts';
import { exportJudgments, type WantedRecord } from '../../src/judgments/record-file.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import {
  MAX_REFUSED_LINES_LISTED,
  MAX_RUN_IMPORT_LINE_BYTES,
  MAX_RUN_IMPORT_LINES,
  MAX_RUN_IMPORT_RECIPES,
} from '../../src/limits.ts';
import { importRun, type RunChunk } from '../../src/runs/import-run.ts';
import { lackingOf } from '../../src/runs/lacking.ts';
import { type RunFileRollout, writeRunLine } from '../../src/runs/run-file.ts';
import { emptyQuerySchema } from '../../src/wire/query.ts';
import { createDeskClient } from '../desk/desk-client.ts';
import type { Environment } from '../environment.ts';
import { recipesOf, type StoredRun } from '../ledger/run-list.ts';
import { type NewRollout, recordRollouts } from '../ledger/run-recording.ts';
import { readRows } from '../ledger/run-rows.ts';
import { MAX_KV_BULK_KEYS } from '../storage/judgments.ts';
import { requireScope } from './auth.ts';
import { readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { RequestError } from './errors.ts';
import { chunksOf, streamOf } from './judgments.ts';
import { foundRun, runIdOf } from './runs.ts';

const RUN_IMPORT_ROWS = 200;

const JSON_LINES = { 'content-type': 'application/jsonl' };

/** @param storeOf the judgment store of an environment. */
export function runFileRoutes(storeOf: (environment: Environment) => JudgmentStore): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>()
    .get('/v1/runs/:id/export', requireScope('score'), async (c) => {
      readQuery(c, emptyQuerySchema);
      const run = await foundRun(c);
      return c.body(streamOf(inChunks(runLines(c.env, run))), 200, JSON_LINES);
    })
    .get('/v1/runs/:id/judgments.jsonl', requireScope('score'), async (c) => {
      readQuery(c, emptyQuerySchema);
      const run = await foundRun(c);
      const desk = createDeskClient(c.env.JUDGE_DESK);
      const lines = exportJudgments(storeOf(c.env), desk, pinnedJudgments(c.env, run), MAX_KV_BULK_KEYS);
      return c.body(streamOf(inChunks(lines)), 200, JSON_LINES);
    })
    .post('/v1/runs/:id/import', requireScope('admin'), async (c) => {
      readQuery(c, emptyQuerySchema);
      const run = runIdOf(c);
      const lines = readLines(chunksOf(c.req.raw), MAX_RUN_IMPORT_LINE_BYTES);
      const limits = {
        recipes: MAX_RUN_IMPORT_RECIPES,
        lines: MAX_RUN_IMPORT_LINES,
        chunk: RUN_IMPORT_ROWS,
        listed: MAX_REFUSED_LINES_LISTED,
      };
      return c.json(await importRun(lines, (chunk) => putChunk(c.env, run, chunk), limits));
    });
}

async function* runLines({ DB, FILES }: Environment, run: StoredRun): AsyncGenerator<string> {
  const { id, family, created_at } = run;
  yield writeRunLine({ kind: 'run', id, family, created_at: new Date(created_at).toISOString() });
  for (const { digest, name, recipe } of (await recipesOf(DB, id)).values()) {
    yield writeRunLine({ kind: 'recipe', digest, name, recipe: { ...recipe } });
  }
  let rollouts = 0;
  for await (const { row, components, cached } of readRows(DB, FILES, id, { attempts: 'all' })) {
    yield writeRunLine({ kind: 'rollout', rollout: { ...row, components, cached } });
    rollouts++;
  }
  yield writeRunLine({ kind: 'end', rollouts });
}

async function* pinnedJudgments({ DB, FILES }: Environment, run: StoredRun): AsyncGenerator<WantedRecord> {
  for await (const { row } of readRows(DB, FILES, run.id, { attempts: 'all' })) yield* row.judgments;
}

/** Lines are sent together: one read of the stream each would cost more than the lines. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = '';
  for await (const line of lines) {
    waiting += line;
    if (waiting.length < CHUNK_CHARS) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}

const CHUNK_CHARS = 64 * 1024;

/** @throws StorageError, and RequestError where the run holds rewards of another family or is being deleted. */
async function putChunk(
  { DB, FILES }: Environment,
  run: string,
  { family, recipes, rollouts }: RunChunk,
): Promise<('recorded' | 'unchanged' | 'taken')[]> {
  const result = await recordRollouts(DB, FILES, {
    run,
    family,
    recipes,
    rollouts: rollouts.map(newRollout),
    shared: {},
    store_text: false,
    now: Date.now(),
  });
  switch (result.status) {
    case 'done':
      return result.rollouts.map(({ status }) => status);
    case 'deleting':
      throw new RequestError({ reason: 'ledger_failed', why: 'deleting' });
    case 'family_differs': {
      const message = `the run holds rewards of the family "${result.family}", the file those of another`;
      throw new RequestError({ reason: 'input_invalid', problems: [{ path: ['id'], message }] });
    }
  }
}

function newRollout(rollout: RunFileRollout): NewRollout {
  const { step, group, sample, attempt, grouping, content, recipe, recorded_at, components, cached } = rollout;
  const { v, facts, judgments, reward, reason } = rollout;
  return {
    ...{ step, group, sample, grouping, content, recipe },
    stored: { v, facts, judgments, reward, reason },
    statistics: { lacking: lackingOf(facts, reward), components, judgments: judgments.length, cached },
    report: null,
    rollout: null,
    imported: { attempt, recorded_at },
  };
}
