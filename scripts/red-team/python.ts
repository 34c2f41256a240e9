/** The Python environment of the policy: a virtual environment in the cache folder with the pinned packages. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { RunError } from '../../cli/shared/exit.ts';
import { whileLocked } from '../llm/build-lock.ts';

const run = promisify(execFile);

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** What the first start downloads and keeps, on Linux x64. */
export const DOWNLOAD_TEXT = 'JAX for CPUs, NumPy and SciPy from PyPI: a download of 140 MB, 620 MB on disk';

/** `$CITEWARD_CACHE/red-team`, by default `~/.cache/citeward/red-team`. */
export function redTeamCache(): string {
  const configured = process.env['CITEWARD_CACHE'];
  const base = configured === undefined || configured === '' ? join(homedir(), '.cache', 'citeward') : configured;
  return resolve(base, 'red-team');
}

/** Path of the environment's Python; whether it exists or not. */
export async function pythonPath(): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 8);
  const folder = join(redTeamCache(), `python-${digest}`);
  return process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');
}

/** Returns the environment's Python and makes the environment if necessary. @throws RunError */
export async function ensurePython(say: (text: string) => void): Promise<string> {
  const python = await pythonPath();
  const folder = resolve(python, '../..');
  if (existsSync(`${folder}.complete`)) return python;
  await mkdir(redTeamCache(), { recursive: true });
  return whileLocked(
    join(redTeamCache(), 'python.lock'),
    () => say('another process makes the Python environment; waiting for it'),
    async () => {
      if (existsSync(`${folder}.complete`)) return python;
      say(`Making a Python environment once, in ${folder}`);
      say(`   ${DOWNLOAD_TEXT}`);
      await rm(folder, { recursive: true, force: true });
      const system = await systemPython();
      await step(system, ['-m', 'venv', folder]);
      await step(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
      // An environment is not relocatable, so a marker tells a complete one.
      await mkdir(`${folder}.complete.part`, { recursive: true });
      await rename(`${folder}.complete.part`, `${folder}.complete`);
      return python;
    },
  );
}

/** A Python of 3.11 or later. @throws RunError if there is none. */
async function systemPython(): Promise<string> {
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    try {
      await run(name, ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 11))']);
      return name;
    } catch {
      // Not installed, or too old: the next name.
    }
  }
  throw new RunError('the red team needs Python 3.11 or later with the module venv', 'Install it, and run this again');
}

async function step(program: string, args: readonly string[]): Promise<void> {
  try {
    await run(program, [...args]);
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new RunError(`${program} ${args.join(' ')} failed:\n${output}`);
  }
}
