/** Starts `citeward serve` as a process, with a folder for its data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach } from 'vitest';
import { root } from './processes.ts';

const children: ChildProcess[] = [];

export type Served = {
  readonly child: ChildProcess;
  readonly url: string;
  readonly line: string;
  readonly log: () => string;
};

/** Starts a server on a free port and waits for its line. @throws Error with its log if it does not start. */
export async function startServe(...args: readonly string[]): Promise<Served> {
  const command = [resolve(root, 'cli/main.ts'), 'serve', '--port', '0', ...args];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const lines = createInterface({ input: child.stdout });
  const [line = ''] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [''])])) as string[];
  const url = /^listening at (?<url>http:\S+)/u.exec(line)?.groups?.['url'];
  if (url === undefined) throw new Error(`citeward serve did not start: ${line}\n${log}`);
  return { child, url, line, log: () => log };
}

/** Waits for the end of the process. Returns its exit code; `null` if a signal ended it. */
export async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** Kills what a test left running. */
export function killServers(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

type ServerFolder = {
  readonly folder: string;
  /** @returns a new path, for the data of one server. */
  readonly state: () => string;
};

/** A folder that is deleted at the end of the test file. Servers are killed at the end of each test. */
export function serverFolder(): ServerFolder {
  const folder = mkdtempSync(join(tmpdir(), 'citeward-serve-'));
  let states = 0;
  afterEach(killServers);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, state: () => join(folder, `state-${states++}`) };
}

/** The body of `examples/request.json`. */
export const EXAMPLE = readFileSync(resolve(root, 'examples/request.json'), 'utf8');

/** Sends a body to `POST /v1/score`. */
export async function score(url: string, body: string, key: string | null = null): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
  return fetch(`${url}/v1/score`, { method: 'POST', headers, body });
}
