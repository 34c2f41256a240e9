/** What `citeward view` shows of a file: a run as it was exported, the results of a batch, or rows, which it scores. */
import { createReadStream, openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { createClient } from '../../../clients/typescript/client.ts';
import { isJsonObject } from '../../../src/json.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import { readLines } from '../../../src/text/lines.ts';
import { ADDED_CRITERION, citationsOnly } from '../../../src/wire/rows/citations-only.ts';
import { groupPlaces, runNameOf } from '../../../src/wire/rows/group-places.ts';
import { isBatchResult, isModelBatchResult } from '../../../src/wire/rows/tool-files.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import { RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { type RowInput, statOfFile } from '../../shared/input.ts';
import { countOf, countText } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { openRowFile, openRows } from '../../shared/row-files/open-rows.ts';
import { type Fields, lineFields } from '../../shared/rows.ts';
import { runOfFile } from '../../shared/run-file.ts';
import { runRows } from '../../shared/run-rows.ts';
import { applyScoringOptions, readScoringOptions, scoringFieldsSet } from '../../shared/scoring-flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { type BatchFile, checkedInput, withWorkspace } from '../batch/input.ts';
import { MAX_RESULT_LINE_BYTES } from '../batch/results.ts';
import { ScoreSummary } from '../score/render.ts';
import { scoringRows } from '../score/run.ts';

/** Prints the address of a page, and opens it. @param path such as `#/runs/first`. */
export type Page = (path: string) => Promise<void>;

export type ShownFile = {
  /** Brings the file into the Worker. @param page called once, as soon as there is something to see. */
  readonly show: (client: ReturnType<typeof createClient>, page: Page) => Promise<void>;
};

/**
 * Rows that the lexical judge scores at the same time: the Worker is a single thread, which answers the page after the
 * rows that wait for it.
 */
const LEXICAL_ROWS_AT_ONCE = 4;

/** Finds out what a file holds, before a Worker starts. @throws UsageError if it cannot be read. */
export async function shownFile(flags: Flags, judgeNotices: readonly string[], screen: Screen): Promise<ShownFile> {
  const [path] = flags.positionals;
  if (path === undefined || path === '-') return rowsFile(flags, judgeNotices, screen);
  await statOfFile(path);
  const run = await runOfFile(path);
  const isBatch = run === null && (await holdsBatchResults(path));
  if (flags.text('rows') !== null && !isBatch) {
    throw new UsageError('--rows goes with the results of a batch', `${path} holds something else: leave --rows out.`);
  }
  if (isBatch) return batchFile(path, flags, screen);
  return run === null ? rowsFile(flags, judgeNotices, screen) : runFile(path, run, screen);
}

function runFile(path: string, run: string, screen: Screen): ShownFile {
  return {
    async show(client, page) {
      const reply = await client.runs.import(run, await openAsBlob(path));
      if (!reply.ok) throw runErrorOf(reply.failure);
      const { imported, refused, refused_lines, complete } = reply.body;
      for (const { line, reason, detail } of refused_lines) screen.message(`line ${line}: ${reason}: ${detail}`, 'red');
      const counts = `${countText(imported)} rollouts${refused === 0 ? '' : ` · ${countText(refused)} lines refused`}`;
      screen.message(complete ? counts : `${counts} · the file is cut off, or edited`, 'bold');
      screen.message('An exported run has no text: its pages show rewards, verdicts and figures.', 'dim');
      await page(`#/runs/${run}`);
    },
  };
}

async function holdsBatchResults(path: string): Promise<boolean> {
  const stream = createReadStream(path);
  let holdsResults = false;
  try {
    for await (const { content } of readLines(stream, MAX_RESULT_LINE_BYTES)) {
      const read = lineFields(content);
      if (!read.ok || isModelBatchResult(read.value) || !isBatchResult(read.value)) return false;
      // A line of a request that failed may be of any batch.
      if (read.value['response'] !== null) return true;
      holdsResults = true;
    }
    return holdsResults;
  } finally {
    stream.destroy();
  }
}

/** The results of a batch hold no answers: the rows that were scored have them. */
async function batchFile(path: string, flags: Flags, screen: Screen): Promise<ShownFile> {
  const scoring = await readScoringOptions(flags);
  const rows = flags.text('rows');
  const input = rows === null ? null : await openRowFile([rows], flags, 'view scores.jsonl --rows rollouts.jsonl');
  return {
    async show(client, page) {
      const upload = async (content: Blob, filename: string): Promise<string> => {
        const reply = await client.files.upload({ content, filename });
        if (!reply.ok) throw runErrorOf(reply.failure);
        return reply.body.id;
      };
      const results = await upload(await openAsBlob(path), basename(path));
      const requests = input === null ? null : await uploadRequests(input);
      if (input === null) {
        screen.message('Results hold no answers. To see them, give the rows that were scored: --rows FILE.', 'dim');
      }
      await page(`#/batches/results/${results}${requests === null ? '' : `/${requests}`}`);

      /** Uploads the rows as the requests of the batch, whose ids join them with their results. */
      async function uploadRequests(source: RowInput): Promise<string> {
        return withWorkspace(async (directory) => {
          const file: BatchFile = await checkedInput(flags, source, scoring, directory, screen);
          return upload(await openAsBlob(file.path), file.filename);
        });
      }
    },
  };
}

async function rowsFile(flags: Flags, judgeNotices: readonly string[], screen: Screen): Promise<ShownFile> {
  const scoring = await readScoringOptions(flags);
  const input = await openRows(flags, 'view examples/rollouts.jsonl', true, {
    onTool: (tool) => screen.message(`Read as ${tool}.`, 'dim'),
    onLeftOut: (records) => screen.message(`${countOf(records, 'record')} without an answer left out.`, 'dim'),
  });
  await checkRecipe(scoring);
  const id = runIdSchema.safeParse(runNameOf(basename(input.name))).data ?? 'view';
  const placeOf = groupPlaces();
  const asksForRecipe = scoringFieldsSet(scoring).has('recipe');
  return {
    async show(client, page) {
      const progress = new Progress(screen.errors, input.bytes);
      screen.show(progress);
      const summary = new ScoreSummary();
      const started = performance.now();
      let isShown = false;
      let steps = false;
      let isTold = false;
      await runRows({
        input,
        schema: scoreRequestSchema,
        prepare: (fields) => {
          const step = stepOf(fields);
          steps ||= step !== 0;
          const run = { ...placeOf(hasPlace(fields) ? fields : { ...fields, run: null }), id, step };
          const cited = asksForRecipe ? null : citationsOnly(fields);
          if (cited !== null && !isTold) {
            isTold = true;
            screen.message(
              `Rows have no criteria: citations alone are paid, and "${ADDED_CRITERION}" is judged and not paid.`,
              'dim',
            );
          }
          return applyScoringOptions({ ...(cited ?? fields), run, store_text: true }, scoring);
        },
        handler: scoringRows(
          {
            ...{ client, judgeNotices, refinerNotices: [] },
            concurrency: judgeNotices.length > 0 ? LEXICAL_ROWS_AT_ONCE : REMOTE_CONCURRENCY,
          },
          scoringFieldsSet(scoring),
        ),
        concurrency: null,
        screen,
        progress,
        async onFinished({ outcome }) {
          summary.add(outcome);
          if (isShown || outcome.kind !== 'done') return;
          isShown = true;
          await page(steps ? `#/runs/${id}` : `#/runs/${id}/0`);
        },
      });
      await summary.print(screen, started, null);
      if (!isShown) {
        throw new RunError(
          'no row was scored, so there is nothing to show',
          'A row has an answer (response) and what it cites (sources or tool_output); --map names their columns.',
        );
      }
    },
  };
}

function stepOf({ run }: Fields): number {
  return isJsonObject(run) && typeof run['step'] === 'number' ? run['step'] : 0;
}

/** Whether a row says where it belongs in its step; a completion of TRL says only which step that is. */
function hasPlace({ run }: Fields): boolean {
  return isJsonObject(run) && run['group'] !== undefined;
}
