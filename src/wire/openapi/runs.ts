/** The routes of runs, for the OpenAPI document (openapi.ts). Replay stands there itself. */
import * as z from 'zod';
import { runImportReportSchema } from '../../runs/import-run.ts';
import { runIdSchema } from '../../runs/placement.ts';
import {
  rolloutListQuerySchema,
  rolloutListSchema,
  runDeletionSchema,
  runDetailSchema,
  runListQuerySchema,
  runListSchema,
  runQuerySchema,
  runRolloutSchema,
} from '../runs.ts';
import type { Route } from './route.ts';

const RUN = '/v1/runs/{id}';
const PROBLEMS = [401, 403, 404, 422, 500, 503] as const;
const JSON_LINES = 'application/jsonl';

export const RUN_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/runs',
    summary: 'Runs, the newest first.',
    scope: 'score',
    query: runListQuerySchema,
    replies: { 200: { description: 'One page.', schema: 'RunList' } },
    problems: [401, 403, 422, 500, 503],
  },
  {
    method: 'get',
    path: RUN,
    summary: 'A run step by step: rewards, components, spread within groups, what could not be scored.',
    scope: 'score',
    query: runQuerySchema,
    replies: { 200: { description: 'The run, its recipes, and a page of its steps.', schema: 'Run' } },
    problems: PROBLEMS,
  },
  {
    method: 'delete',
    path: RUN,
    summary: 'Deletes a run: its ledger, reports and text. Judgments stay.',
    scope: 'admin',
    replies: { 200: { description: 'It is gone.', schema: 'RunDeletion' } },
    problems: PROBLEMS,
  },
  {
    method: 'get',
    path: `${RUN}/rollouts`,
    summary: 'The rows of a run by step, group, sample and attempt; with detail their reports and stored text.',
    scope: 'score',
    query: rolloutListQuerySchema,
    replies: { 200: { description: 'One page.', schema: 'RolloutList' } },
    problems: PROBLEMS,
  },
  {
    method: 'get',
    path: `${RUN}/export`,
    summary: 'The ledger of a run as a file: the run, its recipes, its rollouts, their count. No text.',
    scope: 'score',
    replies: { 200: { description: 'One thing a line.', schema: 'RunFileLine', media: JSON_LINES } },
    problems: PROBLEMS,
  },
  {
    method: 'post',
    path: `${RUN}/import`,
    summary: 'Takes such a file in, under the id of the path. Nothing is overwritten.',
    scope: 'admin',
    request: 'RunFileLineInput',
    requestMedia: JSON_LINES,
    replies: { 200: { description: 'What became of its lines.', schema: 'RunImportReport' } },
    problems: [400, ...PROBLEMS],
  },
  {
    method: 'get',
    path: `${RUN}/judgments.jsonl`,
    summary: "The judgments that a run's rollouts were scored by, for POST /v1/judgments:import elsewhere.",
    scope: 'score',
    replies: { 200: { description: 'One judgment a line.', schema: 'Judgment', media: JSON_LINES } },
    problems: PROBLEMS,
  },
];

/** The line of a rollout; the others are run, recipe and end (docs/runs.md). */
const runFileLineSchema = z.union([
  z.strictObject({ run: z.looseObject({ v: z.literal(1), id: runIdSchema }) }),
  z.strictObject({ recipe: z.looseObject({ digest: z.string() }) }),
  z.strictObject({ rollout: runRolloutSchema.omit({ detail: true }) }),
  z.strictObject({ end: z.strictObject({ v: z.literal(1), rollouts: z.int().min(0) }) }),
]);

export const RUN_REQUESTS = { RunFileLineInput: runFileLineSchema };

export const RUN_REPLIES = {
  RunList: runListSchema,
  Run: runDetailSchema,
  RunDeletion: runDeletionSchema,
  RolloutList: rolloutListSchema,
  RunFileLine: runFileLineSchema,
  RunImportReport: runImportReportSchema,
};
