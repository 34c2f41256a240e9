/** The evolving rubrics of runs in the OpenAPI document. */
import {
  editRequestSchema,
  observationSchema,
  promptListSchema,
  promptRubricsSchema,
  promptStartSchema,
  resumedSchema,
  resumeRequestSchema,
  scoredRequestSchema,
  startedSchema,
} from '../rubrics.ts';
import { BODY_PROBLEMS, KEY_PROBLEMS, type Section } from './route.ts';

const READ = [401, 403, 404, 409, 422, 500, 503] as const;
const WRITE = [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 409, 503] as const;

export const EVOLVING_RUBRICS = {
  tag: { name: 'rubrics', description: 'Rubrics of prompts that evolve during a run.' },
  routes: {
    'GET /v1/runs/{id}/rubrics': {
      summary: 'Lists the prompts of a run whose rubrics evolve.',
      replies: { 200: { description: 'One page.', schema: 'PromptList' } },
      problems: READ,
    },
    'POST /v1/runs/{id}/rubrics': {
      summary:
        "Starts a prompt with its rules and the row's own criteria, and records a proposal or the failure of one.",
      request: 'PromptStart',
      replies: { 200: { description: 'The prompt.', schema: 'StartedPrompt' } },
      problems: WRITE,
    },
    'POST /v1/runs/{id}/rubrics:resume': {
      summary: 'Lets all prompts go back to the end of a step, from whose checkpoint the run resumes.',
      request: 'ResumeRequest',
      replies: { 200: { description: 'The number of prompts that changed.', schema: 'Resumed' } },
      problems: WRITE,
    },
    'GET /v1/runs/{id}/rubrics/{prompt}': {
      summary: 'Returns the rubric of a prompt, through a step if asked, and its whole log.',
      replies: { 200: { description: 'The prompt.', schema: 'PromptRubrics' } },
      problems: READ,
    },
    'POST /v1/runs/{id}/rubrics/{prompt}/scored': {
      summary: 'Records how the verdicts of a group spread; the rules then retire and cap. A group counts once.',
      request: 'ScoredRequest',
      replies: { 200: { description: 'What the log gained.', schema: 'ObservedGroup' } },
      problems: WRITE,
    },
    'POST /v1/runs/{id}/rubrics/{prompt}/edits': {
      summary: 'Retires, restores and adds criteria by hand, unless the rubric has changed meanwhile.',
      request: 'RubricEdit',
      replies: { 200: { description: 'The prompt.', schema: 'PromptRubrics' } },
      problems: WRITE,
    },
  },
  requests: {
    PromptStart: promptStartSchema,
    ResumeRequest: resumeRequestSchema,
    ScoredRequest: scoredRequestSchema,
    RubricEdit: editRequestSchema,
  },
  replies: {
    PromptList: promptListSchema,
    StartedPrompt: startedSchema,
    Resumed: resumedSchema,
    PromptRubrics: promptRubricsSchema,
    ObservedGroup: observationSchema,
  },
} satisfies Section;
