/** What a criterion's score and a claim's support count, given what the judge quoted for them. Imports no schema. */
import type { QuoteEvidence } from '../judgments/kinds/rubric/answer-quote.ts';

/** The recipe field that says what a score without a verified quote counts. */
export type EvidenceRule = { readonly unverified_evidence?: 'keep' | 'zero' };

type Judged = { readonly score: number; readonly evidence?: QuoteEvidence };

/** The score, or 0 if the recipe asks for evidence and the judge's quote is missing or not in the answer. */
export function countedScore({ score, evidence }: Judged, rule: EvidenceRule | null): number {
  return rule?.unverified_evidence === 'zero' && evidence !== undefined && evidence !== 'verified' ? 0 : score;
}

/** The evidence that several judges share; nothing if they differ, because a vote has no quote. */
export function sharedEvidence(judged: readonly Judged[]): { readonly evidence?: QuoteEvidence } {
  const evidence = judged[0]?.evidence;
  return evidence !== undefined && judged.every((one) => one.evidence === evidence) ? { evidence } : {};
}

/** The recipe field that says what support behind an unverified quote counts. */
export type QuoteRule = { readonly unverified_quote?: 'keep' | 'zero' };

type Quoted = { readonly support: number; readonly quote?: 'verified' | 'unverified' };

/** The support, or 0 if the recipe zeroes it because no cited source contains the judge's quote. */
export function countedSupport({ support, quote }: Quoted, rule: QuoteRule | null): number {
  return rule?.unverified_quote === 'zero' && quote === 'unverified' ? 0 : support;
}

/** The check of a quote that several judges share; nothing if they differ. */
export function sharedQuote(quoted: readonly Quoted[]): Pick<Quoted, 'quote'> {
  const quote = quoted[0]?.quote;
  return quote !== undefined && quoted.every((one) => one.quote === quote) ? { quote } : {};
}
