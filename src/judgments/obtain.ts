/**
 * Resolves each planned judgment from the store, the desk or the judge. Failures are values.
 *
 *     fit -> key -> store -> desk (cached, in flight, or judge -> store)
 *                        \-> judge -> store, without a desk
 *
 * Reads all keys at once, judges missing requests in parallel, and stores each new judgment before the reply: a score
 * that names a key promises that the key can be replayed, or says `stored: false`. Stores are eventually consistent, so
 * a store miss is confirmed at the desk. Without a desk two callers may judge the same key at the same time, and the
 * last write wins; that is harmless for the deterministic lexical judge.
 */
import { sandboxFor } from './computing-judge.ts';
import type { CallClass, Desk, DeskJudgment } from './desk.ts';
import { knownIssuer, type Signing } from './issuer.ts';
import { type AskJudge, fitWanted, type Judge, type JudgeChoice, optionsRefused } from './judge.ts';
import type { JudgmentOutcome, JudgmentPreimage } from './judgment.ts';
import { judgmentKey, judgmentPreimage } from './key.ts';
import type { JudgmentKind } from './kinds/names.ts';
import { type JudgmentRequest, kindOf } from './kinds/registry.ts';
import { makeJudgment, usableFor } from './make-judgment.ts';
import { type JudgingMember, memberName } from './panel.ts';
import type { AnswerCut, EntriesCut, SourceCut } from './protocol/budget.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import type { JudgmentReasons, ReasonStore } from './reasons.ts';
import type { StoredJudgment } from './record.ts';
import type { DeskRecords, JudgmentStore } from './store.ts';
import { withReasons } from './with-reasons.ts';

/** How long a caller waits for its judgments by default, in milliseconds. A desk's call goes on afterwards. */
export const CALLER_DEADLINE_MS = 60_000;

/** `use`: stored judgments, else new ones. `only`: stored judgments, no judge call. `skip`: neither. */
export type JudgmentMode = 'use' | 'only' | 'skip';

/** A planned request, with the indexes of the sources that its answer cites. */
export type WantedJudgment = {
  readonly request: JudgmentRequest;
  readonly cited: ReadonlySet<number>;
  /**
   * The request without what the policy wrote in its entries: if not even this fits whole, the row is too long for the
   * judge, which is a failure. Absent = the policy wrote the entries.
   */
  readonly ofRow?: JudgmentRequest;
  /**
   * The judged answer, if the request has only parts of it (claims, statements). Part of the key, so that desks store
   * all judgments of an answer together. Absent: the request has the answer, or is about none.
   */
  readonly answer?: string;
  /**
   * Tokens of the judge's context that the request leaves unused, so that it sees the same part of the sources as a
   * longer request about the same rollout. Default 0.
   */
  readonly reserved_tokens?: number;
  /** The index of the panel's member that is asked; absent = `judge` of the options. */
  readonly member?: number;
  /** The index of each entry of the request in the reply's list. Default: entries count from 0 in order. */
  readonly positions?: readonly number[];
};

export type ObtainOptions = {
  /** Judges the kinds that a language model or the lexical judge answers. */
  readonly judge: JudgeChoice;
  /** The members of a panel, which judge the requests that name one of them. Default: none. */
  readonly panel?: readonly JudgingMember[];
  /** Judges the kinds that a sandbox computes; absent = no sandbox is configured. */
  readonly sandbox?: JudgeChoice;
  readonly store: JudgmentStore;
  /**
   * Asks judges on behalf of all callers, for each judge for which `takes` returns true; absent = this process calls
   * the judges itself.
   */
  readonly desk?: { readonly desk: Desk; readonly class: CallClass; readonly takes: (judge: string) => boolean };
  /** Keeps and finds the reasons of judgments; absent = they are not asked for. */
  readonly reasons?: ReasonStore;
  /** Signs new judgments and checks stored ones; absent = neither. */
  readonly signing?: Signing;
  readonly mode: JudgmentMode;
  /** Selects one of several independent judgments of the same request: 0, 1, …. Part of every key. */
  readonly replicate: number;
  readonly deadline_ms: number;
  /** The time now, ISO 8601. */
  readonly now: () => string;
  /** A clock for durations, in milliseconds. */
  readonly elapsed: () => number;
};

