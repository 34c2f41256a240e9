/**
 * `POST /v1/adapters/openrlhf/get_reward`: OpenRLHF's remote reward model. If any sample fails, the request fails: the
 * reply's list cannot express "not scored", and the client sends one sample per request.
 */

import { invalidInput } from '../../../service/failures.ts';
import { RECIPES } from '../../../src/families/composers.ts';
import { decodedResponse, extraLogs, openRlhfRequestSchema, unitScore } from '../../../src/wire/adapters/openrlhf.ts';
import type { TrainerReply } from '../../../src/wire/adapters/reply.ts';
import type { Handlers } from '../handlers.ts';
import { labelledSample, readRow } from './adapter-request.ts';
import { type Determined, scoreSamples, sendTrainerReply } from './adapter-scoring.ts';

/** The reply for an empty shard: OpenRLHF splits its one sample over all configured servers. */
const NO_SAMPLES: TrainerReply = { floats: { rewards: [], scores: [], extra_logs: {} } };

export const openRlhfHandlers = {
  'POST /v1/adapters/openrlhf/get_reward': async (c, query) => {
    const retryWindowMs = c.get('adapterRetryWindowMs');
    const { family } = RECIPES[query.recipe];
    const { query: queries, prompts, labels } = await readRow(c, openRlhfRequestSchema, retryWindowMs);
    if (queries.length === 0) return sendTrainerReply(c, NO_SAMPLES);
    const rows = queries.map((text, n) => ({ query: text, prompt: prompts[n] ?? '', label: labels[n] }));
    const samples = rows.map((row, n) =>
      labelledSample({
        label: { value: row.label, path: ['labels', n] },
        output: { value: { response: decodedResponse(row.query, row.prompt) }, path: ['query', n] },
        question: row.prompt === '' ? undefined : row.prompt,
        family,
        run: query.run,
        known: { prompt: row.prompt },
      }),
    );
    const scored = await scoreSamples(c, samples, { recipe: query.recipe, query, retryWindowMs });
    return sendTrainerReply(c, replyOf(scored));
  },
} satisfies Partial<Handlers>;

function replyOf(scored: readonly Determined[]): TrainerReply {
  const members = scored.map(({ member }) => member);
  const runs = scored.flatMap(({ run }) => (run === null ? [] : [run]));
  const [run] = runs;
  const scores = members.map((member) => {
    const score = unitScore(member);
    if (score !== null) return score;
    const message = 'this recipe gives the sample a reward, but no base for scores';
    throw invalidInput(['query', 'recipe'], message);
  });
  return {
    floats: { rewards: scored.map(({ reward }) => reward), scores, extra_logs: extraLogs(members) },
    ...(run === undefined
      ? {}
      : {
          others: {
            run: {
              id: run.id,
              step: runs.map(({ step }) => step),
              group: runs.map(({ group }) => group),
              sample: runs.map(({ sample }) => sample),
              grouping: run.grouping,
              attempt: runs.map(({ attempt }) => attempt),
              status: runs.map(({ status }) => status),
            },
          },
        }),
  };
}
