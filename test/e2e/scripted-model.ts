/**
 * An OpenAI-compatible server with scripted turns: the number of assistant turns in a request selects the reply. It
 * streams word by word and counts words as tokens, prompt included.
 */
import { createServer, type ServerResponse } from 'node:http';

export const SCRIPTED_MODEL = 'scripted-policy';

export type ScriptedModel = {
  readonly url: string;
  /** Messages of every request, in order. */
  readonly asked: readonly (readonly { readonly role: string; readonly content: string }[])[];
  /** Streams whose reader left before their end. */
  readonly left: () => number;
  readonly stop: () => Promise<void>;
};

/** The content of a turn: a text, or a text without an end. */
export type ScriptedTurn = string | { readonly endless: string };

/** @param turnsOf the turns of a conversation that begins with the user's `question`. */
export async function startScriptedModel(
  turnsOf: (question: string) => readonly ScriptedTurn[],
): Promise<ScriptedModel> {
  const asked: { readonly role: string; readonly content: string }[][] = [];
  let left = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      if (request.url !== '/v1/chat/completions') {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ object: 'list', data: [{ id: SCRIPTED_MODEL, object: 'model' }] }));
        return;
      }
      const { messages }: { readonly messages: { readonly role: string; readonly content: string }[] } =
        JSON.parse(body);
      asked.push(messages);
      response.on('close', () => {
        if (!response.writableFinished) left++;
      });
      const question = messages.find(({ role }) => role === 'user')?.content ?? '';
      const turn = turnsOf(question)[messages.filter(({ role }) => role === 'assistant').length];
      if (turn === undefined) response.writeHead(500).end();
      else void say(response, turn, messages.map(({ content }) => content).join(' '));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('scripted-model: the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    asked,
    left: () => left,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function say(response: ServerResponse, turn: ScriptedTurn, prompt: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (fields: object): boolean =>
    response.write(`data: ${JSON.stringify({ model: SCRIPTED_MODEL, ...fields })}\n\n`);
  const delta = (content: string, finish_reason: string | null = null): boolean =>
    send({ choices: [{ index: 0, delta: { content }, finish_reason }] });
  if (typeof turn !== 'string') {
    while (!response.destroyed) {
      delta(turn.endless);
      await new Promise((done) => setTimeout(done, 5));
    }
    return;
  }
  for (const piece of turn.match(/\S*\s*/gu) ?? []) if (piece !== '') delta(piece);
  delta('', 'stop');
  const [prompt_tokens, completion_tokens] = [words(prompt), words(turn)];
  send({ choices: [], usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } });
  response.end('data: [DONE]\n\n');
}

function words(text: string): number {
  return text.split(/\s+/u).filter((word) => word !== '').length;
}
