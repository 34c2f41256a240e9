/**
 * Runs as files of JSON lines: `/export` and `/import` transfer the ledger, `/judgments.jsonl` exports the judgments
 * behind it. All are streamed: a Worker has 128 MB, a run may have a million rollouts. An incomplete file lacks its
 * last line.
 */
import { MAX_KV_BULK_KEYS } from '../../../lib/kv-store.ts';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import type { NewRollout, StoredRun } from '../../../service/ledger-port.ts';
import { readLines } from '../../../src/judgments/jsonl.ts';
import { exportJudgments, type WantedRecord } from '../../../src/judgments/record-file.ts';
import {
  MAX_REFUSED_LINES_LISTED,
  MAX_RUN_IMPORT_LINE_BYTES,
  MAX_RUN_IMPORT_LINES,
  MAX_RUN_IMPORT_RECIPES,
} from '../../../src/limits.ts';
import { importRun, type RunChunk } from '../../../src/runs/import-run.ts';
import { incompletenessOf, rolloutCounts } from '../../../src/runs/recorded-score.ts';
import { type RunFileRollout, writeRunLine } from '../../../src/runs/run-file.ts';
import type { LedgerClient } from '../../ledger/ledger-client.ts';
import { storesOf } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { chunksOf, inChunks, JSON_LINES_HEADERS, streamOf } from '../json-lines.ts';
import { foundRun, runIdOf } from './runs.ts';

/** Rollouts that an import stores together, and the size of their lines in UTF-16 code units. */
const RUN_IMPORT_ROWS = 200;
const RUN_IMPORT_CHARS = 512 * 1024;
/** A group is checked as a whole: 64 samples of 16 KB. A larger one is divided. */
const RUN_IMPORT_GROUP_CHARS = 1024 * 1024;
/** What an import holds at a time: a group, and the line that is being read. */
const RUN_IMPORT_BUFFER_BYTES = 2 * RUN_IMPORT_GROUP_CHARS + MAX_RUN_IMPORT_LINE_BYTES;

export const runFileHandlers = {
  'GET /v1/runs/{id}/export': async (c) => {
    const run = await foundRun(c);
    return c.body(streamOf(inChunks(runLines(storesOf(c).ledger, run))), 200, JSON_LINES_HEADERS);
  },
  'GET /v1/runs/{id}/judgments.jsonl': async (c) => {
    const run = await foundRun(c);
    const { judgments, desk, ledger } = storesOf(c);
    const lines = exportJudgments(judgments, desk, pinnedJudgments(ledger, run), MAX_KV_BULK_KEYS);
    return c.body(streamOf(inChunks(lines)), 200, JSON_LINES_HEADERS);
  },
  'POST /v1/runs/{id}/import': async (c) => {
    const run = runIdOf(c);
    const { ledger } = storesOf(c);
    const lines = readLines(chunksOf(c, RUN_IMPORT_BUFFER_BYTES), MAX_RUN_IMPORT_LINE_BYTES);
    const limits = {
      recipes: MAX_RUN_IMPORT_RECIPES,
      lines: MAX_RUN_IMPORT_LINES,
      chunk: RUN_IMPORT_ROWS,
      chunkChars: RUN_IMPORT_CHARS,
      groupChars: RUN_IMPORT_GROUP_CHARS,
      listed: MAX_REFUSED_LINES_LISTED,
    };
    return c.json(await importRun(lines, (chunk) => putChunk(ledger, run, chunk), limits));
  },
} satisfies Partial<Handlers>;

async function* runLines(ledger: LedgerClient, run: StoredRun): AsyncGenerator<string> {
  const { id, family, created_at } = run;
  yield writeRunLine({ kind: 'run', id, family, created_at: new Date(created_at).toISOString() });
  for (const { digest, name, recipe } of (await ledger.contents(run)).recipes.values()) {
    yield writeRunLine({ kind: 'recipe', digest, name, recipe: { ...recipe } });
  }
  let rollouts = 0;
  for await (const { row, components, cached, counts } of ledger.rows(run, { attempts: 'all' })) {
    yield writeRunLine({ kind: 'rollout', rollout: { ...row, components, cached, counts } });
    rollouts++;
  }
  yield writeRunLine({ kind: 'end', rollouts });
}

async function* pinnedJudgments(ledger: LedgerClient, run: StoredRun): AsyncGenerator<WantedRecord> {
  for await (const { row } of ledger.rows(run, { attempts: 'all' })) yield* row.judgments;
}

/**
 * Records some rollouts of a file. @throws StorageError; RequestError if the run has another family or is being
 * deleted.
 */
async function putChunk(
  ledger: LedgerClient,
  run: string,
  { family, recipes, rollouts }: RunChunk,
): Promise<('recorded' | 'unchanged' | 'taken')[]> {
  const result = await ledger.record({
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
      throw invalidInput(['id'], message);
    }
  }
}

function newRollout(rollout: RunFileRollout): NewRollout {
  const { step, group, sample, attempt, grouping, content, recipe, recorded_at, components, cached, counts } = rollout;
  const { v, facts, judgments, reward, reason, rubric_set } = rollout;
  return {
    ...{ step, group, sample, grouping, content, recipe },
    stored: { v, facts, judgments, reward, reason, ...(rubric_set === undefined ? {} : { rubric_set }) },
    statistics: { lacking: incompletenessOf(facts, reward), components, judgments: judgments.length, cached },
    // What the facts give is counted here; the file says the rest.
    counts: {
      ...counts,
      ...rolloutCounts(facts, { chars: counts?.chars ?? null, findings: counts?.findings ?? null }),
    },
    report: null,
    rollout: null,
    imported: { attempt, recorded_at },
  };
}
