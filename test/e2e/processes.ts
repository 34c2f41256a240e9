/** Starts child processes like a user's shell, and collects their output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/**
 * The command line, bundled (bundled-cli.ts), relative to the repository. It is as deep as the files of a command, which
 * find the files that they read by their own place.
 */
export const BUNDLED_CLI = '.cache/cli/bundled/main.js';

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Start = {
  readonly args: readonly string[];
  readonly nodeArgs?: readonly string[];
  /** Pieces for standard input; none = it is closed at once. */
  readonly stdin?: Iterable<string | Uint8Array>;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a script of the project under this Node until it ends. */
export async function runScript(script: string, { args, nodeArgs = [], stdin = [], env = {} }: Start): Promise<Ended> {
  const { FORCE_COLOR: _forced, CITEWARD_KEY: _key, ...inherited } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, resolve(root, script), ...args], {
    cwd: root,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: 'pipe',
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = once(child, 'close');
  for (const piece of stdin) {
    if (!child.stdin.write(piece)) await Promise.race([once(child.stdin, 'drain'), ended]);
    if (child.exitCode !== null) break;
  }
  child.stdin.end();
  await ended;
  return { code: child.exitCode, ...output };
}

/** Runs `citeward`. */
export function citeward(...args: readonly string[]): Promise<Ended> {
  return runCiteward({ args });
}

/** Runs `citeward` with standard input or variables of the environment. */
export function runCiteward(start: Start): Promise<Ended> {
  return runScript(BUNDLED_CLI, start);
}

/** JSON lines of standard output. */
export function jsonLines(stdout: string): Readonly<Record<string, unknown>>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}

/**
 * Installs Debian packages that a test needs, where they are missing. @param script of the repository, for root.
 * @throws Error with what it said.
 */
export async function install(script: string): Promise<void> {
  const child = spawn('bash', [resolve(root, script)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`run ${script} as root, as this test needs what it installs\n${said}`);
}

/** Package lists and a large package, from wherever they come. */
export const INSTALL_MS = 400_000;
