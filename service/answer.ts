/**
 * Answers the body of a request: the one place for routes, lines of batches, jobs of webhooks, and hosts without a Worker.
 * The same body gives the same reply or failure everywhere.
 */
import type * as z from 'zod';
import { grammarsOf, type PossibleGrammars } from '../src/citations/answer-limits.ts';
import type { SourceReader } from '../src/citations/recent-sources.ts';
import { REFINE_STREAM_DEADLINE_MS } from '../src/generation/refine.ts';
import { type InputProblem, problemsOfIssues } from '../src/input-problem.ts';
import type { ObtainedJudgment } from '../src/judgments/obtain.ts';
import type { Failure, Result } from '../src/result.ts';
import type { ScoredRollout } from '../src/scoring/score-rollouts.ts';
import { parseJsonValue } from '../src/wire/absent-fields.ts';
import type { BatchEndpoint } from '../src/wire/batches/batch.ts';
import {
  type CompareResponse,
  compareReplyOf,
  compareRequestSchema,
  requestedComparison,
} from '../src/wire/compare.ts';
import {
  type GroupResponse,
  type GroupRewardResponse,
  groupReplyOf,
  groupRequestSchema,
  groupRollouts,
} from '../src/wire/groups.ts';
import {
  type MakeRubricsReply,
  makeRubricsReplyOf,
  makeRubricsRequestSchema,
  rubricsToMake,
} from '../src/wire/make-rubrics.ts';
import { refineRequestSchema } from '../src/wire/refine.ts';
import type { RefineReply } from '../src/wire/refine-reply.ts';
import { requestedPlacement, requestedRollout, type ScoreResponse, scoreRequestSchema } from '../src/wire/score.ts';
import { type RewardResponse, scoreReplyOf } from '../src/wire/score-detail.ts';
import {
  type RequestedVerification,
  verifiedResponse,
  type verifyQuerySchema,
  verifyRequested,
  verifyRequestSchema,
} from '../src/wire/verify.ts';
import { compareTogether } from './compare.ts';
import { scoreRequestedGroup } from './evolving-group.ts';
import type { RequestFailure } from './failures.ts';
import { makeRubricsWith } from './make-rubrics.ts';
import type { ScoringPlatform } from './ports.ts';
import { scoreRecorded } from './record.ts';
import { readyRefinement, refine } from './refine.ts';
import type { JudgedReply, ScoringReply } from './score.ts';

/** The reply of each route that a body alone asks for. */
export type RouteReplies = {
  readonly '/v1/score': ScoreResponse | RewardResponse;
  readonly '/v1/groups': GroupResponse | GroupRewardResponse;
  readonly '/v1/compare': CompareResponse;
  readonly '/v1/verify': RequestedVerification;
  readonly '/v1/refine': RefineReply;
  readonly '/v1/rubrics': MakeRubricsReply;
};

/** Waits until the host has room for the claims of some answers. Returns the function that frees them. */
export type AnswerRoom = (responses: readonly string[], grammars: PossibleGrammars) => Promise<() => void>;

/** For callers that score few answers at a time. */
const unlimited: AnswerRoom = async () => () => undefined;

/** How a body is answered. */
export type Answering = {
  /**
   * Whether the body's own `on_judge_failure` applies. Before the last try a failed judge is a failure even if the body
   * asks for a `null` reward, because a later try may succeed. `/v1/refine` has one try: another one would generate other
   * candidates, and `/v1/groups` can score the existing ones.
   */
  readonly lastTry: boolean;
  readonly room?: AnswerRoom;
  /** Reads the sources of `/v1/verify`. Default: `sourcesOf`, which keeps nothing. */
  readonly readSources?: SourceReader;
  /** The query of `/v1/verify`. Default: lexical evidence. */
  readonly verifying?: z.output<typeof verifyQuerySchema>;
  /** Limits the generation of `/v1/refine`. Default: the deadline of a stream, and a caller who stays. */
  readonly generation?: { readonly deadline_ms: number; readonly signal: AbortSignal };
};

