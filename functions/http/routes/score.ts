/**
 * `POST /v1/score` scores one rollout. `POST /v1/groups` scores the samples of one prompt and computes their
 * advantages. `POST /v1/compare` compares them in pairs. `POST /v1/advantages` computes the advantages of a whole step,
 * without a judge.
 */

import { RequestError } from '../../../service/failures.ts';
import { stepAdvantages, stepRequestSchema } from '../../../src/wire/advantages.ts';
import { answered } from '../answered.ts';
import { readJson } from '../body.ts';
import type { Handlers } from '../handlers.ts';

export const scoreHandlers = {
  'POST /v1/score': async (c) => {
    return c.json(await answered(c, '/v1/score'));
  },
  'POST /v1/groups': async (c) => {
    return c.json(await answered(c, '/v1/groups'));
  },
  'POST /v1/compare': async (c) => {
    return c.json(await answered(c, '/v1/compare'));
  },
  'POST /v1/advantages': async (c) => {
    const step = stepAdvantages(await readJson(c, stepRequestSchema));
    if (!step.ok) throw new RequestError({ reason: 'input_invalid', problems: step.error });
    return c.json(step.value);
  },
} satisfies Partial<Handlers>;
