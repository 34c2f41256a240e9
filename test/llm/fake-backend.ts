/**
 * A fake backend in vLLM's dialect that is correct except for at most one fault, to test that the conformance check
 * reports each fault and nothing else. It implements the part of vLLM that the check observes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { proseTokens, valueFor } from './fake-replies.ts';

export type Fault =
  | 'dead'
  | 'no_health'
  | 'login_page'
  | 'open_without_key'
  | 'unguarded_paths'
  | 'short_context'
  | 'context_not_said'
  | 'ignores_schema'
  | 'cuts_replies'
  | 'verdict_first'
  | 'thinks'
  | 'no_finish_reason'
  | 'error_in_stream'
  | 'resets_streams'
  | 'buffers'
  | 'keeps_generating'
  | 'no_usage'
  | 'wrong_sum'
  | 'echoes_another_model'
  | 'ignores_seeds'
  | 'seeds_fail_under_load'
  | 'no_prefix_cache'
  | 'cache_not_said'
  | 'one_choice'
  | 'answers_for_any_model'
  | 'server_error_for_bad_request'
  | 'metrics_closed'
  | 'load_shows';

export type FakeBackend = { readonly url: string; readonly requests: () => number; stop(): Promise<void> };

export const FAKE_KEY = 'sk-fake';
export const FAKE_MODEL = 'judge';

const TOKEN_MS = 2;

const bodySchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  /** Absent if the caller gives it the newer name, max_completion_tokens. */
  max_tokens: z.number().default(1_024),
  seed: z.number().optional(),
  n: z.number().default(1),
  stream: z.boolean().default(false),
  ignore_eos: z.boolean().default(false),
  response_format: z.object({ json_schema: z.object({ schema: z.unknown() }) }).optional(),
});
type Body = z.infer<typeof bodySchema>;

type State = {
  readonly faults: ReadonlySet<Fault>;
  requests: number;
  running: number;
  generated: number;
  draws: number;
};

