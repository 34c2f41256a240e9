/** Streams a chat completion in the dialect of each server. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Dialect, STUB_MODEL } from './backend-faults.ts';

type Delta = { readonly [field in 'role' | 'content' | 'reasoning' | 'reasoning_content' | 'refusal']?: string | null };

/** One chunk of a stream. */
export function chunkOf(delta: Delta, finish_reason: string | null = null, index = 0) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: STUB_MODEL,
    choices: [{ index, delta, logprobs: null, finish_reason }],
  };
}

export const USAGE = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 };

export function usageChunk(): unknown {
  return { ...chunkOf({}), choices: [], usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 64 } } };
}

/** The same in one piece. */
export function wholeOf(...texts: readonly string[]): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: STUB_MODEL,
    choices: texts.map((content, index) => ({
      index,
      message: { role: 'assistant', content, reasoning: null },
      finish_reason: 'stop',
    })),
    usage: USAGE,
  };
}

/** Sends events, flushed one by one. The response stays open. */
export async function sendEvents(response: ServerResponse, events: readonly unknown[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  for (const event of events) {
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    await pause(2);
  }
}

/** A complete, valid reply of one text per choice; the choices interleave. */
export async function sendDialect(dialect: Dialect, texts: readonly string[], response: ServerResponse): Promise<void> {
  const contents = interleaved(texts);
  /** The same of every choice. */
  const each = (delta: Delta, finish_reason: string | null = null) =>
    texts.map((_, index) => chunkOf(delta, finish_reason, index));
  switch (dialect) {
    case 'vllm':
    case 'fenced':
      await sendEvents(response, [
        ...each({ role: 'assistant', content: '' }),
        ...contents,
        ...each({ content: '' }, 'stop').map((chunk) => ({ ...chunk, stop_reason: null })),
        usageChunk(),
        '[DONE]',
      ]);
      break;
    case 'vllm_without_usage':
      await sendEvents(response, [...contents, ...each({}, 'stop'), '[DONE]']);
      break;
    case 'reasoning_field':
      await sendEvents(response, [
        ...each({ role: 'assistant', content: '', reasoning: '{"c1":' }),
        ...each({ reasoning: ' a thought}' }),
        ...contents,
        ...each({}, 'stop'),
        usageChunk(),
        '[DONE]',
      ]);
      break;
    case 'sglang_reasoning':
      await sendEvents(response, [
        ...each({ role: 'assistant', reasoning_content: '{"c1": a thought' }),
        ...contents,
        ...each({ reasoning_content: null }, 'stop').map((chunk) => ({ ...chunk, matched_stop: 151645 })),
        usageChunk(),
        '[DONE]',
      ]);
      break;
    case 'llama_cpp':
      await sendEvents(response, [
        ...each({ role: 'assistant', content: null }),
        ...contents,
        ...each({}, 'stop').map((chunk) => ({ ...chunk, timings: { prompt_n: 3, predicted_ms: 1.5 } })),
        usageChunk(),
        '[DONE]',
      ]);
      break;
    case 'ollama':
      await sendEvents(response, [
        ...contents.map((chunk) => ({ ...chunk, system_fingerprint: 'fp_ollama' })),
        ...each({ content: '' }, 'stop').map((chunk) => ({ ...chunk, usage: USAGE, error: null })),
        '[DONE]',
      ]);
      break;
    case 'not_streamed':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(JSON.stringify(wholeOf(...texts)));
      break;
    case 'comments_between':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': ping\n\n');
      for (const chunk of contents) response.write(`: keep-alive\n\nevent: message\ndata:${JSON.stringify(chunk)}\n\n`);
      for (const chunk of each({}, 'stop')) {
        response.write(`data: ${JSON.stringify({ ...chunk, usage: { prompt_tokens: 'many' } })}\n\n`);
      }
      response.write('data: [DONE]\n\n');
      break;
    case 'crlf_bytewise':
      await sendBytewise(response, [...contents, ...each({}, 'stop'), usageChunk(), '[DONE]']);
      break;
    case 'no_done':
      await sendEvents(response, [...contents, ...each({}, 'stop'), usageChunk()]);
      break;
    case 'reset_after_done':
      await sendEvents(response, [...contents, ...each({}, 'stop'), usageChunk(), '[DONE]']);
      await pause(10);
      response.socket?.resetAndDestroy();
      return;
    case 'ends_late':
      await sendEvents(response, [...contents, ...each({}, 'stop'), usageChunk(), '[DONE]']);
      await pause(20);
      break;
    case 'never_ends':
      await sendEvents(response, [...contents, ...each({}, 'stop'), usageChunk(), '[DONE]']);
      return;
    case 'reset_after_finish':
      await sendEvents(response, [...contents, ...each({}, 'stop')]);
      await pause(50);
      response.socket?.resetAndDestroy();
      return;
  }
  response.end();
}

/** Splits the stream inside lines, characters and line ends. */
async function sendBytewise(response: ServerResponse, events: readonly unknown[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\r\n\r\n`);
  const bytes = new TextEncoder().encode(text.join(''));
  for (let at = 0; at < bytes.length; at += 97) {
    response.write(bytes.subarray(at, at + 97));
    if (at % 970 === 0) await pause(1);
  }
}

/** The first piece of each text, then the second of each, and so on. */
function interleaved(texts: readonly string[]) {
  const pieces = texts.map((text) => text.match(/[\s\S]{1,40}/gu) ?? []);
  const rounds = Math.max(...pieces.map(({ length }) => length));
  return Array.from({ length: rounds }).flatMap((_, round) =>
    pieces.flatMap((ofOne, index) => {
      const content = ofOne[round];
      return content === undefined ? [] : [chunkOf({ content }, null, index)];
    }),
  );
}
