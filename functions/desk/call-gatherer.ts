/**
 * Gathers the calls that a caller makes in one turn into one message per desk: a message costs more than a call, and the
 * texts that its calls share, such as the sources of a group, travel once. The desk answers what is ready soon in one
 * reply, and each later call by itself, so that a slow call holds no other.
 */

import { DESK_LOST } from '../../service/desk/desk-failures.ts';
import { withinMs } from '../../service/within-ms.ts';
import type { DeskJudgment, JudgmentCall } from '../../src/judgments/desk.ts';

/** Texts of one message in UTF-16 code units; the platform takes 32 MiB. A larger call travels alone. */
const MAX_MESSAGE_CHARS = 4 * 1024 * 1024;

/** Answers one call of a message before the others, by its position. */
export type AnswerOne = ((position: number, judgment: DeskJudgment) => void | Promise<void>) & Partial<Disposable>;

/**
 * Sends calls to a desk. Returns one judgment per call, in the order of the calls; `answer` may get some of them before.
 */
type Send = (desk: number, calls: readonly JudgmentCall[], answer: AnswerOne) => Promise<readonly DeskJudgment[]>;

/** How long the judgments of a message wait for each other, in milliseconds. */
const ANSWER_TOGETHER_MS = 1_000;

/**
 * Returns the judgments of a message. Those that are ready while others take longer are answered by themselves.
 * @param answer absent = the caller waits for all.
 */
export async function answerEach(
  judgments: readonly Promise<DeskJudgment>[],
  answer: AnswerOne | undefined,
): Promise<readonly DeskJudgment[]> {
  const all = Promise.all(judgments);
  if (answer === undefined || judgments.length < 2) return all;
  const together = await withinMs(all, ANSWER_TOGETHER_MS);
  if (together !== 'late') return together;
  await Promise.all(
    judgments.map(async (judgment, position) => {
      const ready = await judgment;
      try {
        await answer(position, ready);
      } catch {
        // The caller has left; the calls go on for those who come after it.
      }
    }),
  );
  return all;
}

type Gathered = {
  readonly call: JudgmentCall;
  readonly resolve: (judgment: DeskJudgment) => void;
  readonly reject: (error: unknown) => void;
};

export class CallGatherer {
  readonly #send: Send;
  readonly #gathered = new Map<number, Gathered[]>();

  constructor(send: Send) {
    this.#send = send;
  }

  /** Sends a call with the others of this turn. Rejects if the desk's own code throws. */
  add(desk: number, call: JudgmentCall): Promise<DeskJudgment> {
    const { promise, resolve, reject } = Promise.withResolvers<DeskJudgment>();
    const others = this.#gathered.get(desk);
    if (others === undefined) {
      this.#gathered.set(desk, [{ call, resolve, reject }]);
      queueMicrotask(() => this.#flush(desk));
    } else {
      others.push({ call, resolve, reject });
    }
    return promise;
  }

  #flush(desk: number): void {
    const gathered = this.#gathered.get(desk) ?? [];
    this.#gathered.delete(desk);
    for (const some of messagesOf(gathered)) {
      const calls = some.map(({ call }) => call);
      const answer: AnswerOne = (position, judgment) => some[position]?.resolve(judgment);
      this.#send(desk, calls, answer).then(
        (judgments) => {
          for (const [position, { resolve }] of some.entries()) {
            resolve(judgments[position] ?? { ok: false, failure: DESK_LOST });
          }
        },
        (error: unknown) => {
          for (const { reject } of some) reject(error);
        },
      );
    }
  }
}

function messagesOf(gathered: readonly Gathered[]): Gathered[][] {
  const messages: Gathered[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const one of gathered) {
    const own = charsOf(one.call.request);
    chars += own;
    if (chars <= MAX_MESSAGE_CHARS) messages.at(-1)?.push(one);
    else {
      messages.push([one]);
      chars = own;
    }
  }
  return messages;
}

function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let chars = 0;
  for (const member of Object.values(value)) chars += charsOf(member);
  return chars;
}
