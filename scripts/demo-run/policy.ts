/**
 * The scripted policy of the demo run: the extractive refiner with the typical faults of trained refiners. Fault rates
 * fall from step to step by a fixed schedule; nothing is learned.
 */
import { parseSources } from '../../src/citations/sources.ts';
import { refineExtractively } from '../../src/generation/extractive.ts';
import { createDraws, type Draws } from './draws.ts';
import type { Prompt } from './prompts.ts';

export type Sample = {
  readonly response: string;
  readonly finish_reason: 'stop' | 'length';
};

/**
 * Probability of each fault at the first and at the last step. The first three faults are drawn per claim, the last
 * three per answer.
 */
const FAULTS = {
  uncited: [0.42, 0.08],
  invented_id: [0.3, 0.04],
  unsupported: [0.3, 0.06],
  off_topic: [0.45, 0.12],
  outside_text: [0.4, 0.06],
  truncated: [0.16, 0.03],
} as const satisfies Record<string, readonly [number, number]>;

type Fault = keyof typeof FAULTS;

/**
 * Range of the factor that scales the fault rates of one sample, so that the samples of a group get different rewards.
 */
const LUCK = [0.2, 1.8] as const;

type Claim = { readonly id: string | null; readonly text: string };

/** Generates one sample of a prompt. @param progress 0 at the first step, 1 at the last. */
export function makeSample(seed: string, prompt: Prompt, step: number, progress: number, sample: number): Sample {
  const draws = createDraws(seed, 'sample', prompt.group, step, sample);
  const luck = LUCK[0] + draws.share('luck') * (LUCK[1] - LUCK[0]);
  const has = (fault: Fault, ...of: readonly number[]): boolean => {
    const [first, last] = FAULTS[fault];
    return draws.share(fault, ...of) < luck * (first + (last - first) * progress);
  };

  const claims = claimsOf(prompt, draws).map((claim, n): Claim => {
    const text = has('unsupported', n) ? falsified(claim.text, draws.of('false', n)) : claim.text;
    if (has('uncited', n)) return { id: null, text };
    return { id: has('invented_id', n) ? `S${draws.integer(20, 60, 'id', n)}` : claim.id, text };
  });
  if (has('off_topic')) claims.push({ id: null, text: draws.pick(ASIDES, 'aside') });
  const answer = `<answer>${claims.map(claimText).join(' ')}</answer>`;
  const response = has('outside_text') ? `${draws.pick(PREFACES, 'preface')}\n${answer}` : answer;
  if (!has('truncated')) return { response, finish_reason: 'stop' };
  const kept = 0.5 + 0.45 * draws.share('cut');
  return { response: response.slice(0, Math.floor(response.length * kept)), finish_reason: 'length' };
}

const ASIDES = [
  'Visitors who are interested in the region will find many other places worth a detour.',
  'Many comparable places were built in the same decades and share a similar story.',
] as const;

const PREFACES = ['Here is what the search results say.', 'Let me put the answer together.'] as const;

const CLAIM = /<snippet id=(\S+?)>([^<]*)<\/snippet>/gu;

/** The claims of the extractive refiner's answer. */
function claimsOf({ question, tool_output }: Prompt, draws: Draws): Claim[] {
  const answer = refineExtractively(question, parseSources(tool_output), {
    sentences: draws.integer(2, 5, 'sentences'),
    temperature: 1.5,
    seed: draws.integer(0, 2 ** 31, 'seed'),
  });
  return [...answer.matchAll(CLAIM)].map(([, id = '', text = '']) => ({ id, text }));
}

function claimText({ id, text }: Claim): string {
  return id === null ? text : `<snippet id=${id}>${text}</snippet>`;
}

/** Changes the first number, or else appends a statement that no source makes. */
function falsified(text: string, draws: Draws): string {
  const changed = text.replace(/\d+/u, (digits) => String(Number(digits) + draws.integer(3, 48)));
  return changed === text ? `${text.replace(/\.$/u, '')}, against the will of the whole province.` : changed;
}
