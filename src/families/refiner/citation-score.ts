/** The citation component: recall over statements, precision over citations, one number of both, and its parts. */

import { countedSupport } from '../../family/criterion-evidence.ts';
import type { UnscoredReason } from '../../family/score.ts';
import type { RefinerFacts, StatementFact } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

type CitationComposition =
  | {
      readonly status: 'scored';
      readonly value: number;
      readonly recall: number;
      readonly precision: number;
      /** The statements, by their weights, and the citations that the two means are over. */
      readonly statements: number;
      readonly citations: number;
    }
  | { readonly status: 'not_applicable' }
  | { readonly status: 'unscored'; readonly reason: UnscoredReason };

/**
 * Recall is the mean over statements: the support of a cited one, 0 for an uncited one that needs a citation; other
 * uncited statements are left out (`exclude`) or count as 1 (`credit`, as in LongCite and dr-tulu). Precision is the
 * mean relevance over citations. A contradicted claim counts as `contradiction` claims without support. `answer_f1` is
 * the harmonic mean of the two; `claim_f1` the mean F1 of the same statements. `precision_squared` is recall *
 * precision^2, where an id that a claim repeats is one more citation that is not relevant: of n sources, k guessed ids
 * for a claim that one of them supports earn k / n * 1 / k^2 on average.
 */
export function composeCitation(
  { citation, repeated_ids = 0 }: Pick<RefinerFacts, 'citation' | 'repeated_ids'>,
  recipe: Pick<RefinerRecipe, 'citation_metric' | 'uncited_ok' | 'unverified_quote' | 'contradiction'>,
): CitationComposition {
  if (citation.status === 'unscored') return { status: 'unscored', reason: citation.reason };
  let statements = 0;
  let supportSum = 0;
  let f1Sum = 0;
  let citations = 0;
  let relevantCitations = 0;
  let uncitedInNeed = 0;
  for (const statement of citation.observed) {
    const support = supportOf(statement, recipe);
    if (support === null) continue;
    statements += statement.cited && statement.contradicted === true ? (recipe.contradiction ?? 1) : 1;
    supportSum += support;
    f1Sum += f1Of(statement, support);
    if (statement.cited) {
      citations += statement.relevant.length;
      relevantCitations += relevantIn(statement);
    } else if (statement.needs_citation) uncitedInNeed++;
  }
  if (citations === 0 && uncitedInNeed === 0) return { status: 'not_applicable' };
  const recall = statements === 0 ? 0 : supportSum / statements;
  if (recipe.citation_metric === 'precision_squared') citations += repeated_ids;
  const precision = citations === 0 ? 0 : relevantCitations / citations;
  return { status: 'scored', value: metric(), recall, precision, statements, citations };

  function metric(): number {
    switch (recipe.citation_metric) {
      case 'answer_f1':
        return harmonicMean(recall, precision);
      case 'claim_f1':
        return statements === 0 ? 0 : f1Sum / statements;
      case 'precision_squared':
        return recall * precision * precision;
    }
  }
}

/**
 * The part of the metric's value that each statement earned, in order. A metric that is homogeneous in recall R and
 * precision P is divided by Euler's theorem, with r and p the statement's parts of R and P:
 *
 *     answer_f1:          r * 2P^2 / (R + P)^2 + p * 2R^2 / (R + P)^2      (0 if R + P = 0)
 *     precision_squared:  (r * P^2 + p * 2RP) / 3
 *     claim_f1:           the statement's F1 / number of statements
 */
export function statementParts(
  facts: Pick<RefinerFacts, 'citation' | 'repeated_ids'>,
  recipe: Parameters<typeof composeCitation>[1],
): readonly number[] {
  const { citation } = facts;
  const composed = composeCitation(facts, recipe);
  if (citation.status === 'unscored' || composed.status !== 'scored') return [];
  const { recall, precision, statements, citations } = composed;
  const sum = recall + precision;
  const partOf = (statement: StatementFact, support: number): number => {
    const ofRecall = support / statements;
    const ofPrecision = citations === 0 ? 0 : relevantIn(statement) / citations;
    switch (recipe.citation_metric) {
      case 'answer_f1':
        if (sum === 0) return 0;
        return (2 * (ofRecall * precision * precision + ofPrecision * recall * recall)) / (sum * sum);
      case 'precision_squared':
        return (precision * (ofRecall * precision + 2 * ofPrecision * recall)) / 3;
      case 'claim_f1':
        return f1Of(statement, support) / statements;
    }
  };
  return citation.observed.map((statement) => {
    const support = supportOf(statement, recipe);
    return support === null ? 0 : partOf(statement, support);
  });
}

/** The support with which a statement counts in recall; `null` = it is left out. */
function supportOf(
  statement: StatementFact,
  recipe: Pick<RefinerRecipe, 'uncited_ok' | 'unverified_quote'>,
): number | null {
  if (statement.cited) return countedSupport(statement, recipe);
  if (statement.needs_citation) return 0;
  return recipe.uncited_ok === 'credit' ? 1 : null;
}

function f1Of(statement: StatementFact, support: number): number {
  if (!statement.cited) return support;
  const { length } = statement.relevant;
  return harmonicMean(support, length === 0 ? 0 : relevantIn(statement) / length);
}

function relevantIn(statement: StatementFact): number {
  let count = 0;
  if (statement.cited) for (const isRelevant of statement.relevant) if (isRelevant) count++;
  return count;
}

/** 2ab / (a + b), and 0 where both are 0. */
function harmonicMean(a: number, b: number): number {
  return a + b === 0 ? 0 : (2 * a * b) / (a + b);
}
