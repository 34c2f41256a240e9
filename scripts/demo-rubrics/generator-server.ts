/** A model server whose answers are scripted: a stand-in for the model that writes criteria. */
import { once } from 'node:events';
import { createServer } from 'node:http';

export type GeneratorServer = {
  /** Of its OpenAI-compatible API. */
  readonly url: string;
  /** Sets the text of the next answers. */
  answer(text: string): void;
  stop(): void;
};

/** Starts the server on a free port of this machine. */
export async function startGeneratorServer(): Promise<GeneratorServer> {
  let content = '';
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
      const reply = { id: 'scripted', object: 'chat.completion', model: 'scripted', choices: [choice] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the generator has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    answer(text) {
      content = text;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
