/** What two judges say of a run, gathered rollout by rollout, and the few rollouts where they differ most. */

import type { Facts } from '../families/registry.ts';
import type { JudgeComparison } from './replay-report.ts';
import type { LedgerRow } from './row.ts';
import { MAX_REPLAY_MOVERS } from './run-replay.ts';
import { TwoJudges } from './two-judges.ts';

type Different = JudgeComparison['most_different'][number];

export class ComparedJudges {
  readonly #judge: string;
  readonly #verdicts = new TwoJudges();
  #different = 0;
  #most: Different[] = [];

  /** @param judge name of the second. */
  constructor(judge: string) {
    this.#judge = judge;
  }

  /** @param second what the second judge's verdicts give. */
  add({ step, group, sample, facts }: LedgerRow, second: Facts): void {
    const verdicts = this.#verdicts.add(facts, second);
    if (verdicts === null || verdicts === 0) return;
    this.#different++;
    this.#offer({ step, group, sample, verdicts });
  }

  get comparison(): JudgeComparison {
    const { compared, unmatched } = this.#verdicts.rollouts;
    return {
      judge: this.#judge,
      compared,
      unmatched,
      different: this.#different,
      questions: this.#verdicts.agreement.map(({ table, ...figures }) => ({
        ...figures,
        table: table.map((row) => [...row]),
      })),
      most_different: this.#most,
    };
  }

  /** The most verdicts first; among equal ones the first that came. */
  #offer(one: Different): void {
    const last = this.#most.at(-1);
    if (this.#most.length === MAX_REPLAY_MOVERS && last !== undefined && one.verdicts <= last.verdicts) return;
    const position = this.#most.findIndex(({ verdicts }) => verdicts < one.verdicts);
    this.#most.splice(position === -1 ? this.#most.length : position, 0, one);
    this.#most.length = Math.min(this.#most.length, MAX_REPLAY_MOVERS);
  }
}
