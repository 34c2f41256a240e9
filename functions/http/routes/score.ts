/**
 * `POST /v1/score` scores one rollout. `POST /v1/groups` scores the samples of one prompt and computes their
 * advantages. `POST /v1/compare` compares them in pairs. `POST /v1/advantages` computes the advantages of a whole step,
 * without a judge.
 */
import { Hono } from 'hono';
import { compareTogether } from '../../../service/compare.ts';
import { scoreRequestedGroup } from '../../../service/evolving-group.ts';
import { RequestError } from '../../../service/failures.ts';
import { scoreRecorded } from '../../../service/record.ts';
import { grammarsOf } from '../../../src/citations/answer-limits.ts';
import { stepAdvantages, stepRequestSchema } from '../../../src/wire/advantages.ts';
import { compareReplyOf, compareRequestSchema, requestedComparison } from '../../../src/wire/compare.ts';
import { groupReplyOf, groupRequestSchema, groupRollouts } from '../../../src/wire/groups.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requestedPlacement, requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { scoreReplyOf } from '../../../src/wire/score-detail.ts';
import { requireScope } from '../auth.ts';
import { admitAnswers, readJson, readQuery } from '../body.ts';
import { type AppEnvironment, compared, platformOf, succeeded } from '../context.ts';

export const scoreRoutes = new Hono<AppEnvironment>()
  .post('/v1/score', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, scoreRequestSchema);
    const rollout = requestedRollout(request);
    await admitAnswers(c, [rollout.response], { grammars: grammarsOf(request.recipe) });
    const member = succeeded(
      c,
      await scoreRecorded(rollout, request, requestedPlacement(request), await platformOf(c)),
    );
    return c.json(scoreReplyOf(request, rollout, member));
  })
  .post('/v1/groups', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, groupRequestSchema);
    const rollouts = groupRollouts(request);
    await admitAnswers(
      c,
      rollouts.map(({ response }) => response),
      { grammars: grammarsOf(request.recipe) },
    );
    const { scored, evolution } = await scoreRequestedGroup(request, rollouts, request, await platformOf(c));
    const reply = groupReplyOf(request, rollouts, succeeded(c, scored), evolution);
    if (!reply.ok) throw new RequestError({ reason: 'input_invalid', problems: reply.problems });
    return c.json(reply.reply);
  })
  .post('/v1/compare', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, compareRequestSchema);
    const platform = await platformOf(c);
    const comparing = requestedComparison(request, platform.readSources);
    await admitAnswers(c, comparing.answers);
    return c.json(compareReplyOf(request, compared(c, await compareTogether(comparing, request, platform))));
  })
  .post('/v1/advantages', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const step = stepAdvantages(await readJson(c, stepRequestSchema));
    if (!step.ok) throw new RequestError({ reason: 'input_invalid', problems: step.error });
    return c.json(step.value);
  });
