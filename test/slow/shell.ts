/** Runs shell commands as a person would: in bash, one after the other, each with what the ones before have left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** What a command printed, on both streams, and its exit status; `null` if it did not run or did not end. */
export type RanCommand = { readonly status: number | null; readonly output: string };

export type Shell = {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** A file for standard input. */
  readonly stdin?: string;
};

/** The environment of a new terminal: nothing of npm, npx, vitest or a key that this test was started with. */
export function terminalEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|VITEST|NODE_|CITEWARD_|FORCE_COLOR|INIT_CWD|TEST$|DEV$|PROD$|MODE$|BASE_URL$)/u.test(name),
  );
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(':'), NO_COLOR: '1', ...more };
}

/** A folder that shows the files of a clone. Files that commands write there do not reach the clone. */
export function workingFolder(clone: string, parent: string, ...files: readonly string[]): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'work-'));
  for (const name of readdirSync(clone)) symlinkSync(join(clone, name), join(folder, name));
  // Copies, because a command may write a file of that name while another reads it.
  for (const file of files) copyFileSync(file, join(folder, file.slice(file.lastIndexOf('/') + 1)));
  return folder;
}

/** Begins the output of a command, and ends it with its exit status. */
const BEGIN = '\u001E';
const END = '\u001F';

/**
 * Runs the commands in one bash with `pipefail` and `nounset`. A failing command does not stop the ones after it.
 * @param limitMs time limit of all commands together.
 */
export async function runCommands(commands: readonly string[], shell: Shell, limitMs: number): Promise<RanCommand[]> {
  const script = join(shell.directory, '.commands.sh');
  const steps = commands.map(
    (command, number) => `printf '${BEGIN}${number}\\n'\n${command}\nprintf '${END}%s\\n' "$?"\n`,
  );
  // What still runs in the background at the end is stopped.
  writeFileSync(script, `set -uo pipefail\nexec 2>&1\ntrap 'kill -TERM 0' EXIT\n${steps.join('')}`);
  const { child, printed } = startBash(`exec bash ${script} < '${shell.stdin ?? '/dev/null'}'`, shell);
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), limitMs);
  await once(child, 'close');
  clearTimeout(timer);
  signalGroup(child, 'SIGKILL');
  const output = printed();
  return commands.map((_, number) => {
    const begin = `${BEGIN}${number}\n`;
    const at = output.indexOf(begin);
    if (at === -1) return { status: null, output: 'not run: the shell ended before' };
    const [own = '', rest] = output.slice(at + begin.length).split(END);
    return { status: rest === undefined ? null : Number.parseInt(rest, 10), output: own };
  });
}

/** Starts bash in a process group of its own, and collects what it prints to standard output. */
function startBash(script: string, shell: Shell): { readonly child: ChildProcess; readonly printed: () => string } {
  const child = spawn('bash', ['-c', script], {
    cwd: shell.directory,
    env: shell.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return { child, printed: () => printed };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group has ended already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

export type Background = { readonly output: () => string; readonly stop: () => Promise<void> };

/**
 * Starts a command that runs until it is stopped, and waits until its output matches.
 * @throws Error with its output if it ends, or if the time is over, before.
 */
export async function startInBackground(
  command: string,
  ready: RegExp,
  shell: Shell,
  limitMs: number,
): Promise<Background> {
  const { child, printed } = startBash(`exec 2>&1; ${command}`, shell);
  const ended = once(child, 'close');
  const stop = async (): Promise<void> => {
    signalGroup(child, 'SIGINT');
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
    signalGroup(child, 'SIGKILL');
  };
  const deadline = performance.now() + limitMs;
  while (!ready.test(printed())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`${command} did not print ${ready}:\n${printed()}`);
    }
    await pause(100);
  }
  return { output: printed, stop };
}
