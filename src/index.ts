/**
 * Citeward's scoring library: parse and verify citations, plan and measure judgments, compose rewards, replay them.
 * Pure: no I/O, no clock; runs unchanged in Workers, Node >= 22 and browsers.
 *
 *     request --plan--> judgments needed --judge (or replay)--> facts --compose(recipe)--> reward
 */

// Citations: what is in a response, and what can be said of it without a judge.
export type { AnswerChoice } from './citations/blocks.ts';
export { GRAMMAR_NAMES, GRAMMARS, type Grammar, type GrammarName } from './citations/grammars.ts';
export { type ParseOptions, parseResponse } from './citations/parse.ts';
export { splitSentences } from './citations/sentences.ts';
export { sizeProblems } from './citations/size.ts';
export { parseSources, type SourceInput, sourcesFromList } from './citations/sources.ts';
export type {
  CitedId,
  Claim,
  Finding,
  FindingCounts,
  FindingReason,
  ParsedResponse,
  Source,
  SourceSet,
  Span,
  UncitedStatement,
} from './citations/types.ts';
export { FINDING_REASONS } from './citations/types.ts';
export { toUtf8Offsets } from './citations/utf8-offsets.ts';
export {
  describeResponse,
  type Verification,
  type VerifiedClaim,
  type VerifyInput,
  type VerifyOptions,
  verifyCitations,
} from './citations/verify.ts';
// Lexical evidence and the built-in judge: no model.
export { type ClaimEvidence, gatherEvidence, indexSources, lexicalSupport, supportVerdict } from './evidence/index.ts';
export { judgeLexically, LEXICAL_IDENTITY } from './evidence/judge.ts';
export type { InputProblem } from './input-problem.ts';
// Judgments: requests, records, keys, stores, and the protocol of model judges.
export type { ChatBackend, Completion, CompletionOutcome, CompletionRequest } from './judgments/backend.ts';
export type { Judge, JudgeChoice, JudgeReply } from './judgments/judge.ts';
export { digestJson, judgmentKey, judgmentPreimage } from './judgments/key.ts';
export { createModelJudge } from './judgments/model-judge.ts';
export { type JudgePrompt, judgePrompt } from './judgments/prompt.ts';
export { type ReadReply, readReply } from './judgments/reply.ts';
export { createMemoryJudgmentStore, type JudgmentStore } from './judgments/store.ts';
export type {
  JudgeFailure,
  JudgeFailureReason,
  JudgeIdentity,
  Judgment,
  JudgmentOutcome,
  JudgmentRequest,
  Verdicts,
} from './judgments/types.ts';
// Recipes, and the line from a rollout to a reward.
export {
  REFINER_FIELDS,
  REFINER_RECIPES,
  type RefinerRecipe,
  refinerRecipeSchema,
  refinerRewardRange,
} from './recipes/refiner.ts';
export { type ResolvedRecipe, resolveRecipe } from './recipes/resolve.ts';
export { compose, neededJudgments } from './rewards/compose.ts';
export type { CriterionFact, Facts, Observed, RefinerFacts, StatementFact } from './rewards/facts.ts';
export { measure, type Outcomes } from './rewards/measure.ts';
export { type PlanOptions, type PlanResult, plan, type RefinerPlan } from './rewards/plan.ts';
export type { Criterion, CriterionInput, Rollout } from './rewards/rollout.ts';
export type { Component, RefinerScore, Score, UnscoredReason } from './rewards/score.ts';
export { type ScoringRequest, type ScoringResult, scoreRollout } from './rewards/scoring.ts';
export { STATIC_V3 } from './rubrics/static-v3.ts';
