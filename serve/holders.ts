/** Which process holds a port or a file of this machine, as far as this user may see it. */
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
  return process.platform === 'linux' ? holderOnLinux(port, isInTheWay) : holderByLsof(port, isInTheWay);
}

/** The process that has a file open. @param path absolute. @returns as `portHolder`. */
export async function fileHolder(path: string): Promise<string | null> {
  if (process.platform === 'linux') return processWith((link) => link === path);
  const [first] = processesOf(await lsof('-Fpc', path));
  return first?.name ?? null;
}

type IsInTheWay = (listening: string) => boolean;

/** The ways to write "every address of this machine"; lsof writes `*`. */
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

async function holderOnLinux(port: number, isInTheWay: IsInTheWay): Promise<string | null> {
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
  return sockets.size === 0 ? null : processWith((link) => sockets.has(link));
}

/** @param hex an address in /proc/net: words of four bytes, each in the byte order of this machine. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  return bytes.length === 4 ? [...bytes].join('.') : (bytes.toString('hex').match(/.{4}/gu) ?? []).join(':');
}

/** The first process with an open file whose link in /proc is that one. */
async function processWith(isIt: (link: string) => boolean): Promise<string | null> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  for (const pid of processes) {
    // A process of another user, or one that has ended, has no files to see.
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (!links.some(isIt)) continue;
    const [program = ''] = (await textOf(`/proc/${pid}/cmdline`)).split('\0');
    return `${basename(program)}, process ${pid}`;
  }
  return null;
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** macOS and the BSDs. */
async function holderByLsof(port: number, isInTheWay: IsInTheWay): Promise<string | null> {
  for (const { name, files } of processesOf(await lsof('-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpcn'))) {
    const listening = [...files.matchAll(/^n\[?(.+?)\]?:\d+$/gmu)].map(([, address = '']) => address);
    if (listening.some(isInTheWay)) return name;
  }
  return null;
}

/** The processes in the output of `lsof -F`: each has its lines p (id) and c (program), then those of its files. */
function processesOf(output: string): readonly { readonly name: string; readonly files: string }[] {
  const found = output.matchAll(/^p(\d+)\nc(.+)\n((?:[^p].*\n)*)/gmu);
  return [...found].map(([, pid, program, files = '']) => ({ name: `${program}, process ${pid}`, files }));
}

function lsof(...args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    execFile('lsof', args, { timeout: NAMING_TIMEOUT_MS }, (_error, output) => done(output));
  });
}
