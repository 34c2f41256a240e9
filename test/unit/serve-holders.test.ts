import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { portHolder } from '../../serve/holders.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that listens on a port of an address. @returns its id and its port. */
async function listening(host: string, port: number): Promise<readonly [pid: number | undefined, port: number]> {
  const script = `const server = require('node:net').createServer();
    server.listen({ host: '${host}', port: ${port}, ipv6Only: true }, () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [printed] = await once(child.stdout, 'data');
  return [child.pid, Number(String(printed))];
}

// Only Linux gives a machine more than one loopback address.
it.runIf(process.platform === 'linux')('names the process of the address, not one of another address', async () => {
  const [first, port] = await listening('127.0.0.1', 0);
  const [second] = await listening('127.0.0.2', port);
  const [third] = await listening('::1', port);
  const hosts = ['127.0.0.1', '127.0.0.2', '::1', '127.0.0.3'];
  const holders = await Promise.all(hosts.map((host) => portHolder(host, port)));
  expect(holders.map((holder) => holder?.split(' ').at(-1))).toEqual([`${first}`, `${second}`, `${third}`, undefined]);
  expect(await portHolder('0.0.0.0', port)).not.toBeNull();
});

it('takes a process that listens on all addresses for one of each', async () => {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await portHolder(host, address.port)).toContain(`${process.pid}`);
  server.close();
});
