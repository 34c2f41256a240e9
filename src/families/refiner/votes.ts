/** Combines what several judges observed about a refiner rollout. Imports no schema, like the composer. */
import {
  countedScore,
  countedSupport,
  type EvidenceRule,
  type QuoteRule,
  sharedEvidence,
  sharedQuote,
} from '../../family/criterion-evidence.ts';
import { type Ballot, inStep, type Known, mapKnown, type VoteRule, votedPart } from '../../family/votes.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

const CRITERION = { least: 0, most: 2 };
const SUPPORT = { least: 0, most: 1 };

type CitedFact = Extract<StatementFact, { cited: true }>;

/**
 * A negative criterion that is met is a fault, and so is a statement that lacks a citation. Where the recipe zeroes the
 * support behind an unverified quote, or scores without evidence, the vote is on the numbers after that.
 */
export function combineRefiner(
  members: Known<RefinerFacts>,
  rule: VoteRule,
  recipe: RefinerRecipe | null,
): RefinerFacts {
  const [first] = members;
  return {
    ...first,
    rubric: votedPart(
      members.map(({ rubric }) => rubric),
      rule,
      (known, ballot) => inStep(known).map((facts) => votedCriterion(facts, ballot, recipe)),
    ),
    citation: votedPart(
      members.map(({ citation }) => citation),
      rule,
      (known, ballot) => inStep(known).map((facts) => votedStatement(facts, ballot, recipe)),
    ),
  };
}

function votedCriterion(facts: Known<CriterionFact>, ballot: Ballot, rule: EvidenceRule | null): CriterionFact {
  const { evidence: _evidence, ...first } = facts[0];
  const scores = facts.map((one) => countedScore(one, rule));
  return {
    ...first,
    ...sharedEvidence(facts),
    score: ballot.level(scores, { ...CRITERION, isFault: first.polarity === 'negative' }),
  };
}

function votedStatement(
  facts: Known<StatementFact>,
  ballot: Ballot,
  rule: (QuoteRule & Pick<RefinerRecipe, 'contradiction'>) | null,
): StatementFact {
  const [first, ...others] = facts;
  if (!first.cited) {
    const needs = [first, ...others].flatMap((one) => (one.cited ? [] : [one.needs_citation]));
    return { cited: false, needs_citation: ballot.yesNo(needs, { isFault: true }) };
  }
  const cited: Known<CitedFact> = [first, ...others.flatMap((one) => (one.cited ? [one] : []))];
  const supports = cited.map((one) => countedSupport(one, rule));
  const support = ballot.level(supports, SUPPORT);
  const relevant = inStep(mapKnown(cited, (one) => one.relevant)).map((votes) => ballot.yesNo(votes));
  const denials = mapKnown(cited, (one) => one.contradicted === true);
  // A missing member leaves open what nothing but a weight depends on.
  const isWeighed = (rule?.contradiction ?? 1) > 1;
  const isMost = 2 * denials.filter((denies) => denies).length > denials.length;
  const isDenied = support === 0 && (isWeighed ? ballot.yesNo(denials, { isFault: true }) : isMost);
  const contradicted = isDenied ? { contradicted: true as const } : {};
  return { cited: true, support, relevant, ...sharedQuote(cited), ...contradicted };
}
