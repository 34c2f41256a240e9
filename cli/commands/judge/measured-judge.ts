/**
 * A judge whose questions are counted: calls, tokens, latency and failures. A question without verdicts is a failure
 * with its reason, never a number.
 */
import { DEFAULT_TIMEOUT_S } from '../../../service/desk/call-limits.ts';
import type { ChatBackend } from '../../../src/judgments/chat-backend.ts';
import type { CallOptions } from '../../../src/judgments/connections.ts';
import { type AskJudge, fitToJudge, type Judge, optionsRefused } from '../../../src/judgments/judge.ts';
import { answersRequest, type JudgmentRequest, type Verdicts } from '../../../src/judgments/kinds/registry.ts';
import type { Fitted } from '../../../src/judgments/protocol/budget.ts';
import type { JudgeFailureReason, TokenUsage } from '../../../src/judgments/protocol/failure.ts';

export type Cost = {
  /** Number of model calls, retries included; for a judge without a model, the number of its answers. */
  readonly calls: number;
  /** Tokens of the calls that reported their usage; `null` if no call did. */
  readonly tokens: TokenUsage | null;
  /** Calls that did not report their usage; their tokens are not counted. */
  readonly calls_without_usage: number;
};

/** Counts calls and tokens. */
export class CostMeter {
  #calls = 0;
  #withUsage = 0;
  #prompt = 0;
  #completion = 0;

  add(usage: TokenUsage | null): void {
    this.#calls++;
    if (usage === null) return;
    this.#withUsage++;
    this.#prompt += usage.prompt_tokens;
    this.#completion += usage.completion_tokens;
  }

  get cost(): Cost {
    const tokens = { prompt_tokens: this.#prompt, completion_tokens: this.#completion };
    return {
      calls: this.#calls,
      tokens: this.#withUsage === 0 ? null : tokens,
      calls_without_usage: this.#calls - this.#withUsage,
    };
  }
}

/** A backend whose calls are counted, including failed calls and calls whose reply is refused later. */
export function metered(chat: ChatBackend, meter: CostMeter): ChatBackend {
  return {
    ...chat,
    async complete(request, options) {
      const outcome = await chat.complete(request, options);
      meter.add(outcome.ok ? outcome.completion.usage : null);
      return outcome;
    },
  };
}

/**
 * A backend with another temperature and other seeds: replicate n gets the n-th pair of seeds; 0 = the seeds of a
 * deployment.
 * @param temperature `null` = the one of the request, as in a deployment.
 */
export function resampled(chat: ChatBackend, replicate: number, temperature: number | null): ChatBackend {
  return {
    ...chat,
    complete: (request, options) => {
      const { sampling } = request;
      const seed = sampling.seed + replicate * SEEDS_PER_QUESTION;
      const resampling = { ...sampling, seed, temperature: temperature ?? sampling.temperature };
      return chat.complete({ ...request, sampling: resampling }, options);
    },
  };
}

/**
 * A backend that is asked without log-probabilities from the first request on that the server refuses with them. Their
 * taker is told nothing then.
 */
export function withoutRefusedLogprobs(chat: ChatBackend): ChatBackend {
  let isRefused = false;
  return {
    ...chat,
    async complete(request, { onLogprobs, ...options }) {
      if (onLogprobs === undefined || isRefused) return chat.complete(request, options);
      const outcome = await chat.complete(request, { ...options, onLogprobs });
      if (outcome.ok || outcome.failure.reason !== 'judge_request_refused') return outcome;
      const again = await chat.complete(request, options);
      if (again.ok) isRefused = true;
      return again;
    },
  };
}

/** Seeds of a model judge for one question: one for the first attempt, one for the retry. */
const SEEDS_PER_QUESTION = 2;

/** The cost and the failures of the questions that were put to a judge in one way. */
export type JudgingReport = Cost & {
  /** All questions, including those that do not fit the context of the judge. */
  readonly questions: number;
  readonly failures: { readonly total: number; readonly by_reason: Readonly<Record<string, number>> };
  /** Share of the questions without verdicts; `null` without questions. */
  readonly failure_rate: number | null;
  /** Mean time to a verdict over the answered questions, retries included; `null` if none was answered. */
  readonly mean_latency_ms: number | null;
};

export class MeasuredJudge {
  readonly #judge: Judge;
  readonly #meter: CostMeter;
  readonly #elapsed: () => number;
  readonly #failures = new Map<JudgeFailureReason, number>();
  #answered = 0;
  #latency = 0;

  /** @param elapsed a monotonic clock in milliseconds. */
  constructor(judge: Judge, meter: CostMeter, elapsed: () => number) {
    this.#judge = judge;
    this.#meter = meter;
    this.#elapsed = elapsed;
  }

  #judgeOf({ kind }: JudgmentRequest): Judge {
    return this.#judge.forKind?.(kind) ?? this.#judge;
  }

  /** Fits the request into the context of the judge. @param cited indices of the cited sources, which are cut last. */
  fit(request: JudgmentRequest, cited: ReadonlySet<number>): Fitted<JudgmentRequest> {
    const judge = this.#judgeOf(request);
    const refused = optionsRefused(judge, request);
    return refused === null ? fitToJudge(request, judge, cited) : { ok: false, failure: refused };
  }

  /**
   * The verdicts on a request; `null` if the judge gave none.
   * @param onLogprobs takes the log-probabilities of each reply, the last one of which was read.
   */
  async ask(request: JudgmentRequest, onLogprobs?: CallOptions['onLogprobs']): Promise<Verdicts | null> {
    const start = this.#elapsed();
    const options = { deadline_ms: DEFAULT_TIMEOUT_S * 1000, ask, ...(onLogprobs === undefined ? {} : { onLogprobs }) };
    const reply = await this.#judgeOf(request).judge(request, options);
    if (!reply.ok) {
      this.fail(reply.failure.reason);
      return null;
    }
    if (!answersRequest(request, reply.verdicts)) {
      this.fail('judgment_record_invalid');
      return null;
    }
    this.#answered++;
    this.#latency += this.#elapsed() - start;
    return reply.verdicts;
  }

  /** Counts a question that got no verdicts. */
  fail(reason: JudgeFailureReason): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  get report(): JudgingReport {
    const total = [...this.#failures.values()].reduce((sum, count) => sum + count, 0);
    const questions = this.#answered + total;
    return {
      questions,
      failures: { total, by_reason: Object.fromEntries(this.#failures) },
      failure_rate: questions === 0 ? null : total / questions,
      mean_latency_ms: this.#answered === 0 ? null : this.#latency / this.#answered,
      ...this.#meter.cost,
    };
  }
}

/** Asks a judge of a cascade. Nothing is stored. */
const ask: AskJudge = async (judge, request, options) => {
  const fitted = fitToJudge(request, judge, new Set());
  const { entries_cut } = fitted;
  if (!fitted.ok) return { ...fitted, ...(entries_cut === undefined ? {} : { judged: [] }) };
  const reply = await judge.judge(fitted.request, options);
  return reply.ok && entries_cut !== undefined ? { ...reply, judged: entries_cut.judged } : reply;
};
