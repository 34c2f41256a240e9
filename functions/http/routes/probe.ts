/** `POST /v1/recipes/probe`: what a recipe pays for canned answers to rows of training data. */

import { probeRecipe } from '../../../service/probe.ts';
import { probeReplyOf, probeRequestSchema, requestedProbeRow } from '../../../src/wire/probe.ts';
import { admitAnswers, readJson } from '../body.ts';
import { platformOf, probed } from '../context.ts';
import type { Handlers } from '../handlers.ts';

export const probeHandlers = {
  'POST /v1/recipes/probe': async (c) => {
    const request = await readJson(c, probeRequestSchema);
    const rows = request.rows.map(requestedProbeRow);
    // Any grammar: the canned answers are written in that of the recipe.
    const admit = (responses: readonly string[]) => admitAnswers(c, responses, { grammars: 'any' });
    const { recipe, ...measured } = probed(c, await probeRecipe(rows, request, await platformOf(c), admit));
    return c.json(probeReplyOf(request, recipe, measured));
  },
} satisfies Partial<Handlers>;
