/**
 * The interface of a recipe family, which turns one kind of rollout into a reward. A family is a value. Scoring,
 * replay, the ledger, the wire and the dashboard take it from the lists (src/families/list.ts) and never branch on its
 * name.
 *
 *     rollout --plan--> stages of judgments --> facts --compose(recipe, group)--> score --reply--> reply
 *
 * Everything here is pure and synchronous. The caller obtains the judgments, so the same family runs in a Worker, in
 * Node, in a browser, and in replay. The interface has three layers, so that a bundle contains only what it runs:
 * `Composer` (replay), `ScoringFamily` (scoring) and `Family` (the service).
 */

import type * as z from 'zod';
import type { ReplyOffsets } from '../citations/offset-units.ts';
import type { FindingCounts, SourceSet } from '../citations/types.ts';
import type { InputProblem } from '../input-problem.ts';
import type { MemberOfPanel } from '../judgments/panel.ts';
import type { Asking } from '../judgments/protocol/asking.ts';
import type { AnswerText } from '../lexical/index.ts';
import type { Result } from '../result.ts';
import type { AnswerForm } from './answer-form.ts';
import type { Contributions, WithReward } from './contributions.ts';
import type { CreditBy, CreditedClaims } from './credit.ts';
import type { FactCounts } from './fact-counts.ts';
import type { BaseFacts, Observed } from './facts.ts';
import type { Monitor } from './monitor.ts';
import type { Gap } from './requirements.ts';
import type { Rollout, SignedCriterionInput } from './rollout.ts';
import type { BaseScore } from './score.ts';
import type { Stage } from './stages.ts';
import type { NextLevel, VerdictLevel } from './verdict-levels.ts';
import type { Known, VoteFields, VoteRule } from './votes.ts';

/**
 * The kind of a recipe field. `measure` fields decide what is asked of a judge. `compose` fields decide what the
 * answers are worth; a replay can change them freely.
 */
export type FieldKind = 'measure' | 'compose';

/** The kind of every field that a family's own schema declares; the wrappers of its composer add those of their fields. */
export type FieldKinds<R extends BaseRecipe> = {
  readonly [Field in Exclude<
    keyof R,
    'family' | 'judge_options' | 'length' | 'turns' | 'vote' | 'voters'
  >]-?: FieldKind;
};

/** Smallest and largest reward; `null` = unbounded. */
export type RewardRange = readonly [least: number | null, most: number | null];

/** The fields that the recipes of all families share. */
export type BaseRecipe = {
  readonly family: string;
  /** How the judge is asked. Absent: in the usual way, or the family asks no model. */
  readonly judge_options?: Asking;
} & VoteFields;

/** The types of one family, as the type argument of `Family`. */
export type FamilyTypes = {
  /** All parameters, none optional, because the recipe's digest covers every one. */
  readonly recipe: BaseRecipe;
  readonly facts: BaseFacts;
  readonly score: BaseScore;
  /** The score, and the family's report on the rollout: criteria, claims, observations. */
  readonly reply: BaseScore;
};

/** The numbers that an unknown vote can be; both ends are included. */
export type VoteRange = { readonly least: number; readonly most: number };

/** A member's vote for its group's maximum: known, unknown within a range, or `null` if the member takes no part. */
export type GroupVote = number | VoteRange | null;

/** The largest vote of a group; `null` for a rollout that is scored alone. */
export type GroupVotes = {
  /** The largest known vote; `null` = there is none. */
  readonly max: number | null;
  /**
   * Present if unknown votes can raise the maximum: the range of those votes, and the indexes of the members that have
   * them.
   */
  readonly unknown?: VoteRange & { readonly members: readonly number[] };
} | null;

/** A rollout whose judgments have been obtained. */
export type Measured<T extends FamilyTypes> = {
  readonly facts: T['facts'];
  /**
   * Returns the reply for a score. Adds the parts that need the rollout's text, which facts do not hold.
   *
   * @param facts what the reply reports of the rollout; default: the measured facts.
   */
  reply(score: T['score'], facts?: T['facts']): T['reply'];
  /** Reads the answer, for the counts of a run; `null` = the rollout has none. Absent: the family does not read it. */
  readonly answer?: (() => AnswerText) | null;
  /** The claims, for credit. Absent: no verdict of the family belongs to one claim. */
  readonly claims?: CreditedClaims<T['score'], T['facts']>;
};

