/** Addresses to listen on. Node's errors say what is wrong with one, so it is tried before workerd starts. */
import { createServer, type Server } from 'node:net';
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

async function opened(host: string, port: number): Promise<Server> {
  const server = createServer();
  const code = await new Promise<string | null>((done) => {
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => done(null));
  });
  switch (code) {
    case null:
      return server;
    case 'EADDRINUSE':
      throw new ServeError(`port ${port} of ${host} is in use by another process`, 'Choose another one with --port.');
    case 'EACCES':
      throw new ServeError(`this user may not listen on port ${port}`, 'Choose a port from 1024 with --port.');
    default:
      throw new ServeError(`cannot listen on ${host}, port ${port}: ${code}`, 'Is --host an address of this machine?');
  }
}
