/**
 * The extractive refiner as a generator: it needs no model and no GPU and is always available. It cites sentences of
 * the tool output verbatim (src/generation/extractive.ts).
 */

import { parseSources } from '../src/citations/sources.ts';
import { EXTRACTIVE_MODEL, refineExtractively } from '../src/generation/extractive.ts';
import type { GenerationRequest, Generator } from '../src/generation/generator.ts';
import { backendFault, brokenGeneration } from './model-servers/calls/failures.ts';
import { type Generation, generationWithin, type Lifetime } from './model-servers/calls/lifetime.ts';
import { seedOfChoice } from './model-servers/dialects/parallel-choices.ts';

export const EXTRACTIVE_NAME = 'extractive';

/** Words per piece of the stream. */
const WORDS_AT_ONCE = 8;
/** Seeds have 32 bits. */
const SEEDS = 2 ** 32;

/** @param random in [0, 1), for requests without a seed. */
export function createExtractiveGenerator(random: () => number): Generator {
  return {
    name: EXTRACTIVE_NAME,
    model: EXTRACTIVE_MODEL,
    context_tokens: null,
    native_tools: false,
    generate: (request, options) => generationWithin(options, (life) => refine(request, life, random)),
  };
}

async function* refine(request: GenerationRequest, life: Lifetime, random: () => number): Generation {
  const { subject, sampling, n } = request;
  if (subject === null) {
    return brokenGeneration(
      backendFault('request_refused', 'the extractive refiner answers questions about tool output only'),
    );
  }
  const sources = parseSources(subject.tool_output);
  const chance = Math.floor(random() * SEEDS);
  for (let choice = 0; choice < n; choice++) {
    const seed = seedOfChoice(request, choice) ?? chance + choice;
    const text = refineExtractively(subject.question, sources, { temperature: sampling.temperature, seed });
    for (const piece of piecesOf(text)) {
      // Yields to timers, signals and other requests, because the work is pure CPU.
      await life.during(new Promise((resolve) => setTimeout(resolve, 0)));
      if (life.signal.aborted) return brokenGeneration(life.fault);
      yield { type: 'text', choice, text: piece };
    }
    yield { type: 'finish', choice, finish_reason: 'stop' };
  }
  return { ok: true };
}

/** Splits the text into pieces of a few words. */
function* piecesOf(text: string): Iterable<string> {
  let start = 0;
  let words = 0;
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1)) {
    words++;
    if (words % WORDS_AT_ONCE !== 0) continue;
    yield text.slice(start, at + 1);
    start = at + 1;
  }
  yield text.slice(start);
}