/** How a rollout is planned. */
export type PlanOptions = {
  /** Measures everything that the family can measure, so that a replay can raise a weight from 0. Default false. */
  readonly measureAll?: boolean;
  /** Add the result of the family's other compat mode; refused where `canExplain` is false. Default false. */
  readonly explain?: boolean;
  /** Divide the reward among the claims of the answer, or among the turns of the messages. Absent: do not. */
  readonly credit?: CreditBy;
  /** The parsed sources of the rollout, which the members of a group share. */
  readonly sources?: SourceSet;
  /** The number of samples that are scored together, which share the limits of an answer. Default 1. */
  readonly samples?: number;
  /** Names the visit of the prompt, the same for all samples of its group. Absent: nobody tells visits apart. */
  readonly visit?: string;
  /** Several judges, each of which judges the whole rollout. Absent = one judge. */
  readonly panel?: Panel;
};

/** The members of a panel, at least one; their names differ. */
export type Panel = Known<MemberOfPanel>;

/**
 * The part of a family that replay runs: from facts to a reward. It needs no schema, text or judge.
 *
 * Here and in the two interfaces below, members that take arguments are methods: method parameters are bivariant, so a
 * `Family<Refiner>` is a `Family` without a cast. Callers check that facts and recipe are of one family.
 */
export interface Composer<T extends FamilyTypes = FamilyTypes> {
  readonly name: T['recipe']['family'];

  readonly recipe: {
    /** The kind of each field. */
    readonly fields: Readonly<Record<string, FieldKind>>;
    readonly named: Readonly<Record<string, T['recipe']>>;
    range(recipe: T['recipe']): RewardRange;
  };

  /**
   * Pure; only + - * /, so every runtime gives the same bits. The reward rises or falls with the group's maximum, never
   * both: with an unknown maximum it is scored if both ends of the range give the same reward, else unscored for
   * `group_vote_unknown`. @throws RangeError on a non-finite reward.
   */
  compose(facts: T['facts'], recipe: T['recipe'], group: GroupVotes): T['score'];
  /**
   * The contributions of a scored reward, with the same names for every score of the recipe. Absent: a reward of the
   * family is no sum, and is one contribution.
   */
  contributions?(score: WithReward<T['score']>, recipe: T['recipe']): Contributions;
  /**
   * The member's vote for the group's maximum; `null` = the recipe does not compare it within the group. A member that
   * is unscored votes like any other: its failure must not change the rewards of the other members.
   *
   * @param facts `null` if nothing is known of the member; its vote is then the range of all votes.
   */
  groupVote(facts: T['facts'] | null, recipe: T['recipe']): GroupVote;
  /**
   * Returns what `after` reads and facts recorded under `before` may lack. `changed`: the measure fields that differ.
   */
  gaps(before: T['recipe'], after: T['recipe'], changed: readonly string[]): readonly Gap<T['facts']>[];
  /**
   * Combines the facts of several judges: asks for a vote on every verdict, and takes all else, which no judge decides,
   * from the first member. Absent: recipes of the family take one judge.
   *
   * @param recipe `null`: combine what was judged, whatever a recipe makes of it.
   */
  combine?(members: Known<T['facts']>, rule: VoteRule, recipe: T['recipe'] | null): T['facts'];
  /**
   * The facts with findings that a run counted beside them, for a recipe that prices findings. Absent: no recipe of the
   * family does.
   */
  withFindings?(facts: T['facts'], counts: FindingCounts): T['facts'];
  /** What the alerts of a run watch. Absent: only rules that read rewards alone. */
  readonly monitor?: Monitor<T['recipe'], T['facts']>;
  /** Whether the answer is right, from 0 to 1, as a judge found; `null` = not judged. Absent: the family does not ask. */
  judgedOutcome?(facts: T['facts']): number | null;
  /**
   * Values of compose fields by which a recipe that is gamed may pay less for it and as much for a good answer. The
   * alerts and the probe replay each field alone. Absent: the family knows none.
   */
  stricter?(recipe: T['recipe']): Readonly<Record<string, string | number | boolean>>;
}

