/**
 * Compares two judges over the same rollouts: how far their verdicts agree, question by question. Facts hold the
 * verdicts in the order of criteria and statements, so the verdicts of two judges match up by index.
 *
 * Verdicts that need no judge (invented ids, copied sentences) are included; both sides agree on them.
 */
import type { Facts } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import { JUDGED_QUESTIONS, type JudgedQuestion, QUESTION_LEVELS } from '../family/verdict-levels.ts';
import {
  type AgreementTable,
  cohenKappa,
  exactAgreement,
  meanDifference,
  PairCounter,
  pairsIn,
  weightedKappa,
} from '../judgments/rater-agreement.ts';
import type { JudgeComparison } from './replay-report.ts';
import type { LedgerRow } from './row.ts';
import { MAX_REPLAY_MOVERS } from './run-replay.ts';

type QuestionAgreement = {
  readonly question: JudgedQuestion;
  readonly pairs: number;
  /** Share of equal verdicts, [0, 1]. */
  readonly same: number | null;
  /** Cohen's kappa without weights. */
  readonly kappa: number | null;
  /** Cohen's kappa with quadratic weights; equal to `kappa` for two levels. */
  readonly weighted_kappa: number | null;
  /** Mean level of the second judge minus that of the first. */
  readonly mean_difference: number | null;
  /** Counts of verdict pairs. Rows: the first judge, from the lowest level; columns: the second judge. */
  readonly table: AgreementTable;
};

/** Counts rollout by rollout, in constant memory. */
export class TwoJudges {
  readonly #counters = new Map(
    JUDGED_QUESTIONS.map((question) => [question, new PairCounter(QUESTION_LEVELS[question])]),
  );
  #compared = 0;
  #unmatched = 0;

  /**
   * @returns the number of verdicts that differ; `null` if the two do not answer the same questions, because a judgment
   *   failed or the answer was parsed differently. Such a rollout counts as unmatched and enters no figure.
   */
  add(first: Facts, second: Facts): number | null {
    const own = familyOf(first).facts.verdicts(first);
    const other = familyOf(second).facts.verdicts(second);
    const isSame = own !== null && other !== null && own.length === other.length;
    if (!isSame || own.some(([question], position) => other[position]?.[0] !== question)) {
      this.#unmatched++;
      return null;
    }
    this.#compared++;
    let different = 0;
    for (const [position, [question, level]] of own.entries()) {
      const answer = other[position]?.[1] ?? Number.NaN;
      this.#counters.get(question)?.add(level, answer);
      if (answer !== level) different++;
    }
    return different;
  }

  /** Rollouts whose verdicts enter the figures, and those whose verdicts do not match up. */
  get rollouts(): { readonly compared: number; readonly unmatched: number } {
    return { compared: this.#compared, unmatched: this.#unmatched };
  }

  /** One entry for each question that was asked. */
  get agreement(): QuestionAgreement[] {
    return [...this.#counters].flatMap(([question, { table }]) => {
      if (pairsIn(table) === 0) return [];
      return [
        {
          question,
          pairs: pairsIn(table),
          same: exactAgreement(table),
          kappa: cohenKappa(table),
          weighted_kappa: weightedKappa(table),
          mean_difference: meanDifference(table),
          table,
        },
      ];
    });
  }
}

type MostDifferent = JudgeComparison['most_different'][number];

/** Compares a second judge with the recorded verdicts of a run, and lists the rollouts where they differ most. */
export class ComparedJudges {
  readonly #judge: string;
  readonly #verdicts = new TwoJudges();
  #different = 0;
  #asMember = 0;
  #most: MostDifferent[] = [];

  /** @param judge name of the second judge. */
  constructor(judge: string) {
    this.#judge = judge;
  }

  /**
   * Adds a rollout. A judge that is a member of the recorded panel is compared with its own verdicts.
   * @param second facts from the second judge's verdicts.
   */
  add({ step, group, sample, facts }: LedgerRow, second: Facts): void {
    const own = facts.panel?.find(({ judge, replicate }) => judge === this.#judge && replicate === 0)?.facts;
    if (own !== undefined) this.#asMember++;
    const verdicts = this.#verdicts.add(own ?? facts, second);
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
      as_member: this.#asMember,
      questions: this.#verdicts.agreement.map(({ table, ...figures }) => ({
        ...figures,
        table: table.map((row) => [...row]),
      })),
      most_different: this.#most,
    };
  }

  /** Keeps the rollouts with the most differing verdicts; ties keep the earlier one. */
  #offer(one: MostDifferent): void {
    const last = this.#most.at(-1);
    if (this.#most.length === MAX_REPLAY_MOVERS && last !== undefined && one.verdicts <= last.verdicts) return;
    const position = this.#most.findIndex(({ verdicts }) => verdicts < one.verdicts);
    this.#most.splice(position === -1 ? this.#most.length : position, 0, one);
    this.#most.length = Math.min(this.#most.length, MAX_REPLAY_MOVERS);
  }
}