/** The reply or the failure, and what the log of the host says of it. */
export type Answered<T> = {
  readonly result: Result<T, RequestFailure>;
  /** Durations of the phases that were reached, in milliseconds. */
  readonly timings: Readonly<Record<string, number>>;
  /** The rewards of `/v1/score` and `/v1/groups`, also if another part of the reply failed. */
  readonly rewards: readonly (number | null)[];
  /** Judgments that the store failed to read or write. */
  readonly storeProblems: number;
};

/** Opens the ports, once the body is valid and has its room: `/v1/verify` needs none. */
type OpenPorts = () => ScoringPlatform | Promise<ScoringPlatform>;

/** Answers a body. @throws only what `room` and `open` throw, and bugs. */
export function answer<R extends BatchEndpoint>(
  route: R,
  body: unknown,
  open: OpenPorts,
  how: Answering,
): Promise<Answered<RouteReplies[R]>> {
  return ANSWERS[route](body, open, how);
}

type AnswerOf<T> = (body: unknown, open: OpenPorts, how: Answering) => Promise<Answered<T>>;

const ANSWERS: { readonly [R in BatchEndpoint]: AnswerOf<RouteReplies[R]> } = {
  async '/v1/score'(body, open, how) {
    const read = parsed(scoreRequestSchema, body);
    if (!read.ok) return refused(read.error);
    const request = read.value;
    const rollout = requestedRollout(request);
    return within(how, [rollout.response], grammarsOf(request.recipe), async () => {
      const scored = await scoreRecorded(rollout, optionsOf(request, how), requestedPlacement(request), await open());
      return answered(scored, ofMembers(scored.ok ? [scored.reply] : []), (member) => ({
        ok: true,
        value: scoreReplyOf(request, rollout, member),
      }));
    });
  },

  async '/v1/groups'(body, open, how) {
    const read = parsed(groupRequestSchema, body);
    if (!read.ok) return refused(read.error);
    const request = read.value;
    const rollouts = groupRollouts(request);
    const responses = rollouts.map(({ response }) => response);
    return within(how, responses, grammarsOf(request.recipe), async () => {
      const options = optionsOf(request, how);
      const { scored, evolution } = await scoreRequestedGroup(request, rollouts, options, await open());
      return answered(scored, ofMembers(scored.ok ? scored.reply : []), (members) => {
        const group = groupReplyOf(request, rollouts, members, evolution);
        return group.ok ? { ok: true, value: group.value } : invalid(group.error);
      });
    });
  },

  async '/v1/compare'(body, open, how) {
    const read = parsed(compareRequestSchema, body);
    if (!read.ok) return refused(read.error);
    const request = read.value;
    const ports = await open();
    const comparing = requestedComparison(request, ports.readSources);
    return within(how, comparing.answers, 'any', async () => {
      const compared = await compareTogether(comparing, optionsOf(request, how), ports);
      const judgments = compared.ok
        ? compared.reply.pairs.flatMap(({ orders }) => orders.map(({ obtained }) => obtained))
        : [];
      return answered(compared, { rewards: [], storeProblems: storeProblemsIn(judgments) }, (reply) => ({
        ok: true,
        value: compareReplyOf(request, reply),
      }));
    });
  },

  async '/v1/verify'(body, _open, how) {
    const read = parsed(verifyRequestSchema, body);
    if (!read.ok) return refused(read.error);
    const request = read.value;
    const { evidence, offsets } = how.verifying ?? LEXICAL_EVIDENCE;
    if (offsets !== undefined && request.offsets !== undefined) {
      return refused(invalidAt(['offsets'], 'give offsets in the query or in the body, not in both').error);
    }
    return within(how, [verifiedResponse(request)], 'any', async () => {
      const result = verifyRequested(request, evidence, offsets, how.readSources);
      return {
        ...NOTHING_NOTED,
        result: result.ok ? { ok: true, value: result.value } : invalid(result.error),
      };
    });
  },

  async '/v1/refine'(body, open, how) {
    const read = parsed(refineRequestSchema, body);
    if (!read.ok) return refused(read.error);
    if (read.value.stream) return refused(invalidAt(['stream'], 'expected false: a batch has no streams').error);
    const ports = await open();
    const prepared = await readyRefinement(read.value, ports);
    if (!prepared.ok) return refused(prepared.error);
    const generation = how.generation ?? {
      deadline_ms: REFINE_STREAM_DEADLINE_MS,
      signal: new AbortController().signal,
    };
    const refined = await refine(prepared.value, ports, { ...generation, onEvent: async () => undefined });
    if (!refined.ok) return { ...refused(refined.failure), timings: refined.timings };
    const { reply, timings } = refined;
    const judgments = reply.candidates.flatMap(({ score }) => score?.judgments ?? []);
    const storeProblems = judgments.filter(({ store_problem }) => store_problem !== null).length;
    return { result: { ok: true, value: reply }, timings, rewards: [], storeProblems };
  },

  async '/v1/rubrics'(body, open, how) {
    const read = parsed(makeRubricsRequestSchema, body);
    if (!read.ok) return refused(read.error);
    const request = read.value;
    const ports = await open();
    const wanted = rubricsToMake(request, ports.readSources);
    return within(how, wanted.responses, 'recipes', async () => {
      const made = await makeRubricsWith(wanted, request, ports);
      const judgments = made.ok ? [made.reply.obtained] : [];
      return answered(made, { rewards: [], storeProblems: storeProblemsIn(judgments) }, (reply) => ({
        ok: true,
        value: makeRubricsReplyOf(reply),
      }));
    });
  },
};

