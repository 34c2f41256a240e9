/**
 * W3C Trace Context: the trace of the current work, which outgoing requests carry on. Every request belongs to a trace:
 * to the caller's, or to a new one. Where no spans are collected, the caller's span is passed on unchanged, because a
 * span of the Worker would be missing in the trace. The trace follows asynchronous work (AsyncLocalStorage); between
 * objects it travels in messages, as headers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A trace, and a span in it. Ids are lower-case hex digits. */
export type Trace = {
  /** 32 digits. */
  readonly trace_id: string;
  /** 16 digits: the caller's span, the parent of everything that the work asks others to do. */
  readonly span_id: string;
  /** Two digits; `01` = the caller records the trace. */
  readonly flags: string;
  /** The caller's `tracestate`, passed on unchanged; `null` = none. */
  readonly state: string | null;
  /** The Worker began the trace: `span_id` names no recorded span. */
  readonly isNew?: true;
};

/** A span of the Worker's own. */
export type Span = Trace & {
  /** `null` = it is the first of its trace. */
  readonly parent_id: string | null;
  /** Since 1970. */
  readonly began_ms: number;
};

/** Version, trace id, parent id, flags. Later versions may append fields after another hyphen. */
const TRACEPARENT =
  /^(?<version>[\da-f]{2})-(?<trace>[\da-f]{32})-(?<parent>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;
const NO_TRACE = /^0+$/;
/** Longer values may be dropped, as the recommendation says. Printable ASCII without control characters. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

const current = new AsyncLocalStorage<Trace>();

/**
 * Reads the trace of the headers. An absent or invalid `traceparent` begins a new trace, which is not sampled.
 */
export function receivedTrace(traceparent: string | null | undefined, tracestate?: string | null): Trace {
  const fields = TRACEPARENT.exec(traceparent ?? '')?.groups;
  const { version = '', trace: trace_id = '', parent = '', flags = '', more } = fields ?? {};
  const isValid =
    fields !== undefined &&
    version !== 'ff' &&
    !(version === '00' && more !== undefined) &&
    !NO_TRACE.test(trace_id) &&
    !NO_TRACE.test(parent);
  if (!isValid) return { trace_id: randomHex(32), span_id: randomHex(16), flags: '00', state: null, isNew: true };
  const state = TRACESTATE.test(tracestate ?? '') ? (tracestate ?? null) : null;
  // Of the flags only "sampled" is defined in version 00.
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { trace_id, span_id: parent, flags: sampled ? '01' : '00', state };
}

/** Begins a span in a trace. Traces that the Worker began are sampled: the collector decides what it keeps. */
export function beginSpan({ isNew, ...trace }: Trace): Span {
  const parent = isNew === true ? { flags: '01', parent_id: null } : { parent_id: trace.span_id };
  return { ...trace, ...parent, span_id: randomHex(16), began_ms: Date.now() };
}

/** The trace of the current work; a new one if the work belongs to none. */
export function currentTrace(): Trace {
  return current.getStore() ?? receivedTrace(null);
}

/** Runs work in a trace. Everything that it awaits belongs to the trace, too. */
export function inTrace<T>(trace: Trace, work: () => T): T {
  return current.run(trace, work);
}

/** The trace of the current work as `traceparent`; `null` = the work belongs to none, as that of an alarm. */
export function currentTraceparent(): string | null {
  const trace = current.getStore();
  return trace === undefined ? null : traceparentOf(trace);
}

/** The headers `traceparent` and `tracestate` of outgoing requests. Both are absent if the work belongs to no trace. */
export type TraceHeaders = { readonly traceparent?: string; readonly tracestate?: string };

/** The headers that an outgoing request of the current work carries. */
export function traceHeaders(): TraceHeaders {
  const trace = current.getStore();
  if (trace === undefined) return {};
  const { state } = trace;
  return { traceparent: traceparentOf(trace), ...(state === null ? {} : { tracestate: state }) };
}

function traceparentOf({ trace_id, span_id, flags }: Trace): string {
  return `00-${trace_id}-${span_id}-${flags}`;
}

/** Random digits, those of a UUID: one native call makes them. */
function randomHex(digits: 16 | 32): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, digits);
}
