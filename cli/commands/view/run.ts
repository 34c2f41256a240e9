/**
 * `citeward view`: shows a file in the dashboard of a Worker of its own, which ends with the command. The rows are scored
 * and recorded like those of a trainer, so every page of a run shows them.
 */
import { spawn } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createClient } from '../../../clients/typescript/client.ts';
import { ServeError } from '../../../serve/serve-error.ts';
import { type Server, startServer } from '../../../serve/server.ts';
import { isJsonObject } from '../../../src/json.ts';
import { runIdSchema } from '../../../src/runs/row.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { checkRecipe } from '../../shared/check-recipe.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { onInterruption } from '../../shared/interruption.ts';
import { countText } from '../../shared/number-text.ts';
import { Progress } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { LEXICAL_NOTICE } from '../../shared/row-host.ts';
import type { Fields } from '../../shared/rows.ts';
import { runOfFile } from '../../shared/run-file.ts';
import { runRows } from '../../shared/run-rows.ts';
import { applyScoringOptions, readScoringOptions, scoringFieldsSet } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { REMOTE_CONCURRENCY } from '../../shared/worker.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { groupPlaces } from '../score/options.ts';
import { ScoreSummary } from '../score/render.ts';
import { scoringRows } from '../score/run.ts';
import { serveFiles } from '../serve/files.ts';
import { DEFAULT_HOST, MAX_PORT, readSettings } from '../serve/options.ts';
import { starterEnded } from '../serve/starter.ts';
import { viewSyntax } from './options.ts';

export const viewCommand: Command = { ...viewSyntax, run };

async function run(flags: Flags): Promise<number> {
  const screen = new Screen(flags);
  const settings = await readSettings(flags);
  const shown = await shownFile(flags, settings['BACKENDS'] === undefined ? [LEXICAL_NOTICE] : [], screen);
  const port = flags.count('port', { min: 0, max: MAX_PORT }) ?? 0;
  const kept = flags.text('state');
  const state = kept === null ? await mkdtemp(join(tmpdir(), 'citeward-view-')) : resolve(kept);
  let server: Server | null = null;
  const end = async (): Promise<void> => {
    await server?.kill();
    if (kept === null) await rm(state, { recursive: true, force: true });
  };
  let isInterrupted = false;
  const removeHandler = onInterruption(() => {
    isInterrupted = true;
    return end();
  });
  try {
    server = await startServer({
      files: serveFiles(),
      state,
      host: DEFAULT_HOST,
      port,
      settings: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', ...settings },
      onLog: ({ level, message }) => level === 'error' && screen.message(message, 'red'),
    });
    const page = pageOf(server.url, screen, !flags.isOn('no-open'));
    await shown.show(createClient({ url: new URL(server.url), key: null }), page);
    screen.message('The page ends with Ctrl-C.', 'dim');
    const reason = await Promise.race([server.ended, starterEnded()]);
    if (reason !== 'starter') throw new RunError(reason);
    return EXIT_OK;
  } catch (error) {
    // The interruption ends the process, and what it interrupted is no error.
    if (isInterrupted) return new Promise(() => undefined);
    if (error instanceof ServeError) throw new RunError(error.message, error.hint);
    throw error;
  } finally {
    removeHandler();
    await end();
  }
}

type Page = (path: string) => Promise<void>;

type ShownFile = {
  /** Brings the file into the Worker. @param page called once, as soon as there is something to see. */
  readonly show: (client: ReturnType<typeof createClient>, page: Page) => Promise<void>;
};

/** Finds out what a file holds, before a Worker starts. @throws UsageError if it cannot be read. */
async function shownFile(flags: Flags, judgeNotices: readonly string[], screen: Screen): Promise<ShownFile> {
  const [path] = flags.positionals;
  const run = path === undefined || path === '-' ? null : await runOfFile(path);
  return run === null || path === undefined ? rowsFile(flags, judgeNotices, screen) : runFile(path, run, screen);
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

async function rowsFile(flags: Flags, judgeNotices: readonly string[], screen: Screen): Promise<ShownFile> {
  const scoring = await readScoringOptions(flags);
  const input = await openRows(flags, 'view examples/rollouts.jsonl', true);
  await checkRecipe(scoring);
  const id = runIdOf(input.name);
  const placeOf = groupPlaces();
  return {
    async show(client, page) {
      const progress = new Progress(screen.errors, input.bytes);
      screen.show(progress);
      const summary = new ScoreSummary();
      const started = performance.now();
      let isShown = false;
      let steps = false;
      await runRows({
        input,
        schema: scoreRequestSchema,
        prepare: (fields) => {
          const step = stepOf(fields);
          steps ||= step !== 0;
          const run = { ...placeOf(fields), id, step };
          return applyScoringOptions({ ...fields, run, store_text: true }, scoring);
        },
        handler: scoringRows(
          { client, judgeNotices, refinerNotices: [], concurrency: REMOTE_CONCURRENCY },
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
      if (!isShown) throw new RunError('no row was scored, so there is nothing to show');
    },
  };
}

function stepOf({ run }: Fields): number {
  return isJsonObject(run) && typeof run['step'] === 'number' ? run['step'] : 0;
}

/** A name of a run like that of the file: `results.jsonl` is `results`. */
function runIdOf(file: string): string {
  const name = basename(file)
    .replace(/\..*$/u, '')
    .replaceAll(/[^A-Za-z0-9_-]+/gu, '-');
  return runIdSchema.safeParse(name).data ?? 'view';
}

/** Prints the address of a page, and opens it where a person sits at the terminal. */
function pageOf(url: string, screen: Screen, mayOpen: boolean): Page {
  return async (path) => {
    const address = `${url}/${path}`;
    await screen.result(address);
    if (mayOpen && screen.isTerminal) openBrowser(address);
  };
}

/** Opens the browser of the system; without one the printed address is enough. */
function openBrowser(address: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['explorer', address]
        : ['xdg-open', address];
  if (program === undefined) return;
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
