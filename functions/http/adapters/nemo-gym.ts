/**
 * `POST /v1/adapters/nemo-gym/verify`: the `verify` endpoint of a NeMo Gym resources server, and
 * `POST /v1/adapters/nemo-gym/compare`: the `compare` endpoint of its server `genrm_compare`. A failure is an error
 * status: rewards of the reply must be numbers, and the trainer would train on a placeholder.
 */

import { compareTogether } from '../../../service/compare.ts';
import { RequestError } from '../../../service/failures.ts';
import { RECIPES } from '../../../src/families/composers.ts';
import {
  gymPlace,
  type NemoGymRequest,
  nemoGymReply,
  nemoGymRequestSchema,
  policyOutput,
} from '../../../src/wire/adapters/nemo-gym.ts';
import { genRmComparison, genRmReply, genRmRequestSchema } from '../../../src/wire/adapters/nemo-gym-compare.ts';
import { LABEL_FIELD_NAMES, type PolicyOutput, questionOf } from '../../../src/wire/adapters/request.ts';
import { admitAnswers } from '../body.ts';
import { compared, platformOf } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { type LabelledSample, labelledSample, readRow } from './adapter-request.ts';
import { retried, scoreSample, sendTrainerReply } from './adapter-scoring.ts';

export const nemoGymHandlers = {
  'POST /v1/adapters/nemo-gym/compare': async (c, named) => {
    const retryWindowMs = c.get('adapterRetryWindowMs');
    const comparing = genRmComparison(await readRow(c, genRmRequestSchema, retryWindowMs));
    if (!comparing.ok) throw new RequestError({ reason: 'input_invalid', problems: comparing.error });
    await admitAnswers(c, comparing.value.answers, { waitMs: retryWindowMs });
    const platform = await platformOf(c);
    const options = { ...named, judgments: 'use', replicate: 0, on_judge_failure: 'error' } as const;
    const reply = await retried(() => compareTogether(comparing.value, options, platform), {
      failureIn: (tried) => (tried.ok ? null : tried.failure),
      windowMs: retryWindowMs - (c.get('phases').body ?? 0),
      signal: c.req.raw.signal,
    });
    return sendTrainerReply(c, genRmReply(compared(c, reply)));
  },
  'POST /v1/adapters/nemo-gym/verify': async (c, query) => {
    const retryWindowMs = c.get('adapterRetryWindowMs');
    const request = await readRow(c, nemoGymRequestSchema, retryWindowMs);
    const { input } = request.responses_create_params;
    const sample = labelledSample({
      label: labelOf(request),
      output: { value: outputOf(request), path: OUTPUT },
      question: questionOf(input),
      family: RECIPES[query.recipe].family,
      run: query.run,
      known: gymPlace(request),
    });
    const scoring = { recipe: query.recipe, query, retryWindowMs };
    const { member, reward, run: report } = await scoreSample(c, sample, scoring);
    return sendTrainerReply(c, nemoGymReply(request, member, reward, report));
  },
} satisfies Partial<Handlers>;

const OUTPUT = ['response', 'output'];

/** @throws RequestError if an item cannot be read. */
function outputOf(request: NemoGymRequest): PolicyOutput {
  const output = policyOutput(request);
  if (output.ok) return output.value;
  const problems = output.error.map(({ path, message }) => ({ path: [...OUTPUT, ...path.slice(1)], message }));
  throw new RequestError({ reason: 'input_invalid', problems });
}

/**
 * The label of a row: the object in the row's field `citeward`, which is read strictly, or else the label fields among
 * all fields of the row. Gym writes absent fields as null.
 */
function labelOf(request: NemoGymRequest): LabelledSample['label'] {
  if (request.citeward !== undefined && request.citeward !== null)
    return { value: request.citeward, path: ['citeward'] };
  const fields = LABEL_FIELD_NAMES.filter((name) => Object.hasOwn(request, name) && request[name] !== null);
  return { value: Object.fromEntries(fields.map((name) => [name, request[name]])), path: [] };
}
