/**
 * Spans of requests, judge calls and tasks of batches. With LOG_SPANS=true each span is one line of the log, written
 * when it ends. `citeward serve` sets this and sends the lines to a collector. On Cloudflare, the platform records spans
 * itself.
 */
import { beginSpan, inTrace, type Trace } from '../../service/trace-context.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import type { JudgmentKind } from '../../src/judgments/kinds/names.ts';
import type { MadeJudgment } from '../../src/judgments/make-judgment.ts';
import type { Result } from '../../src/result.ts';
import { logEvent } from '../log-event.ts';

/** What is known of a span when its work has ended. Names of attributes are those of OpenTelemetry's conventions. */
export type SpanEnd = {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer';
  /** Why the work failed; `null` = it did not. */
  readonly error: string | null;
  readonly attributes: Readonly<Record<string, string | number>>;
};

/**
 * Runs work in a trace, and in a span of its own if spans are logged and the trace is sampled.
 * @param endOf gets what the work returned, or the error that it threw.
 */
export async function inSpan<T>(
  isLogged: boolean,
  trace: Trace,
  work: () => Promise<T>,
  endOf: (result: Result<T, unknown>) => SpanEnd,
): Promise<T> {
  if (!isLogged) return inTrace(trace, work);
  const span = beginSpan(trace);
  const result = await inTrace(span, work).then(
    (value): Result<T, unknown> => ({ ok: true, value }),
    (error: unknown): Result<T, unknown> => ({ ok: false, error }),
  );
  const { trace_id, span_id, parent_id, began_ms, flags } = span;
  const ids = { event: 'span', trace_id, span_id, parent_id, began_ms, ended_ms: Date.now() };
  if (flags === '01') logEvent('log', { ...ids, ...endOf(result) });
  if (!result.ok) throw result.error;
  return result.value;
}

/** The span of one judge call, in the conventions for generative AI; the provider is the judge's name. */
export function judgeSpanEnd(
  { name, model }: Judge,
  kind: JudgmentKind,
  ended: Result<MadeJudgment, unknown>,
): SpanEnd {
  const operation = kind === 'execution' || kind === 'equivalence' ? 'execute_tool' : 'chat';
  const made = ended.ok ? ended.value : null;
  const usage = made?.ok === true ? made.judgment.usage : null;
  return {
    name: `${operation} ${model}`,
    kind: 'client',
    error: made === null ? 'internal' : made.ok ? null : made.failure.reason,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': name,
      'gen_ai.request.model': model,
      'citeward.judgment.kind': kind,
      ...(usage === null
        ? {}
        : {
            'gen_ai.usage.input_tokens': usage.prompt_tokens,
            'gen_ai.usage.output_tokens': usage.completion_tokens,
          }),
    },
  };
}
