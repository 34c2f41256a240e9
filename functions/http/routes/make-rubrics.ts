/** `POST /v1/rubrics`: a model writes criteria for a question. */

import { answered } from '../answered.ts';
import type { Handlers } from '../handlers.ts';

export const makeRubricsHandlers = {
  'POST /v1/rubrics': async (c) => {
    return c.json(await answered(c, '/v1/rubrics'));
  },
} satisfies Partial<Handlers>;
