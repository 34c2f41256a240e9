/**
 * A model server behind a Workers VPC binding, under the test's control: it sends a reply piece by piece, and records
 * how much was read and whether its caller disconnected. The Worker's side of the binding is the production code.
 */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import worker from '../../functions/index.ts';

/** One call of the server. */
export type ModelCall = {
  readonly body: { readonly n: number; readonly seed?: number; readonly [field: string]: unknown };
  readonly signal: AbortSignal;
  /** Pieces that were taken. */
  taken: number;
  /** The reply was let go of before its end. */
  cancelled: boolean;
};

/** The reply to a call: texts of choice 0, `[choice, text]` for another choice, `stop` at the end; or another reply. */
export type Says = Iterable<string | readonly [choice: number, text: string]> | Response | 'nothing' | 'breaks off';

/** Prompt and reply of one call. */
const CONTEXT_TOKENS = 17_408;

export class ModelServer {
  readonly calls: ModelCall[] = [];
  readonly #says: (call: number, body: ModelCall['body']) => Says;

  constructor(says: (call: number, body: ModelCall['body']) => Says) {
    this.#says = says;
  }

  /** The variables and the binding that make it the generator `model`. */
  get environment() {
    const backend = {
      ...{
        name: 'model',
        role: 'generate',
        kind: 'vllm',
        model: 'refiner-4b',
        slots: 4,
        context_tokens: CONTEXT_TOKENS,
      },
      ...{ base_url: 'http://gpu.internal/v1', transport: 'vpc', vpc_binding: 'GPU' },
    };
    const settings = { backends: [backend], default_judge: null, default_generator: 'model' };
    return { BACKENDS: JSON.stringify(settings), GPU: { fetch: this.#fetch } };
  }

  readonly #fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    const { signal } = init;
    if (!(signal instanceof AbortSignal)) throw new Error('ModelServer: a call without a signal');
    const body: ModelCall['body'] = JSON.parse(String(init.body));
    const call: ModelCall = { body, signal, taken: 0, cancelled: false };
    this.calls.push(call);
    const says = this.#says(this.calls.length - 1, body);
    return says instanceof Response ? says : streamOf(call, says);
  };
}

function streamOf(call: ModelCall, says: Exclude<Says, Response>): Response {
  const events = typeof says === 'string' ? [][Symbol.iterator]() : eventsOf(call, says)[Symbol.iterator]();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (says === 'nothing') await new Promise(() => undefined);
        const { done, value } = events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel() {
        call.cancelled = true;
      },
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

function* eventsOf(call: ModelCall, says: Exclude<Says, Response | string>): Iterable<string> {
  const chunk = (index: number, delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ model: 'refiner-4b', choices: [{ index, delta, finish_reason }] })}\n\n`;
  for (const said of says) {
    const [index, content] = typeof said === 'string' ? ([0, said] as const) : said;
    call.taken++;
    yield chunk(index, { content });
  }
  for (let index = 0; index < call.body.n; index++) yield chunk(index, {}, 'stop');
  const usage = { prompt_tokens: 100, completion_tokens: 20 };
  yield `data: ${JSON.stringify({ model: 'refiner-4b', choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

/** Sends without a pipe between: one end sees what the other does with the stream itself. */
export async function sendTo(request: Request, variables: object = {}): Promise<Response> {
  const incoming = new Request<unknown, IncomingRequestCfProperties>(request);
  return worker.fetch(incoming, { ...env, ...variables }, createExecutionContext());
}
