/**
 * Reads the load of an engine from its Prometheus page, under the metric names of vLLM, SGLang and llama.cpp. The proxy
 * of gpu-backend hides the page; `--metrics` gives another address.
 */
import { ConnectionError, send, type Target } from './connection.ts';

export type EngineMetrics = {
  /** Number of requests that run or wait. */
  readonly requests: number;
  /** Tokens generated since the start; `null` = not counted. */
  readonly generated_tokens: number | null;
  /** Prompt tokens that came from the prefix cache since the start; `null` = not counted. */
  readonly cached_tokens: number | null;
};

const REQUESTS = [
  ['vllm:num_requests_running', 'vllm:num_requests_waiting'],
  ['sglang:num_running_reqs', 'sglang:num_queue_reqs'],
  ['llamacpp:requests_processing', 'llamacpp:requests_deferred'],
] as const;
const GENERATED = ['vllm:generation_tokens_total', 'sglang:generation_tokens_total', 'llamacpp:tokens_predicted_total'];
const CACHED = ['vllm:prefix_cache_hits_total', 'sglang:cached_tokens_total', 'llamacpp:prompt_tokens_cached_total'];

/** Returns the metrics, or `null` if the page is unavailable or has none of the known names. */
export async function readMetrics(target: Target, page: string | null): Promise<EngineMetrics | null> {
  try {
    const reply = await send(target, { method: 'GET', path: page ?? '/metrics' });
    return reply.status === 200 ? parseMetrics(reply.text) : null;
  } catch (error) {
    // An unavailable page is no fault of the backend. The checks that need the page report that it is unavailable.
    if (error instanceof ConnectionError) return null;
    throw error;
  }
}

export function parseMetrics(page: string): EngineMetrics | null {
  const sums = new Map<string, number>();
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) continue;
    const nameEnd = line.search(/[{ ]/);
    const valueStart = line.lastIndexOf(' ');
    if (nameEnd === -1) continue;
    const name = line.slice(0, nameEnd);
    const value = Number(line.slice(valueStart + 1));
    // A page of several engines labels their values, which add up.
    if (Number.isFinite(value)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  const named = REQUESTS.find(([running]) => sums.has(running));
  if (named === undefined) return null;
  const [running, waiting] = named;
  const first = (names: readonly string[]): number | null => {
    const found = names.find((name) => sums.has(name));
    return found === undefined ? null : (sums.get(found) ?? null);
  };
  return {
    requests: (sums.get(running) ?? 0) + (sums.get(waiting) ?? 0),
    generated_tokens: first(GENERATED),
    cached_tokens: first(CACHED),
  };
}
