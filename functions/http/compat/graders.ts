/**
 * `/compat/openai/v1/fine_tuning/alpha/graders/run` and `…/validate`: OpenAI's graders. A grader that fails is an error
 * status: beside an error in its metadata, OpenAI's reply would have a reward.
 */

import { RequestError } from '../../../service/failures.ts';
import { gradeSample } from '../../../service/grade.ts';
import { type PreparedGrader, prepareGrader, templateValues } from '../../../src/wire/compat/graders/prepare.ts';
import { graderReply } from '../../../src/wire/compat/graders/reply.ts';
import { type Grader, graderRunSchema, graderValidateSchema } from '../../../src/wire/compat/graders/schema.ts';
import { readJson } from '../body.ts';
import { noteStoreProblems, platformOf } from '../context.ts';
import type { Handlers } from '../handlers.ts';

export const graderHandlers = {
  'POST /compat/openai/v1/fine_tuning/alpha/graders/run': async (c) => {
    const { grader, model_sample, item } = await readJson(c, graderRunSchema);
    const prepared = checked(grader);
    const start = performance.now();
    const graded = await gradeSample(prepared, templateValues(model_sample, item), await platformOf(c));
    if (!graded.ok) throw new RequestError(graded.error);
    noteStoreProblems(c, graded.value.judgments);
    return c.json(graderReply(grader, graded.value, (performance.now() - start) / 1000));
  },
  'POST /compat/openai/v1/fine_tuning/alpha/graders/validate': async (c) => {
    const { grader } = await readJson(c, graderValidateSchema);
    checked(grader);
    return c.json({ grader });
  },
} satisfies Partial<Handlers>;

/** @throws RequestError if a template or formula cannot be read. */
function checked(grader: Grader): PreparedGrader {
  const prepared = prepareGrader(grader);
  if (!prepared.ok) throw new RequestError({ reason: 'input_invalid', problems: prepared.error });
  return prepared.value;
}
