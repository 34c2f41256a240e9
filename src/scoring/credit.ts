/**
 * Credit: the reward of a rollout, divided among the claims of its answer or among the turns of its messages, as a
 * trainer puts it on tokens or steps. Credit is a view on a reply: it enters no digest, receipt or record, and changes
 * no reward.
 */
import * as z from 'zod';
import { indexSchema, spanSchema } from '../citations/finding-schema.ts';
import type { Offsets } from '../citations/offset-units.ts';
import { CREDIT_BY, type CreditBy, type CreditedPlace } from '../family/credit.ts';
import type { Rollout } from '../family/rollout.ts';
import { trajectoryOf } from '../trajectory/rollout-messages.ts';
import { type Generations, generationsOf } from '../trajectory/source-turns.ts';

const share = z.number().describe('In reward units.');
const place = {
  index: indexSchema.describe('Index among the claims, or among the statements, of the reply.'),
  spans: z.array(spanSchema).describe('Its ranges in the response, in the unit of `offsets`. Empty = unknown.'),
  share,
};
const turn = {
  turn: indexSchema.describe('Index among the generations of the policy.'),
  message: indexSchema.describe('Index of the first message of the generation.'),
};

export const creditSchema = z
  .strictObject({
    by: z.enum(CREDIT_BY),
    entries: z
      .array(
        z.discriminatedUnion('of', [
          z.strictObject({ of: z.literal('claim'), ...place }),
          z.strictObject({ of: z.literal('statement'), ...place }),
          z.strictObject({ of: z.literal('turn'), ...turn, share }),
          z.strictObject({
            of: z.literal('answer'),
            turn: turn.turn.exactOptional(),
            message: turn.message.exactOptional(),
            share,
          }),
        ]),
      )
      .min(1),
  })
  .nullable()
  .describe(
    'Only with credit: the reward as shares, which added in order give it exactly. `answer`: what no verdict ties to ' +
      'a claim or turn. null = unscored.',
  );

/** The reward as shares; `null` = unscored. */
export type Credit = z.infer<typeof creditSchema>;
type Entry = NonNullable<Credit>['entries'][number];

/** What a reward is divided by. */
export type Divided = {
  readonly reward: number | null;
  /** The shares of claims and statements, and their places, both in order; without a place a share is the answer's. */
  readonly shares: readonly number[];
  readonly places: readonly CreditedPlace[];
};

/**
 * Divides a reward, in linear time. By claims, the entries are the claims, the uncited statements that are paid, and
 * the answer. By turns, each claim gives its share in equal parts to the generations whose calls returned the sources
 * that it cites, once for each source; a source that no call returned leaves its part to the answer, which takes the
 * rest.
 */
export function creditOf(by: CreditBy, rollout: Rollout, { reward, shares, places }: Divided): Credit {
  if (reward === null) return null;
  const claims = places.map((place, n) => ({ place, share: shares[n] ?? 0 }));
  switch (by) {
    case 'claims': {
      const paid = claims.filter(({ place, share }) => place.of === 'claim' || share !== 0);
      const settled = settledShares(
        paid.map(({ share }) => share),
        reward,
      );
      const entries = paid.map(({ place: { of, index, spans } }, n): Entry => {
        return { of, index, spans: spans.map((span) => ({ ...span })), share: settled.shares[n] ?? 0 };
      });
      return { by, entries: [...entries, ...settled.rest.map((share): Entry => ({ of: 'answer', share }))] };
    }
    case 'turns': {
      const trajectory = trajectoryOf(rollout);
      if (trajectory === null) throw new Error('creditOf: turns without messages, after validation');
      // Sources of the request are no results of a call.
      const { tool_output, sources, trajectory: options } = rollout;
      const hasResults = tool_output === undefined && sources === undefined;
      const { messages, answer, ofSource }: Generations = generationsOf(trajectory, options?.source_ids);
      const earned = messages.map(() => 0);
      for (const { place, share } of claims) {
        for (const id of hasResults ? place.cites : []) {
          const generation = ofSource.get(id);
          if (generation !== undefined) earned[generation] = (earned[generation] ?? 0) + share / place.cites.length;
        }
      }
      const before = messages.flatMap((message, turn) => (turn === answer ? [] : [{ turn, message }]));
      const settled = settledShares(
        before.map(({ turn }) => earned[turn] ?? 0),
        reward,
      );
      const message = messages[answer] ?? 0;
      return {
        by,
        entries: [
          ...before.map((one, n): Entry => ({ of: 'turn', ...one, share: settled.shares[n] ?? 0 })),
          ...settled.rest.map((share): Entry => ({ of: 'answer', turn: answer, message, share })),
        ],
      };
    }
  }
}

/** The credit with its spans in another unit. */
export function creditWithOffsets(credit: Credit, response: Offsets): Credit {
  if (credit === null) return null;
  const entries = credit.entries.map(
    (entry): Entry => ('spans' in entry ? { ...entry, spans: entry.spans.map((span) => response.span(span)) } : entry),
  );
  return { ...credit, entries };
}

/** Shares and their rest, which added in this order give a reward without rounding. The rest has one or two numbers. */
export type SettledShares = { readonly shares: readonly number[]; readonly rest: readonly number[] };

/**
 * Rounds shares so that they and the rest give the reward exactly: all become multiples of the last binary digit of the
 * largest partial sum, so that no addition rounds. The rest has a second number, smaller than this digit, only where
 * partial sums exceed the reward (a penalty lowers it), which then has finer digits than they have.
 */
export function settledShares(shares: readonly number[], reward: number): SettledShares {
  let largest = Math.abs(reward);
  let sum = 0;
  for (const share of shares) {
    sum += share;
    largest = Math.max(largest, Math.abs(sum), Math.abs(reward - sum));
  }
  const power = powerOfTwo(largest);
  // Rounding many shares can take a sum beyond the next power of two, where digits are coarser.
  for (let digits = FRACTION_DIGITS; ; digits--) {
    const settled = inMultiplesOf(power * 2 ** -digits, shares, reward);
    if (settled !== null) return settled;
  }
}

/** `null` = a sum of multiples is beyond the integers that a double holds. */
function inMultiplesOf(digit: number, shares: readonly number[], reward: number): SettledShares | null {
  // Adds 0 because -0 is another JSON text.
  const rounded = (value: number): number => Math.round(value / digit) * digit + 0;
  const most = 2 ** (FRACTION_DIGITS + 1) * digit;
  const settled = shares.map(rounded);
  let sum = 0;
  for (const share of settled) {
    sum += share;
    if (Math.abs(sum) > most) return null;
  }
  const main = rounded(reward) - sum;
  if (Math.abs(main) > most) return null;
  const smaller = reward - rounded(reward);
  return { shares: settled, rest: smaller === 0 ? [main] : [main, smaller] };
}

/** Binary digits of a double after its first one. */
const FRACTION_DIGITS = 52;

/** The digits of smaller numbers would be below the smallest double. */
const SMALLEST = 2 ** -900;

/** The largest power of two that is at most `value`, and at least about `SMALLEST`. */
function powerOfTwo(value: number): number {
  let power = 1;
  while (power * 2 <= value) power *= 2;
  while (power > value && power > SMALLEST) power /= 2;
  return power;
}
