/**
 * Trainers try a refused request again as they do a failed one, and their logs show a status without its body: ten tries
 * and two and a half minutes for one typo in slime. So a refusal stands in the log of the Worker with the fields that are
 * wrong: paths, of which names of unknown fields are the caller's, and no value of any.
 */
import { createMiddleware } from 'hono/factory';
import { pathText } from '../../../src/input-problem.ts';
import type { RequestFailure } from '../../failures.ts';
import { RequestError } from '../../failures.ts';
import type { AppEnvironment } from '../context.ts';
import { wireReason } from '../problems.ts';

const MAX_FIELDS = 20;

/** Reports what an adapter refuses. @param adapter its name in the log. */
export function reportRefusals(adapter: string) {
  return createMiddleware<AppEnvironment>(async function reportRefusals(c, next) {
    await next();
    if (c.res.status < 400 || c.res.status >= 500 || !(c.error instanceof RequestError)) return;
    const { failure } = c.error;
    console.warn(
      JSON.stringify({
        event: 'adapter_request_refused',
        adapter,
        reason: wireReason(failure),
        fields: fieldsOf(failure),
        request_id: c.get('requestId'),
      }),
    );
  });
}

function fieldsOf(failure: RequestFailure): string[] {
  if (failure.reason === 'judge_unknown') return ['query.judge'];
  if (failure.reason !== 'input_invalid') return [];
  return failure.problems.slice(0, MAX_FIELDS).map(({ path }) => pathText(path));
}
