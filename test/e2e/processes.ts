/** Runs `citeward` in this process, and programs as child processes like a user's shell; collects their output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

export const root = resolve(import.meta.dirname, '../..');

/**
 * The command line, bundled (bundled-cli.ts), relative to the repository. It is as deep as the files of a command, which
 * find the files that they read by their own place.
 */
export const BUNDLED_CLI = '.cache/cli/bundled/main.js';

/** The command line as a function, in the same bundle. */
const BUNDLED_COMMANDS = '.cache/cli/bundled/dispatch.js';

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
  const child = spawn(process.execPath, [...nodeArgs, resolve(root, script), ...args], {
    cwd: root,
    env: environment(env),
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

function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _forced, CITEWARD_KEY: _key, ...inherited } = process.env;
  return { ...inherited, NO_COLOR: '1', ...env };
}

/**
 * Runs a command in this process, without the 0.2 to 0.5 s of a processor that a process of its own takes to start.
 * `serve`, `view` and `--state` need a process: what they hold, they hold until it ends.
 */
export function citeward(...args: readonly string[]): Promise<Ended> {
  return runCiteward({ args });
}

/** Runs a command in this process with standard input or variables of the environment. */
export async function runCiteward({ args, stdin = [], env = {} }: Omit<Start, 'nodeArgs'>): Promise<Ended> {
  enableCompileCache();
  const bundle = pathToFileURL(resolve(root, BUNDLED_COMMANDS)).href;
  const { main }: typeof import('../../cli/dispatch.ts') = await import(bundle);
  const output = { stdout: '', stderr: '' };
  const into = (name: keyof typeof output): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += String(chunk);
        done();
      },
    });
  const code = await main(args, {
    env: environment(env),
    stdin: Readable.from(Array.from(stdin, (piece) => Buffer.from(piece))),
    stdout: into('stdout'),
    stderr: into('stderr'),
  });
  return { code, ...output };
}

/** Runs a command as a process of its own. */
export function spawnCiteward(start: Start): Promise<Ended> {
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
