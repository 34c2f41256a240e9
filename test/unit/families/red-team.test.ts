/** Answers that small policies learned because a recipe paid for them (docs/reference/hacks.md). */
import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge } from '../../../lib/index.ts';

const scorer = createScorer({ judge: lexicalJudge });
const sources = [
  { id: 'S1', text: 'The Velmere bridge was opened in 1876.' },
  { id: 'S2', text: 'The Velmere bridge is painted green every year.' },
  { id: 'S3', text: 'Trams crossed the Velmere bridge until the war.' },
];

async function scored(response: string, more = {}) {
  const row = {
    question: 'When was the Velmere bridge opened?',
    sources,
    positive_rubrics: [{ description: 'States 1876' }],
  };
  return scorer.score(
    { ...row, response: `<answer>${response}</answer>` },
    { base: 'refiner-rl-balanced', grammar: 'bracket', ...more },
  );
}

describe('under a citation weight of 1', () => {
  it.each(['The . [S2]', 'the the the [S1]', 'It was. [S1] And the. [S2]'])('%s earns nothing', async (response) => {
    const { reward, details } = await scored(response, { citation_weight: 1 });
    expect([reward, details]).toEqual([0, expect.objectContaining({ citation_recall: 0, citation_precision: 0 })]);
  });
});

describe('a copied claim that cites sources about its subject', () => {
  it('has the precision of the one that states it', async () => {
    const { details, claims, finding_counts } = await scored('The Velmere bridge was opened in 1876. [S1] [S2] [S3]');
    expect(details).toMatchObject({ citation_recall: 1, citation_precision: 1 / 3 });
    expect(claims[0]?.relevant).toEqual([true, false, false]);
    expect(finding_counts).toMatchObject({ ids_shotgun: 1 });
  });

  it('says so of ids that it repeats', async () => {
    const { finding_counts } = await scored('It is 1876 . [S1] [S2] [S3] [S2] [S1]');
    expect(finding_counts).toMatchObject({ ids_shotgun: 1, citation_id_repeated: 2 });
  });
});
