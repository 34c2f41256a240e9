/**
 * Choices for backends that give one a call: each choice is a call of its own under its own seed, a few at a time, and
 * their events are merged as they come. One call that fails fails them all and ends the others: n samples or none.
 */

import type { GenerationEnd, GenerationEvent, GenerationRequest } from '../../../src/generation/generator.ts';
import type { TokenUsage } from '../../../src/judgments/types.ts';
import type { Generation } from '../calls/lifetime.ts';

type Step = { readonly choice: number; readonly result: IteratorResult<GenerationEvent, GenerationEnd> };

/**
 * Runs the request as `n` calls of one choice.
 * @param atOnce calls at a time.
 * @param call one call; ends when it is returned or its lifetime is over.
 */
export async function* parallelChoices(
  request: GenerationRequest,
  atOnce: number,
  call: (request: GenerationRequest) => Generation,
): Generation {
  const running = new Map<number, Generation>();
  const steps = new Map<number, Promise<Step>>();
  const usages: TokenUsage[] = [];
  let next = 0;
  /** Asks a call for its next event, or starts one: only what the reader has room for is under way. */
  const advance = (choice: number, generation: Generation): void => {
    running.set(choice, generation);
    steps.set(
      choice,
      generation.next().then((result) => ({ choice, result })),
    );
  };
  try {
    for (;;) {
      while (steps.size < atOnce && next < request.n) {
        const sampling = { ...request.sampling, seed: seedOfChoice(request, next) };
        advance(next, call({ ...request, n: 1, sampling }));
        next++;
      }
      if (steps.size === 0) break;
      const { choice, result } = await Promise.race(steps.values());
      steps.delete(choice);
      const generation = running.get(choice);
      if (generation === undefined) throw new Error('parallelChoices: a step of no call');
      if (result.done) {
        running.delete(choice);
        if (!result.value.ok) return result.value;
        continue;
      }
      const event = result.value;
      if (event.type === 'usage') usages.push(event.usage);
      else yield { ...event, choice };
      advance(choice, generation);
    }
    // A sum over some of the calls would be no count.
    if (usages.length === request.n) yield { type: 'usage', usage: sumOf(usages) };
    return { ok: true };
  } finally {
    // Not awaited: a call that is waiting for its next piece ends with the lifetime that they share.
    for (const generation of running.values()) void generation.return({ ok: true });
  }
}

function sumOf(usages: readonly TokenUsage[]): TokenUsage {
  return usages.reduce((sum, { prompt_tokens, completion_tokens }) => ({
    prompt_tokens: sum.prompt_tokens + prompt_tokens,
    completion_tokens: sum.completion_tokens + completion_tokens,
  }));
}

/** Of choice i where each choice is a call of its own. `null` = left to chance. */
export function seedOfChoice({ sampling: { seed } }: GenerationRequest, choice: number): number | null {
  return seed === null ? null : seed + choice;
}
