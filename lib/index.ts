/**
 * Citeward: scores cited answers. `import … from 'citeward'` runs in Node (22.18 or later), Workers and browsers.
 * Subpaths: `citeward/node` (a store in a file), `citeward/workers` (a store in KV), `citeward/citations` (the parser),
 * `citeward/families` (recipe families of your own), `citeward/rubrics` (rubrics that evolve), `citeward/exact`
 * (reproductions of public reward code) and `citeward/client` (the HTTP API).
 *
 * JSON data (rollouts, recipes, facts, scores) has the names of the HTTP API (`tool_output`); options are camelCase.
 */
export type { Verification, VerifyInput } from '../src/citations/verify.ts';
export type { Facts, Recipe, RecipeName } from '../src/families/composers.ts';
export type { ResolvedRecipe } from '../src/families/resolve.ts';
export type { InputProblem } from '../src/input-problem.ts';
export type { Judge } from '../src/judgments/judge.ts';
export { LEXICAL_JUDGE as lexicalJudge } from '../src/judgments/lexical-judge.ts';
export type { JudgmentStore } from '../src/judgments/store.ts';
export type { ReplayFigures } from '../src/runs/replay-report.ts';
export type { AdvantageOptions } from '../src/scoring/advantage-presets.ts';
export type { GroupAdvantages } from '../src/scoring/advantages.ts';
export type { GdpoOptions, GdpoStep, StepMember } from '../src/scoring/gdpo.ts';
export type { ScoreReply } from '../src/scoring/score-reply.ts';
export { advantages, stepAdvantages } from './advantages.ts';
export { InputError } from './input-error.ts';
export { memoryStore } from './memory-store.ts';
export { type OpenAiCompatibleOptions, openAiCompatible } from './open-ai-compatible.ts';
export type { RecipeInput } from './own-families.ts';
export { compose, composeGroup, recipes } from './recipes.ts';
export { type Replay, type ReplayRecipe, type ReplaySample, replay } from './replay.ts';
export { resolveRecipe } from './resolve-recipe.ts';
export type { Rollout } from './rollout.ts';
export {
  createScorer,
  type GroupOptions,
  type Scored,
  type ScoredGroup,
  type ScoreOptions,
  type Scorer,
  type ScorerJudges,
  type ScorerMember,
  type ScorerOptions,
} from './scorer.ts';
export { createVerifier, type Verifier, verifyCitations } from './verify.ts';
