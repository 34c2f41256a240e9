/**
 * The routes that score, verify and generate, as the client of the HTTP API has them, answered in this process: what works
 * with a client works without a Worker. What only some routes need is imported by them, so that the first score does not
 * wait for it.
 */
import type { AgentStreamEvent } from '../../clients/typescript/agent.ts';
import type { Client, Full, GroupInput, RewardOnly, ScoreInput } from '../../clients/typescript/client.ts';
import type { RefineStreamEvent } from '../../clients/typescript/refine.ts';
import type { Reply } from '../../clients/typescript/reply.ts';
import type { RouteReplies } from '../../service/answer.ts';
import { RequestError, type RequestFailure } from '../../service/failures.ts';
import { failureOf, problemOf } from '../../service/problems.ts';
import { readyRefinement, refine } from '../../service/refine.ts';
import { scoreOne } from '../../service/score.ts';
import { REFINE_STREAM_DEADLINE_MS } from '../../src/generation/refine.ts';
import { problemsOfIssues } from '../../src/input-problem.ts';
import type { GroupResponse, GroupRewardResponse } from '../../src/wire/groups.ts';
import type { Problem } from '../../src/wire/problem.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import type { RefineReply } from '../../src/wire/refine-reply.ts';
import type { ScoreResponse } from '../../src/wire/score.ts';
import type { RewardResponse } from '../../src/wire/score-detail.ts';
import type { RequestedVerification } from '../../src/wire/verify.ts';
import type { MemoryHost } from './memory-host.ts';

/** The routes that need no Worker. The `Client` of a Worker has them, too. */
export type RowClient = Pick<
  Client,
  'score' | 'group' | 'compare' | 'makeRubrics' | 'probeRecipe' | 'refineStream' | 'agentStream'
> & {
  refine(...request: Parameters<Client['refine']>): Promise<Reply<RefineReply>>;
  verify(...request: Parameters<Client['verify']>): Promise<Reply<RequestedVerification>>;
};

/** Deadline of a trajectory: sixteen turns with reasoning at 30 tokens per second take 11 minutes. */
const AGENT_DEADLINE_MS = 15 * 60 * 1000;

/** Nothing logs the requests of this process, so they share an id. */
const REQUEST_ID = 'local';

