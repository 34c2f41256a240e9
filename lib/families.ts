/**
 * What a recipe family of your own is made of: its interface, stages of judgments, and the parts that families share.
 * Pass the family to `createScorer({ families })`, `replay` and `resolveRecipe`.
 *
 * Schemas are made with the `z` of this module (zod), so that they are of the version that reads them. A family imports
 * nothing else of the package. It is pure: it asks for judgments and never calls a judge.
 */
import type { ScoringFamily } from '../src/family/family.ts';

export * as z from 'zod';
export type { Contributions } from '../src/family/contributions.ts';
export type { BaseFacts, Observed } from '../src/family/facts.ts';
export type {
  BaseRecipe,
  Composer,
  FamilyTypes,
  FieldKind,
  GroupVote,
  GroupVotes,
  Measured,
  PlanOptions,
  RewardRange,
  ScoringFamily,
  VoteRange,
} from '../src/family/family.ts';
export { mapObserved, scored, unscored, verdictsOf } from '../src/family/observe.ts';
export { type Gap, missingFields } from '../src/family/requirements.ts';
export type { Rollout } from '../src/family/rollout.ts';
export type { BaseScore, Component, UnscoredReason } from '../src/family/score.ts';
export { ask, done, type Stage, together } from '../src/family/stages.ts';
export type { InputProblem } from '../src/input-problem.ts';
export type { JudgmentOutcome } from '../src/judgments/judgment.ts';
export type { JudgmentRequest, Verdicts } from '../src/judgments/kinds/registry.ts';
export type { WantedJudgment } from '../src/judgments/obtain.ts';
export type { Result } from '../src/result.ts';

/**
 * Declares a family and keeps the names of its recipes, so that `createScorer` knows them. Returns its argument.
 *
 * @example A family that pays for right answers
 * ```ts
 * import { createScorer, lexicalJudge } from 'citeward';
 * import { ask, defineFamily, done, mapObserved, missingFields, type Observed, verdictsOf, z } from 'citeward/families';
 *
 * const schema = z.strictObject({ family: z.literal('right-answer'), pay: z.number().min(0).max(100) });
 * type Recipe = z.infer<typeof schema>;
 * type Facts = { readonly v: 1; readonly family: 'right-answer'; readonly right: Observed<boolean> };
 *
 * const rightAnswer = defineFamily({
 *   name: 'right-answer',
 *   recipe: {
 *     schema,
 *     fields: { pay: 'compose' },   // replay changes it without a judge
 *     named: { 'right-answer': { family: 'right-answer', pay: 1 } },
 *     range: ({ pay }: Recipe) => [0, pay],
 *   },
 *   plan(rollout, _recipe: Recipe) {
 *     const { question, reference, response: answer } = rollout;
 *     if (question === undefined || reference === undefined) {
 *       return { ok: false, error: missingFields(rollout, ['question', 'reference'], 'right-answer') };
 *     }
 *     const request = { kind: 'outcome', question, reference, answer } as const;
 *     const value = ask([{ request, cited: new Set() }], ([outcome]) => {
 *       const right = mapObserved(verdictsOf(request, outcome), ({ correct }) => correct);
 *       const facts: Facts = { v: 1, family: 'right-answer', right };
 *       return done({ facts, reply: (score: ReturnType<typeof composed>) => score });
 *     });
 *     return { ok: true, value };
 *   },
 *   compose: (facts: Facts, recipe: Recipe) => composed(facts, recipe),
 *   groupVote: () => null,   // rewards are not compared within the group
 *   gaps: () => [],          // every recipe reads the same facts
 * });
 *
 * function composed({ right }: Facts, { pay }: Recipe) {
 *   const reason = right.status === 'unscored' ? right.reason : null;
 *   const reward = right.status === 'unscored' ? null : right.observed ? pay : 0;
 *   const status: 'scored' | 'unscored' = reward === null ? 'unscored' : 'scored';
 *   const common = { family: 'right-answer', decided_by: null, components: {}, details: {} } as const;
 *   return { ...common, reward, base: reward, status, reason };
 * }
 *
 * const scorer = createScorer({ judge: lexicalJudge, families: [rightAnswer] });
 * const row = { question: 'How long is the Aare?', reference: '288 km', response: 'It is 288 km long.' };
 * const { reward } = await scorer.score(row, { base: 'right-answer', pay: 10 });
 * console.log(reward);   // 10
 * ```
 */
export function defineFamily<const F extends ScoringFamily>(family: F): F {
  return family;
}
