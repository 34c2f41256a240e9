/** The stub server's replies to requests that only a generator makes (generation-faults.ts). */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { STUB_CANARY, STUB_MODEL } from './backend-faults.ts';
import { CALL_ARGUMENTS, type GenerationBehaviour, sampleText } from './generation-faults.ts';
import { chunkOf, sendDialect, sendEvents, usageChunk } from './stub-streams.ts';

const bodySchema = z.object({ n: z.int().min(1), seed: z.int().exactOptional() });

/** Some kilobytes, so that the buffers between server and reader soon fill. */
const ENDLESS_PIECE = 'word '.repeat(4_096);
/** More than MAX_PIECE_BYTES of lib/model-servers/dialects/sample-stream.ts. */
const HUGE_CHARS = 9 * 1024 * 1024;

/** The text of each choice of a request. */
export function sampleTexts(body: string): readonly string[] {
  const { n, seed = 0 } = bodySchema.parse(JSON.parse(body));
  return Array.from({ length: n }, (_, choice) => sampleText(seed + choice));
}

/**
 * @param onPiece called for each piece that is written.
 */
export async function generate(
  behaviour: GenerationBehaviour,
  body: string,
  response: ServerResponse,
  onPiece: () => void,
): Promise<void> {
  const texts = sampleTexts(body);
  const [first = ''] = texts;
  switch (behaviour) {
    case 'tool_calls':
      return endWith(response, [...toolCalls(texts.length, 'tool_calls'), usageChunk(), '[DONE]']);
    case 'tool_call_cut':
      return endWith(response, [...toolCalls(texts.length, 'length'), usageChunk(), '[DONE]']);
    case 'gives_one_choice':
      return sendDialect('vllm', [first], response);
    case 'refuses_n': {
      if (texts.length === 1) return sendDialect('vllm', texts, response);
      const error = { message: `n > 1 is not supported ${STUB_CANARY}`, type: 'BadRequestError', code: 400 };
      response.writeHead(400, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ error }));
    }
    case 'endless':
      return sendEndlessly(response, onPiece);
    case 'one_choice_stalls':
      return sendEvents(response, [
        chunkOf({ content: first }),
        chunkOf({}, 'stop'),
        chunkOf({ content: 'x' }, null, 1),
      ]);
    case 'nameless_call':
      return endWith(response, [
        toolDelta(0, { index: 0, id: 'call_1', function: { arguments: '{}' } }),
        chunkOf({}, 'tool_calls'),
        '[DONE]',
      ]);
    case 'huge_event':
      return endWith(response, [chunkOf({ content: 'x'.repeat(HUGE_CHARS) }), chunkOf({}, 'stop'), '[DONE]']);
  }
}

async function endWith(response: ServerResponse, events: readonly unknown[]): Promise<void> {
  await sendEvents(response, events);
  response.end();
}

async function sendEndlessly(response: ServerResponse, onPiece: () => void): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const gone = once(response, 'close');
  while (!response.destroyed) {
    onPiece();
    const hasRoom = response.write(`data: ${JSON.stringify(chunkOf({ content: ENDLESS_PIECE }))}\n\n`);
    // Always waits for the event loop, so that other requests are served too.
    await Promise.race([gone, hasRoom ? new Promise(setImmediate) : once(response, 'drain')]);
  }
}

function toolDelta(choice: number, call: object) {
  return { model: STUB_MODEL, choices: [{ index: choice, delta: { tool_calls: [call] }, finish_reason: null }] };
}

/** Two calls a choice as vLLM streams them: name and id first, then the arguments in pieces. */
function toolCalls(n: number, finish_reason: string): readonly unknown[] {
  const choices = Array.from({ length: n }, (_, choice) => choice);
  const begin = choices.flatMap((choice) => [
    chunkOf({ role: 'assistant', content: 'I run it.' }, null, choice),
    ...CALL_ARGUMENTS.map((_, index) =>
      toolDelta(choice, {
        index,
        id: `call_${choice}${index}`,
        type: 'function',
        function: { name: 'code_interpreter', arguments: '' },
      }),
    ),
  ]);
  const halves = [0, 1].flatMap((half) =>
    choices.flatMap((choice) =>
      CALL_ARGUMENTS.map((text, index) => {
        const middle = Math.floor(text.length / 2);
        const part = half === 0 ? text.slice(0, middle) : text.slice(middle);
        return toolDelta(choice, { index, function: { arguments: part } });
      }),
    ),
  );
  // Where the length runs out, the last piece is missing.
  const written = finish_reason === 'length' ? halves.slice(0, -1) : halves;
  return [...begin, ...written, ...choices.map((choice) => chunkOf({ content: '' }, finish_reason, choice))];
}
