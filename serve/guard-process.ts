/**
 * Ends workerd when this process dies without ending it (SIGKILL, a crash): a shell waits for the end of a pipe that
 * this process holds, and kills all processes of workerd then. Without it they would keep the port and the state.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Holds the process ids of workerd, one per line. */
export const PROCESS_FILE = 'workerd.pid';

const POLL_MS = 20;

export function guardProcesses(pids: readonly number[]): { release(): void } {
  if (process.platform === 'win32') return { release: () => undefined };
  // A group of its own: the signals of a terminal must not end the guard first.
  const guard = spawn('sh', ['-c', 'read -r _; kill -9 "$@"', 'guard', ...pids.map(String)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.once('error', () => undefined);
  guard.unref();
  return { release: () => guard.kill('SIGKILL') };
}

/** Waits for, or ends, what a killed server has left of workerd. Call it with the lock of the state folder. */
export async function endLeftProcesses(state: string): Promise<void> {
  const text = await readFile(join(state, PROCESS_FILE), 'utf8').catch(() => '');
  for (const pid of text.split('\n').map(Number)) {
    if (!(await isOurs(pid, state))) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
    while (await isOurs(pid, state)) await pause(POLL_MS);
  }
}

/** Whether the process runs with a configuration of this folder. Without /proc the guard alone has to do. */
async function isOurs(pid: number, state: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line.includes(join(state, 'workerd'));
}