/** Starts it on a free port. */
export async function startFakeBackend(...faults: readonly Fault[]): Promise<FakeBackend> {
  const state: State = { faults: new Set(faults), requests: 0, running: 0, generated: 0, draws: 0 };
  const stopping = new AbortController();
  const server = createServer((request, response) => {
    state.requests++;
    answer(state, request, response, stopping.signal).catch((error: unknown) => {
      // The caller disconnected or the test has ended; any other error is a bug of the fake.
      if (!response.destroyed && !stopping.signal.aborted) response.writeHead(599).end(String(error));
    });
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake backend has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => state.requests,
    stop: () =>
      new Promise<void>((stopped) => {
        stopping.abort();
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const { faults } = state;
  let text = '';
  for await (const chunk of request) text += String(chunk);
  if (faults.has('login_page')) {
    response.writeHead(302, { location: '/login', 'content-type': 'text/html' }).end('<html>Sign in</html>');
    return;
  }
  const path = request.url ?? '';
  if (path === '/health') {
    response.writeHead(faults.has('dead') ? 503 : faults.has('no_health') ? 404 : 200).end();
    return;
  }
  if (path === '/metrics' && request.headers.authorization !== undefined && !faults.has('metrics_closed')) {
    response.end(
      `vllm:num_requests_running{engine="0"} ${state.running}\nvllm:generation_tokens_total ${state.generated}\n`,
    );
    return;
  }
  if (!path.startsWith('/v1/')) {
    json(response, faults.has('unguarded_paths') ? 422 : 404, { error: 'Not Found' });
    return;
  }
  if (request.headers.authorization !== `Bearer ${FAKE_KEY}` && !faults.has('open_without_key')) {
    json(response, 401, { error: 'Unauthorized' });
    return;
  }
  if (path === '/v1/models') {
    const length = faults.has('context_not_said') ? {} : { max_model_len: faults.has('short_context') ? 4096 : 32_768 };
    json(response, 200, { object: 'list', data: [{ id: FAKE_MODEL, object: 'model', ...length }] });
    return;
  }
  const parsed = bodySchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    return problem(response, faults.has('server_error_for_bad_request') ? 500 : 400, 'messages: not a list');
  if (parsed.data.model !== FAKE_MODEL && !faults.has('answers_for_any_model')) {
    return problem(response, 404, `The model does not exist: ${parsed.data.model}`);
  }
  state.running++;
  try {
    if (faults.has('load_shows')) await pause(20 * state.running, undefined, { signal: stopping });
    if (parsed.data.stream) await streamReply(state, parsed.data, response, stopping);
    else await wholeReply(state, parsed.data, response);
  } finally {
    state.running--;
  }
}

async function wholeReply(state: State, body: Body, response: ServerResponse): Promise<void> {
  const { faults } = state;
  const count = faults.has('one_choice') ? 1 : body.n;
  const choices = Array.from({ length: count }, (_unused, index) => {
    const { text, finish } = replyText(state, body, index);
    const reasoning = faults.has('thinks') ? 'Let me think.' : null;
    return { index, message: { role: 'assistant', content: text, reasoning }, finish_reason: finish };
  });
  await pause(TOKEN_MS);
  const promptTokens = body.messages.reduce((sum, { content }) => sum + Math.ceil(content.length / 4), 0);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: 16,
    total_tokens: promptTokens + (faults.has('wrong_sum') ? 17 : 16),
    prompt_tokens_details: faults.has('cache_not_said')
      ? null
      : { cached_tokens: faults.has('no_prefix_cache') ? 16 : promptTokens - 16 },
  };
  const model = faults.has('echoes_another_model') ? 'alias' : body.model;
  json(response, 200, { model, choices, ...(faults.has('no_usage') ? {} : { usage }) });
}

function replyText(state: State, body: Body, index: number): { readonly text: string; readonly finish: string } {
  const { faults } = state;
  const schema = body.response_format?.json_schema.schema;
  if (schema === undefined || faults.has('ignores_schema')) {
    return { text: proseTokens(seedOf(state, body) + index, Math.min(body.max_tokens, 48)).join(''), finish: 'stop' };
  }
  const text = JSON.stringify(valueFor(schema, faults.has('verdict_first')));
  return faults.has('cuts_replies') ? { text: text.slice(0, -9), finish: 'length' } : { text, finish: 'stop' };
}

function seedOf(state: State, { seed }: Body): number {
  const { faults, running } = state;
  const lost =
    seed === undefined || faults.has('ignores_seeds') || (faults.has('seeds_fail_under_load') && running > 2);
  return lost ? 1_000 + state.draws++ : seed;
}

async function streamReply(state: State, body: Body, response: ServerResponse, stopping: AbortSignal): Promise<void> {
  const { faults } = state;
  const event = (data: object): void => {
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const count = body.ignore_eos ? body.max_tokens : Math.min(body.max_tokens, 48);
  const verdict = body.response_format === undefined ? null : replyText(state, body, 0);
  const tokens = verdict === null ? proseTokens(seedOf(state, body), count) : [verdict.text];
  if (faults.has('buffers')) await pause(1_200, undefined, { signal: stopping });
  for (const content of tokens) {
    if (response.destroyed && !faults.has('keeps_generating')) return;
    state.generated++;
    event({ model: body.model, choices: [{ index: 0, delta: { content } }] });
    if (faults.has('resets_streams')) return void response.destroy();
    if (!faults.has('buffers')) await pause(TOKEN_MS, undefined, { signal: stopping });
  }
  if (faults.has('error_in_stream')) event({ error: { message: 'the engine has died', code: 500 } });
  else if (!faults.has('no_finish_reason')) {
    event({ model: body.model, choices: [{ index: 0, delta: {}, finish_reason: verdict?.finish ?? 'length' }] });
  }
  event({ choices: [], usage: { prompt_tokens: 20, completion_tokens: count, total_tokens: 20 + count } });
  response.end('data: [DONE]\n\n');
}

function problem(response: ServerResponse, code: number, message: string): void {
  json(response, code, { error: { message, type: 'BadRequestError', param: null, code } });
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
