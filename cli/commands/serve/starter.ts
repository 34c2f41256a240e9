/**
 * Notices when npm, which started this process, has ended. npm passes no signal on to what its shell runs, and a killed
 * npm passes on nothing at all: the server would keep its port and its state without anyone to stop it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const POLL_MS = 500;
const SHELLS: readonly string[] = ['sh', 'bash', 'dash', 'zsh', 'ash'];

/** Set by bin/citeward.mjs where it runs this process under another Node: its process id. */
const LAUNCHER = 'CITEWARD_LAUNCHER';

/** Resolves when npm, or the launcher of this process, has ended; never where neither started it. */
export function starterEnded(): Promise<'starter'> {
  const launcher = Number(process.env[LAUNCHER]);
  const parent = process.ppid;
  const npm = npmAbove(parent, launcher);
  if (npm === null && parent !== launcher) return new Promise(() => undefined);
  return new Promise((end) => {
    const timer = setInterval(() => {
      if (process.ppid === parent && (npm === null || isRunning(npm))) return;
      clearInterval(timer);
      end('starter');
    }, POLL_MS);
    timer.unref();
  });
}

/**
 * The npm that waits for this process; `null` = none. Between the two are only npm's shell and the launcher: a program
 * in between may have started this process to outlive npm.
 */
function npmAbove(parent: number, launcher: number): number | null {
  if (process.env['npm_execpath'] === undefined) return null;
  let pid = parent;
  while (pid > 1) {
    const found = processOf(pid);
    if (found === null) return null;
    if (isNpm(found.command)) return pid;
    const [program = ''] = found.command.split(/[\0 ]/u);
    if (pid !== launcher && !SHELLS.includes(basename(program))) return null;
    pid = found.parent;
  }
  return null;
}

/** npm titles its process `npm exec …` or `npm run …`; where a system does not show this, its script is shown. */
function isNpm(command: string): boolean {
  return /^np[mx](?:[\0 ]|$)|[/\\]np[mx](?:-cli\.js)?(?:[\0 ]|$)/u.test(command);
}

type Found = { readonly parent: number; readonly command: string };

function processOf(pid: number): Found | null {
  try {
    return { parent: Number(statOf(pid)[1]), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  } catch {
    // No /proc on this system, or the process has just ended.
  }
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
  const { parent, command } = /^\s*(?<parent>\d+)\s+(?<command>.*)/u.exec(stdout ?? '')?.groups ?? {};
  return parent === undefined || command === undefined ? null : { parent: Number(parent), command };
}

/** The fields of /proc/PID/stat from the state on. The name before them may contain spaces and parentheses. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // npm may run as another user, who takes no signals from this one.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  try {
    // Its parent may not have collected its exit code yet.
    return statOf(pid)[0] !== 'Z';
  } catch {
    return true;
  }
}
