/** `/v1/runs/{id}/rubrics`: the evolving rubrics of a run's prompts: shows, starts, observes, edits, resumes. */

import type * as z from 'zod';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import type { ObserveAnswer } from '../../../service/ledger-port.ts';
import { lifeOf, type RunLife } from '../../../service/ledger-port.ts';
import { familyOf } from '../../../src/families/registry.ts';
import { sha256Schema } from '../../../src/judgments/judgment-schema.ts';
import type { GroupObservation } from '../../../src/rubrics/append.ts';
import { foldLog, setOf } from '../../../src/rubrics/evolution.ts';
import { questionDigest, setId } from '../../../src/rubrics/rubric-set.ts';
import {
  editProblem,
  editRequestSchema,
  type observationSchema,
  type PromptList,
  promptReplyOf,
  promptStartSchema,
  resumeRequestSchema,
  rulesOf,
  scoredRequestSchema,
  statisticsProblem,
  weightedCriteria,
} from '../../../src/wire/rubrics.ts';
import { type RunRubrics, startedPrompt } from '../../ledger/run-rubrics.ts';
import { readJson } from '../body.ts';
import { type Context, storesOf } from '../context.ts';
import { type Handlers, pathParameter } from '../handlers.ts';
import { foundRun, runIdOf } from './runs.ts';

export const runRubricHandlers = {
  'GET /v1/runs/{id}/rubrics': async (c, { after = null, limit }) => {
    const run = await foundRun(c);
    const found = await storesOf(c).rubrics.list(run, after, limit + 1);
    const page = found.slice(0, limit);
    const reply: PromptList = {
      run: run.id,
      prompts: page.map(({ started_at, changed_at, ...prompt }) => ({
        ...prompt,
        started_at: new Date(started_at).toISOString(),
        changed_at: new Date(changed_at).toISOString(),
      })),
      next: found.length > limit ? (page.at(-1)?.prompt ?? null) : null,
    };
    return c.json(reply);
  },
  'POST /v1/runs/{id}/rubrics': async (c) => {
    const request = await readJson(c, promptStartSchema);
    const { ledger, rubrics } = storesOf(c);
    const run = runIdOf(c);
    const family = request.family ?? (await ledger.find(run))?.family;
    if (family === undefined) throw new RequestError({ reason: 'run_not_found' });
    if (familyOf({ family }).rubric === undefined) {
      throw invalidInput(['family'], 'expected a family whose rows have criteria');
    }
    const prompt = questionDigest(request.question);
    const started = startedPrompt(
      await rubrics.start({
        ...{ run, family, prompt },
        rules: request.rules === undefined ? null : rulesOf(request.rules),
        own: request.criteria === undefined ? null : weightedCriteria(prompt, request.criteria),
        visit: null,
        now: Date.now(),
      }),
    );
    const { status } = started.answer;
    if (status === 'rules_differ') throw invalidInput(['rules'], PROMPT_DIFFERS);
    if (status === 'criteria_differ') throw invalidInput(['criteria'], PROMPT_DIFFERS);
    const proposal = await proposed(rubrics, started.life, prompt, request);
    const stored = await storedPrompt(c, prompt);
    return c.json({
      started: status === 'started',
      proposal,
      rubrics: promptReplyOf(run, prompt, stored, { log: 'false' }),
    });
  },
  'POST /v1/runs/{id}/rubrics:resume': async (c) => {
    const { step } = await readJson(c, resumeRequestSchema);
    const prompts = await storesOf(c).rubrics.resume(await foundRun(c), step);
    return c.json({ step, prompts });
  },
  'GET /v1/runs/{id}/rubrics/{prompt}': async (c, view) => {
    const prompt = promptOf(c);
    return c.json(promptReplyOf(runIdOf(c), prompt, await storedPrompt(c, prompt), view));
  },
  'POST /v1/runs/{id}/rubrics/{prompt}/scored': async (c) => {
    const { step, group, set, statistics } = await readJson(c, scoredRequestSchema);
    const problem = statisticsProblem(statistics);
    if (problem !== null) throw invalidInput(['statistics'], problem);
    const prompt = promptOf(c);
    const { rules, events } = await storedPrompt(c, prompt);
    const { criteria } = foldLog(
      events.map(({ entry }) => entry),
      rules,
    );
    if (statistics.some(({ id }) => !criteria.has(id))) {
      throw invalidInput(['statistics'], 'expected ids of criteria of the prompt');
    }
    const observation = { step, group, under: set, statistics, proposal: null };
    const life = lifeOf(await foundRun(c));
    const answer = await observed(storesOf(c).rubrics, life, prompt, observation);
    return c.json(observedReply(prompt, answer, answer.scored));
  },
  'POST /v1/runs/{id}/rubrics/{prompt}/edits': async (c) => {
    const { add, ...request } = await readJson(c, editRequestSchema);
    const prompt = promptOf(c);
    const run = await foundRun(c);
    const edit = { ...request, add: weightedCriteria(prompt, add) };
    const answer = await storesOf(c).rubrics.edit(run, prompt, edit);
    if (answer === null) throw new RequestError({ reason: 'rubrics_not_found' });
    if (answer.status === 'stale') throw new RequestError({ reason: 'rubrics_stale' });
    if (answer.status !== 'edited') {
      throw new RequestError({ reason: 'input_invalid', problems: [editProblem(answer.status)] });
    }
    return c.json(promptReplyOf(run.id, prompt, await storedPrompt(c, prompt)));
  },
} satisfies Partial<Handlers>;

