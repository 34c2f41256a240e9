/**
 * The client of the JudgeDesk objects. The first digits of a judgment's key select its desk, and connection problems
 * become typed failures. An exception of the desk's own code is a bug and is rethrown.
 */
import type { Desk, DeskJudgment } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { StoredJudgment } from '../../src/judgments/record.ts';
import { rpcFailure, withinMs } from '../rpc.ts';
import { DEADLINE_MISSED, DESK_FULL, DESK_LOST } from './desk-failures.ts';
import { DESK_GRACE_MS, DESK_MESSAGE_VERSION, type DeskMethods } from './desk-messages.ts';

/**
 * Number of desks in a deployment. Keys are distributed over several desks, because one Durable Object serves only some
 * hundred calls per second.
 */
export const JUDGE_DESKS = 4;

/** The binding of the desks, `env.JUDGE_DESK`. */
type DeskNamespace = { getByName(name: string): DeskMethods };

export type DeskClient = Desk & {
  /**
   * Stores judgments whose issuer has been verified. Returns one outcome per judgment, in the order of the judgments.
   */
  readonly import: (judgments: readonly Judgment[]) => Promise<ImportOutcome[]>;
};

const v = DESK_MESSAGE_VERSION;
/** Hex digits of a key that select its desk. */
const PREFIX_DIGITS = 8;

export function createDeskClient(namespace: DeskNamespace): DeskClient {
  const stubOf = (desk: number) => namespace.getByName(`desk-${desk}`);
  return {
    async judge(call): Promise<DeskJudgment> {
      const desk = deskOf(call.key);
      const message = { ...call, v, place: { desk, desks: JUDGE_DESKS } };
      const sent = await send(async () => await stubOf(desk).judge(message), call.deadline_ms + DESK_GRACE_MS);
      return sent.ok ? sent.reply : sent;
    },

    async find(keys) {
      const found = new Map<string, StoredJudgment>();
      await Promise.all(
        [...byDesk(keys, (key) => key)].map(async ([desk, some]) => {
          const sent = await send(async () => await stubOf(desk).find({ v, keys: some }), FIND_MS);
          if (!sent.ok) for (const key of some) found.set(key, sent);
          else for (const judgment of sent.reply.judgments) found.set(judgment.key, { ok: true, judgment });
        }),
      );
      return found;
    },

    async import(judgments) {
      const outcomes = new Map<Judgment, ImportOutcome>();
      await Promise.all(
        [...byDesk(judgments, ({ key }) => key)].map(async ([desk, some]) => {
          const message = { v, place: { desk, desks: JUDGE_DESKS }, judgments: some };
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

function deskOf(key: string): number {
  return Number.parseInt(key.slice(0, PREFIX_DIGITS), 16) % JUDGE_DESKS;
}

function byDesk<T>(values: readonly T[], keyOf: (value: T) => string): Map<number, T[]> {
  return Map.groupBy(values, (value) => deskOf(keyOf(value)));
}

type Sent<T> = { readonly ok: true; readonly reply: T } | { readonly ok: false; readonly failure: JudgeFailure };

async function send<T>(call: () => Promise<T>, ms: number): Promise<Sent<T>> {
  try {
    const reply = await withinMs(call(), ms);
    return reply === 'late' ? { ok: false, failure: DEADLINE_MISSED } : { ok: true, reply };
  } catch (error) {
    const failure = rpcFailure(error);
    if (failure === null) throw error;
    return { ok: false, failure: failure === 'overloaded' ? DESK_FULL : DESK_LOST };
  }
}
