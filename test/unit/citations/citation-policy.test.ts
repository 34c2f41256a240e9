import { describe, expect, it } from 'vitest';
import { honestResponse } from '../../../bench/hacks/hack-class.ts';
import { HONEST_ROWS, withAddresses } from '../../../bench/hacks/honest-answers.ts';
import { verifyCitations } from '../../../lib/verify.ts';
import { CITATION_POLICIES } from '../../../src/citations/citation-policy.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';

const SOURCES = [{ id: 'S1', text: 'The bridge opened in 1937.' }];

/** The findings of each policy: reason and the place in the response. */
function found(response: string): readonly (readonly string[])[] {
  return CITATION_POLICIES.map((citations) =>
    verifyCitations({ response, sources: SOURCES, citations }, { evidence: 'none' })
      .findings.filter(({ reason }) => reason === 'citation_missing' || reason === 'citation_forbidden')
      .map(({ reason, span, claim }) => `${reason} ${response.slice(span.start, span.end)} ${claim ?? ''}`.trim()),
  );
}

describe('an answer whose citations are required, allowed or forbidden', () => {
  it('that cites nothing', () => {
    expect(found('<answer>It opened in 1937.</answer>')).toEqual([['citation_missing It opened in 1937.'], [], []]);
  });

  it('that cites, known ids or not, repeated or not', () => {
    const [known, unknown] = ['<snippet id=S1>It opened.</snippet>', '<snippet id=S9>It is red.</snippet>'];
    const forbidden = [known, unknown, known].map((claim, index) => `citation_forbidden ${claim} ${index}`);
    expect(found(`<answer>${known} ${unknown} ${known}</answer>`)).toEqual([[], [], forbidden]);
  });

  it('whose markup has no id, so that it cites nothing', () => {
    const inner = '<snippet>It opened in 1937.</snippet>';
    expect(found(`<answer>${inner}</answer>`)).toEqual([[`citation_missing ${inner}`], [], []]);
  });

  it('that is missing: only no_answer', () => {
    expect(found('It opened in 1937.')).toEqual([[], [], []]);
  });

  it.each(GRAMMAR_NAMES)('in the grammar %s, honest answers have no finding if citations are required', (grammar) => {
    for (const plain of HONEST_ROWS) {
      const row = grammar === 'link' ? withAddresses(plain) : plain;
      const rollout = { response: honestResponse(row, CLAIM_WRITERS[grammar]), sources: row.sources, grammar } as const;
      const counts = CITATION_POLICIES.map(
        (citations) => verifyCitations({ ...rollout, citations }, { evidence: 'none' }).finding_counts,
      );
      const claims = verifyCitations(rollout, { evidence: 'none' }).ratios.claims;
      expect(counts).toEqual([{}, {}, { citation_forbidden: claims }]);
    }
  });
});
