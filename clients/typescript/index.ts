/** The typed client of Citeward's HTTP API, as `citeward/client`. */

export type { RunImportReport } from '../../src/runs/import-run.ts';
export type { RunStep } from '../../src/runs/summary.ts';
export type { Receipt } from '../../src/scoring/receipt-schema.ts';
export type { AgentResponse } from '../../src/wire/agent-reply.ts';
export type { BatchReply, BatchStatus } from '../../src/wire/batches/batch.ts';
export type { CompareResponse } from '../../src/wire/compare.ts';
export type { FileReply, UploadPartReply, UploadReply } from '../../src/wire/files.ts';
export type { GroupResponse, GroupRewardResponse } from '../../src/wire/groups.ts';
export type { IssuerKeysReply } from '../../src/wire/judgment-files.ts';
export type { MakeRubricsReply } from '../../src/wire/make-rubrics.ts';
export type { ProbeReply } from '../../src/wire/probe.ts';
export type { RefineResponse } from '../../src/wire/refine.ts';
export type { ReplayInput } from '../../src/wire/replay.ts';
export type { RunDetail, RunReply, RunRollout } from '../../src/wire/runs.ts';
export type { ScoreResponse } from '../../src/wire/score.ts';
export type { RewardResponse } from '../../src/wire/score-detail.ts';
export type { AgentInput, AgentStreamEvent } from './agent.ts';
export type { BatchesClient, BatchInput, BatchPage } from './batches.ts';
export { type BraintrustExample, type BraintrustScore, braintrustScorer } from './braintrust.ts';
export {
  type Client,
  type ClientOptions,
  type CompareInput,
  createClient,
  type GroupInput,
  type MakeRubricsInput,
  type ProbeInput,
  type RecipesReply,
  type ScoreInput,
  type VerifyInput,
  type VerifyOptions,
  type VerifyReply,
} from './client.ts';
export type { CallOptions } from './connection.ts';
export { type EvaluationOptions, UnscoredError } from './evaluation.ts';
export {
  type FilesClient,
  MAX_WHOLE_FILE_BYTES,
  type NewFile,
  UPLOAD_PART_BYTES,
  type UploadOptions,
  type UploadsClient,
} from './files.ts';
export { type LangSmithExample, type LangSmithResult, langSmithEvaluator } from './langsmith.ts';
export { type PromptfooContext, type PromptfooOptions, type PromptfooResult, promptfooAssertion } from './promptfoo.ts';
export type { RefineInput, RefineStreamEvent } from './refine.ts';
export type { ReceivedReplayLine } from './replay.ts';
export type { ClientFailure, ReceivedProblem, Reply } from './reply.ts';
export type { RolloutPage, RolloutQuery, RunDeletion, RunPage, RunsClient } from './runs.ts';
export { type Answer, DEFAULT_TRANSPORT, type TransportOptions } from './transport.ts';
export type { Pieces, VerifyStreamEvent, VerifyStreamHeadInput, VerifyStreamOptions } from './verify-stream.ts';
export type { WebhooksClient } from './webhooks.ts';
