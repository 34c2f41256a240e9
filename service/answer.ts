/** Answers one request of a batch exactly as its endpoint would answer the same body. */
import type * as z from 'zod';
import { grammarsOf, type PossibleGrammars } from '../src/citations/answer-limits.ts';
import { REFINE_STREAM_DEADLINE_MS } from '../src/generation/refine.ts';
import { type InputProblem, problemsOfIssues } from '../src/input-problem.ts';
import type { Result } from '../src/result.ts';
import type { BatchEndpoint } from '../src/wire/batches/batch.ts';
import { compareReplyOf, compareRequestSchema, requestedComparison } from '../src/wire/compare.ts';
import { groupReplyOf, groupRequestSchema, groupRollouts } from '../src/wire/groups.ts';
import { makeRubricsReplyOf, makeRubricsRequestSchema, rubricsToMake } from '../src/wire/make-rubrics.ts';
import { refineRequestSchema } from '../src/wire/refine.ts';
import { requestedPlacement, requestedRollout, scoreRequestSchema } from '../src/wire/score.ts';
import { scoreReplyOf } from '../src/wire/score-detail.ts';
import { verifiedResponse, verifyRequested, verifyRequestSchema } from '../src/wire/verify.ts';
import { compareTogether } from './compare.ts';
import { scoreRequestedGroup } from './evolving-group.ts';
import type { RequestFailure } from './failures.ts';
import { makeRubricsWith } from './make-rubrics.ts';
import type { ScoringPlatform } from './ports.ts';
import { scoreRecorded } from './record.ts';
import { readyRefinement, refine } from './refine.ts';
import type { JudgedReply, ScoringReply } from './score.ts';

/** Waits until the isolate has room for the claims of some answers. Returns the function that frees them. */
export type AnswerRoom = (responses: readonly string[], grammars: PossibleGrammars) => Promise<() => void>;

/** For callers that score few answers at a time. */
const unlimited: AnswerRoom = async () => () => undefined;

/**
 * Answers one body. A failed judge is a failure here even if the body asks for a `null` reward, because a later try may
 * succeed. On the last try (`lastTry`) the body's own `on_judge_failure` applies.
 */
export async function answer(
  endpoint: BatchEndpoint,
  body: unknown,
  platform: ScoringPlatform,
  { lastTry, room = unlimited }: { readonly lastTry: boolean; readonly room?: AnswerRoom },
): Promise<Result<unknown, RequestFailure>> {
  switch (endpoint) {
    case '/v1/score': {
      const read = parse(scoreRequestSchema, body);
      if (!read.ok) return read;
      const options = lastTry ? read.value : { ...read.value, on_judge_failure: 'error' as const };
      const placement = requestedPlacement(read.value);
      const rollout = requestedRollout(read.value);
      return within(room, [rollout], grammarsOf(read.value.recipe), async () => {
        const scored = await scoreRecorded(rollout, options, placement, platform);
        return resultOf(scored, (member) => scoreReplyOf(read.value, rollout, member));
      });
    }
    case '/v1/groups': {
      const read = parse(groupRequestSchema, body);
      if (!read.ok) return read;
      const options = lastTry ? read.value : { ...read.value, on_judge_failure: 'error' as const };
      const rollouts = groupRollouts(read.value);
      return within(room, rollouts, grammarsOf(read.value.recipe), async () => {
        const { scored, evolution } = await scoreRequestedGroup(read.value, rollouts, options, platform);
        if (!scored.ok) return { ok: false, error: scored.failure };
        const group = groupReplyOf(read.value, rollouts, scored.reply, evolution);
        return group.ok ? { ok: true, value: group.reply } : invalid(group.problems);
      });
    }
    case '/v1/compare': {
      const read = parse(compareRequestSchema, body);
      if (!read.ok) return read;
      const options = lastTry ? read.value : { ...read.value, on_judge_failure: 'error' as const };
      const comparing = requestedComparison(read.value, platform.readSources);
      return within(
        room,
        comparing.answers.map((response) => ({ response })),
        'any',
        async () =>
          resultOf(await compareTogether(comparing, options, platform), (compared) =>
            compareReplyOf(read.value, compared),
          ),
      );
    }
    case '/v1/verify': {
      const read = parse(verifyRequestSchema, body);
      if (!read.ok) return read;
      return within(room, [{ response: verifiedResponse(read.value) }], 'any', async () => {
        const result = verifyRequested(read.value, 'lexical');
        return result.ok ? { ok: true, value: result.verification } : invalid(result.problems);
      });
    }
    case '/v1/refine':
      return refined(body, platform);
    case '/v1/rubrics': {
      const read = parse(makeRubricsRequestSchema, body);
      if (!read.ok) return read;
      const wanted = rubricsToMake(read.value, platform.readSources);
      return within(
        room,
        wanted.responses.map((response) => ({ response })),
        'recipes',
        async () => resultOf(await makeRubricsWith(wanted, read.value, platform), makeRubricsReplyOf),
      );
    }
  }
}

/** Works while the answers have their room. */
async function within(
  room: AnswerRoom,
  answers: readonly { readonly response: string }[],
  grammars: PossibleGrammars,
  work: () => Promise<Result<unknown, RequestFailure>>,
): Promise<Result<unknown, RequestFailure>> {
  const release = await room(
    answers.map(({ response }) => response),
    grammars,
  );
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Applies the body's own `on_judge_failure` from the first try on: a retry would generate other candidates, and
 * `/v1/groups` can score the existing ones.
 */
async function refined(body: unknown, platform: ScoringPlatform): Promise<Result<unknown, RequestFailure>> {
  const read = parse(refineRequestSchema, body);
  if (!read.ok) return read;
  if (read.value.stream) return invalid([{ path: ['stream'], message: 'expected false: a batch has no streams' }]);
  const prepared = await readyRefinement(read.value, platform);
  if (!prepared.ok) return prepared;
  const result = await refine(prepared.value, platform, {
    deadline_ms: REFINE_STREAM_DEADLINE_MS,
    // A batch has no caller who could disconnect.
    signal: new AbortController().signal,
    onEvent: async () => undefined,
  });
  return result.ok ? { ok: true, value: result.reply } : { ok: false, error: result.failure };
}

function parse<S extends z.ZodType>(schema: S, body: unknown): Result<z.output<S>, RequestFailure> {
  const parsed = schema.safeParse(body);
  return parsed.success ? { ok: true, value: parsed.data } : invalid(problemsOfIssues(parsed.error.issues, body));
}

function invalid(problems: readonly InputProblem[]): Result<never, RequestFailure> {
  return { ok: false, error: { reason: 'input_invalid', problems } };
}

function resultOf<T>(
  scored: ScoringReply<T> | JudgedReply<T>,
  body: (reply: T) => unknown,
): Result<unknown, RequestFailure> {
  return scored.ok ? { ok: true, value: body(scored.reply) } : { ok: false, error: scored.failure };
}
