/** What becomes of one request of a batch: the same as of the same body sent to its endpoint. */
import type * as z from 'zod';
import type { InputProblem } from '../../src/input-problem.ts';
import type { BatchEndpoint } from '../../src/schema/batches.ts';
import { groupReplyOf, groupRequestSchema, groupRollouts } from '../../src/schema/groups.ts';
import { problemsOfIssues } from '../../src/schema/issues.ts';
import { requestedRollout, scoreRequestSchema } from '../../src/schema/score.ts';
import { verifyRequestSchema } from '../../src/schema/verify.ts';
import { verifyRequested } from '../../src/verify-requested.ts';
import type { RequestFailure } from '../http/errors.ts';
import { type ScoringPlatform, type ScoringReply, scoreOne, scoreTogether } from '../scoring.ts';

export type RequestOutcome =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly failure: RequestFailure };

/**
 * Answers one body. A judge that failed is a failure here, also where the body asks for a `null` reward instead: it may be
 * there for the next try. On the last one (`lastTry`) the body's own wish holds.
 */
export async function answer(
  endpoint: BatchEndpoint,
  body: unknown,
  platform: ScoringPlatform,
  lastTry: boolean,
): Promise<RequestOutcome> {
  switch (endpoint) {
    case '/v1/score': {
      const read = parse(scoreRequestSchema, body);
      if (!read.ok) return read;
      const wishes = lastTry ? read.request : { ...read.request, on_judge_failure: 'error' as const };
      const scored = await scoreOne(requestedRollout(read.request), wishes, platform);
      return outcome(scored, ({ reply }) => reply);
    }
    case '/v1/groups': {
      const read = parse(groupRequestSchema, body);
      if (!read.ok) return read;
      const wishes = lastTry ? read.request : { ...read.request, on_judge_failure: 'error' as const };
      const scored = await scoreTogether(groupRollouts(read.request), wishes, platform);
      if (!scored.ok) return { ok: false, failure: scored.failure };
      const group = groupReplyOf(
        read.request,
        scored.reply.map(({ reply }) => reply),
      );
      return group.ok ? { ok: true, body: group.reply } : invalid(group.problems);
    }
    case '/v1/verify': {
      const read = parse(verifyRequestSchema, body);
      if (!read.ok) return read;
      const result = verifyRequested(read.request, 'lexical');
      return result.ok ? { ok: true, body: result.verification } : invalid(result.problems);
    }
  }
}

type Parsed<T> = { readonly ok: true; readonly request: T } | { readonly ok: false; readonly failure: RequestFailure };

function parse<S extends z.ZodType>(schema: S, body: unknown): Parsed<z.output<S>> {
  const parsed = schema.safeParse(body);
  return parsed.success ? { ok: true, request: parsed.data } : invalid(problemsOfIssues(parsed.error.issues, body));
}

function invalid(problems: readonly InputProblem[]): { readonly ok: false; readonly failure: RequestFailure } {
  return { ok: false, failure: { reason: 'input_invalid', problems } };
}

function outcome<T>(scored: ScoringReply<T>, body: (reply: T) => unknown): RequestOutcome {
  return scored.ok ? { ok: true, body: body(scored.reply) } : { ok: false, failure: scored.failure };
}
