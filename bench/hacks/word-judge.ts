/**
 * The lexical judge, which also answers the free-text questions of CaRR's published server: it compares words for them
 * as it does for the same questions without free text.
 */
import { lexicalJudge } from '../../lib/index.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';

/** Compares words; for the matrix only. */
export const wordJudge: typeof lexicalJudge = {
  ...lexicalJudge,
  async judge(request, ...rest) {
    switch (request.kind) {
      case 'outcome_text': {
        const verdicts = judgeLexically({ ...request, kind: 'outcome' });
        if (verdicts.kind !== 'outcome') throw new Error(`wordJudge: ${verdicts.kind} verdicts for an outcome`);
        return { ok: true, verdicts: { kind: 'outcome_text', correct: verdicts.correct }, usage: null };
      }
      case 'entities_text': {
        const verdicts = judgeLexically({ ...request, kind: 'entities' });
        if (verdicts.kind !== 'entities') throw new Error(`wordJudge: ${verdicts.kind} verdicts for entities`);
        const entities = verdicts.entities.map(({ label, span }) => ({
          label,
          name: span === null ? null : request.answer.slice(span.start, span.end),
        }));
        return { ok: true, verdicts: { kind: 'entities_text', entities }, usage: null };
      }
      case 'statements_text': {
        const verdicts = judgeLexically({ ...request, kind: 'statements' });
        if (verdicts.kind !== 'statements') throw new Error(`wordJudge: ${verdicts.kind} verdicts for statements`);
        return { ok: true, verdicts: { kind: 'statements_text', supported: verdicts.supported }, usage: null };
      }
      default:
        return lexicalJudge.judge(request, ...rest);
    }
  },
};
