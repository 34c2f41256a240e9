/**
 * `citeward view`: shows a file in the dashboard of a Worker of its own, which ends with the command. The rows are scored
 * and recorded like those of a trainer, so every page of a run shows them.
 */
import { spawn } from 'node:child_process';
import { createClient } from '../../../clients/typescript/client.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { judgeSetting } from '../../shared/judge-server.ts';
import { LEXICAL_NOTICE } from '../../shared/row-host.ts';
import { Screen } from '../../shared/screen.ts';
import { MAX_PORT, readSettings } from '../serve/options.ts';
import { OPEN, withOwnWorker } from '../serve/own-worker.ts';
import { starterEnded } from '../serve/starter.ts';
import { viewSyntax } from './options.ts';
import { type Page, shownFile } from './shown-file.ts';

export const viewCommand: Command = { ...viewSyntax, run };

async function run(flags: Flags): Promise<number> {
  const screen = new Screen(flags);
  const settings = await settingsOf(flags);
  const shown = await shownFile(flags, settings['BACKENDS'] === undefined ? [LEXICAL_NOTICE] : [], screen);
  const port = flags.count('port', { min: 0, max: MAX_PORT }) ?? 0;
  return withOwnWorker(
    { state: flags.text('state'), port, settings: { ...OPEN, ...settings }, screen },
    async (server) => {
      const page = pageOf(server.url, screen, !flags.isOn('no-open'));
      await shown.show(createClient({ url: new URL(server.url), key: null }), page);
      screen.message('The page ends with Ctrl-C.', 'dim');
      const reason = await Promise.race([server.ended, starterEnded()]);
      if (reason !== 'starter') throw new RunError(reason);
      return EXIT_OK;
    },
  );
}

/** The settings of the Worker, with the judge of `--judge-url`. @throws UsageError, RunError */
async function settingsOf(flags: Flags): Promise<Record<string, string>> {
  const settings = await readSettings(flags);
  if (settings['BACKENDS'] !== undefined && flags.text('judge-url') !== null) {
    throw new UsageError('--judge-url and the setting BACKENDS exclude each other');
  }
  const judge = await judgeSetting(flags);
  return judge === null ? settings : { ...settings, BACKENDS: judge };
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
