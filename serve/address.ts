/** Checks an address before workerd binds it, because Node's errors say what is wrong with it. */
import { createServer } from 'node:net';
import { ServeError } from './serve-error.ts';

/** @throws ServeError if nothing can listen there. */
export async function requireFreeAddress(host: string, port: number): Promise<void> {
  const code = await new Promise<string | null>((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  });
  switch (code) {
    case null:
      return;
    case 'EADDRINUSE':
      throw new ServeError(`port ${port} of ${host} is in use by another process`, 'Choose another one with --port.');
    case 'EACCES':
      throw new ServeError(`this user may not listen on port ${port}`, 'Choose a port from 1024 with --port.');
    default:
      throw new ServeError(`cannot listen on ${host}, port ${port}: ${code}`, 'Is --host an address of this machine?');
  }
}
