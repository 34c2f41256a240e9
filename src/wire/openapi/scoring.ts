/** Verification, scoring, recipes and judgments in the OpenAPI document. */
import { judgmentSchema } from '../../judgments/record.ts';
import { recordFileLineSchema } from '../../judgments/record-file.ts';
import { stepRequestSchema, stepResponseSchema } from '../advantages.ts';
import { compareRequestSchema, compareResponseSchema } from '../compare.ts';
import { groupReplySchema, groupRequestSchema, groupResponseSchema, groupRewardResponseSchema } from '../groups.ts';
import { exportRequestSchema, importReportSchema, issuerKeysSchema } from '../judgment-files.ts';
import { probeReplySchema, probeRequestSchema } from '../probe.ts';
import { recipesResponseSchema } from '../recipes.ts';
import { scoreRequestSchema, scoreResponseSchema } from '../score.ts';
import { rewardResponseSchema, scoreReplySchema } from '../score-detail.ts';
import { verifyRequestSchema, verifyResponseSchema } from '../verify.ts';
import { verifyStreamEventSchema, verifyStreamLineSchema } from '../verify-stream.ts';
import { BODY_PROBLEMS, JSON_LINES, KEY_PROBLEMS, type Section } from './route.ts';

export const SCORING = {
  tag: { name: 'scoring', description: 'Verification, rewards and judgments.' },
  routes: {
    'POST /v1/verify': {
      summary: 'Checks the citations of a response: claims, ids, findings, format. No judge, no storage.',
      request: 'VerifyRequest',
      replies: { 200: { description: 'The claims and findings.', schema: 'VerifyResponse' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS],
    },
    'POST /v1/verify/stream': {
      summary: 'Checks the citations while the response arrives: lines of deltas in, events out.',
      request: 'VerifyStreamLine',
      requestMedia: JSON_LINES,
      replies: {
        200: {
          description: 'Events; the last one is done or error.',
          schema: 'VerifyStreamEvent',
          media: 'text/event-stream',
        },
      },
      problems: [400, 413, 422, ...KEY_PROBLEMS],
    },
    'POST /v1/score': {
      summary: 'Scores one rollout under a recipe and returns the reward with all its parts.',
      request: 'ScoreRequest',
      replies: { 200: { description: 'The reward, or null with the reason.', schema: 'ScoreReply' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
    },
    'POST /v1/groups': {
      summary: 'Scores the samples of one prompt together and returns rewards and advantages.',
      request: 'GroupRequest',
      replies: {
        200: { description: 'Each reward, or null with the reason; and the advantages.', schema: 'GroupReply' },
      },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
    },
    'POST /v1/compare': {
      summary: 'Compares the answers to one question in pairs, each in both orders, and returns win rates as rewards.',
      request: 'CompareRequest',
      replies: {
        200: { description: 'Each win rate, or null with the reason; and the pairs.', schema: 'CompareResponse' },
      },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
    },
    'POST /v1/advantages': {
      summary: 'Computes the advantages of a whole training step from rewards or components. No judge, no storage.',
      request: 'StepRequest',
      replies: { 200: { description: 'The advantages of each group.', schema: 'StepResponse' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS],
    },
    'GET /v1/recipes': {
      summary: 'Lists every named recipe: its formula, its parameters and their origins.',
      replies: { 200: { description: 'The recipes.', schema: 'Recipes' } },
      problems: [...KEY_PROBLEMS, 422],
    },
    'POST /v1/recipes/probe': {
      summary: 'Scores canned cheap answers to rows beside their best known answers, before a policy is trained.',
      request: 'ProbeRequest',
      replies: {
        200: { description: 'What each answer earns, warnings, and changes that lower it.', schema: 'ProbeReply' },
      },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
    },
    'GET /v1/keys': {
      summary: 'Lists the public keys that verify judgments and receipts of this deployment.',
      replies: { 200: { description: 'The current key, previous ones and revoked ones.', schema: 'IssuerKeys' } },
      problems: [...KEY_PROBLEMS, 422],
    },
    'POST /v1/judgments:export': {
      summary: 'Exports judgments by key as JSON lines. Absent keys are named, and the last line has the count.',
      request: 'ExportRequest',
      replies: { 200: { description: 'One line of the file.', schema: 'JudgmentFileLine', media: JSON_LINES } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS],
    },
    'POST /v1/judgments:import': {
      summary: 'Imports judgments that a trusted issuer signed. Never overwrites.',
      request: 'JudgmentFileLineInput',
      requestMedia: JSON_LINES,
      replies: { 200: { description: 'Counts of imported and refused lines.', schema: 'ImportReport' } },
      problems: [400, 422, ...KEY_PROBLEMS],
    },
  },
  requests: {
    VerifyRequest: verifyRequestSchema,
    VerifyStreamLine: verifyStreamLineSchema,
    ScoreRequest: scoreRequestSchema,
    ExportRequest: exportRequestSchema,
    GroupRequest: groupRequestSchema,
    CompareRequest: compareRequestSchema,
    StepRequest: stepRequestSchema,
    ProbeRequest: probeRequestSchema,
    JudgmentFileLineInput: recordFileLineSchema,
  },
  replies: {
    VerifyResponse: verifyResponseSchema,
    VerifyStreamEvent: verifyStreamEventSchema,
    ScoreReply: scoreReplySchema,
    ScoreResponse: scoreResponseSchema,
    RewardResponse: rewardResponseSchema,
    GroupReply: groupReplySchema,
    GroupResponse: groupResponseSchema,
    CompareResponse: compareResponseSchema,
    StepResponse: stepResponseSchema,
    GroupRewardResponse: groupRewardResponseSchema,
    Recipes: recipesResponseSchema,
    ProbeReply: probeReplySchema,
    Judgment: judgmentSchema,
    JudgmentFileLine: recordFileLineSchema,
    ImportReport: importReportSchema,
    IssuerKeys: issuerKeysSchema,
  },
} satisfies Section;
