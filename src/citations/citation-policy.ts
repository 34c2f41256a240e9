/** Whether an answer may cite: `required` and `forbidden` report what `allowed` does not mind. */
import type { Span } from '../text/span.ts';
import type { Claim, ParsedResponse } from './types.ts';

/** Every citation policy; `allowed` is the default. */
export const CITATION_POLICIES = ['required', 'allowed', 'forbidden'] as const;

/** `required`: an answer that cites nothing is a finding. `forbidden`: each citation of the answer is one. */
export type CitationPolicy = (typeof CITATION_POLICIES)[number];

/** What the policy finds in the judged answer. */
type PolicyFinding =
  | { readonly reason: 'citation_missing'; readonly span: Span }
  | { readonly reason: 'citation_forbidden'; readonly span: Span; readonly claim: Claim };

/**
 * The findings of the policy. A citation counts as one even if no source has its id, which is a finding of its own;
 * markup without an id cites nothing. A response without an answer has none of these findings.
 */
export function policyFindings(
  { answer, claims }: Pick<ParsedResponse, 'answer' | 'claims'>,
  policy: CitationPolicy,
): readonly PolicyFinding[] {
  if (answer === null) return [];
  switch (policy) {
    case 'required':
      return claims.length === 0 ? [{ reason: 'citation_missing', span: answer }] : [];
    case 'allowed':
      return [];
    case 'forbidden':
      return claims.map((claim) => ({ reason: 'citation_forbidden', span: claim.element, claim }));
  }
}