const PROMPT_DIFFERS = 'the prompt began with others, which are fixed for its run; leave the field out to keep them';

/** The digest of the prompt in the path. @throws RequestError if no prompt can have it. */
function promptOf(c: Context): string {
  const prompt = sha256Schema.safeParse(pathParameter(c, 'prompt'));
  if (!prompt.success) throw new RequestError({ reason: 'rubrics_not_found' });
  return prompt.data;
}

/** @throws RequestError if the run or the prompt does not exist. */
async function storedPrompt(c: Context, prompt: string) {
  const found = await storesOf(c).rubrics.read(lifeOf(await foundRun(c)), prompt);
  if (found === null) throw new RequestError({ reason: 'rubrics_not_found' });
  return found;
}

/** Records the proposal of a request, or the failure of one; `null` = it has neither. */
async function proposed(
  rubrics: RunRubrics,
  life: RunLife,
  prompt: string,
  { proposal, failed_generation: failed }: z.infer<typeof promptStartSchema>,
): Promise<z.infer<typeof observationSchema> | null> {
  if (failed !== undefined) {
    const { step, group, reason } = failed;
    const answer = await observed(rubrics, life, prompt, {
      ...{ step, group, statistics: null, proposal: { kind: 'failed', reason } },
      under: await setOfNow(rubrics, life, prompt),
    });
    return observedReply(prompt, answer, answer.proposed);
  }
  if (proposal === undefined) return null;
  const { step, group, criteria, judgment, responses, under } = proposal;
  const made = {
    kind: 'proposed',
    ...{ judgment, responses, rejected: [] },
    criteria: weightedCriteria(prompt, criteria),
  } as const;
  const observation = { step, group, statistics: null, proposal: made };
  const answer = await observed(rubrics, life, prompt, {
    ...observation,
    under: under ?? (await setOfNow(rubrics, life, prompt)),
  });
  return observedReply(prompt, answer, answer.proposed);
}

async function setOfNow(rubrics: RunRubrics, life: RunLife, prompt: string): Promise<string> {
  const found = await rubrics.read(life, prompt);
  if (found === null) throw new RequestError({ reason: 'rubrics_not_found' });
  const log = found.events.flatMap(({ superseded, entry }) => (superseded ? [] : [entry]));
  return setId(setOf(foldLog(log, found.rules)));
}

async function observed(
  rubrics: RunRubrics,
  life: RunLife,
  prompt: string,
  observation: GroupObservation,
): Promise<ObserveAnswer> {
  const answer = await rubrics.observe(life, prompt, observation);
  if (answer === null) throw new RequestError({ reason: 'rubrics_not_found' });
  return answer;
}

function observedReply(
  prompt: string,
  { stale, set, events }: ObserveAnswer,
  recorded: boolean,
): z.infer<typeof observationSchema> {
  return { prompt, recorded, stale, set, events: [...events] };
}
