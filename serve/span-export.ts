/**
 * Sends the spans that the Worker logs to an OpenTelemetry collector: OTLP over HTTP, as JSON. The standard variables
 * decide (docs/guides/serve.md). Spans wait in memory: while the collector does not answer, the oldest are lost.
 * Format: https://opentelemetry.io/docs/specs/otlp (JSON Protobuf encoding).
 */
import * as z from 'zod';
import type { LogLine } from './log-lines.ts';
import { ServeError } from './serve-error.ts';

const SEND_EVERY_MS = 1_000;
const SEND_LIMIT_MS = 5_000;
const MOST_IN_REQUEST = 512;
const MOST_WAITING = 8_192;
/** The codes of OTLP. */
const KINDS = { server: 2, client: 3, consumer: 5 } as const;
const STATUS_ERROR = 2;
/** Statuses after which OTLP sends the same spans again. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A span in the log (functions/metrics/spans.ts). */
const spanSchema = z.object({
  event: z.literal('span'),
  trace_id: z.string(),
  span_id: z.string(),
  parent_id: z.string().nullable(),
  began_ms: z.int(),
  ended_ms: z.int(),
  name: z.string(),
  kind: z.enum(['server', 'client', 'consumer']),
  error: z.string().nullable(),
  attributes: z.record(z.string(), z.union([z.string(), z.int()])),
});
type LoggedSpan = z.infer<typeof spanSchema>;

export type SpanExportOptions = {
  /** Where spans go, with the path `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the process, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
};

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the standard variables. Returns null if they name no collector, or if one of the environment, which may be
 * meant for other programs, is wrong.
 * @param settings those given to the server; they override the environment.
 * @param warn is told what is wrong in the environment.
 * @throws ServeError if a setting is wrong.
 */
export function readSpanExport(
  settings: Variables,
  environment: Variables,
  warn: (message: string) => void,
): SpanExportOptions | null {
  try {
    return optionsOf({ ...environment, ...settings });
  } catch (error) {
    if (!(error instanceof WrongVariable) || settings[error.variable] !== undefined) throw error;
    warn(`spans are not exported: ${error.message}`);
    return null;
  }
}

const EXAMPLE = 'For example: OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318';

class WrongVariable extends ServeError {
  readonly variable: string;

  constructor(variable: string, problem: string, hint: string | null) {
    super(`${variable}: ${problem}`, hint);
    this.variable = variable;
  }
}

/** @throws WrongVariable */
function optionsOf(variables: Variables): SpanExportOptions | null {
  const variable = (name: string): string => variables[name] ?? '';
  // The variable for traces counts before the one for all signals.
  const nameOf = (part: string): string =>
    `OTEL_EXPORTER_OTLP_${variable(`OTEL_EXPORTER_OTLP_TRACES_${part}`) === '' ? '' : 'TRACES_'}${part}`;
  const [endpoint, protocol, headers] = [nameOf('ENDPOINT'), nameOf('PROTOCOL'), nameOf('HEADERS')];
  const given = variable(endpoint);
  if (given === '' || variable('OTEL_SDK_DISABLED') === 'true' || variable('OTEL_TRACES_EXPORTER') === 'none')
    return null;
  const url = endpoint.includes('TRACES') ? given : `${given.replace(/\/$/, '')}/v1/traces`;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new WrongVariable(endpoint, 'expected a URL with http or https', EXAMPLE);
  }
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw new WrongVariable(endpoint, `expected a URL without a user and password: send them in ${headers}`, EXAMPLE);
  }
  if (variable(protocol) === 'grpc') {
    throw new WrongVariable(protocol, 'spans are sent over HTTP as JSON, not over gRPC', EXAMPLE);
  }
  const resource = 'OTEL_RESOURCE_ATTRIBUTES';
  const service = variable('OTEL_SERVICE_NAME');
  return {
    url,
    headers: headersOf(headers, variable(headers)),
    resource: {
      'service.name': 'citeward',
      ...pairsOf(resource, variable(resource)),
      ...(service === '' ? {} : { 'service.name': service }),
    },
  };
}

