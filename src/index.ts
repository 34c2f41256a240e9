/**
 * Citeward's scoring library: parses and verifies citations, plans judgments, computes rewards from them, and replays
 * stored ones. Pure: no I/O, no clock, no timer. Runs in Workers, Node 22 or later, and browsers.
 *
 *     rollout -> plan -> judgment requests -> judge or stored judgments -> facts -> recipe -> reward
 */

// Reads citations: sources, responses, and the text itself.

export type { AnswerChoice } from './citations/blocks.ts';
export { GRAMMAR_NAMES, GRAMMARS, type Grammar, type GrammarName } from './citations/grammars.ts';
export { type ParseOptions, parseResponse, sizeProblems } from './citations/parse.ts';
export { parseSources, type SourceInput, sourcesFromList } from './citations/sources.ts';
export type { AnswerEvent, ClaimEvent, FindingEvent, StreamEvent } from './citations/stream/events.ts';
export {
  createIncrementalVerifier,
  type FinishedVerification,
  type IncrementalOptions,
  type IncrementalVerifier,
} from './citations/stream/verifier.ts';
export type {
  CitedId,
  Claim,
  Finding,
  FindingCounts,
  FindingReason,
  ParsedResponse,
  Source,
  SourceSet,
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
export type { InputProblem } from './input-problem.ts';
export { splitSentences } from './text/sentences.ts';
export type { Span } from './text/span.ts';

// Compares claims with sources by words, without a model.

export { type ClaimEvidence, gatherEvidence, indexSources, lexicalSupport, supportVerdict } from './lexical/index.ts';

// Plans, obtains and keys judgments; the protocol of model judges; the built-in lexical judge.

export { digestJson } from './digest.ts';
export type { ChatBackend, Completion, CompletionOutcome, CompletionRequest } from './judgments/chat-backend.ts';
export { createKnownIssuers, type IssuerKey, type KnownIssuers } from './judgments/issuer.ts';
export { readPublicKeys } from './judgments/issuer-keys.ts';
export type { Judge, JudgeChoice, JudgeReply } from './judgments/judge.ts';
export { judgmentKey, judgmentPreimage } from './judgments/key.ts';
export { STATIC_V3 } from './judgments/kinds/rubric/static-criteria.ts';
export { judgeLexically, LEXICAL_IDENTITY } from './judgments/lexical-judge.ts';
export { createModelJudge, judgePrompt, readReply } from './judgments/model-judge.ts';
export type { JudgePrompt } from './judgments/protocol/prompt.ts';
export type { ReadReply } from './judgments/protocol/reply.ts';
export { createMemoryJudgmentStore, type JudgmentStore } from './judgments/store.ts';
export type {
  JudgeFailure,
  JudgeFailureReason,
  JudgeIdentity,
  Judgment,
  JudgmentKind,
  JudgmentOutcome,
  JudgmentRequest,
  Verdicts,
} from './judgments/types.ts';

// Recipes: from a rollout and its judgments to a reward.

export type { DrTuluFacts } from './families/dr-tulu/facts.ts';
export type { LongTraceFacts } from './families/long-trace/facts.ts';
export type { CriterionFact, RefinerFacts, StatementFact } from './families/refiner/facts.ts';
export {
  compose,
  composeGroup,
  FAMILIES,
  type Facts,
  type FamilyName,
  familyOf,
  type MeasuredRollout,
  planRollout,
  RECIPES,
  type Recipe,
  type RecipeName,
  recipeSchema,
  rewardRange,
  type Score,
} from './families/registry.ts';
export { type ResolvedRecipe, resolveRecipe } from './families/resolve.ts';
export type { ToolCallFacts } from './families/tool-call/facts.ts';
export type { Observed } from './family/facts.ts';
export type { Family, GroupVotes, PlanOptions, RewardRange } from './family/family.ts';
export type { Criterion, CriterionInput, Rollout } from './family/rollout.ts';
export type { Component, UnscoredReason } from './family/score.ts';
export { runPlans, type Stage } from './family/stages.ts';

// Scores rollouts and groups in one call; advantages, receipts.

export { ADVANTAGE_PRESETS, type AdvantageOptions, type AdvantagePreset } from './scoring/advantage-presets.ts';
export { type AdvantagesResult, advantages, type GroupAdvantages } from './scoring/advantages.ts';
export { checkReceipt, type ReceiptCheck } from './scoring/receipt.ts';
export { differsFromReply, differsFromRequest } from './scoring/receipt-agreement.ts';
export { type Receipt, type ReceiptedReply, receiptedReplySchema, receiptSchema } from './scoring/receipt-schema.ts';
export { createRequestDigests, type RequestDigests } from './scoring/request-digest.ts';
export {
  type GroupScoringResult,
  type ScoringRequest,
  type ScoringResult,
  scoreGroup,
  scoreRollout,
} from './scoring/score-rollouts.ts';

// Prompts of refiners, and a refiner that needs no model.

export { EXTRACTIVE_MODEL, type ExtractiveOptions, refineExtractively } from './generation/extractive.ts';
export { type RefinerPrompt, refinerPrompt } from './generation/refiner-prompt.ts';

// Parts of tool-use rewards: tool calls, math answers, programs, length.

export { readToolCalls } from './tools/hermes.ts';
export { lastBoxedAnswer, scoreBoxedAnswer } from './tools/math-answer.ts';
export { overlongPenalty } from './tools/overlong-penalty.ts';
export { runnableBlock } from './tools/runnable-block.ts';
