/** The input of every check: the backend, the model under test, and prompts that several checks share. */
import type { Target } from './connection.ts';
import type { EngineMetrics } from './metrics.ts';

export type Probe = {
  readonly target: Target;
  readonly model: string;
  /** Context length that judge prompts need, in tokens. */
  readonly min_context_tokens: number;
  /** Differs in each run, so that a prompt with it is not in the prefix cache yet. */
  readonly nonce: string;
  /** The metrics of the engine; `null` = unavailable. */
  readonly metrics: () => Promise<EngineMetrics | null>;
};

/** A request with a long answer. Its text is fixed and contains nothing of a caller. */
export function proseBody(
  probe: Probe,
  maxTokens: number,
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    model: probe.model,
    messages: [{ role: 'user', content: 'Describe, in plain words and at length, how a lighthouse works.' }],
    max_tokens: maxTokens,
    temperature: 1,
    chat_template_kwargs: { enable_thinking: false },
    ...extra,
  };
}

/** Waits between two polls. */
export function pauseMs(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the observed value at rank ceil(q n), without interpolation; NaN for no values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}
