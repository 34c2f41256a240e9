/** Which process listens on a port of this machine, as far as this user may see it, and which port is free. */
import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { BlockList, isIPv6 } from 'node:net';
import { endianness } from 'node:os';
import { basename } from 'node:path';

const NAMING_TIMEOUT_MS = 2_000;

/**
 * The process that keeps others from listening on a port of an address: another one may listen on the same port of
 * another address. @returns such as `node, process 4711`; `null` = unknown: it is of another user, or the system does
 * not tell.
 */
export async function portHolder(host: string, port: number): Promise<string | null> {
  const { address } = await lookup(host);
  const isInTheWay = (listening: string): boolean => excludes(address, listening);
  const found =
    process.platform === 'linux' ? await holderOnLinux(port, isInTheWay) : await holderByLsof(port, isInTheWay);
  return found === null ? null : `${found.program}, process ${found.pid}`;
}

type Holder = { readonly pid: string; readonly program: string };
type IsInTheWay = (listening: string) => boolean;

/** Addresses that stand for all of a machine; `*` is that of lsof. */
const EVERY = ['*', '0.0.0.0', '::', '0000:0000:0000:0000:0000:0000:0000:0000'];

/** Whether two IP addresses cannot be listened on at once, on the same port. An IPv6 address may contain an IPv4 one. */
function excludes(address: string, listening: string): boolean {
  if (EVERY.includes(address) || EVERY.includes(listening)) return true;
  const same = new BlockList();
  same.addAddress(address, familyOf(address));
  return same.check(listening, familyOf(listening));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** The state of a socket that listens, in /proc/net/tcp (Linux, proc(5)). */
const LISTENS = '0A';

async function holderOnLinux(port: number, isInTheWay: IsInTheWay): Promise<Holder | null> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => textOf(`/proc/net/${table}`)));
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set(
    tables.flatMap((table) =>
      table.split('\n').flatMap((line) => {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/u);
        if (!local.endsWith(ending) || state !== LISTENS) return [];
        return isInTheWay(addressOf(local.slice(0, -ending.length))) ? [`socket:[${inode}]`] : [];
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

/** @param hex an address in /proc/net: words of four bytes, each in the byte order of this machine. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  return bytes.length === 4 ? [...bytes].join('.') : (bytes.toString('hex').match(/.{4}/gu) ?? []).join(':');
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** macOS and the BSDs. */
function holderByLsof(port: number, isInTheWay: IsInTheWay): Promise<Holder | null> {
  const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpcn'];
  return new Promise((done) => {
    execFile('lsof', args, { timeout: NAMING_TIMEOUT_MS }, (_error, output) => {
      // A process has its lines p (id) and c (program), then for each socket f (descriptor) and n (address:port).
      for (const [, pid, program, sockets = ''] of output.matchAll(/^p(\d+)\nc(.+)\n((?:[^p].*\n)*)/gmu)) {
        const listening = [...sockets.matchAll(/^n\[?(.+?)\]?:\d+$/gmu)].map(([, address = '']) => address);
        if (pid !== undefined && program !== undefined && listening.some(isInTheWay)) return done({ pid, program });
      }
      done(null);
    });
  });
}
