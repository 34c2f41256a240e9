/** Answers one request of a batch exactly as its endpoint would answer the same body. */
import type * as z from 'zod';
import { REFINE_STREAM_DEADLINE_MS } from '../../src/generation/refine.ts';
import { type InputProblem, problemsOfIssues } from '../../src/input-problem.ts';
import type { BatchEndpoint } from '../../src/wire/batches/batch.ts';
import { groupReplyOf, groupRequestSchema, groupRollouts, requestedGroupPlacement } from '../../src/wire/groups.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import { requestedPlacement, requestedRollout, scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequested, verifyRequestSchema } from '../../src/wire/verify.ts';
import type { RequestFailure } from '../failures.ts';
import type { ScoringPlatform } from './ports.ts';
import { scoreRecorded, scoreTogetherRecorded } from './record.ts';
import { readyRefinement, refine } from './refine.ts';
import type { ScoringReply } from './score.ts';

export type RequestOutcome =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly failure: RequestFailure };

/**
 * Answers one body. A failed judge is a failure here even if the body asks for a `null` reward, because a later try may
 * succeed. On the last try (`lastTry`) the body's own `on_judge_failure` applies.
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
      const options = lastTry ? read.request : { ...read.request, on_judge_failure: 'error' as const };
      const placement = requestedPlacement(read.request);
      const scored = await scoreRecorded(requestedRollout(read.request), options, placement, platform);
      return outcome(scored, ({ reply }) => reply);
    }
    case '/v1/groups': {
      const read = parse(groupRequestSchema, body);
      if (!read.ok) return read;
      const options = lastTry ? read.request : { ...read.request, on_judge_failure: 'error' as const };
      const placement = requestedGroupPlacement(read.request);
      const scored = await scoreTogetherRecorded(groupRollouts(read.request), options, placement, platform);
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
    case '/v1/refine':
      return refined(body, platform);
  }
}

/**
 * Applies the body's own `on_judge_failure` from the first try on: a retry would generate other candidates, and
 * `/v1/groups` can score the existing ones.
 */
async function refined(body: unknown, platform: ScoringPlatform): Promise<RequestOutcome> {
  const read = parse(refineRequestSchema, body);
  if (!read.ok) return read;
  if (read.request.stream) return invalid([{ path: ['stream'], message: 'expected false: a batch has no streams' }]);
  const prepared = await readyRefinement(read.request, platform);
  if (!prepared.ok) return { ok: false, failure: prepared.error };
  const result = await refine(prepared.value, platform, {
    deadline_ms: REFINE_STREAM_DEADLINE_MS,
    // A batch has no caller who could disconnect.
    signal: new AbortController().signal,
    onEvent: async () => undefined,
  });
  return result.ok ? { ok: true, body: result.reply } : { ok: false, failure: result.failure };
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
