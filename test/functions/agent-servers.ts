/**
 * The servers of an agent, under the test's control and behind Workers VPC bindings: a model that returns scripted
 * turns, and a sandbox with scripted replies. The Worker's side of the bindings is the production code.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect } from 'vitest';
import { agentEventSchemas, agentResponseSchema } from '../../src/wire/agent-reply.ts';
import { post } from './api.ts';
import { ModelServer, type Says, sendTo } from './model-server.ts';

export const ASKED = { messages: [{ role: 'user', content: 'What is 6 times 7?' }] };

/** A Hermes call in the text. */
export function callText(code: string): string {
  return `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;
}

/** A turn as a stream of chunks with their usage: what the texts of ModelServer cannot say. */
export function streamed(
  deltas: readonly object[],
  { finish = 'stop', usage }: { readonly finish?: string; readonly usage?: object } = {},
): Response {
  const chunk = (delta: object, finish_reason: string | null) => ({
    model: 'refiner-4b',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    ...(usage === undefined ? [] : [{ model: 'refiner-4b', choices: [], usage }]),
  ];
  const text = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  return new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

export type Run = { readonly code: string; readonly signal: AbortSignal };

/** A sandbox that runs nothing and returns scripted replies. */
export class ScriptedSandbox {
  readonly runs: Run[] = [];
  readonly #answers: (run: number, code: string) => Response | 'nothing';

  constructor(answers: (run: number, code: string) => Response | 'nothing') {
    this.#answers = answers;
  }

  readonly fetch = (_url: string, init: RequestInit): Promise<Response> => {
    const { signal } = init;
    if (!(signal instanceof AbortSignal)) throw new Error('ScriptedSandbox: a run without a signal');
    const body: { readonly code: string } = JSON.parse(String(init.body));
    this.runs.push({ code: body.code, signal });
    const answer = this.#answers(this.runs.length - 1, body.code);
    if (answer !== 'nothing') return Promise.resolve(answer);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
  };
}

/** The reply of a sandbox whose program ended. */
export function ran(stdout: string, fields: object = {}): Response {
  const run_result = { status: 'Finished', return_code: 0, stdout, stderr: '', ...fields };
  return Response.json({ status: 'Success', run_result });
}

export type Servers = { readonly model: ModelServer; readonly sandbox: ScriptedSandbox };

export function serversOf(turns: readonly Says[], outputs: readonly (Response | 'nothing')[] = []): Servers {
  const next = <T>(all: readonly T[], position: number): T => {
    const one = all[position];
    if (one === undefined) throw new Error(`serversOf: nothing at ${position}`);
    return one;
  };
  return {
    model: new ModelServer((call) => next(turns, call)),
    sandbox: new ScriptedSandbox((run) => next(outputs, run)),
  };
}

const SANDBOX = {
  ...{ base_url: 'http://sandbox.internal', transport: 'vpc', vpc_binding: 'SANDBOX', runtime: 'test', slots: 2 },
};

/** @param backend changes the generator. */
export function environmentOf({ model, sandbox }: Servers, backend: object = {}): object {
  const { BACKENDS, GPU } = model.environment;
  const settings: { readonly backends: readonly object[] } = JSON.parse(BACKENDS);
  const backends = settings.backends.map((one) => ({ ...one, context_tokens: 32_768, ...backend }));
  return { BACKENDS: JSON.stringify({ ...settings, backends, sandbox: SANDBOX }), GPU, SANDBOX: sandbox };
}

export function agent(fields: object, servers: Servers, backend: object = {}): Promise<Response> {
  return sendTo(post('/v1/agent', { ...ASKED, ...fields }), environmentOf(servers, backend));
}

export async function trajectoryOf(reply: Response) {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return agentResponseSchema.parse(JSON.parse(text));
}

function isEventName(name: string | undefined): name is keyof typeof agentEventSchemas {
  return name !== undefined && Object.hasOwn(agentEventSchemas, name);
}

/** Reads events as they come, each checked against the schema of its name. */
export class AgentEvents {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #arrived: EventSourceMessage[] = [];
  readonly #parser = createParser({ onEvent: (message) => this.#arrived.push(message) });
  readonly #decoder = new TextDecoder();

  constructor(reply: Response) {
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    if (reply.body === null) throw new Error('no body');
    this.#reader = reply.body.getReader();
  }

  /** `null` = the stream has ended. */
  async next(): Promise<{ readonly event: string; readonly data: unknown } | null> {
    for (;;) {
      const message = this.#arrived.shift();
      if (message !== undefined) {
        const { event, data } = message;
        if (!isEventName(event)) throw new Error(`an event called ${event}`);
        return { event, data: agentEventSchemas[event].parse(JSON.parse(data)) };
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    }
  }

  /** Reads up to an event of that name. */
  async until(name: string) {
    for (let event = await this.next(); event !== null; event = await this.next()) {
      if (event.event === name) return event.data;
    }
    throw new Error(`the stream ended without ${name}`);
  }

  async rest() {
    const events = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}