/** The result of one request. */
export type ObtainedJudgment = {
  readonly kind: JudgmentKind;
  /** The name of the panel's member that was asked; absent = one judge. */
  readonly member?: string;
  /**
   * The content that the key follows from. `null` if there is no judge, whose identity is part of the content, or if
   * the request does not fit the judge.
   */
  readonly preimage: JudgmentPreimage | null;
  readonly key: string | null;
  /** Sources that the judge saw only in part. */
  readonly cuts: readonly SourceCut[];
  /**
   * Set if the answer alone exceeds the judge's context, so the judge sees only its beginning; `null` = the answer was
   * not cut.
   */
  readonly answer_cut: AnswerCut | null;
  /** Set if the judge was asked about some of the claims and statements only; the others count against the policy. */
  readonly entries_cut: EntriesCut | null;
  readonly outcome: JudgmentOutcome;
  /** Id of the key whose signature is valid; `null` = unsigned, or signed by an unknown key. */
  readonly issuer: string | null;
  /** Whether the judgment can be replayed from the store. */
  readonly stored: boolean;
  /** A store failure that did not prevent the judgment. */
  readonly storeProblem: JudgeFailure | null;
  /** The judge's reasons, if they were asked for. */
  readonly reasons?: JudgmentReasons;
};

/**
 * Durations in milliseconds. Requests run in parallel, so each is the longest one. A desk's writes are not included.
 */
export type ObtainTimings = { readonly store_read: number; readonly judge: number; readonly store_write: number };

type Obtained = { readonly judgments: readonly ObtainedJudgment[]; readonly timings: ObtainTimings };

type Keyed = {
  readonly judge: Judge;
  readonly request: JudgmentRequest;
  readonly cuts: readonly SourceCut[];
  readonly answer_cut: AnswerCut | null;
  readonly entries_cut: EntriesCut | null;
  readonly preimage: JudgmentPreimage;
  readonly key: string;
  readonly positions: readonly number[] | null;
  /** `answer` of what was wanted; `null` = absent. */
  readonly answer: string | null;
};

/** Obtains the judgments, in the order of `wanted`. */
export async function obtainJudgments(wanted: readonly WantedJudgment[], options: ObtainOptions): Promise<Obtained> {
  const digests = new Map<string, string>();
  const asked = wanted.map((one) => keyed(one, digests, options));
  const open = asked.filter((one) => 'key' in one);
  const obtained = await obtainKeyed(open, options);
  const inOrder = obtained.judgments.values();
  const judgments = asked.map((one) => {
    if ('unfit' in one) return one.unfit;
    const { value } = inOrder.next();
    if (value === undefined) throw new Error('obtainJudgments: fewer judgments than requests');
    return value;
  });
  return { judgments: judgments.map((one, n) => ofMember(one, wanted[n], options)), timings: obtained.timings };
}

/** Names the member in its judgment, and in the failure of its judgment. */
function ofMember(
  judgment: ObtainedJudgment,
  wanted: WantedJudgment | undefined,
  { panel = [] }: ObtainOptions,
): ObtainedJudgment {
  const asked = wanted?.member === undefined ? undefined : panel[wanted.member];
  if (asked === undefined) return judgment;
  const member = memberName(asked);
  const { outcome } = judgment;
  if (outcome.ok) return { ...judgment, member };
  const failure = { ...outcome.failure, detail: `judge ${member}: ${outcome.failure.detail}` };
  return { ...judgment, member, outcome: { ...outcome, failure } };
}

function keyed(
  wanted: WantedJudgment,
  digests: Map<string, string>,
  options: ObtainOptions,
): Keyed | { readonly unfit: ObtainedJudgment } {
  const { request } = wanted;
  const member = memberOf(wanted, options);
  const isComputed = kindOf(request.kind).answeredBy === 'sandbox';
  const choice = isComputed ? sandboxFor(request, options.sandbox) : member.judge;
  if (!choice.ok) return { unfit: unkeyed(request.kind, options.mode === 'skip' ? SKIPPED : choice.failure) };
  const judge = choice.judge.forKind?.(request.kind) ?? choice.judge;
  const refused = optionsRefused(judge, request);
  if (refused !== null) return { unfit: unkeyed(request.kind, options.mode === 'skip' ? SKIPPED : refused) };
  const fitted = fitWanted(judge, wanted);
  if (!fitted.ok) {
    const cut = options.mode === 'skip' ? undefined : fitted.entries_cut;
    return { unfit: unkeyed(request.kind, options.mode === 'skip' ? SKIPPED : fitted.failure, cut) };
  }
  const replicate = isComputed ? options.replicate : member.replicate;
  const identity = judge.identityFor(request.kind, request.asking);
  const preimage = judgmentPreimage(fitted.request, identity, replicate, digests, wanted.answer);
  const { request: seen, cuts, answer_cut = null, entries_cut = null } = fitted;
  const { positions = null } = wanted;
  const { answer = null } = wanted;
  return {
    judge,
    request: seen,
    cuts,
    answer_cut,
    entries_cut,
    preimage,
    key: judgmentKey(preimage),
    positions,
    answer,
  };
}

