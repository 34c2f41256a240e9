/**
 * An OpenAI-compatible server with faults on request: the first segment of the path names the behaviour
 * (`/silent/v1/...`). A real HTTP server in Node, started once by vitest (globalSetup), so that resets and timeouts are
 * those of real sockets. `/{behaviour}/seen` returns the requests it received; a further segment separates callers
 * (`/silent/mine/v1/...`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestProject } from 'vitest/node';
import { DIALECTS, SERVER_FAULTS, STUB_CANARY, STUB_KEY, STUB_MODEL, type StubBehaviour } from './backend-faults.ts';
import { GENERATION_BEHAVIOURS, type GenerationBehaviour, isOfGenerators } from './generation-faults.ts';
import { generate, sampleTexts } from './stub-generation.ts';
import { isJudging, replyText } from './stub-replies.ts';
import { chunkOf, sendDialect, sendEvents, wholeOf } from './stub-streams.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Origin of the stub server. */
    stubUrl: string;
    /** An origin without a listening server. */
    closedUrl: string;
  }
}

export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The caller's port, which names its connection. */
  readonly port: number | undefined;
  /** Whether the caller disconnected before the reply had ended. */
  aborted: boolean;
  /** Whether the reply has ended, normally or not. */
  closed: boolean;
  /** Number of pieces written of an endless reply. */
  pieces: number;
};

/** No system service listens here, and no test gets it: a port that was free a moment ago may be a server's by now. */
const UNUSED_PORT = 2;

/** vitest's globalSetup: starts the server, and stops it after the run. */
export default async function startStub(project: TestProject): Promise<() => Promise<void>> {
  const seen = new Map<string, Seen[]>();
  const server = createServer((request, response) => {
    answer(request, response, seen).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error('stub-backend: unknown error'));
    });
  });
  const port = await listen(server);
  project.provide('stubUrl', `http://127.0.0.1:${port}`);
  project.provide('closedUrl', `http://127.0.0.1:${UNUSED_PORT}`);
  return async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
}

