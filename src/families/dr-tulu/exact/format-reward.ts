/** The format reward of rlresearch/dr-tulu 6188f34c (`format_utils.py`). */
import type { CallForm } from '../terms/transcript.ts';
import { hasCitation } from './claims.ts';
import { extractQueries } from './queries.ts';
import { type AnswerScope, extractTranscript } from './transcript.ts';

const ANSWER_SHARE = 0.5;
const CITATION_SHARE = 0.3;
const QUERY_SHARE = 0.2;

/**
 * 0.5 for a closed answer + 0.3 for a citation + 0.2 for a query, [0, 1], over the whole response.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - with the whole response as the answer it is 1, whatever the text;
 * - a citation whose claim contains `<` earns nothing; one whose claim or quotes are unreadable later earns its share.
 */
export function formatReward(response: string, form: CallForm, scope: AnswerScope = 'block'): number {
  if (scope === 'whole_response') return 1;
  return (
    (extractTranscript(response).answer === null ? 0 : ANSWER_SHARE) +
    (hasCitation(response) ? CITATION_SHARE : 0) +
    (extractQueries(response, form).length > 0 ? QUERY_SHARE : 0)
  );
}
