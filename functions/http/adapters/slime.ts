/** `POST /v1/adapters/slime`: slime's remote reward model. A failure is an error status, so that slime retries. */

import { RECIPES } from '../../../src/families/composers.ts';
import { floatText } from '../../../src/wire/adapters/reply.ts';
import { questionOf } from '../../../src/wire/adapters/request.ts';
import { slimeObject, slimeRequestSchema } from '../../../src/wire/adapters/slime.ts';
import type { Handlers } from '../handlers.ts';
import { labelledSample, readRow } from './adapter-request.ts';
import { scoreSample, sendJsonText, sendTrainerReply } from './adapter-scoring.ts';

export const slimeHandlers = {
  'POST /v1/adapters/slime': async (c, query) => {
    const request = await readRow(c, slimeRequestSchema);
    const { prompt, response, label } = request;
    const sample = labelledSample({
      label: { value: label, path: ['label'] },
      output: { value: { response }, path: ['response'] },
      question: questionOf(prompt),
      family: RECIPES[query.recipe].family,
      run: query.run,
      known: { prompt },
    });
    const {
      member,
      reward,
      run: report,
    } = await scoreSample(c, sample, {
      recipe: query.recipe,
      query,
      retryWindowMs: 0,
    });
    return query.reply === 'number'
      ? sendJsonText(c, floatText(reward))
      : sendTrainerReply(c, slimeObject(member, reward, report));
  },
} satisfies Partial<Handlers>;
