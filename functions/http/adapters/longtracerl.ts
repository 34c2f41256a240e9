/**
 * `POST /v1/adapters/longtracerl/evaluate`: the reward servers of LongTraceRL and of CaRR, told apart by the fields of
 * their requests. It returns the components of one sample; the trainer computes the final reward from those of its
 * group.
 */

import * as z from 'zod';
import { invalidInput, RequestError } from '../../../service/failures.ts';
import { carr } from '../../../src/families/carr/family.ts';
import type { CarrRecipe } from '../../../src/families/carr/recipe.ts';
import { RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { longTrace } from '../../../src/families/long-trace/family.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import {
  carrRequestSchema,
  carrRewards,
  carrRubricScores,
  carrScore,
  isCarrRequest,
  readCarr,
} from '../../../src/wire/adapters/carr.ts';
import { promptOf } from '../../../src/wire/adapters/history.ts';
import {
  type LongTraceRlRewards,
  longTraceRlPrompt,
  longTraceRlReply,
  longTraceRlRequestSchema,
  readLongTraceRl,
  splitOf,
} from '../../../src/wire/adapters/longtracerl.ts';
import type { longTraceRlQuerySchema } from '../../../src/wire/adapters/request.ts';
import { wantedPlace } from '../../../src/wire/adapters/run-place.ts';
import { reportedOutcome } from '../../../src/wire/score.ts';
import type { Context } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { readRow } from './adapter-request.ts';
import { type Sample, scoreSample, sendTrainerReply } from './adapter-scoring.ts';

/** A row of either server. Its fields are validated once they show which one. */
const rowSchema = z.looseObject({});

const NOT_JUDGED: LongTraceRlRewards = { outcome_reward: 0, rubric_reward: 0, reward: 0 };

export const longTraceRlHandlers = {
  'POST /v1/adapters/longtracerl/evaluate': async (c, query) => {
    const row = await readRow(c, rowSchema);
    const isCarr = isCarrRequest(row);
    const family = isCarr ? carr : longTrace;
    const recipeName = query.recipe ?? (isCarr ? 'carr-0.3-normal-rop' : 'longtrace-rl');
    const named: Recipe = RECIPES[recipeName];
    if (named.family !== family.name) {
      throw invalidInput(['query', 'recipe'], `expected a recipe of the ${family.name} family`);
    }
    if (named.family === carr.name) return evaluateCarr(c, parsed(carrRequestSchema, row), named, query);
    const request = parsed(longTraceRlRequestSchema, row);
    const reading = readLongTraceRl(request);
    // Nothing was measured, so there is nothing to record.
    if (reading.status === 'no_final_turn') return sendTrainerReply(c, { floats: NOT_JUDGED });
    const { rollout, recipe } = reading;
    const scoring = { recipe, query, retryWindowMs: 0 };
    const prompt = longTraceRlPrompt(request);
    const wanted = wantedPlace(query.run, undefined, { prompt, split: splitOf(request) });
    const {
      member,
      reward,
      run: report,
    } = await scoreSample(c, { rollout, place, wanted, reported: reportedOutcome(request) }, scoring);
    return sendTrainerReply(c, {
      floats: longTraceRlReply(request, member, reward),
      others: report === null ? {} : { run: report },
    });
  },
} satisfies Partial<Handlers>;

/** Validates a row whose shape is known. @throws RequestError */
function parsed<S extends z.ZodType>(schema: S, row: object): z.output<S> {
  const read = schema.safeParse(row);
  if (read.success) return read.data;
  throw new RequestError({ reason: 'input_invalid', problems: problemsOfIssues(read.error.issues, row) });
}

async function evaluateCarr(
  c: Context,
  request: z.output<typeof carrRequestSchema>,
  named: CarrRecipe,
  query: z.output<typeof longTraceRlQuerySchema>,
): Promise<Response> {
  const reading = readCarr(request, named);
  if (reading.status === 'no_answer') {
    return sendTrainerReply(c, { floats: { ...NOT_JUDGED }, others: { rubric_scores: {} } });
  }
  const { rollout, recipe } = reading;
  const split = recipe.eta === 0 ? 'eval' : 'train';
  const wanted = wantedPlace(query.run, undefined, { prompt: promptOf(request.history), split });
  const scoring = { recipe, query, retryWindowMs: 0 };
  const { member, reward, run } = await scoreSample(
    c,
    { rollout, place: carrPlace, wanted, reported: reportedOutcome(request) },
    scoring,
  );
  const score = carrScore(member.reply);
  return sendTrainerReply(c, {
    floats: carrRewards(score, reward),
    others: { rubric_scores: carrRubricScores(score), ...(run === null ? {} : { run }) },
  });
}

const carrPlace: Sample['place'] = ([first, ...rest]) => {
  switch (first) {
    case 'question':
      return ['remote_env_info', 'question', ...rest];
    case 'entity_rubrics':
      return ['remote_env_info', 'rubrics', ...rest];
    case 'reference':
      return ['label', ...rest];
    default:
      return ['history', ...rest];
  }
};

/** Maps rollout fields to paths in the trainer's request. */
const place: Sample['place'] = ([first, ...rest]) => {
  switch (first) {
    case 'question':
      return ['extra_reward_info', 'question', ...rest];
    case 'entities':
    case 'useful_chunks':
      return ['extra_reward_info', 'rubrics', ...rest];
    case 'reference':
      return ['label', ...rest];
    default:
      return ['history', ...rest];
  }
};
