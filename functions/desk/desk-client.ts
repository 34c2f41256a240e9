/**
 * The client of the JudgeDesk objects. It asks the desk that owns a judgment, and connection problems become typed
 * failures. An exception of the desk's own code is a bug and is rethrown.
 */

import { CALL_GRACE_MS } from '../../service/desk/call-limits.ts';
import { DESK_FULL, DESK_LATE, DESK_LOST } from '../../service/desk/desk-failures.ts';
import { traceHeaders } from '../../service/trace-context.ts';
import { withinMs } from '../../service/within-ms.ts';
import type { Desk } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { StoredJudgment } from '../../src/judgments/record.ts';
import type { Failed } from '../../src/result.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { NO_BUDGETS, type Payer } from '../projects/budgets.ts';
import type { JudgmentScope } from '../projects/judgment-scope.ts';
import { rpcFailure } from '../rpc.ts';
import { CallGatherer } from './call-gatherer.ts';
import { type DeskLayout, ownerOf, possibleOwners } from './desk-layout.ts';
import { DESK_MESSAGE_VERSION, type DeskMethods, type DeskPlace } from './desk-messages.ts';

/** The binding of the desks, `env.JUDGE_DESK`. */
export type DeskNamespace = { getByName(name: string): DeskMethods };

/** The stub of a desk. A new one per call: a stub whose call failed stays broken even after the object recovers. */
export function deskIn(namespace: DeskNamespace, desk: number, scope: JudgmentScope = null): DeskMethods {
  return namespace.getByName(scope === null ? `desk-${desk}` : `desk-${desk}/${scope}`);
}

export type DeskClient = Desk & {
  /**
   * Stores judgments whose issuer has been verified. Returns one outcome per judgment, in the order of the judgments.
   */
  readonly import: (judgments: readonly Judgment[]) => Promise<ImportOutcome[]>;
};

const v = DESK_MESSAGE_VERSION;

const FREE_PAYER: Payer = { project: DEFAULT_PROJECT, budgets: NO_BUDGETS };

/**
 * @param payer the project that new judgments are counted for. Default: no project with budgets.
 * @param scope of the judgments. Default: those that all projects share.
 */
export function createDeskClient(
  namespace: DeskNamespace,
  layout: DeskLayout,
  payer: Payer = FREE_PAYER,
  scope: JudgmentScope = null,
): DeskClient {
  const stubOf = (desk: number) => deskIn(namespace, desk, scope);
  const placeOf = (desk: number): DeskPlace => ({ desk, layout, ...(scope === null ? {} : { scope }) });
  const gatherer = new CallGatherer(async (desk, calls, answer) => {
    const message = { v, place: placeOf(desk), payer, calls, answer, trace: traceHeaders() };
    const wait_ms = Math.max(...calls.map(({ deadline_ms }) => deadline_ms)) + CALL_GRACE_MS;
    const sent = await send(async () => await stubOf(desk).judge(message), wait_ms);
    if (!sent.ok) return calls.map(() => sent);
    const { reply } = sent;
    return 'ok' in reply ? calls.map(() => reply) : reply;
  });
  const ownerOfJudgment = ({ key, preimage }: Judgment) => ownerOf(layout, key, preimage.judge.model);
  return {
    judge: (call) => gatherer.add(ownerOf(layout, call.key, call.preimage.judge.model), call),

    async find(keys) {
      const found = new Map<string, StoredJudgment>();
      const asked = keys.flatMap((key) => [...possibleOwners(layout, key)].map((desk) => ({ key, desk })));
      await Promise.all(
        [...Map.groupBy(asked, ({ desk }) => desk)].map(async ([desk, group]) => {
          const some = group.map(({ key }) => key);
          const sent = await send(
            async () => await stubOf(desk).find({ v, place: placeOf(desk), keys: some, wait: false }),
            FIND_MS,
          );
          const { judgments, failure } = sent.ok ? sent.reply : { judgments: [], failure: sent.failure };
          for (const judgment of judgments) found.set(judgment.key, { ok: true, judgment });
          // Another possible owner may have it.
          if (failure !== null) for (const key of some) found.set(key, found.get(key) ?? { ok: false, failure });
        }),
      );
      return found;
    },

    async import(judgments) {
      const outcomes = new Map<Judgment, ImportOutcome>();
      await Promise.all(
        [...Map.groupBy(judgments, ownerOfJudgment)].map(async ([desk, some]) => {
          const message = { v, place: placeOf(desk), judgments: some };
          const sent = await send(async () => await stubOf(desk).import(message), IMPORT_MS);
          some.forEach((judgment, position) => {
            const outcome = sent.ok ? sent.reply.outcomes[position] : sent;
            outcomes.set(judgment, outcome ?? { failure: DESK_LOST });
          });
        }),
      );
      return judgments.map((judgment) => outcomes.get(judgment) ?? { failure: DESK_LOST });
    },
  };
}

const FIND_MS = 10_000;
const IMPORT_MS = 60_000;

type Sent<T> = { readonly ok: true; readonly reply: T } | Failed<JudgeFailure>;

/** Calls a desk, with a time limit. Problems of the connection are failures. */
export async function send<T>(call: () => Promise<T>, ms: number): Promise<Sent<T>> {
  try {
    const reply = await withinMs(call(), ms);
    return reply === 'late' ? { ok: false, failure: DESK_LATE } : { ok: true, reply };
  } catch (error) {
    const failure = rpcFailure(error);
    if (failure === null) throw error;
    return { ok: false, failure: failure === 'overloaded' ? DESK_FULL : DESK_LOST };
  }
}
