/**
 * Logs the figures of a run's steps to W&B. W&B publishes no file format, so `python3` does it with the user's own
 * `wandb`: citeward.wandb of the Python client reads the steps from standard input.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RunError } from '../../shared/exit.ts';
import { messageOf } from '../../shared/input.ts';
import type { TaggedFigures } from './figures.ts';

/** The Python client of a clone; elsewhere the installed package is imported. */
const PYTHON_CLIENT = resolve(import.meta.dirname, '../../../clients/python');

/** Its process, and its end. Written out, because the compiler names the module of an inferred type without `node:`. */
type StartedPython = {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<unknown>;
};

/**
 * Starts a module of the Python client. Its messages go to standard error.
 * @param command the module and its arguments. @param needs the package that it needs.
 * @returns the process, and a promise that rejects with a RunError if python3 cannot be started.
 */
export function startPython(command: readonly string[], needs: string): StartedPython {
  const path = [PYTHON_CLIENT, process.env['PYTHONPATH'] ?? ''].filter((each) => each !== '').join(delimiter);
  const child = spawn('python3', ['-m', ...command], {
    env: { ...process.env, PYTHONPATH: path },
    stdio: ['pipe', 'pipe', process.stderr],
  });
  // A process that ends early says why in its exit code, not in a broken pipe.
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').catch((error: unknown) => {
    throw new RunError(
      `cannot start python3: ${messageOf(error)}`,
      `Install Python 3.9 or later, and then: python3 -m pip install ${needs}`,
    );
  });
  // The failure is for the caller, who may wait for it only later.
  ended.catch(() => undefined);
  return { child, ended };
}

/** A step as citeward.wandb reads it. */
export function wandbLine({ step, figures }: TaggedFigures): string {
  return JSON.stringify({ step, figures: Object.fromEntries(figures) });
}

/**
 * Waits until wandb has logged all steps. Python's and wandb's own messages go to standard error.
 * @param onProgress called with the number of steps that Python has taken.
 * @throws RunError if python3 is missing or fails.
 */
export async function logToWandb(
  project: string,
  run: string,
  steps: readonly TaggedFigures[],
  onProgress: (steps: number) => void,
): Promise<void> {
  const { child, ended } = startPython(['citeward.wandb', project, run], 'wandb');
  child.stdout.pipe(process.stderr, { end: false });
  function* lines(): Generator<string> {
    for (const [position, step] of steps.entries()) {
      yield `${wandbLine(step)}\n`;
      onProgress(position + 1);
    }
  }
  // If Python ends before it has read everything, its exit code says so.
  await Promise.all([pipeline(lines, child.stdin).catch(() => undefined), ended]);
  if (child.exitCode === 0) return;
  throw new RunError(
    `W&B has not logged the run: python3 ended with ${child.exitCode ?? child.signalCode}, for the reason above`,
  );
}
