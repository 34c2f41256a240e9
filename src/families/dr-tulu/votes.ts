/** Combines what several judges observed about a dr-tulu rollout. Imports no schema, like the composer. */
import {
  countedScore,
  countedSupport,
  type QuoteRule,
  sharedEvidence,
  sharedQuote,
} from '../../family/criterion-evidence.ts';
import { type Ballot, inStep, type Known, mapKnown, type VoteRule, votedPart } from '../../family/votes.ts';
import type { DrTuluFacts, DrTuluStatementFact } from './facts.ts';
import type { DrTuluRecipe } from './recipe.ts';

const CRITERION = { least: 0, most: 2 };
const SHARE = { least: 0, most: 1 };

/** A criterion of negative weight that is met is a fault, and so is a part that lacks a citation. */
export function combineDrTulu(members: Known<DrTuluFacts>, rule: VoteRule, recipe: DrTuluRecipe | null): DrTuluFacts {
  const [first] = members;
  return {
    ...first,
    rubric: votedPart(
      members.map(({ rubric }) => rubric),
      rule,
      (known, ballot) =>
        inStep(known).map((facts) => {
          const [{ weight }] = facts;
          const scores = facts.map((one) => countedScore(one, recipe));
          return {
            weight,
            ...sharedEvidence(facts),
            score: ballot.level(scores, { ...CRITERION, isFault: weight < 0 }),
          };
        }),
    ),
    citation: votedPart(
      members.map(({ citation }) => citation),
      rule,
      (known, ballot) => ({
        statements: inStep(mapKnown(known, ({ statements }) => statements)).map((facts) =>
          votedStatement(facts, ballot, recipe),
        ),
        valid_id_ratio: known[0].valid_id_ratio,
      }),
    ),
  };
}

function votedStatement(
  facts: Known<DrTuluStatementFact>,
  ballot: Ballot,
  rule: QuoteRule | null,
): DrTuluStatementFact {
  const [first] = facts;
  if (!first.cited) {
    const needs = facts.flatMap((one) => (one.cited ? [] : [one.needs_citation]));
    return { cited: false, needs_citation: ballot.yesNo(needs, { isFault: true }) };
  }
  const cited = facts.flatMap((one) => (one.cited ? [one] : []));
  return {
    cited: true,
    support: ballot.level(
      cited.map((one) => countedSupport(one, rule)),
      SHARE,
    ),
    relevance: ballot.level(
      cited.map(({ relevance }) => relevance),
      SHARE,
    ),
    ...sharedQuote(cited),
  };
}
