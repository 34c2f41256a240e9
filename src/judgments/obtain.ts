/**
 * Having judgments: for every request of a plan, the stored judgment or a fresh one, or why neither could be had.
 *
 *     key -> store -> judge -> store
 *
 * All keys are read at once, open requests are judged side by side, and each fresh judgment is stored before the reply
 * (never afterwards: a score that names a key promises that the key can be replayed, or says `stored: false`).
 * Two callers may judge the same key at the same time; the last write wins.
 */
import { answersRequest } from './answers.ts';
import type { Judge, JudgeChoice } from './judge.ts';
import { judgmentKey, judgmentPreimage } from './key.ts';
import type { StoredJudgment } from './record.ts';
import type { JudgmentStore } from './store.ts';
import type {
  JudgeFailure,
  Judgment,
  JudgmentKind,
  JudgmentOutcome,
  JudgmentPreimage,
  JudgmentRequest,
} from './types.ts';

/** `use`: stored or judged now. `only`: stored or not at all, no judge call. `skip`: nothing is read or judged. */
export type JudgmentMode = 'use' | 'only' | 'skip';

export type ObtainOptions = {
  readonly judge: JudgeChoice;
  readonly store: JudgmentStore;
  readonly mode: JudgmentMode;
  /** Joins every key: another independent judgment of the same thing. */
  readonly replicate: number;
  readonly deadline_ms: number;
  /** The time now, ISO 8601. */
  readonly now: () => string;
  /** A clock for durations, in milliseconds. */
  readonly elapsed: () => number;
};

/** One request with what became of it. */
export type ObtainedJudgment = {
  readonly kind: JudgmentKind;
  /** `null` where there is no judge, as its identity is part of the key. */
  readonly preimage: JudgmentPreimage | null;
  readonly key: string | null;
  readonly outcome: JudgmentOutcome;
  /** Whether the judgment can be replayed from the store. */
  readonly stored: boolean;
  /** What went wrong with the store although the judgment was had. */
  readonly storeProblem: JudgeFailure | null;
};

/** Where the time went, in milliseconds; requests run side by side, so the longest counts. */
export type ObtainTimings = { readonly store_read: number; readonly judge: number; readonly store_write: number };

export type Obtained = { readonly judgments: readonly ObtainedJudgment[]; readonly timings: ObtainTimings };

type Keyed = { readonly request: JudgmentRequest; readonly preimage: JudgmentPreimage; readonly key: string };

/** Obtains the judgments of the requests, in their order. */
export async function obtainJudgments(requests: readonly JudgmentRequest[], options: ObtainOptions): Promise<Obtained> {
  if (!options.judge.ok) {
    const failure = options.mode === 'skip' ? SKIPPED : options.judge.failure;
    return { judgments: requests.map(({ kind }) => unkeyed(kind, failure)), timings: NO_TIME };
  }
  const { judge } = options.judge;
  const keyed = await Promise.all(
    requests.map(async (request): Promise<Keyed> => {
      const preimage = await judgmentPreimage(request, judge.identity, options.replicate);
      return { request, preimage, key: await judgmentKey(preimage) };
    }),
  );
  if (options.mode === 'skip') return { judgments: keyed.map((asked) => failed(asked, SKIPPED)), timings: NO_TIME };
  if (keyed.length === 0) return { judgments: [], timings: NO_TIME };

  const start = options.elapsed();
  const stored = await options.store.get(keyed.map(({ key }) => key));
  const storeRead = options.elapsed() - start;
  const steps = await Promise.all(
    keyed.map((asked) => obtainOne(asked, usable(asked, stored.get(asked.key)), storeRead, judge, options)),
  );
  const longest = (pick: (step: Step) => number): number => Math.max(...steps.map(pick));
  return {
    judgments: steps.map(({ obtained }) => obtained),
    timings: {
      store_read: storeRead,
      judge: longest(({ judge_ms }) => judge_ms),
      store_write: longest(({ store_ms }) => store_ms),
    },
  };
}

type Step = { readonly obtained: ObtainedJudgment; readonly judge_ms: number; readonly store_ms: number };

async function obtainOne(
  asked: Keyed,
  stored: StoredJudgment | undefined,
  storeRead: number,
  judge: Judge,
  options: ObtainOptions,
): Promise<Step> {
  if (stored?.ok === true) {
    const outcome = { ok: true as const, judgment: stored.judgment, cached: true, latency_ms: storeRead };
    return { obtained: { ...named(asked), outcome, stored: true, storeProblem: null }, judge_ms: 0, store_ms: 0 };
  }
  const readProblem = stored?.failure ?? null;
  if (options.mode === 'only') {
    return { obtained: failed(asked, readProblem ?? MISSING), judge_ms: 0, store_ms: 0 };
  }
  const start = options.elapsed();
  const reply = await judge.judge(asked.request, { deadline_ms: options.deadline_ms });
  const judge_ms = options.elapsed() - start;
  if (!reply.ok) return { obtained: failed(asked, reply.failure), judge_ms, store_ms: 0 };
  if (!answersRequest(asked.request, reply.verdicts)) {
    return { obtained: failed(asked, NOT_AN_ANSWER), judge_ms, store_ms: 0 };
  }
  const judgment: Judgment = {
    v: 1,
    key: asked.key,
    preimage: asked.preimage,
    verdicts: reply.verdicts,
    usage: reply.usage,
    judged_at: options.now(),
  };
  const written = options.elapsed();
  const receipt = await options.store.put(judgment);
  const store_ms = options.elapsed() - written;
  const outcome = { ok: true as const, judgment, cached: false, latency_ms: judge_ms };
  const storeProblem = receipt.ok ? readProblem : receipt.failure;
  return { obtained: { ...named(asked), outcome, stored: receipt.ok, storeProblem }, judge_ms, store_ms };
}

/** A stored judgment whose verdicts do not answer the request is as unusable as one that does not parse. */
function usable(asked: Keyed, stored: StoredJudgment | undefined): StoredJudgment | undefined {
  if (stored?.ok !== true || answersRequest(asked.request, stored.judgment.verdicts)) return stored;
  const detail = 'the stored verdicts do not answer the request';
  return { ok: false, failure: { reason: 'judgment_record_invalid', detail, retryable: false } };
}

function named({ request, preimage, key }: Keyed): Pick<ObtainedJudgment, 'kind' | 'preimage' | 'key'> {
  return { kind: request.kind, preimage, key };
}

function failed(asked: Keyed, failure: JudgeFailure): ObtainedJudgment {
  return { ...named(asked), outcome: { ok: false, failure }, stored: false, storeProblem: null };
}

function unkeyed(kind: JudgmentKind, failure: JudgeFailure): ObtainedJudgment {
  return { kind, preimage: null, key: null, outcome: { ok: false, failure }, stored: false, storeProblem: null };
}

const NO_TIME: ObtainTimings = { store_read: 0, judge: 0, store_write: 0 };

const SKIPPED: JudgeFailure = {
  reason: 'judgment_skipped',
  detail: 'the request asked for no judgments ("judgments": "skip")',
  retryable: false,
};

const MISSING: JudgeFailure = {
  reason: 'judgment_missing',
  detail: 'the judgment is not in the store and the request asked for stored judgments only',
  retryable: false,
};

const NOT_AN_ANSWER: JudgeFailure = {
  reason: 'judgment_record_invalid',
  detail: "the judge's verdicts do not answer its request",
  retryable: true,
};
