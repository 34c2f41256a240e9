/** Refining rows: in this process with the extractive refiner, or by a Worker. Either way with events as they come. */
import type { Client } from '../../clients/typescript/client.ts';
import { EXTRACTIVE_NAME } from '../../functions/backends/extractive-generator.ts';
import type { CertainEvent, FinishedCandidate } from '../../src/generation/candidate.ts';
import { pathText } from '../../src/input-problem.ts';
import type { RefineRequest } from '../../src/wire/refine.ts';
import type { RefineReply } from '../../src/wire/refine-reply.ts';
import { LEXICAL_NOTICE, localJudging } from '../local/lexical.ts';
import { EXTRACTIVE_NOTICE, type RefiningFailure, refineLocally } from '../local/refining.ts';
import type { Outcome } from '../outcome.ts';
import { REMOTE_CONCURRENCY } from '../remote/connect.ts';
import { outcomeOfFailure } from '../remote/failures.ts';

/** What a page shows of a candidate while it is written. */
export type PageEvent =
  | { readonly type: 'delta'; readonly candidate: number; readonly text: string }
  | (Pick<Extract<CertainEvent, { type: 'claim' }>, 'type' | 'text' | 'element' | 'ids' | 'evidence'> & {
      readonly candidate: number;
    })
  | ({ readonly type: 'candidate'; readonly candidate: number } & Pick<
      FinishedCandidate,
      'finish_reason' | 'aborted' | 'verification'
    >);

export type Tell = (event: PageEvent) => Promise<void>;

export type RefineService = {
  /** @param tell `null` = nobody looks on. */
  readonly refine: (request: RefineRequest, tell: Tell | null) => Promise<Outcome<RefineReply>>;
  readonly notices: readonly string[];
  readonly concurrency: number;
};

/** Refining by a Worker. @param flagFields fields that flags set for every row. */
export function remoteRefining(client: Client, flagFields: ReadonlySet<string>): RefineService {
  return {
    notices: [],
    concurrency: REMOTE_CONCURRENCY,
    async refine({ stream: _stream, ...request }, tell) {
      if (tell === null) {
        const reply = await client.refine(request);
        return reply.ok ? { kind: 'done', reply: reply.body } : outcomeOfFailure(reply.failure, flagFields);
      }
      const opened = await client.refineStream(request);
      if (!opened.ok) return outcomeOfFailure(opened.failure, flagFields);
      for await (const event of opened.body) {
        switch (event.event) {
          case 'delta':
            await tell({ type: 'delta', ...event.data });
            break;
          case 'claim':
            await tell({ type: 'claim', ...event.data });
            break;
          case 'candidate':
            await tell({ type: 'candidate', ...event.data });
            break;
          case 'done':
            return { kind: 'done', reply: event.data };
          case 'error':
            return outcomeOfFailure({ kind: 'problem', status: event.data.status, problem: event.data }, flagFields);
          case 'lost':
            return outcomeOfFailure(event.failure, flagFields);
          case 'start':
          case 'thinking':
          case 'finding':
        }
      }
      throw new Error('remoteRefining: a stream without a last event');
    },
  };
}

/** Refining in this process. @param isScored whether flags say so; a row can still ask for it. */
export function localRefining(isScored: boolean): RefineService {
  const judging = localJudging();
  return {
    notices: isScored ? [EXTRACTIVE_NOTICE, LEXICAL_NOTICE] : [EXTRACTIVE_NOTICE],
    concurrency: 1,
    async refine(request, tell) {
      const result = await refineLocally(request, judging, async (event) => {
        if (tell === null || event.type === 'finding' || event.type === 'thinking') return;
        await tell(event);
      });
      return result.ok ? { kind: 'done', reply: result.reply } : outcomeOf(result.failure);
    },
  };
}

function outcomeOf(failure: RefiningFailure): Outcome<never> {
  switch (failure.reason) {
    case 'input_invalid': {
      const problems = failure.problems.map(({ path, message }) => ({ field: pathText(path), message }));
      return { kind: 'refused', problems };
    }
    case 'generator_unknown':
      return { kind: 'refused', problems: [{ field: 'generator', message: `expected ${EXTRACTIVE_NAME}` }] };
    case 'judge_unknown':
      return { kind: 'refused', problems: [{ field: 'judge', message: 'expected lexical' }] };
    case 'judgment_missing':
      return { kind: 'failed', reason: 'judgment_missing', detail: 'no stored judgment in this process' };
    case 'judgment_failed':
    case 'generation_failed':
      return { kind: 'failed', reason: failure.failure.reason, detail: failure.failure.detail };
  }
}
