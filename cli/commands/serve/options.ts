/** The flags of `citeward serve`, and what they and the file of settings say. */
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { MAX_PROCESSES } from '../../../serve/processes.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { readTextFile } from '../../shared/input.ts';
import { CITEWARD } from '../../shared/program.ts';

export const DEFAULT_PORT = 8799;
export const MAX_PORT = 65_535;
export const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_STATE = '.citeward/serve';

/** The flags of the settings of a Worker that runs on this machine. */
export const SETTINGS_FLAGS: readonly FlagDescription[] = [
  { name: 'settings', kind: 'text', value: 'FILE', help: 'File of settings, as NAME=value lines.' },
  { name: 'var', kind: 'list', value: 'NAME=VALUE', help: 'One setting; it overrides the file. May be repeated.' },
];

export const serveSyntax: CommandSyntax = {
  usage: ['serve [flags]'],
  flags: [
    { name: 'port', kind: 'text', value: 'N', help: `Port to listen on (default ${DEFAULT_PORT}; 0 = a free one).` },
    { name: 'host', kind: 'text', value: 'ADDRESS', help: `Address to listen on (default ${DEFAULT_HOST}).` },
    { name: 'state', kind: 'text', value: 'DIR', help: `Folder that keeps the data (default ${DEFAULT_STATE}).` },
    {
      ...{ name: 'processes', kind: 'text', value: 'N' },
      help: `Processes of workerd, each with one thread (default 1; at most ${MAX_PROCESSES}).`,
    },
    ...SETTINGS_FLAGS,
  ],
  details: [
    'Runs the Worker on this machine, without an account. It needs the package workerd.',
    'Settings are those of a deployment: BACKENDS, API_KEYS, DESKS and so on (docs/guides/serve.md).',
    'Without API_KEYS, requests need no key on a loopback address; other addresses need API_KEYS.',
    `Make a key: ${CITEWARD} keys add NAME --file serve.vars`,
    `Then start: ${CITEWARD} serve --host 0.0.0.0 --settings serve.vars`,
    'Standard output says when it listens; standard error is the log, as JSON lines.',
  ],
};

export type ServeOptions = {
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly state: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly processes: number;
};

/** Reads the command line and the file of settings. @throws UsageError */
export async function readServeOptions(flags: Flags, defaults: Partial<ServeOptions> = {}): Promise<ServeOptions> {
  const [extra] = flags.positionals;
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`, `See: ${CITEWARD} help serve`);
  return {
    host: flags.text('host') ?? defaults.host ?? DEFAULT_HOST,
    port: flags.count('port', { min: 0, max: MAX_PORT }) ?? defaults.port ?? DEFAULT_PORT,
    processes: flags.count('processes', { min: 1, max: MAX_PROCESSES }) ?? defaults.processes ?? 1,
    state: resolve(flags.text('state') ?? defaults.state ?? DEFAULT_STATE),
    settings: { ...defaults.settings, ...(await readSettings(flags)) },
  };
}

/** Reads SETTINGS_FLAGS. @throws UsageError */
export async function readSettings(flags: Flags): Promise<Record<string, string>> {
  const file = flags.text('settings');
  return {
    ...(file === null ? {} : settingsOfText(await readTextFile(file), file)),
    ...settingsOfFlags(flags.list('var')),
  };
}

/** The settings of a text of `NAME=value` lines. @throws UsageError if a name is none. */
export function settingsOfText(text: string, file: string): Record<string, string> {
  const entries = Object.entries(parseEnv(text)).map(([name, value]) => [name, value ?? ''] as const);
  for (const [name] of entries) requireName(name, file);
  return Object.fromEntries(entries);
}

function settingsOfFlags(variables: readonly string[]): Record<string, string> {
  const entries = variables.map((variable) => {
    const end = variable.indexOf('=');
    if (end === -1) throw new UsageError(`--var: expected NAME=VALUE, got "${variable}"`);
    const name = variable.slice(0, end);
    requireName(name, '--var');
    return [name, variable.slice(end + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function requireName(name: string, where: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)) return;
  throw new UsageError(`${where}: "${name}" is no name of a setting: expected letters, digits and underscores`);
}

/**
 * Decides whether requests need a key, where the settings do not say: without keys, everyone on this machine may ask,
 * and nobody beyond it.
 *
 * @throws UsageError if other machines could ask without a key.
 */
export function withAccess<O extends Access>(options: O): O & Access {
  const { host, settings } = options;
  const hasKeys = (settings['API_KEYS'] ?? '') !== '';
  if (hasKeys || settings['ALLOW_ANONYMOUS'] !== undefined) return options;
  if (!isLoopback(host)) {
    throw new UsageError(
      `other machines can reach ${host}: the settings need API_KEYS, or ALLOW_ANONYMOUS=true to accept all requests`,
      `Make a key, and start with --settings serve.vars: ${CITEWARD} keys add NAME --file serve.vars`,
    );
  }
  return { ...options, settings: { ...settings, ALLOW_ANONYMOUS: 'true' } };
}

type Access = Pick<ServeOptions, 'host' | 'settings'>;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);
}