/** @throws RangeError if the request names a member that the options lack, which is a bug of the caller. */
function memberOf({ member }: WantedJudgment, options: ObtainOptions): Pick<ObtainOptions, 'judge' | 'replicate'> {
  if (member === undefined) return options;
  const found = options.panel?.[member];
  if (found === undefined) throw new RangeError(`obtainJudgments: the panel has no member ${member}`);
  return { judge: found.choice, replicate: found.replicate };
}

async function obtainKeyed(asked: readonly Keyed[], options: ObtainOptions): Promise<Obtained> {
  if (options.mode === 'skip') return { judgments: asked.map((one) => failed(one, SKIPPED)), timings: NO_TIME };
  if (asked.length === 0) return { judgments: [], timings: NO_TIME };
  const start = options.elapsed();
  const stored = await readStored(asked, options);
  const storeRead = options.elapsed() - start;
  const steps = await Promise.all(asked.map((one) => obtainOne(one, stored, storeRead, options)));
  const longest = (pick: (step: Step) => number): number => Math.max(...steps.map(pick));
  return {
    judgments: await withReasons(asked, steps, options.reasons),
    timings: {
      store_read: storeRead,
      judge: longest(({ judge_ms }) => judge_ms),
      store_write: longest(({ store_ms }) => store_ms),
    },
  };
}

/** Reads the store and, in mode `only`, the desk for what the store misses. */
async function readStored(asked: readonly Keyed[], options: ObtainOptions): Promise<DeskRecords> {
  const { found: stored, missed } = await readStore(asked, options);
  const known = options.signing?.known ?? null;
  const usable = new Map<string, StoredJudgment>();
  for (const one of asked) {
    const found = stored.get(one.key);
    if (found !== undefined) usable.set(one.key, await usableFor(one.request, found, known));
  }
  if (options.mode === 'only' && options.desk !== undefined) {
    // Whatever the judge: the desks also keep imported judgments of judges that need no desk.
    const open = asked.filter(({ key }) => usable.get(key)?.ok !== true);
    const kept = open.length === 0 ? [] : await options.desk.desk.find(open.map(({ key }) => key));
    for (const [key, found] of kept) usable.set(key, found);
  }
  return { found: usable, missed };
}

/** Reads the store: with few reads where a desk can make what is missing, else wherever a judgment may be. */
async function readStore(asked: readonly Keyed[], { mode, desk, store }: ObtainOptions): Promise<DeskRecords> {
  const isOfDesk = ({ judge }: Keyed): boolean => mode === 'use' && desk?.takes(judge.name) === true;
  const ofDesks = store.getOfDesks === undefined ? [] : asked.filter(isOfDesk);
  const others = asked.filter((one) => !ofDesks.includes(one));
  const [records, found] = await Promise.all([
    ofDesks.length === 0 ? null : store.getOfDesks?.(ofDesks.map(({ key }) => key)),
    others.length === 0 ? [] : store.get(others.map(({ key }) => key)),
  ]);
  return { found: new Map([...(records?.found ?? []), ...found]), missed: records?.missed ?? new Map() };
}

type Step = {
  readonly obtained: ObtainedJudgment;
  readonly judge_ms: number;
  readonly store_ms: number;
  /** The reasons of a judgment that was made now. */
  readonly made?: readonly string[];
};

