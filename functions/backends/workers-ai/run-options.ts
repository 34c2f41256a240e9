/** How a model of Workers AI is run, whatever is asked of it. */
import type { AiRunOptions } from '../bindings.ts';

/**
 * A cached reply would make replicates and samples equal and retries pointless; logs of a gateway would hold prompts; and
 * who retries is decided elsewhere.
 * @param gateway_id the AI Gateway to go through; `null` = none.
 */
export function runOptions(gateway_id: string | null, signal: AbortSignal): AiRunOptions {
  if (gateway_id === null) return { signal };
  return { signal, gateway: { id: gateway_id, skipCache: true, collectLog: false, retries: { maxAttempts: 1 } } };
}