/** The parts of a family that scoring needs: a composer that also reads recipes and plans judgments. */
export interface ScoringFamily<T extends FamilyTypes = FamilyTypes> extends Composer<T> {
  readonly recipe: Composer<T>['recipe'] & {
    /** The schema of the family's recipes: refuses unknown fields and has no defaults. */
    readonly schema: z.ZodObject & z.ZodType<T['recipe']>;
  };

  /**
   * Reads the rollout and decides what to ask the judge. Problems are input errors (HTTP 422). Linear in the rollout's
   * size.
   */
  plan(
    rollout: Rollout,
    recipe: T['recipe'],
    options: PlanOptions,
  ): Result<Stage<Measured<T>>, readonly InputProblem[]>;
}

/** How a family's rows give criteria and its facts hold their scores. Weights are signed, as in dr-tulu's rows. */
export interface RubricPort<F extends BaseFacts = BaseFacts> {
  /** The row's own criteria, in order. */
  criteriaOf(rollout: Rollout): readonly SignedCriterionInput[];
  /** The rollout with other criteria. */
  withCriteria(rollout: Rollout, criteria: readonly SignedCriterionInput[]): Rollout;
  /** The index of each given criterion among those of the facts. */
  positions(criteria: readonly SignedCriterionInput[]): readonly number[];
  /** The score of each criterion of the facts, in [0, 1]; `null` = no judge gave one. */
  scores(facts: F): readonly number[] | null;
  /**
   * The facts as if the row had only the criteria at these positions, with these weights, which are above 0. Criteria of
   * the recipe stay.
   */
  only(facts: F, weights: ReadonlyMap<number, number>): F;
}

/** A family of the service: what scoring reads, and what the ledger and the wire read. */
export interface Family<T extends FamilyTypes = FamilyTypes> extends ScoringFamily<T> {
  readonly facts: {
    /** Reads facts from storage and run files. Facts of another form are refused. */
    readonly schema: z.ZodObject & z.ZodType<T['facts']>;
    /** Returns the judged values; the ledger keeps the recording with fewer missing ones. */
    judged(facts: T['facts']): readonly Observed<unknown>[];
    /** Returns the verdicts in order, to measure the agreement of two judges; `null` if one is missing. */
    verdicts(facts: T['facts']): readonly VerdictLevel[] | null;
    /**
     * The facts with other verdicts: `next` gets each verdict that labelled rows measure, in order. Verdicts that it keeps
     * stay as they are. Absent: labelled rows measure none of the family's verdicts.
     */
    revised?(facts: T['facts'], next: NextLevel): T['facts'];
    /** Counts claims, citations and passed criteria for the figures of a run. Absent: the family has none of them. */
    counts?(facts: T['facts']): FactCounts;
  };

  readonly reply: {
    readonly schema: z.ZodObject & z.ZodType<T['reply']>;
    /** Components that are not measured at weight 0, and that trainers' logs therefore leave out. */
    readonly skippedAtZero: readonly string[];
    /** Removes the caller's text from the reply; a run keeps the rest unless `store_text` is set. */
    withoutText(reply: T['reply']): Readonly<Record<string, unknown>>;
    /** Converts every offset of the reply, which is in UTF-16 code units. Absent: the reply has no offsets. */
    withOffsets?(reply: T['reply'], offsets: ReplyOffsets): T['reply'];
    /** Maps the base to a share that trainers may filter on; the caller clamps it to [0, 1]. */
    unitScore(base: number, range: RewardRange): number;
  };

  /** How rows give criteria, for rubrics that evolve. Absent: rows of the family have none. */
  readonly rubric?: RubricPort<T['facts']>;

  /** How an answer is written. Absent: no answer over sources can be written for the family. */
  readonly answerForm?: AnswerForm<T['recipe']>;

  /** Whether each row has one right answer, so that a trainer's label of plain text is taken as that answer. */
  readonly hasReference: boolean;
  /** Whether plans accept `explain`. */
  readonly canExplain: boolean;
}
