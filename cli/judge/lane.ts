/**
 * A way of asking that is measured by itself: all its questions go through one judge, and what became of them is counted.
 * A question without verdicts is a failure with its reason: never a number.
 */

import type { Judge } from '../../src/judgments/judge.ts';
import { fitToJudge } from '../../src/judgments/judge.ts';
import { answersRequest } from '../../src/judgments/kinds/registry.ts';
import { JUDGE_DEADLINE_MS } from '../../src/judgments/obtain.ts';
import type { Fitted } from '../../src/judgments/protocol/budget.ts';
import type { JudgeFailureReason, JudgmentRequest, Verdicts } from '../../src/judgments/types.ts';
import type { Cost, CostMeter } from './cost.ts';

/** What became of the questions of one lane. */
export type LaneReport = Cost & {
  /** Questions that were put, or that could not be put since they do not fit the judge. */
  readonly questions: number;
  readonly failures: { readonly total: number; readonly by_reason: Readonly<Record<string, number>> };
  /** Share of the questions without verdicts; `null` if there was no question. */
  readonly failure_rate: number | null;
  /** Mean time to verdicts, over the questions that got some, retries included; `null` if none did. */
  readonly mean_latency_ms: number | null;
};

export class Lane {
  readonly #judge: Judge;
  readonly #meter: CostMeter;
  readonly #elapsed: () => number;
  readonly #failures = new Map<JudgeFailureReason, number>();
  #answered = 0;
  #latency = 0;

  /** @param elapsed a clock for durations, in milliseconds. */
  constructor(judge: Judge, meter: CostMeter, elapsed: () => number) {
    this.#judge = judge;
    this.#meter = meter;
    this.#elapsed = elapsed;
  }

  /** The request as the judge can take it. @param cited positions of the sources that are cut last. */
  fit(request: JudgmentRequest, cited: ReadonlySet<number>): Fitted<JudgmentRequest> {
    return fitToJudge(request, this.#judge, cited);
  }

  /** The verdicts on a request, or `null` where the judge gave none. */
  async ask(request: JudgmentRequest): Promise<Verdicts | null> {
    const start = this.#elapsed();
    const reply = await this.#judge.judge(request, { deadline_ms: JUDGE_DEADLINE_MS });
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

  get report(): LaneReport {
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
