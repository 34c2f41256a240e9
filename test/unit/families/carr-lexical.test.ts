/** The carr examples under the lexical judge: how names are found by words, and why each criterion counts or not. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { rolloutOf } from '../../../src/family/rollout-schema.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { namesOfLabels } from '../../../src/lexical/index.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';
import { replyOf, scoreAlone } from '../scoring/scoring-line.ts';

const ROWS = readFileSync(resolve(import.meta.dirname, '../../../examples/carr.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const { id, note: _note, ...fields }: Readonly<Record<string, unknown>> = JSON.parse(line);
    return [String(id), rolloutOf(scoreRequestSchema.parse(fields))] as const;
  });

const NAMED = { E0: 'Orrin Bridge', E1: 'Maud Tessel', E2: 'Korvald Observatory' };
const EXPECTED: Readonly<Record<string, readonly [reward: number, names: object, failed: readonly (string | null)[]]>> =
  {
    'carr-complete': [1, NAMED, [null, null, null, null, null]],
    'carr-answer-only': [
      0.76,
      { ...NAMED, E1: null, E2: null },
      [null, 'not_named', 'not_named', 'not_named', 'not_named'],
    ],
    'carr-uncited': [0.7, NAMED, ['not_cited', 'not_cited', 'not_cited', 'not_cited', 'not_cited']],
    'carr-missing-page': [0.82, NAMED, [null, null, 'not_supported', 'not_supported', 'not_connected']],
    'carr-unseen-page': [0.82, NAMED, [null, null, 'not_supported', 'not_supported', 'not_connected']],
    'carr-wrong-answer': [
      0,
      { E0: 'Lisk Bridge', E1: 'Anders Holm', E2: null },
      [null, null, 'not_supported', 'not_named', 'not_named'],
    ],
  };

it.each(ROWS)('%s', async (id, rollout) => {
  const reply = replyOf('carr', await scoreAlone(rollout, 'carr', { judge: judgeLexically }));
  const [reward, names, failed] = EXPECTED[id] ?? [];
  expect(reply.reward).toBeCloseTo(reward ?? Number.NaN, 12);
  expect(reply.names).toEqual(names);
  expect(reply.entity_rubrics.map((one) => one.failed)).toEqual(failed);
});

it('covers every example', () => {
  expect(ROWS.map(([id]) => id)).toEqual(Object.keys(EXPECTED));
});

const ask = (answer: string, question = ''): (string | null)[] =>
  namesOfLabels(
    [
      { label: 'E0', statements: ['is a lighthouse', 'was built by'] },
      { label: 'E1', statements: ['was built by', 'founded a glassworks in 1911'] },
    ],
    answer,
    question,
  ).map((span) => (span === null ? null : answer.slice(span.start, span.end)));

it('gives a label the name whose sentences share most words with what is said of it, each name once', () => {
  const built = 'Skarvholm Light is a lighthouse. It was built by Idun Farstad, who founded a glassworks in 1911.';
  expect(ask(built)).toEqual(['Skarvholm Light', 'Idun Farstad']);
  // What the question names is given, so no label stands for it.
  expect(ask(built, 'What did Idun Farstad build?')).toEqual(['Skarvholm Light', '1911']);
  expect(ask('Skarvholm Light is red.')).toEqual([null, null]);
  expect(ask('')).toEqual([null, null]);
  expect(ask('The lighthouse is the Light of the North Sea.')).toEqual(['Light of the North Sea', null]);
});

it('takes no address and no number of a citation for a name', () => {
  const request = {
    kind: 'entities',
    question: 'Which?',
    criteria: ['<E0> is a lighthouse.'],
    labels: ['E0'],
    answer: 'The lighthouse [[7](https://Example.org/A(B))] is red.',
  } as const;
  expect(judgeLexically(request)).toEqual({ kind: 'entities', entities: [{ label: 'E0', span: null }] });
});

it('is linear in the answer, whatever it repeats', () => {
  for (const part of ['Ab Cd is a lighthouse. ', 'Ab ', '](', '[1]', 'A. ', 'Ab of the ']) {
    const text = (length: number) => part.repeat(length / part.length);
    const judge = (answer: string) =>
      judgeLexically({ kind: 'entities', question: '', criteria: ['<E0> is a lighthouse.'], labels: ['E0'], answer });
    expectLinear(judge, text(20_000), text(20_000 * GROWTH));
  }
});
