/**
 * `POST /v1/adapters/longtracerl/evaluate`: LongTraceRL's reward server. It returns the components of one sample; the
 * trainer computes the final reward from those of its group.
 */
import { Hono } from 'hono';
import { RECIPES } from '../../../src/families/composers.ts';
import { longTrace } from '../../../src/families/long-trace/family.ts';
import {
  type LongTraceRlRewards,
  longTraceRlPrompt,
  longTraceRlReply,
  longTraceRlRequestSchema,
  readLongTraceRl,
  splitOf,
} from '../../../src/wire/adapters/longtracerl.ts';
import { longTraceRlQuerySchema } from '../../../src/wire/adapters/request.ts';
import { wantedPlace } from '../../../src/wire/adapters/run-place.ts';
import { invalidInput } from '../../failures.ts';
import { requireScope } from '../auth.ts';
import { readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';
import { readRow, reportRefusals } from './adapter-request.ts';
import { type Sample, scoreSample, sendTrainerReply } from './adapter-scoring.ts';

const NOT_JUDGED: LongTraceRlRewards = { outcome_reward: 0, rubric_reward: 0, reward: 0 };

export const longTraceRlRoutes = new Hono<AppEnvironment>().post(
  '/v1/adapters/longtracerl/evaluate',
  reportRefusals('longtracerl'),
  requireScope('score'),
  async (c) => {
    const query = readQuery(c, longTraceRlQuerySchema);
    if (RECIPES[query.recipe].family !== longTrace.name) {
      const message = `expected a recipe of the ${longTrace.name} family`;
      throw invalidInput(['query', 'recipe'], message);
    }
    const request = await readRow(c, longTraceRlRequestSchema);
    const reading = readLongTraceRl(request);
    // Nothing was measured, so there is nothing to record.
    if (reading.status === 'no_final_turn') return sendTrainerReply(c, { floats: NOT_JUDGED });
    const { rollout, recipe } = reading;
    const scoring = { recipe, query, retryWindowMs: 0 };
    const prompt = longTraceRlPrompt(request);
    const wanted = wantedPlace(query.run, undefined, { prompt, split: splitOf(request) });
    const { reply, reward, run: report } = await scoreSample(c, { rollout, place, wanted }, scoring);
    return sendTrainerReply(c, {
      floats: longTraceRlReply(request, reply, reward),
      others: report === null ? {} : { run: report },
    });
  },
);

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
