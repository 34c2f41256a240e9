/**
 * OpenRLHF's remote reward model: lists in, lists of the same length out. Source: OpenRLHF/OpenRLHF 3c3be623,
 * `openrlhf/utils/agent.py`, `_fetch_rewards_via_http`; the keys are those of v0.5.9 and later.
 */
import * as z from 'zod';
import { familyOf } from '../../families/registry.ts';
import { textSchema } from '../../family/rollout-schema.ts';
import { MAX_GROUP } from '../../limits.ts';
import { loggedNumbers, runReportsSchema, type TrainedScore } from './reply.ts';

export const openRlhfRequestSchema = z
  .object({
    query: z.array(textSchema).max(MAX_GROUP).describe('Decoded prompt and response, special tokens included.'),
    prompts: z.array(textSchema).max(MAX_GROUP),
    labels: z.array(z.unknown()).max(MAX_GROUP).describe('The label of each sample.'),
  })
  .superRefine(({ query, prompts, labels }, context) => {
    for (const [name, list] of [
      ['prompts', prompts],
      ['labels', labels],
    ] as const) {
      if (list.length === query.length) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'expected as many entries as query has' });
    }
  });

export const openRlhfReplySchema = z.strictObject({
  rewards: z.array(z.number()).describe('Rewards; the trainer computes advantages from them.'),
  scores: z.array(z.number().min(0).max(1)).describe('The base in [0, 1], for dynamic filtering.'),
  extra_logs: z
    .record(z.string(), z.array(z.number()))
    .describe('Component values by name, and contributions by NAME_contribution.'),
  run: runReportsSchema.exactOptional(),
});

/** Maps a score's base to [0, 1], as its family defines; `null` if it has no base. */
export function unitScore({ score, recipe }: TrainedScore): number | null {
  if (score.base === null) return null;
  const share = familyOf(score).reply.unitScore(score.base, recipe.reward_range);
  return Math.min(1, Math.max(0, share));
}

/** Component values by name, one per sample; names that a sample lacks are left out. */
export function extraLogs(members: readonly TrainedScore[]): Record<string, number[]> {
  const [first, ...others] = members.map((member) => new Map(Object.entries(loggedNumbers(member))));
  if (first === undefined) return {};
  return Object.fromEntries(
    [...first].flatMap(([name, value]) => {
      const rest = others.flatMap((numbers) => numbers.get(name) ?? []);
      return rest.length === others.length ? [[name, [value, ...rest]]] : [];
    }),
  );
}

/** Tokens that end a turn or a text, as tokenizers of chat models decode them. */
const END_TOKENS = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|end|>',
  '<|return|>',
  '<|endofturn|>',
  '<end_of_turn>',
  '<eos>',
  '</s>',
  '<｜end▁of▁sentence｜>',
] as const;

/**
 * Extracts the response from a decoded prompt and response, without end tokens. OpenRLHF sends the decoded text of all
 * tokens, special ones included (`openrlhf/utils/agent.py`, `SingleTurnAgentExecutor`).
 * @param query the decoded prompt and response.
 */
export function decodedResponse(query: string, prompt: string): string {
  return withoutEndTokens(query.slice(promptEnd(query, prompt)));
}

/**
 * Finds the end of the prompt in the query. A prompt that exceeded its limit lost its beginning before decoding, so the
 * query then begins with the longest suffix of the prompt that is left. Returns 0 if the query contains none of it.
 */
function promptEnd(query: string, prompt: string): number {
  return query.startsWith(prompt) ? prompt.length : longestOverlap(prompt, query);
}

/** Shorter overlaps can be chance; the end of a chat template alone is about this long. */
const MIN_OVERLAP_CHARS = 16;

/** Length of the longest suffix of `text` that is a prefix of `start`, in linear time (Knuth, Morris, Pratt 1977). */
function longestOverlap(text: string, start: string): number {
  const tail = text.slice(Math.max(0, text.length - start.length));
  const borders = new Int32Array(tail.length);
  let matched = 0;
  for (let i = 1; i < tail.length; i++) {
    while (matched > 0 && start.charCodeAt(i) !== start.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (start.charCodeAt(i) === start.charCodeAt(matched)) matched++;
    borders[i] = matched;
  }
  matched = 0;
  for (let i = 0; i < tail.length; i++) {
    while (matched > 0 && tail.charCodeAt(i) !== start.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (tail.charCodeAt(i) === start.charCodeAt(matched)) matched++;
  }
  return matched < MIN_OVERLAP_CHARS ? 0 : matched;
}

function withoutEndTokens(text: string): string {
  let end = text.length;
  for (;;) {
    let last = end;
    while (last > 0 && text.charAt(last - 1).trim() === '') last--;
    const token = END_TOKENS.find((one) => text.endsWith(one, last));
    if (token === undefined) return text.slice(0, end);
    end = last - token.length;
  }
}
