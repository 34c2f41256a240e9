/**
 * Runs `n` choices on a backend that returns one choice per call: each choice is a call with its own seed, a few run in
 * parallel, and their events are merged as they arrive. If one call fails, all end with its failure: n samples or none.
 */

import type { GenerationEnd, GenerationEvent, GenerationRequest } from '../../../src/generation/generator.ts';
import type { TokenUsage } from '../../../src/judgments/protocol/failure.ts';
import type { Generation } from '../calls/lifetime.ts';

type Step = { readonly choice: number; readonly result: IteratorResult<GenerationEvent, GenerationEnd> };

/**
 * Runs the request as `n` calls with one choice each.
 * @param maxRunning concurrent calls.
 * @param call starts one call, which ends when it is returned or its lifetime ends.
 */
export async function* parallelChoices(
  request: GenerationRequest,
  maxRunning: number,
  call: (request: GenerationRequest) => Generation,
): Generation {
  const running = new Map<number, Generation>();
  const steps = new Map<number, Promise<Step>>();
  const usages: TokenUsage[] = [];
  let next = 0;
  /** Requests the next event of a call. Each call has at most one pending event, so a slow reader slows the backend. */
  const advance = (choice: number, generation: Generation): void => {
    running.set(choice, generation);
    steps.set(
      choice,
      generation.next().then((result) => ({ choice, result })),
    );
  };
  try {
    for (;;) {
      while (steps.size < maxRunning && next < request.n) {
        const sampling = { ...request.sampling, seed: seedOfChoice(request, next) };
        advance(next, call({ ...request, n: 1, sampling }));
        next++;
      }
      if (steps.size === 0) break;
      const { choice, result } = await Promise.race(steps.values());
      steps.delete(choice);
      const generation = running.get(choice);
      if (generation === undefined) throw new Error('parallelChoices: the step belongs to no running call');
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
    // Usage is reported only if every call reported it.
    if (usages.length === request.n) yield { type: 'usage', usage: sumOf(usages) };
    return { ok: true };
  } finally {
    // Not awaited: a pending call ends with the shared lifetime.
    for (const generation of running.values()) void generation.return({ ok: true });
  }
}

function sumOf(usages: readonly TokenUsage[]): TokenUsage {
  return usages.reduce((sum, { prompt_tokens, completion_tokens }) => ({
    prompt_tokens: sum.prompt_tokens + prompt_tokens,
    completion_tokens: sum.completion_tokens + completion_tokens,
  }));
}

/** The seed of one choice: the request's seed plus the choice's number; `null` = random. */
export function seedOfChoice({ sampling: { seed } }: GenerationRequest, choice: number): number | null {
  return seed === null ? null : seed + choice;
}
