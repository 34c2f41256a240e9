/** Addresses to listen on. Node's errors say what is wrong with one, so it is tried before workerd starts. */
import { createServer, type Server } from 'node:net';
import { portHolder } from './holders.ts';
import { ServeError } from './serve-error.ts';

/** @throws ServeError if nothing can listen there. */
export async function requireFreeAddress(host: string, port: number): Promise<void> {
  const server = await opened(host, port);
  await new Promise((closed) => server.close(closed));
}

/** A socket that child processes inherit: they share its connections. */
export type Listener = {
  readonly descriptor: number;
  readonly port: number;
  /** Closes the socket of this process. Those of its children stay open. */
  close(): void;
};

/** Listens, but accepts no connection: they wait for the child processes. @throws ServeError if nothing can listen there. */
export async function listenOn(host: string, port: number): Promise<Listener> {
  const server = await opened(host, port);
  const address = server.address();
  // Node has no public name for it.
  const handle: unknown = Reflect.get(server, '_handle');
  const descriptor: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null;
  if (typeof address !== 'object' || address === null || typeof descriptor !== 'number' || descriptor < 0) {
    server.close();
    throw new ServeError('processes cannot share a port on this system', 'Start with --processes 1.');
  }
  return { descriptor, port: address.port, close: () => server.close() };
}

/** How many ports after one that is in use are tried for a free one. */
const NEXT_PORTS = 20;
const MAX_PORT = 65_535;

async function opened(host: string, port: number): Promise<Server> {
  const server = await tried(host, port);
  if (typeof server !== 'string') return server;
  switch (server) {
    case 'EADDRINUSE': {
      const by = (await portHolder(host, port)) ?? 'another process';
      const free = await freePortAfter(host, port);
      const hint =
        free === null
          ? 'Start the Worker on another one with --port.'
          : `Port ${free} is free: start the Worker with --port ${free}.`;
      throw new ServeError(`port ${port} of ${host} is in use by ${by}`, hint);
    }
    case 'EACCES':
      throw new ServeError(`this user may not listen on port ${port}`, 'Choose a port from 1024 with --port.');
    default:
      throw new ServeError(
        `cannot listen on ${host}, port ${port}: ${server}`,
        'Is --host an address of this machine?',
      );
  }
}

async function freePortAfter(host: string, port: number): Promise<number | null> {
  for (let next = port + 1; next <= Math.min(port + NEXT_PORTS, MAX_PORT); next++) {
    const server = await tried(host, next);
    if (typeof server === 'string') continue;
    await new Promise((closed) => server.close(closed));
    return next;
  }
  return null;
}

/** The server that listens there, or the code of the error. */
async function tried(host: string, port: number): Promise<Server | string> {
  const server = createServer();
  const code = await new Promise<string | null>((done) => {
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => done(null));
  });
  return code ?? server;
}
