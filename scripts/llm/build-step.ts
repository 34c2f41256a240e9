/**
 * Runs one external command of the build. Output goes to a log file; the terminal shows one progress line every few
 * seconds. A failure shows the end of the log.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

const LINE_EVERY_MS = 10_000;
const LOG_LINES_SHOWN = 30;

export type BuildLog = {
  /** Prints a line with the time since the build started. */
  say(text: string): void;
  /** The complete output of all commands. */
  readonly file: string;
};

export class BuildStepError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BuildStepError';
  }
}

export function buildLog(file: string): BuildLog {
  const started = performance.now();
  return {
    file,
    say: (text) => console.error(`[${clock((performance.now() - started) / 1000)}] ${text}`),
  };
}

export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

export type Step = {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Converts an output line to a progress text; `null` = show nothing. */
  readonly progress?: (line: string) => string | null;
};

/** Runs a command. @throws BuildStepError with the end of the log. */
export async function runStep(step: Step, log: BuildLog): Promise<void> {
  log.say(step.title);
  const started = performance.now();
  const file = createWriteStream(log.file, { flags: 'a' });
  file.write(`\n$ ${step.command} ${step.args.join(' ')}\n`);
  const child = spawn(step.command, step.args, {
    cwd: step.cwd,
    env: { ...process.env, ...step.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let latest: string | null = null;
  const ticker = setInterval(() => {
    log.say(`  ${latest ?? 'still at it'}`);
  }, LINE_EVERY_MS);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      file.write(chunk);
      for (const line of chunk.toString('utf8').split('\n')) latest = step.progress?.(line) ?? latest;
    });
  }
  const outcome = await new Promise<string | null>((ended) => {
    child.once('error', (error) => ended(`could not be started: ${error.message}`));
    child.once('close', (code, signal) => ended(code === 0 ? null : `ended with ${signal ?? `exit code ${code}`}`));
  });
  clearInterval(ticker);
  file.end();
  await finished(file);
  if (outcome === null) {
    log.say(`  done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return;
  }
  const tail = (await readFile(log.file, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n');
  throw new BuildStepError(`${step.title}: ${step.command} ${outcome}. End of ${log.file}:\n${tail}`);
}