async function obtainOne(
  asked: Keyed,
  { found, missed }: DeskRecords,
  storeRead: number,
  options: ObtainOptions,
): Promise<Step> {
  const { judge } = asked;
  const stored = found.get(asked.key);
  if (stored?.ok === true) {
    const had = { ok: true, judgment: stored.judgment, cached: true, stored: true, storeProblem: null } as const;
    return { obtained: obtainedFrom(asked, had, storeRead, null, options), judge_ms: 0, store_ms: 0 };
  }
  const readProblem = stored?.failure ?? null;
  if (options.mode === 'only') return { obtained: failed(asked, readProblem ?? MISSING), judge_ms: 0, store_ms: 0 };
  const start = options.elapsed();
  if (options.desk?.takes(judge.name) === true) {
    const { key, preimage, request } = asked;
    const { desk, class: callClass } = options.desk;
    const call = {
      ...{ judge: judge.name, key, preimage, request, class: callClass, deadline_ms: options.deadline_ms },
      missed: missed.get(key),
      ...(options.reasons === undefined ? {} : { reasons: true }),
    };
    const had = await desk.judge(call);
    if (had.ok && had.stored) options.store.remember(had.judgment);
    const judge_ms = options.elapsed() - start;
    const reasons = had.ok && had.reasons !== undefined ? { made: had.reasons } : {};
    return { obtained: obtainedFrom(asked, had, judge_ms, readProblem, options), judge_ms, store_ms: 0, ...reasons };
  }
  const issuer = options.signing?.issuer ?? null;
  const { deadline_ms, now } = options;
  const making = { ...asked, deadline_ms, ask: askWith(asked, options, start) };
  const made = await makeJudgment(judge, making, issuer, now);
  const judge_ms = options.elapsed() - start;
  if (!made.ok) return { obtained: failed(asked, made.failure), judge_ms, store_ms: 0 };
  const written = options.elapsed();
  const receipt = await options.store.put(made.judgment);
  const store_ms = options.elapsed() - written;
  const storeProblem = receipt.ok ? null : receipt.failure;
  const had = { ok: true, judgment: made.judgment, cached: false, stored: receipt.ok, storeProblem } as const;
  const reasons = made.reasons === undefined ? {} : { made: made.reasons };
  return { obtained: obtainedFrom(asked, had, judge_ms, readProblem, options), judge_ms, store_ms, ...reasons };
}

/** Asks the judges of a cascade as if each had been wanted alone, within the time that is left. */
function askWith({ answer, preimage }: Keyed, options: ObtainOptions, start: number): AskJudge {
  return async (judge, request) => {
    const wanted = { request, cited: new Set<number>(), ...(answer === null ? {} : { answer }) };
    const deadline_ms = options.deadline_ms - (options.elapsed() - start);
    const { reasons: _reasons, panel: _panel, ...others } = options;
    const choice = { ok: true, judge } as const;
    const asking = { ...others, judge: choice, replicate: preimage.replicate, deadline_ms };
    const [obtained] = (await obtainJudgments([wanted], asking)).judgments;
    if (obtained === undefined) throw new Error('obtainJudgments: no judgment for a request');
    const { outcome } = obtained;
    return outcome.ok ? { ...outcome, verdicts: outcome.judgment.verdicts } : outcome;
  };
}

function obtainedFrom(
  asked: Keyed,
  had: DeskJudgment,
  latency_ms: number,
  readProblem: JudgeFailure | null,
  options: ObtainOptions,
): ObtainedJudgment {
  if (!had.ok) return failed(asked, had.failure);
  const { judgment, cached, stored, storeProblem } = had;
  return {
    ...named(asked),
    outcome: {
      ok: true,
      judgment,
      cached,
      latency_ms,
      ...(asked.entries_cut === null ? {} : { judged: asked.entries_cut.judged }),
    },
    issuer: knownIssuer(judgment, options.signing),
    stored,
    storeProblem: storeProblem ?? readProblem,
  };
}

function named({
  request,
  preimage,
  key,
  cuts,
  answer_cut,
  entries_cut,
}: Keyed): Pick<ObtainedJudgment, 'kind' | 'preimage' | 'key' | 'cuts' | 'answer_cut' | 'entries_cut'> {
  return { kind: request.kind, preimage, key, cuts, answer_cut, entries_cut };
}

function failed(asked: Keyed, failure: JudgeFailure): ObtainedJudgment {
  return { ...named(asked), outcome: { ok: false, failure }, issuer: null, stored: false, storeProblem: null };
}

/** @param cut set if each entry of the request alone is too long for the judge. */
function unkeyed(kind: JudgmentKind, failure: JudgeFailure, cut?: EntriesCut): ObtainedJudgment {
  const nothing = {
    preimage: null,
    key: null,
    cuts: [],
    answer_cut: null,
    entries_cut: cut ?? null,
    issuer: null,
    stored: false,
    storeProblem: null,
  };
  return { kind, ...nothing, outcome: { ok: false, failure, ...(cut === undefined ? {} : { judged: [] }) } };
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
