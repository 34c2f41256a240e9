/** The marks of an answer: which words are flagged. */
import { expect, test } from 'vitest';
import { answerSegments } from '../../../dashboard/src/playground/answer-segments.ts';
import { claimStatuses } from '../../../dashboard/src/playground/claim-status.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import { describeResponse } from '../../../src/citations/verify.ts';

test('words that the judge finds in no cited source are marked, inside their claim', () => {
  const response = '<answer><snippet id=S1>The bridge is long and painted green.</snippet></answer>';
  const sources = sourcesFromList([{ id: 'S1', text: 'The bridge is long.' }]);
  const verification = describeResponse(response, parseResponse(response, sources), sources, {
    mode: 'answer_only',
    evidence: 'none',
  });
  const start = response.indexOf('painted green');
  const unsupported = { start, end: start + 'painted green'.length };
  const judged = verification.claims.map(({ index, span, ids, duplicate_of }) => ({
    ...{
      index,
      span,
      ids: [...ids],
      duplicate_of,
      findings: [],
      support: 0.5,
      relevant: [true],
      unsupported,
    },
  }));
  const states = claimStatuses(verification.claims, judged);
  expect(states[0]).toMatchObject({ support: 'partial', lacking: unsupported });
  expect(states[0]?.text).toContain('not in the source: “painted green”');

  const flagged = (lacking: Parameters<typeof answerSegments>[2]) =>
    answerSegments(response, verification, lacking).flatMap(({ claim, pieces }) =>
      pieces.flatMap(({ start: from, end, flag }) => (flag === null ? [] : [[claim, response.slice(from, end), flag]])),
    );
  expect(flagged([unsupported])).toEqual([[0, 'painted green', 'words_not_in_source']]);
  expect(flagged([])).toEqual([]);
});

test('the tags around an answer are markup, also where the grammar of its citations reads them as text', () => {
  const response = '\n<answer>The bridge is long [1]. It is green.</answer>\n';
  const sources = sourcesFromList([{ id: '1', text: 'The bridge is long.' }]);
  const parsed = parseResponse(response, sources, { grammar: 'bracket' });
  const verification = describeResponse(response, parsed, sources, { mode: 'full', evidence: 'none' });
  const shown = answerSegments(response, verification, []).flatMap(({ pieces }) =>
    pieces.filter(({ kind }) => kind !== 'markup' && kind !== 'outside'),
  );
  expect(shown.map(({ start, end }) => response.slice(start, end)).join('')).toBe(
    '\nThe bridge is long. It is green.\n',
  );
});
