/** Runs and their replay in the OpenAPI document. */
import { runImportReportSchema } from '../../runs/import-run.ts';
import { runFileLineSchema } from '../../runs/run-file.ts';
import { judgeCheckRequestSchema } from '../alerts.ts';
import { recordedCheckSchema, runAlertsSchema } from '../alerts-reply.ts';
import { replayRequestSchema } from '../replay.ts';
import { replayLineSchema } from '../replay-reply.ts';
import {
  rolloutListSchema,
  runChangeSchema,
  runDeletionSchema,
  runDetailSchema,
  runListSchema,
  runSchema,
} from '../runs.ts';
import { BODY_PROBLEMS, JSON_LINES, KEY_PROBLEMS, type Section } from './route.ts';

const PROBLEMS = [401, 403, 404, 422, 500, 503] as const;

export const RUNS = {
  tag: { name: 'runs', description: 'Recorded runs and their replay.' },
  routes: {
    'POST /v1/runs/{id}/replay': {
      summary: 'Replays a run: computes its rewards and advantages under another recipe.',
      request: 'ReplayRequest',
      replies: {
        200: {
          description: 'Lines while the run is read: one per group, the last one summary or error.',
          schema: 'ReplayLine',
          media: JSON_LINES,
        },
      },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 409, 503],
    },
    'GET /v1/runs': {
      summary: 'Lists runs, newest first.',
      replies: { 200: { description: 'One page.', schema: 'RunList' } },
      problems: [401, 403, 422, 500, 503],
    },
    'GET /v1/runs/{id}': {
      summary: 'Returns a run step by step: rewards, components, spread within groups, unscored rollouts.',
      replies: { 200: { description: 'The run, its recipes, and a page of its steps.', schema: 'Run' } },
      problems: PROBLEMS,
    },
    'PATCH /v1/runs/{id}': {
      summary: 'Gives a run a title, which lists show beside its id.',
      request: 'RunChange',
      replies: { 200: { description: 'The run as lists show it.', schema: 'ListedRun' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 503],
    },
    'DELETE /v1/runs/{id}': {
      summary: 'Deletes a run: its ledger, reports and text. Judgments stay.',
      replies: { 200: { description: 'The run is deleted.', schema: 'RunDeletion' } },
      problems: PROBLEMS,
    },
    'GET /v1/runs/{id}/alerts': {
      summary:
        'Watches a run: signs that it earns its reward in a way nobody wanted, from its facts and without a judge.',
      replies: { 200: { description: 'The alerts, each with figures and rollouts.', schema: 'RunAlerts' } },
      problems: [...PROBLEMS, 409],
    },
    'POST /v1/runs/{id}/judge-checks': {
      summary: 'Records in a run what a canary or an audit of its judge found; its alerts then name it.',
      request: 'JudgeCheckRequest',
      replies: { 200: { description: 'The check as recorded.', schema: 'RecordedCheck' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 409, 503],
    },
    'GET /v1/runs/{id}/rollouts': {
      summary:
        'Lists the rows of a run by step, group, sample and attempt; with detail, their reports and stored text.',
      replies: { 200: { description: 'One page.', schema: 'RolloutList' } },
      problems: PROBLEMS,
    },
    'GET /v1/runs/{id}/export': {
      summary: 'Exports the ledger of a run as a file: the run, its recipes, its rollouts, their count. No text.',
      replies: { 200: { description: 'One line of the file.', schema: 'RunFileLine', media: JSON_LINES } },
      problems: PROBLEMS,
    },
    'POST /v1/runs/{id}/import': {
      summary: 'Imports an exported file under the id in the path. Never overwrites.',
      request: 'RunFileLineInput',
      requestMedia: JSON_LINES,
      replies: { 200: { description: 'Counts of imported and refused lines.', schema: 'RunImportReport' } },
      problems: [400, ...PROBLEMS],
    },
    'GET /v1/runs/{id}/judgments.jsonl': {
      summary: "The judgments that a run's rollouts were scored by, for POST /v1/judgments:import elsewhere.",
      replies: { 200: { description: 'One line of the file.', schema: 'JudgmentFileLine', media: JSON_LINES } },
      problems: PROBLEMS,
    },
  },
  requests: {
    RunFileLineInput: runFileLineSchema,
    ReplayRequest: replayRequestSchema,
    RunChange: runChangeSchema,
    JudgeCheckRequest: judgeCheckRequestSchema,
  },
  replies: {
    RunAlerts: runAlertsSchema,
    RecordedCheck: recordedCheckSchema,
    RunList: runListSchema,
    ListedRun: runSchema,
    Run: runDetailSchema,
    RunDeletion: runDeletionSchema,
    RolloutList: rolloutListSchema,
    RunFileLine: runFileLineSchema,
    RunImportReport: runImportReportSchema,
    ReplayLine: replayLineSchema,
  },
} satisfies Section;
