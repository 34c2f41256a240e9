/**
 * Two judges over the same rollouts: how far their verdicts agree, question by question, and where they do not. The facts
 * of a rollout hold the verdicts in the order of its criteria and statements, so two readings of one rollout line up.
 *
 * What was settled without a judge (invented ids, copied sentences) stands among the facts as well and agrees by itself.
 */

import type { Facts, Observed, StatementFact } from '../family/facts.ts';
import {
  type AgreementTable,
  cohenKappa,
  exactAgreement,
  meanDifference,
  PairCounter,
  pairsIn,
  weightedKappa,
} from '../judgments/rater-agreement.ts';
import type { CriterionScore, Support } from '../judgments/types.ts';

/** `criteria`: 0, 1, 2. `support`: none, partial, full. The others: no, yes. */
export const JUDGED_QUESTIONS = [
  'criteria',
  'support',
  'relevance',
  'needs_citation',
  'outcome',
  'equivalence',
] as const;
export type JudgedQuestion = (typeof JUDGED_QUESTIONS)[number];

export type QuestionAgreement = {
  readonly question: JudgedQuestion;
  readonly pairs: number;
  /** Share of equal verdicts, [0, 1]. */
  readonly same: number | null;
  /** Unweighted. */
  readonly kappa: number | null;
  /** With quadratic weights; of two levels the same as `kappa`. */
  readonly weighted_kappa: number | null;
  /** How much higher the second judge rates, in levels. */
  readonly mean_difference: number | null;
  /** Rows: the first judge, from the lowest level; columns: the second. */
  readonly table: AgreementTable;
};

type Verdict = readonly [JudgedQuestion, number];

const LEVELS: Readonly<Record<JudgedQuestion, number>> = {
  criteria: 3,
  support: 3,
  relevance: 2,
  needs_citation: 2,
  outcome: 2,
  equivalence: 2,
};

const SUPPORT_LEVELS: readonly Support[] = [0, 0.5, 1];

/** Gathers rollout by rollout; memory does not grow. */
export class TwoJudges {
  readonly #counters = new Map(JUDGED_QUESTIONS.map((question) => [question, new PairCounter(LEVELS[question])]));
  #compared = 0;
  #unmatched = 0;

  /**
   * @returns how many verdicts differ; `null` where the two do not answer the same questions: one of them failed, or the
   *   answer was read differently. Such a rollout is counted and in no figure.
   */
  add(first: Facts, second: Facts): number | null {
    const [own, other] = [verdictsOf(first), verdictsOf(second)];
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

  /** Rollouts whose verdicts are in the figures, and those that do not line up. */
  get rollouts(): { readonly compared: number; readonly unmatched: number } {
    return { compared: this.#compared, unmatched: this.#unmatched };
  }

  /** Of each question that was asked at all. */
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

/** The verdicts of a rollout in their order; `null` where one could not be had. */
function verdictsOf(facts: Facts): Verdict[] | null {
  switch (facts.family) {
    case 'refiner':
      return facts.has_answer ? joined(scored(facts.rubric, criteriaOf), scored(facts.citation, statementsOf)) : [];
    case 'dr-tulu':
      if (!facts.has_answer) return [];
      return joined(
        scored(facts.rubric, criteriaOf),
        scored(facts.citation, ({ statements }) =>
          statements.map(
            (one): Verdict =>
              one.cited
                ? ['support', SUPPORT_LEVELS.indexOf(one.support)]
                : ['needs_citation', Number(one.needs_citation)],
          ),
        ),
      );
    case 'long-trace':
      return scored(facts.outcome, (outcome): Verdict[] => [['outcome', outcome >= 0.5 ? 1 : 0]]);
    case 'tool-call':
      // Tests of a program are run, not judged.
      return facts.outcome.kind === 'code'
        ? []
        : scored(facts.outcome.equivalent, (equivalent): Verdict[] => [['equivalence', Number(equivalent)]]);
  }
}

function scored<T>(part: Observed<T>, verdicts: (observed: T) => Verdict[]): Verdict[] | null {
  return part.status === 'scored' ? verdicts(part.observed) : null;
}

function joined(one: Verdict[] | null, other: Verdict[] | null): Verdict[] | null {
  return one === null || other === null ? null : [...one, ...other];
}

function criteriaOf(criteria: readonly { readonly score: CriterionScore }[]): Verdict[] {
  return criteria.map(({ score }): Verdict => ['criteria', score]);
}

function statementsOf(statements: readonly StatementFact[]): Verdict[] {
  return statements.flatMap((one): Verdict[] => {
    if (!one.cited) return [['needs_citation', Number(one.needs_citation)]];
    const support: Verdict = ['support', SUPPORT_LEVELS.indexOf(one.support)];
    return [support, ...one.relevant.map((relevant): Verdict => ['relevance', Number(relevant)])];
  });
}
