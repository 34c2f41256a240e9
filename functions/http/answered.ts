/** Answers a request to a route by its body: reads it, asks the service, and notes for the log what the reply says. */
import { type Answering, answer, type RouteReplies } from '../../service/answer.ts';
import { RequestError } from '../../service/failures.ts';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { isolateCounts } from '../metrics/counts.ts';
import { readSources } from '../platform.ts';
import { admitAnswers, readUnchecked } from './body.ts';
import { type Context, platformOf } from './context.ts';

/** @throws RequestError for every failure. @param body a body that has been read; absent = that of the request. */
export async function answered<R extends BatchEndpoint>(
  c: Context,
  route: R,
  how: Pick<Answering, 'verifying' | 'generation'> & { readonly body?: unknown } = {},
): Promise<RouteReplies[R]> {
  const { body = await readUnchecked(c), ...others } = how;
  const { result, timings, rewards, storeProblems } = await answer(route, body, () => platformOf(c), {
    ...others,
    readSources,
    lastTry: true,
    async room(responses, grammars) {
      await admitAnswers(c, responses, { grammars });
      // The lease of the request frees the room at its end.
      return () => undefined;
    },
  });
  Object.assign(c.get('phases'), timings);
  for (const reward of rewards) isolateCounts.count('citeward_rollouts', [reward === null ? 'unscored' : 'scored']);
  c.set('storeProblems', storeProblems);
  if (!result.ok) throw new RequestError(result.error);
  return result.value;
}
