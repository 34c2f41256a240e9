/** A failure is never a number, for groups: a failed judgment of one member changes no reward of another. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeGroup, type Facts, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { factsSchema } from '../../../src/families/schemas.ts';
import type { BaseScore } from '../../../src/family/score.ts';
import { type Measurement, prepareGroup, type ReplayedScore, replayPrepared } from '../../../src/runs/replay-group.ts';
import { advantages } from '../../../src/scoring/advantages.ts';
import { FAMILIES_OF_FACTS, longTraceFacts, rowsOf } from '../runs/synthetic-rows.ts';

const LOST = { status: 'unscored', reason: 'judge_unreachable' };

/** The facts with every judged value lost. */
function lostFacts(facts: Facts): Facts {
  const lost = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if ('status' in value) return LOST;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lost(part)]));
  };
  return factsSchema.parse(lost(facts));
}

const LONG_TRACE = RECIPES['longtrace-rl'];
const RECIPES_OF: Readonly<Record<string, readonly Recipe[]>> = {
  'long-trace': (['positive_only', 'negative_only', 'plain', 'chunks'] as const).flatMap((variant) =>
    [0, 0.3, 1].map((eta) => ({ ...LONG_TRACE, variant, eta, punish_ill_formed: eta > 0 })),
  ),
};

/** The advantages of the samples whose reward is known, under two rules. */
function advantagesOf(rewards: readonly (number | null)[]): unknown {
  return (['mean', 'slime'] as const).map((rule) => advantages(rewards, rule));
}

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe: named, facts }) => {
  const groups = fc.array(facts, { minLength: 2, maxLength: 8 });

  it('gives the other members the rewards and advantages that they have without the failure', () => {
    fc.assert(
      fc.property(
        groups,
        fc.nat(7),
        fc.constantFrom(...(RECIPES_OF[named.family] ?? [named])),
        (members, at, recipe) => {
          const lostAt = at % members.length;
          const before: readonly BaseScore[] = composeGroup(members, recipe);
          const after: readonly BaseScore[] = composeGroup(
            members.map((member, position) => (position === lostAt ? lostFacts(member) : member)),
            recipe,
          );
          for (const [position, { reward, depends_on }] of after.entries()) {
            if (position === lostAt) expect([null, before[position]?.reward]).toContain(reward);
            else if (reward === null && before[position]?.reward !== null) expect(depends_on).toContain(lostAt);
            else expect(reward).toBe(before[position]?.reward);
          }
          const masked = before.map(({ reward }, position) => (after[position]?.reward === null ? null : reward));
          expect(advantagesOf(after.map(({ reward }) => reward))).toEqual(advantagesOf(masked));
        },
      ),
    );
  });
});

describe('a replay that lacks what it reads at one member', () => {
  const before: Recipe = { ...RECIPES['longtrace-rl-chunks'], punish_ill_formed: false };
  const rewardsOf = (scores: readonly ReplayedScore[]) => scores.map(({ reward }) => reward);
  const others = fc.record({
    variant: fc.constantFrom('positive_only' as const, 'negative_only' as const, 'plain' as const, 'chunks' as const),
    eta: fc.constantFrom(0, 0.3, 1),
  });

  it('scores another member only if every value of the missing vote gives the same reward', () => {
    fc.assert(
      fc.property(
        fc.array(longTraceFacts, { minLength: 2, maxLength: 6 }),
        longTraceFacts,
        fc.nat(5),
        others,
        (members, measured, at, changed) => {
          const openAt = at % members.length;
          const prepared = prepareGroup(rowsOf(members, before), before);
          const after = { ...before, ...changed };
          const scores = (one: Measurement) =>
            replayPrepared(
              prepared,
              after,
              members.map((_, position) => (position === openAt ? one : null)),
            ).samples.map((sample) => sample.after);
          const open = scores({ gaps: ['rollout.text'] });
          const known = scores({ facts: measured });
          for (const [position, { reward, depends_on }] of open.entries()) {
            if (position === openAt) expect(reward).toBeNull();
            else if (reward === null && known[position]?.reward !== null) expect(depends_on).toEqual([`s${openAt}`]);
            else expect(reward).toBe(known[position]?.reward);
          }
        },
      ),
    );
  });

  it('names the sample on which a reward depends, and scores what cannot change', () => {
    const of = (outcome: 0 | 1, content: number): Facts => ({
      v: 1,
      family: 'long-trace',
      well_formed: true,
      finish_reason: 'stop',
      outcome: { status: 'scored', observed: outcome },
      entities: { total: 4, content, reasoning: 0, both: content },
      chunks: null,
    });
    const after = { ...LONG_TRACE, punish_ill_formed: false };
    const replayed = (members: readonly Facts[]) =>
      replayPrepared(prepareGroup(rowsOf(members, after), after), after, [{ gaps: ['rollout.text'] }]).samples.map(
        (sample) => sample.after,
      );
    // Right answers with shares of 1/2 and 0, and a wrong one: only the first divides by the maximum.
    const scores = replayed([of(1, 4), of(1, 2), of(1, 0), of(0, 1)]);
    expect(rewardsOf(scores)).toEqual([null, null, 0.7, 0]);
    expect(scores[1]).toMatchObject({ reason: 'group_vote_unknown', depends_on: ['s0'], masked: true });
    expect(scores[2]).not.toHaveProperty('depends_on');
    // No share exceeds that of a member that names every entity.
    expect(rewardsOf(replayed([of(1, 1), of(1, 4), of(1, 2)]))).toEqual([null, 1, 0.7 + 0.3 * 0.5]);
  });
});
