/** One way to a model: the chat backend, how to ask after it, and what was last wrong with it. */
import type { ChatBackend } from '../../src/judgments/chat-backend.ts';
import type { JudgeFailure, JudgeFailureReason } from '../../src/judgments/types.ts';

/** What asking after a backend came to. */
export type Probe = {
  /** It answers, as what it should be, and lets us in. */
  readonly reachable: boolean;
  /** `null` = nobody could say. */
  readonly model_present: boolean | null;
  readonly failure: JudgeFailure | null;
};

export type Route = {
  readonly chat: ChatBackend;
  /** Calls that the backend takes at once. */
  readonly slots: number;
  /** Asks after the backend; never rejects. */
  readonly probe: () => Promise<Probe>;
  /** Reason of the last call that failed in this isolate. */
  readonly lastFailure: () => JudgeFailureReason | null;
};

/** The route of a backend; its calls are watched for failures. */
export function createRoute(chat: ChatBackend, slots: number, probe: () => Promise<Probe>): Route {
  let last: JudgeFailureReason | null = null;
  return {
    slots,
    probe,
    lastFailure: () => last,
    chat: {
      ...chat,
      async complete(request, options) {
        const outcome = await chat.complete(request, options);
        if (!outcome.ok) last = outcome.failure.reason;
        return outcome;
      },
    },
  };
}
