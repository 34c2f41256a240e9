/** The evolving rubrics of runs in the OpenAPI document. */
import {
  editRequestSchema,
  observedSchema,
  promptListQuerySchema,
  promptListSchema,
  promptQuerySchema,
  promptRubricsSchema,
  promptStartSchema,
  resumedSchema,
  resumeRequestSchema,
  scoredRequestSchema,
  startedSchema,
} from '../rubrics.ts';
import { BODY_PROBLEMS, KEY_PROBLEMS, type Section } from './route.ts';

const RUBRICS = '/v1/runs/{id}/rubrics';
const READ = [401, 403, 404, 409, 422, 500, 503] as const;
const WRITE = [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 409, 503] as const;

export const EVOLVING_RUBRICS: Section = {
  tag: { name: 'rubrics', description: 'Rubrics of prompts that evolve during a run.' },
  routes: [
    {
      method: 'get',
      path: RUBRICS,
      summary: 'Lists the prompts of a run whose rubrics evolve.',
      scope: 'score',
      query: promptListQuerySchema,
      replies: { 200: { description: 'One page.', schema: 'PromptList' } },
      problems: READ,
    },
    {
      method: 'post',
      path: RUBRICS,
      summary:
        "Starts a prompt with its rules and the row's own criteria, and records a proposal or the failure of one.",
      scope: 'score',
      request: 'PromptStart',
      replies: { 200: { description: 'The prompt.', schema: 'StartedPrompt' } },
      problems: WRITE,
    },
    {
      method: 'post',
      path: `${RUBRICS}:resume`,
      summary: 'Lets all prompts go back to the end of a step, from whose checkpoint the run resumes.',
      scope: 'score',
      request: 'ResumeRequest',
      replies: { 200: { description: 'The number of prompts that changed.', schema: 'Resumed' } },
      problems: WRITE,
    },
    {
      method: 'get',
      path: `${RUBRICS}/{prompt}`,
      summary: 'Returns the rubric of a prompt, through a step if asked, and its whole log.',
      scope: 'score',
      query: promptQuerySchema,
      replies: { 200: { description: 'The prompt.', schema: 'PromptRubrics' } },
      problems: READ,
    },
    {
      method: 'post',
      path: `${RUBRICS}/{prompt}/scored`,
      summary: 'Records how the verdicts of a group spread; the rules then retire and cap. A group counts once.',
      scope: 'score',
      request: 'ScoredRequest',
      replies: { 200: { description: 'What the log gained.', schema: 'ObservedGroup' } },
      problems: WRITE,
    },
    {
      method: 'post',
      path: `${RUBRICS}/{prompt}/edits`,
      summary: 'Retires, restores and adds criteria by hand, unless the rubric has changed meanwhile.',
      scope: 'score',
      request: 'RubricEdit',
      replies: { 200: { description: 'The prompt.', schema: 'PromptRubrics' } },
      problems: WRITE,
    },
  ],
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
    ObservedGroup: observedSchema,
  },
};