function listen(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((found, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) found(address.port);
      else failed(new Error('stub-backend: the server has no port'));
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, log: Map<string, Seen[]>): Promise<void> {
  const path = request.url ?? '/';
  const name = path.split('/')[1] ?? '';
  const behaviour = behaviourOf(name);
  const base = path.replace(/\/(v1\/.*|seen)$/, '');
  if (path === `${base}/seen`) return json(response, 200, log.get(base) ?? []);
  let body = '';
  for await (const part of request) body += String(part);
  const entry: Seen = {
    method: request.method ?? '',
    path,
    headers: request.headers,
    body,
    port: request.socket.remotePort,
    aborted: false,
    closed: false,
    pieces: 0,
  };
  log.set(base, [...(log.get(base) ?? []), entry]);
  response.on('close', () => {
    entry.aborted = !response.writableFinished;
    entry.closed = true;
  });

  if (request.headers.authorization !== `Bearer ${STUB_KEY}`) json(response, 401, { error: 'Unauthorized' });
  else if (path.endsWith('/v1/models')) sendModels(behaviour, response);
  else if (path.endsWith('/v1/chat/completions')) await complete(behaviour, body, response, entry);
  else json(response, 404, { detail: 'Not Found' });
}

function behaviourOf(name: string): StubBehaviour | GenerationBehaviour {
  for (const known of [...DIALECTS, ...FAULTS, ...GENERATION_BEHAVIOURS]) if (known === name) return known;
  throw new Error(`stub-backend: no behaviour ${name}`);
}

const FAULTS = Object.keys(SERVER_FAULTS).filter((name): name is keyof typeof SERVER_FAULTS => name in SERVER_FAULTS);

function sendModels(behaviour: StubBehaviour | GenerationBehaviour, response: ServerResponse): void {
  switch (behaviour) {
    case 'silent':
      return;
    case 'html_login':
      html(response, 200);
      return;
    case 'http_503':
      json(response, 503, { error: { message: STUB_CANARY } });
      return;
    default: {
      const id = behaviour === 'http_404_model' ? 'another-model' : STUB_MODEL;
      json(response, 200, { object: 'list', data: [{ id, object: 'model', owned_by: 'vllm' }] });
    }
  }
}

async function complete(
  behaviour: StubBehaviour | GenerationBehaviour,
  body: string,
  response: ServerResponse,
  entry: Seen,
): Promise<void> {
  if (isOfGenerators(behaviour)) return generate(behaviour, body, response, () => entry.pieces++);
  const texts = isJudging(body) ? [replyText(behaviour, body)] : sampleTexts(body);
  const [text = ''] = texts;
  const half = text.slice(0, text.length / 2);
  switch (behaviour) {
    case 'refused':
    case 'reset_before_reply':
      return void response.socket?.resetAndDestroy();
    case 'silent':
      return;
    case 'stalls_in_stream':
      return void sendEvents(response, [chunkOf({ content: half })]);
    case 'reset_in_stream':
      await sendEvents(response, [chunkOf({ content: half })]);
      return void response.socket?.resetAndDestroy();
    case 'ends_in_stream':
      await sendEvents(response, [chunkOf({ content: half })]);
      return void response.end();
    case 'http_400':
    case 'http_422':
      return json(response, statusIn(behaviour), errorBody(statusIn(behaviour), 'BadRequestError'));
    case 'http_400_too_long_vllm': {
      const message = `This model's maximum context length is 8192 tokens. ${STUB_CANARY}`;
      return json(response, 400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
    }
    case 'http_400_too_long_llama_cpp':
      return json(response, 400, { error: { code: 400, message: STUB_CANARY, type: 'exceed_context_size_error' } });
    case 'http_400_too_long_sglang': {
      const message = `The input (9000 tokens) is longer than the model's context length (8192 tokens). ${STUB_CANARY}`;
      return json(response, 400, { object: 'error', message, type: 'BadRequestError', code: 400 });
    }
    case 'http_401':
      return json(response, 401, { error: 'Unauthorized' });
    case 'http_403':
    case 'http_413':
    case 'http_502':
    case 'http_504':
    case 'http_524':
    case 'http_530':
      return html(response, statusIn(behaviour));
    case 'http_404_model':
      return json(response, 404, errorBody(404, 'NotFoundError'));
    case 'http_429':
    case 'http_500':
    case 'http_501':
    case 'http_503':
      return json(response, statusIn(behaviour), errorBody(statusIn(behaviour), 'InternalServerError'));
    case 'http_429_seconds':
      return json(response, 429, { error: STUB_CANARY, error_type: 'overloaded' }, { 'retry-after': '17' });
    case 'http_429_ms':
      return json(response, 429, errorBody(429, 'x'), { 'retry-after-ms': '2500' });
    case 'http_429_date': {
      // A date has whole seconds: half a second more rounds up to 30.
      const date = new Date(Date.now() + 30_500).toUTCString();
      return json(response, 429, errorBody(429, 'x'), { 'retry-after': date });
    }
    case 'http_503_seconds':
      return json(response, 503, errorBody(503, 'x'), { 'retry-after': '9' });
    case 'redirect':
      response.writeHead(302, { location: `/vllm/v1/chat/completions?to=${STUB_CANARY}` });
      return void response.end();
    case 'html_login':
      return html(response, 200);
    case 'no_content_type':
      response.writeHead(200);
      return void response.end(JSON.stringify(wholeOf(text)));
    case 'other_json':
      return json(response, 200, { status: 'ok', message: STUB_CANARY });
    case 'empty_stream':
      await sendEvents(response, []);
      return void response.end();
    case 'empty_json':
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end();
    case 'truncated_event':
      return endWith(response, [chunkOf({ content: half }), `{"model":"${STUB_MODEL}","choi`]);
    case 'truncated_json':
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(wholeOf(text)).slice(0, -30));
    case 'error_in_stream':
      return endWith(response, [chunkOf({ content: half }), errorBody(500, 'InternalServerError'), '[DONE]']);
    case 'error_text_in_stream':
      return endWith(response, [chunkOf({ content: half }), { error: STUB_CANARY }, '[DONE]']);
    case 'error_400_in_stream':
      return endWith(response, [errorBody(400, 'BadRequestError'), '[DONE]']);
    case 'error_flat_in_body':
      return json(response, 200, { object: 'error', message: STUB_CANARY, type: 'BadRequestError', code: 400 });
    case 'done_without_finish':
      return endWith(response, [chunkOf({ content: text }), '[DONE]']);
    case 'finish_length':
    case 'finish_repetition':
    case 'finish_content_filter':
    case 'finish_tool_calls':
    case 'finish_abort':
    case 'finish_unknown':
      return endWith(response, [chunkOf({ content: text }), chunkOf({}, behaviour.slice('finish_'.length)), '[DONE]']);
    case 'two_finishes':
      return endWith(response, [chunkOf({ content: text }, 'length'), chunkOf({}, 'stop'), '[DONE]']);
    case 'text_after_finish':
      return endWith(response, [
        chunkOf({ content: half }, 'stop'),
        chunkOf({ content: text.slice(half.length) }, 'stop'),
        '[DONE]',
      ]);
    case 'one_choice_twice': {
      const parts = [chunkOf({ content: half }), chunkOf({ content: text.slice(half.length) }, 'stop')];
      return endWith(response, [{ ...chunkOf({}), choices: parts.flatMap(({ choices }) => choices) }, '[DONE]']);
    }
    case 'refusal':
      return endWith(response, [chunkOf({ refusal: STUB_CANARY }), chunkOf({}, 'stop'), '[DONE]']);
    case 'other_model':
      return endWith(response, [{ ...chunkOf({ content: text }, 'stop'), model: `other-${STUB_CANARY}` }, '[DONE]']);
    case 'no_model': {
      const { model: _, ...unnamed } = chunkOf({ content: text }, 'stop');
      return endWith(response, [unnamed, '[DONE]']);
    }
    case 'null_content':
      return endWith(response, [chunkOf({ content: null }), chunkOf({}, 'stop'), '[DONE]']);
    case 'thinking_in_text':
    case 'prose':
    case 'cut_reply_with_stop':
    case 'wrong_keys':
    case 'extra_key':
    case 'missing_key':
    case 'repeated_key':
    case 'verdict_out_of_range':
    case 'verdict_nan':
    case 'verdict_as_text':
    case 'verdict_missing':
      return sendDialect('vllm', texts, response);
    default:
      return sendDialect(behaviour, texts, response);
  }
}

async function endWith(response: ServerResponse, events: readonly unknown[]): Promise<void> {
  await sendEvents(response, events);
  response.end();
}

function statusIn(behaviour: StubBehaviour): number {
  return Number(behaviour.split('_')[1]);
}

function errorBody(code: number, type: string): unknown {
  return { error: { message: STUB_CANARY, type, param: null, code } };
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

function html(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><title>Sign in</title><form>${STUB_CANARY}</form>`);
}
