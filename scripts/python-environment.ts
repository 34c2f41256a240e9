/** Python virtual environments with pinned packages, each made once in the cache folder of Citeward. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { RunError } from '../cli/shared/exit.ts';
import { whileLocked } from './llm/build-lock.ts';

const run = promisify(execFile);

/** pip lists every package that it installs. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export type PythonEnvironment = {
  /** Who needs it, as the subject of a message: `the red team`. */
  readonly user: string;
  /** The folder of the environments: `red-team` in the cache folder. */
  readonly folder: string;
  /** Path of the file with the pinned packages. Another content is another environment. */
  readonly requirements: string;
  /** Path of the file with pinned packages that are installed last, without what they depend on. */
  readonly withoutDependencies?: string;
  /** The oldest minor version of Python 3 that the packages accept, such as 11. */
  readonly oldestMinor: number;
  /** Further options of `pip install`. */
  readonly pipOptions?: readonly string[];
  /** What the first start downloads and keeps. */
  readonly download: string;
};

/** A folder within `$CITEWARD_CACHE`, by default `~/.cache/citeward`. */
export function cacheFolder(name: string): string {
  const configured = process.env['CITEWARD_CACHE'];
  const base = configured === undefined || configured === '' ? join(homedir(), '.cache', 'citeward') : configured;
  return resolve(base, name);
}

/** The paths of the files with the environment's pins. */
export function pinnedIn({ requirements, withoutDependencies }: PythonEnvironment): string[] {
  return withoutDependencies === undefined ? [requirements] : [requirements, withoutDependencies];
}

/** Path of the environment's Python, whether it exists or not. */
export async function pythonPath(wanted: PythonEnvironment): Promise<string> {
  const hash = createHash('sha256');
  for (const path of pinnedIn(wanted)) hash.update(await readFile(path));
  const environment = join(cacheFolder(wanted.folder), `python-${hash.digest('hex').slice(0, 8)}`);
  return process.platform === 'win32' ? join(environment, 'Scripts', 'python.exe') : join(environment, 'bin', 'python');
}

/** Returns the environment's Python and makes the environment if necessary. @throws RunError */
export async function ensurePython(wanted: PythonEnvironment, say: (text: string) => void): Promise<string> {
  const python = await pythonPath(wanted);
  const environment = resolve(python, '../..');
  const complete = `${environment}.complete`;
  if (existsSync(complete)) return python;
  await mkdir(dirname(environment), { recursive: true });
  return whileLocked(
    join(dirname(environment), 'python.lock'),
    () => say('another process makes the Python environment; waiting for it'),
    async () => {
      if (existsSync(complete)) return python;
      say(`Making a Python environment once, in ${environment}`);
      say(`   ${wanted.download}`);
      await rm(environment, { recursive: true, force: true });
      const system = await systemPython(wanted);
      await step(system, ['-m', 'venv', environment]);
      const options = ['--quiet', '--disable-pip-version-check', ...(wanted.pipOptions ?? [])];
      await step(python, ['-m', 'pip', 'install', ...options, '-r', wanted.requirements]);
      if (wanted.withoutDependencies !== undefined)
        await step(python, ['-m', 'pip', 'install', ...options, '--no-deps', '-r', wanted.withoutDependencies]);
      // An environment is not relocatable, so a marker tells a complete one.
      await mkdir(`${complete}.part`, { recursive: true });
      await rename(`${complete}.part`, complete);
      return python;
    },
  );
}

/** The first Python of this machine that is new enough and has venv. @throws RunError if there is none. */
async function systemPython({ user, oldestMinor }: PythonEnvironment): Promise<string> {
  const script = `import sys, venv; sys.exit(sys.version_info < (3, ${oldestMinor}))`;
  const names = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python'];
  for (const name of [...names, ...(await pyenvPythons())]) {
    try {
      await run(name, ['-c', script]);
      return name;
    } catch {
      // Not installed, or too old: the next name.
    }
  }
  const needed = `${user} needs Python 3.${oldestMinor} or later with the module venv`;
  throw new RunError(needed, 'Install it, and run this again');
}

/** The Pythons that pyenv keeps, whether selected or not. */
async function pyenvPythons(): Promise<string[]> {
  const versions = join(homedir(), '.pyenv', 'versions');
  const names = await readdir(versions).catch(() => []);
  return names.filter((name) => name.startsWith('3.')).map((name) => join(versions, name, 'bin', 'python'));
}

async function step(program: string, args: readonly string[]): Promise<void> {
  try {
    await run(program, [...args], { maxBuffer: MAX_OUTPUT_BYTES });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new RunError(`${program} ${args.join(' ')} failed:\n${output}`);
  }
}