/** `name=value` pairs, separated by commas, with percent-encoded values. @throws WrongVariable */
function pairsOf(name: string, text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      try {
        if (at > 0) return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const;
      } catch {
        // The value has a percent sign that encodes nothing.
      }
      throw new WrongVariable(name, 'expected name=value pairs, separated by commas', null);
    }),
  );
}

/** @throws WrongVariable if a request cannot have them. */
function headersOf(name: string, text: string): Record<string, string> {
  const pairs = pairsOf(name, text);
  try {
    new Headers(pairs);
  } catch {
    throw new WrongVariable(name, 'expected names and values that an HTTP header can have', null);
  }
  return pairs;
}

export class SpanExport {
  readonly #options: SpanExportOptions;
  readonly #warn: (message: string) => void;
  readonly #timer: NodeJS.Timeout;
  #waiting: LoggedSpan[] = [];
  #lost = 0;
  #isFailing = false;
  #sending: Promise<void> | null = null;

  /** @param warn is told when the collector stops taking spans, when it takes them again, and how many are lost. */
  constructor(options: SpanExportOptions, warn: (message: string) => void) {
    this.#options = options;
    this.#warn = warn;
    this.#timer = setInterval(() => this.#sendSoon(), SEND_EVERY_MS).unref();
  }

  /** Keeps the span of a line. Returns whether the line is one. */
  take({ event }: LogLine): boolean {
    const span = event?.['event'] === 'span' ? spanSchema.safeParse(event) : null;
    if (span?.success !== true) return false;
    this.#waiting.push(span.data);
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#lost++;
    }
    return true;
  }

  /** Sends what waits, once, and ends. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#sendAll();
    this.#lost += this.#waiting.length;
    if (this.#lost > 0) this.#warn(`${this.#lost} spans are lost`);
  }

  #sendSoon(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    let isTaken = true;
    while (isTaken && this.#waiting.length > 0) isTaken = await this.#send(this.#waiting.slice(0, MOST_IN_REQUEST));
  }

  /** Returns whether the collector answered; spans that it may take later keep waiting. */
  async #send(spans: readonly LoggedSpan[]): Promise<boolean> {
    const { url, headers, resource } = this.#options;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(spans, resource)),
      signal: AbortSignal.timeout(SEND_LIMIT_MS),
    }).catch(() => null);
    // The connection may have broken after the status.
    await answer?.body?.cancel().catch(() => undefined);
    if (answer?.ok === true) {
      if (this.#isFailing) this.#warn(`spans are exported again: ${this.#lost} are lost so far`);
      this.#isFailing = false;
    } else {
      if (!this.#isFailing) this.#warn(`spans are not exported: ${url} ${problemOf(answer)}`);
      this.#isFailing = true;
      if (answer === null || RETRIED.has(answer.status)) return false;
      this.#lost += spans.length;
    }
    const sent = new Set(spans);
    this.#waiting = this.#waiting.filter((span) => !sent.has(span));
    return true;
  }
}

function problemOf(answer: Response | null): string {
  return answer === null ? 'cannot be reached' : `answers ${answer.status}`;
}

/** The body of a request of OTLP. */
function requestOf(spans: readonly LoggedSpan[], resource: Readonly<Record<string, string>>): unknown {
  const scopeSpans = [{ scope: { name: 'citeward' }, spans: spans.map(otlpSpan) }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

function otlpSpan({ trace_id, span_id, parent_id, began_ms, ended_ms, name, kind, error, attributes }: LoggedSpan) {
  return {
    traceId: trace_id,
    spanId: span_id,
    ...(parent_id === null ? {} : { parentSpanId: parent_id }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: `${began_ms}000000`,
    endTimeUnixNano: `${ended_ms}000000`,
    attributes: attributesOf(error === null ? attributes : { ...attributes, 'error.type': error }),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

function attributesOf(values: Readonly<Record<string, string | number>>) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
}
