/** What every check is given: the backend, the model under test, and the prompts that several checks share. */
import type { Target } from './connection.ts';
import type { EngineMetrics } from './metrics.ts';

export type Probe = {
  readonly target: Target;
  readonly model: string;
  /** Context that judge prompts need. */
  readonly min_context_tokens: number;
  /** Differs from run to run: a prompt that holds it cannot be in the prefix cache yet. */
  readonly nonce: string;
  /** The engine's own numbers; `null` = not to be had. */
  readonly metrics: () => Promise<EngineMetrics | null>;
};

/** A request that any model answers at some length. The texts are ours; nothing of a caller is sent. */
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

/** Waits between two looks at something that changes by itself. */
export function pauseMs(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value at rank ceil(q n): an observed one, never an interpolation. NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}
