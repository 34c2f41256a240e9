/** Which process listens on a port of this machine, as far as this user may see it, and which port is free. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

const NAMING_TIMEOUT_MS = 2_000;

/** @returns such as `node, process 4711`; `null` = unknown: it is of another user, or the system does not tell. */
export async function portHolder(port: number): Promise<string | null> {
  const found = process.platform === 'linux' ? await holderOnLinux(port) : await holderByLsof(port);
  return found === null ? null : `${found.program}, process ${found.pid}`;
}

type Holder = { readonly pid: string; readonly program: string };

/** The state of a socket that listens, in /proc/net/tcp (Linux, proc(5)). */
const LISTENS = '0A';

async function holderOnLinux(port: number): Promise<Holder | null> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => textOf(`/proc/net/${table}`)));
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set(
    tables.flatMap((table) =>
      table.split('\n').flatMap((line) => {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/u);
        return local.endsWith(ending) && state === LISTENS ? [`socket:[${inode}]`] : [];
      }),
    ),
  );
  if (sockets.size === 0) return null;
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  for (const pid of processes) {
    // A process of another user, or one that has ended, has no files to see.
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (!links.some((link) => sockets.has(link))) continue;
    const [program = ''] = (await textOf(`/proc/${pid}/cmdline`)).split('\0');
    return { pid, program: basename(program) };
  }
  return null;
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** macOS and the BSDs. */
function holderByLsof(port: number): Promise<Holder | null> {
  const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'];
  return new Promise((done) => {
    execFile('lsof', args, { timeout: NAMING_TIMEOUT_MS }, (_error, output) => {
      const [, pid, program] = /^p(\d+)\nc(.+)$/mu.exec(output) ?? [];
      done(pid === undefined || program === undefined ? null : { pid, program });
    });
  });
}
