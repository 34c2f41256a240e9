/**
 * Whether verdicts answer a request exactly: every criterion, claim, cited source, statement and test once, in order.
 * Anything else is refused as a whole; a verdict is never guessed at, moved or left out.
 */
import type {
  CitationsRequest,
  CitationVerdicts,
  JudgmentRequest,
  RubricRequest,
  RubricVerdicts,
  Verdicts,
} from './types.ts';

/** True if the verdicts answer the request exactly. */
export function answersRequest(request: JudgmentRequest, verdicts: Verdicts): boolean {
  switch (request.kind) {
    case 'rubric':
      return verdicts.kind === 'rubric' && answersRubric(request, verdicts);
    case 'citations':
      return verdicts.kind === 'citations' && answersCitations(request, verdicts);
    case 'execution':
      return verdicts.kind === 'execution' && verdicts.tests.length === request.tests.length;
    case 'outcome':
    case 'equivalence':
      return verdicts.kind === request.kind;
  }
}

function answersRubric(request: RubricRequest, verdicts: RubricVerdicts): boolean {
  return (
    verdicts.criteria.length === request.criteria.length &&
    request.criteria.every(({ key }, position) => verdicts.criteria[position]?.key === key)
  );
}

function answersCitations(request: CitationsRequest, verdicts: CitationVerdicts): boolean {
  return (
    verdicts.claims.length === request.claims.length &&
    request.claims.every((asked, position) => {
      const verdict = verdicts.claims[position];
      return verdict?.claim === asked.claim && verdict.relevant.length === asked.sources.length;
    }) &&
    verdicts.statements.length === request.statements.length &&
    request.statements.every(({ statement }, position) => verdicts.statements[position]?.statement === statement)
  );
}