const LEXICAL_EVIDENCE: z.output<typeof verifyQuerySchema> = { evidence: 'lexical' };

const NOTHING_NOTED = { timings: {}, rewards: [], storeProblems: 0 } as const;

function refused(error: RequestFailure): Answered<never> {
  return { ...NOTHING_NOTED, result: { ok: false, error } };
}

/** Works while the answers have their room. */
async function within<T>(
  { room = unlimited }: Answering,
  responses: readonly string[],
  grammars: PossibleGrammars,
  work: () => Promise<Answered<T>>,
): Promise<Answered<T>> {
  const release = await room(responses, grammars);
  try {
    return await work();
  } finally {
    release();
  }
}

type Noted = Pick<Answered<unknown>, 'rewards' | 'storeProblems'>;

function ofMembers(members: readonly ScoredRollout[]): Noted {
  return {
    rewards: members.map(({ score }) => score.reward),
    storeProblems: storeProblemsIn(members.flatMap(({ obtained }) => obtained)),
  };
}

function storeProblemsIn(judgments: readonly ObtainedJudgment[]): number {
  return judgments.filter(({ storeProblem }) => storeProblem !== null).length;
}

function answered<T, B>(
  scored: ScoringReply<T> | JudgedReply<T>,
  noted: Noted,
  bodyOf: (reply: T) => Result<B, RequestFailure>,
): Answered<B> {
  const result = scored.ok ? bodyOf(scored.reply) : ({ ok: false, error: scored.failure } as const);
  return { ...noted, result, timings: scored.timings ?? {} };
}

function optionsOf<R extends { readonly on_judge_failure: 'error' | 'null' }>(request: R, { lastTry }: Answering) {
  const on_judge_failure = lastTry ? request.on_judge_failure : ('error' as const);
  return { ...request, on_judge_failure, sendsAgain: true };
}

function parsed<S extends z.ZodType>(schema: S, body: unknown): Result<z.output<S>, RequestFailure> {
  const read = parseJsonValue(schema, body);
  return read.success ? { ok: true, value: read.data } : invalid(problemsOfIssues(read.error.issues, body));
}

function invalid(problems: readonly InputProblem[]): Failure<RequestFailure> {
  return { ok: false, error: { reason: 'input_invalid', problems } };
}

function invalidAt(path: InputProblem['path'], message: string): ReturnType<typeof invalid> {
  return invalid([{ path, message }]);
}
