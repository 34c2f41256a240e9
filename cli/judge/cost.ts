/** What judging cost: calls, tokens, and the time that answers took. Counted where the calls are made, retries included. */
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import type { TokenUsage } from '../../src/judgments/types.ts';

export type Cost = {
  /** Calls of the model, retries included; of a judge without a model, its answers. */
  readonly calls: number;
  /** Of the calls that said what they used; `null` if none did. */
  readonly tokens: TokenUsage | null;
  /** Calls that did not say: their tokens are in no figure. */
  readonly calls_without_usage: number;
};

export class CostMeter {
  #calls = 0;
  #withUsage = 0;
  #prompt = 0;
  #completion = 0;

  add(usage: TokenUsage | null): void {
    this.#calls++;
    if (usage === null) return;
    this.#withUsage++;
    this.#prompt += usage.prompt_tokens;
    this.#completion += usage.completion_tokens;
  }

  get cost(): Cost {
    const tokens = { prompt_tokens: this.#prompt, completion_tokens: this.#completion };
    return {
      calls: this.#calls,
      tokens: this.#withUsage === 0 ? null : tokens,
      calls_without_usage: this.#calls - this.#withUsage,
    };
  }
}

/** A backend whose calls are counted, also those that fail and those whose reply is refused later. */
export function metered(chat: ChatBackend, meter: CostMeter): ChatBackend {
  return {
    ...chat,
    async complete(request, options) {
      const outcome = await chat.complete(request, options);
      meter.add(outcome.ok ? outcome.completion.usage : null);
      return outcome;
    },
  };
}

/** A backend that is asked under other seeds: the n-th replicate of the same question. 0 changes nothing. */
export function reseeded(chat: ChatBackend, replicate: number): ChatBackend {
  return {
    ...chat,
    complete: (request, options) => {
      const { sampling } = request;
      return chat.complete({ ...request, sampling: { ...sampling, seed: sampling.seed + replicate * SEEDS } }, options);
    },
  };
}

/** Seeds that a model judge uses for one question: the first attempt's and the retry's (src/judgments/model-judge.ts). */
const SEEDS = 2;
