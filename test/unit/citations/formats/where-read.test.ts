/** Where cited answers are read besides the routes: the playground, the library, the command line, other families. */
import { expect, it } from 'vitest';
import { verifyRow } from '../../../../cli/commands/verify/render.ts';
import { draftOf } from '../../../../dashboard/src/playground/draft.ts';
import { readRollout } from '../../../../lib/rollout.ts';
import { citedAnswerProblems } from '../../../../src/family/requirements.ts';
import { verifyRequested, verifyRequestSchema } from '../../../../src/wire/verify.ts';

const location = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'in 1937' };
const cited_answer = [{ type: 'text', text: 'It opened in 1937.', citations: [location] }];
const response = '<answer><snippet id="https://a.example">It opened in 1937.</snippet></answer>';
const sources = [{ id: 'https://a.example', text: 'Nothing of it.' }];

it('can be pasted into the playground, alone or in a row', () => {
  const carried = [{ id: 'https://a.example', text: 'in 1937', title: 'A', url: 'https://a.example' }];
  expect(draftOf(cited_answer)).toMatchObject({ response, sources: carried });
  expect(draftOf({ cited_answer, sources, question: 'q' })).toMatchObject({ response, sources, question: 'q' });
  expect(draftOf({ a: 1 })).toBeNull();
});

it('is a rollout of the library', () => {
  expect(readRollout({ cited_answer, sources })).toMatchObject({ ok: true, value: { response, sources } });
  expect(readRollout({ cited_answer: { a: 1 } })).toMatchObject({ ok: false, error: [{ path: ['cited_answer'] }] });
});

it('shows a wrong quotation first in the table of the command line', () => {
  const result = verifyRequested(verifyRequestSchema.parse({ cited_answer, sources }), 'lexical');
  if (!result.ok) throw new Error('refused');
  const { cells } = verifyRow(1, { id: 'a', note: '' }, result.value, 'full');
  expect(cells.map(({ text }) => text).join(' ')).toMatch(/ 1 wrong quotation/);
});

it('is refused by families that read other citations', () => {
  expect(citedAnswerProblems({ response, cited_answer }, 'x')).toEqual([
    {
      path: ['cited_answer'],
      message: 'recipes of the x family do not read it: send the text as response, or use another recipe',
    },
  ]);
  const named = { response, cited_answer, answer_format: 'anthropic' } as const;
  expect(citedAnswerProblems(named, 'x')).toMatchObject([{ path: ['answer_format'] }]);
  expect(citedAnswerProblems({ response }, 'x')).toEqual([]);
});