export function createLocalClient(host: MemoryHost): RowClient {
  async function reply<R extends keyof RouteReplies>(route: R, request: unknown): Promise<Reply<RouteReplies[R]>> {
    const result = await host.answer(route, request);
    return result.ok ? { ok: true, body: result.value } : refusal(result.error);
  }
  function score(request: RewardOnly<ScoreInput>): Promise<Reply<RewardResponse>>;
  function score(request: Full<ScoreInput>): Promise<Reply<ScoreResponse>>;
  function score(request: ScoreInput): Promise<Reply<ScoreResponse | RewardResponse>> {
    return reply('/v1/score', request);
  }
  function group(request: RewardOnly<GroupInput>): Promise<Reply<GroupRewardResponse>>;
  function group(request: Full<GroupInput>): Promise<Reply<GroupResponse>>;
  function group(request: GroupInput): Promise<Reply<GroupResponse | GroupRewardResponse>> {
    return reply('/v1/groups', request);
  }
  return {
    score,
    group,
    compare: (request) => reply('/v1/compare', request),
    makeRubrics: (request) => reply('/v1/rubrics', request),
    async probeRecipe(request) {
      const [{ probeRecipe }, { probeReplyOf, probeRequestSchema, requestedProbeRow }] = await Promise.all([
        import('../../service/probe.ts'),
        import('../../src/wire/probe.ts'),
      ]);
      const read = probeRequestSchema.safeParse(request);
      if (!read.success) return invalid(read.error.issues, request);
      const rows = read.data.rows.map(requestedProbeRow);
      const probed = await probeRecipe(rows, read.data, host.ports, async () => undefined);
      if (!probed.ok) return refusal(probed.failure);
      const { recipe, ...measured } = probed.reply;
      return { ok: true, body: probeReplyOf(read.data, recipe, measured) };
    },
    async verify(request, { evidence = 'none', offsets } = {}) {
      const verifying = offsets === undefined ? { evidence } : { evidence, offsets };
      const result = await host.answer('/v1/verify', request, { verifying });
      return result.ok ? { ok: true, body: result.value } : refusal(result.error);
    },
    refine: (request) => reply('/v1/refine', request),
    async refineStream(request) {
      const { refineStreamEventSchema } = await import('../../clients/typescript/refine.ts');
      const read = refineRequestSchema.safeParse({ ...request, stream: true });
      if (!read.success) return invalid(read.error.issues, request);
      const ready = await readyRefinement(read.data, host.ports);
      if (!ready.ok) return refusal(ready.error);
      const body = eventsOf<RefineStreamEvent>(async (send, signal) => {
        const put = (event: string, data: unknown) => send(refineStreamEventSchema.parse({ event, data }));
        await put('start', { ...ready.value.start, n: read.data.n });
        const onEvent = ({ type, ...data }: { readonly type: string }) => put(type, data);
        const refined = await refine(ready.value, host.ports, {
          deadline_ms: REFINE_STREAM_DEADLINE_MS,
          signal,
          onEvent,
        });
        if (refined.ok) await put('done', refined.reply);
        else await put('error', problem(refined.failure));
      });
      return { ok: true, body };
    },
    async agentStream(request) {
      const [{ planAgent, runAgent }, { agentRequestSchema }, { agentStreamEventSchema }] = await Promise.all([
        import('../../service/agent.ts'),
        import('../../src/wire/agent.ts'),
        import('../../clients/typescript/agent.ts'),
      ]);
      const read = agentRequestSchema.safeParse({ ...request, stream: true });
      if (!read.success) return invalid(read.error.issues, request);
      const planned = await planAgent(read.data, host.ports);
      if (!planned.ok) return refusal(planned.error);
      const body = eventsOf<AgentStreamEvent>(async (send, caller) => {
        let sent = Promise.resolve();
        const put = (event: string, data: unknown) => {
          sent = send(agentStreamEventSchema.parse({ event, data }));
        };
        put('start', planned.value.start);
        try {
          const ran = await runAgent(planned.value, {
            observer: { send: put, room: () => sent },
            caller,
            deadline_ms: AGENT_DEADLINE_MS,
            elapsed: () => performance.now(),
            async score(rollout, options) {
              const scored = await scoreOne(rollout, options, host.ports);
              if (!scored.ok) throw new RequestError(scored.failure);
              return scored.reply.reply;
            },
          });
          if (ran.ok) put('done', ran.value);
          else put('error', problem(ran.error));
        } catch (error) {
          if (!(error instanceof RequestError)) throw error;
          put('error', problem(failureOf(error)));
        }
        await sent;
      });
      return { ok: true, body };
    },
  };
}

function problem(failure: RequestFailure): Problem {
  return problemOf(failure, REQUEST_ID);
}

function refusal(failure: RequestFailure): Extract<Reply<never>, { ok: false }> {
  const { status, ...others } = problem(failure);
  return { ok: false, failure: { kind: 'problem', status, problem: { status, ...others } } };
}

function invalid(issues: Parameters<typeof problemsOfIssues>[0], request: unknown): ReturnType<typeof refusal> {
  return refusal({ reason: 'input_invalid', problems: problemsOfIssues(issues, request) });
}

/**
 * The events that work sends, in order. The work waits until each is read, and `signal` aborts when the reader ends early.
 */
async function* eventsOf<E>(
  work: (send: (event: E) => Promise<void>, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<E, void> {
  const { readable, writable } = new TransformStream<E, E>();
  const writer = writable.getWriter();
  const gone = new AbortController();
  writer.closed.catch(() => gone.abort());
  // A write fails only because the reader has ended, which `gone` reports.
  const send = (event: E) => writer.write(event).catch(() => undefined);
  const ended = work(send, gone.signal).then(
    () => writer.close().catch(() => undefined),
    (error: unknown) => writer.abort(error),
  );
  const reader = readable.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    await ended;
  } finally {
    await reader.cancel();
  }
}
