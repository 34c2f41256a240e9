/** The citation component: recall over statements, precision over citations, and one number of both. */

import { countedSupport } from '../../family/criterion-evidence.ts';
import type { UnscoredReason } from '../../family/score.ts';
import type { RefinerFacts } from './facts.ts';
import type { RefinerRecipe } from './recipe.ts';

type CitationComposition =
  | { readonly status: 'scored'; readonly value: number; readonly recall: number; readonly precision: number }
  | { readonly status: 'not_applicable' }
  | { readonly status: 'unscored'; readonly reason: UnscoredReason };

/**
 * Recall is the mean over statements: the support of a cited one, 0 for an uncited one that needs a citation; other
 * uncited statements are left out (`exclude`) or count as 1 (`credit`, as in LongCite and dr-tulu). Precision is the
 * mean relevance over citations. `answer_f1` is the harmonic mean of the two; `claim_f1` the mean F1 of the same
 * statements. `precision_squared` is recall * precision^2, where an id that a claim repeats is one more citation that is
 * not relevant: of n sources, k guessed ids for a claim that one of them supports earn k / n * 1 / k^2 on average.
 */
export function composeCitation(
  { citation, repeated_ids = 0 }: Pick<RefinerFacts, 'citation' | 'repeated_ids'>,
  recipe: Pick<RefinerRecipe, 'citation_metric' | 'uncited_ok' | 'unverified_quote'>,
): CitationComposition {
  if (citation.status === 'unscored') return { status: 'unscored', reason: citation.reason };
  let statements = 0;
  let supportSum = 0;
  let f1Sum = 0;
  let citations = 0;
  let relevantCitations = 0;
  let uncitedInNeed = 0;
  for (const statement of citation.observed) {
    if (statement.cited) {
      const support = countedSupport(statement, recipe);
      let relevant = 0;
      for (const isRelevant of statement.relevant) if (isRelevant) relevant++;
      statements++;
      supportSum += support;
      f1Sum += harmonicMean(support, statement.relevant.length === 0 ? 0 : relevant / statement.relevant.length);
      citations += statement.relevant.length;
      relevantCitations += relevant;
    } else if (statement.needs_citation) {
      statements++;
      uncitedInNeed++;
    } else if (recipe.uncited_ok === 'credit') {
      statements++;
      supportSum += 1;
      f1Sum += 1;
    }
  }
  if (citations === 0 && uncitedInNeed === 0) return { status: 'not_applicable' };
  const recall = statements === 0 ? 0 : supportSum / statements;
  if (recipe.citation_metric === 'precision_squared') citations += repeated_ids;
  const precision = citations === 0 ? 0 : relevantCitations / citations;
  return { status: 'scored', value: metric(), recall, precision };

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

/** 2ab / (a + b), and 0 where both are 0. */
function harmonicMean(a: number, b: number): number {
  return a + b === 0 ? 0 : (2 * a * b) / (a + b);
}
