/**
 * `npm run dev`: runs the Worker of the sources locally, without account or network, as `citeward serve` does. Requests
 * need no key, the built-in lexical judge is on, a fake replaces Workers AI, and a development key signs receipts. Takes
 * the flags of `citeward serve` (`npm run dev -- --port 9000`); BACKENDS and other secrets are read from .dev.vars.
 */
import { relative, resolve } from 'node:path';
import { readServeOptions, type ServeOptions, serveSyntax, settingsOfText } from '../cli/commands/serve/options.ts';
import { serveUntilSignal } from '../cli/commands/serve/run.ts';
import { CommandError, EXIT_OK } from '../cli/shared/exit.ts';
import { readFlags } from '../cli/shared/flags.ts';
import { commandHelp } from '../cli/shared/help.ts';
import type { LogLine } from '../serve/log-lines.ts';
import { ensureServeFiles } from './build-serve.ts';
import { developmentKey, fileText } from './development-key.ts';

const root = resolve(import.meta.dirname, '..');
const STATE = resolve(root, '.citeward/dev');
const OPEN = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', ALLOW_EXTRACTIVE_REFINER: 'true' };

/** Requests are not shown, errors are. */
function showProblem({ level, message }: LogLine): void {
  if (level === 'warn' || level === 'error') console.error(message);
}

async function dev(): Promise<number> {
  const variables = settingsOfText(await fileText(resolve(root, '.dev.vars')), '.dev.vars');
  const flags = readFlags('serve', serveSyntax.flags, process.argv.slice(2));
  if (flags.isOn('help')) {
    console.log(commandHelp('Run the Worker of the sources locally: npm run dev takes the flags of', serveSyntax));
    return EXIT_OK;
  }
  const given = await readServeOptions(flags, { state: STATE, settings: { ...OPEN, ...variables } });
  const ISSUER_KEY = given.settings['ISSUER_KEY'] ?? (await developmentKey(resolve(STATE, 'issuer-key')));
  const options: ServeOptions = { ...given, settings: { ...given.settings, ISSUER_KEY } };
  return serveUntilSignal(
    { ...options, files: await ensureServeFiles(), hasFakeAi: true, onLog: showProblem },
    (url) => {
      const hasKeys = (options.settings['API_KEYS'] ?? '') !== '';
      console.log(`The dashboard is at ${url} and the API below it; Ctrl-C stops.`);
      console.log(`Requests need ${hasKeys ? 'a key' : 'no key'}. Without BACKENDS the lexical judge compares words.`);
      const state = relative(process.cwd(), options.state) || '.';
      console.log(`Data and stored keys outlast a restart, in ${state}; delete the folder to start anew.`);
    },
  );
}

try {
  process.exitCode = await dev();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(error.message);
  // npm takes the flags before `--` for its own.
  if (error.hint !== null) console.error(error.hint.replace('with --port', 'with -- --port'));
  process.exitCode = error.exitCode;
}
