/**
 * Ports and requests for the tests of the proxy, without a client that normalises paths, pools connections or retries.
 */
import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { createServer, type Server as NetServer } from 'node:net';

/** Listens on a free port of 127.0.0.1 and says which. */
export function listening(server: Server | NetServer): Promise<number> {
  return new Promise((found, failed) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') found(address.port);
      else failed(new Error('no port'));
    });
  });
}

/** Returns a port without a listener. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listening(probe);
  await new Promise((closed) => probe.close(closed));
  return port;
}

export type Sent = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Milliseconds from the request to each piece of the body. */
  readonly times: readonly number[];
};

/** A request with the path exactly as given: URL would tidy up dot segments. */
export function send(port: number, line: string, more: { body?: string; authorization?: string } = {}): Promise<Sent> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const started = performance.now();
  return new Promise((done, failed) => {
    const headers = more.authorization === undefined ? {} : { authorization: more.authorization };
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, async (response) => {
      let text = '';
      const times: number[] = [];
      for await (const chunk of response) {
        text += String(chunk);
        times.push(performance.now() - started);
      }
      done({ status: response.statusCode ?? 0, headers: response.headers, text, times });
    });
    request.once('error', failed);
    request.end(more.body);
  });
}
