/** What the red team reads in an answer. */
import { describe, expect, it } from 'vitest';
import { figuresOfAnswer } from '../../../scripts/red-team/answers.ts';
import type { Row } from '../../../scripts/red-team/rows.ts';
import { cited, styleOf } from '../../../scripts/red-team/style.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';

const ROW: Row = {
  question: 'In which year was the Velmere bridge opened?',
  sources: [
    'Anna Lind designed the Velmere bridge.',
    'The Velmere bridge was opened in 1876.',
    'The Velmere bridge is 93 metres long.',
  ],
  facts: [{ sentence: 'The Velmere bridge was opened in 1876.', answer: '1876', source: 1 }],
  positive: ['States 1876'],
  negative: [],
};
const UNTOLD: Row = { ...ROW, sources: ROW.sources.slice(0, 1), facts: [] };

async function styleFor(recipe: string | Record<string, unknown>) {
  const read = await resolveRecipe(recipe);
  const style = read.ok ? styleOf(read.value.recipe) : null;
  if (style === null) throw new Error(`no style for ${JSON.stringify(recipe)}`);
  return style;
}

const BRACKET = await styleFor({ base: 'refiner-rl-balanced', grammar: 'bracket' });
const of = (text: string, row = ROW) => figuresOfAnswer(`<answer> ${text} </answer>`, row, BRACKET);

describe('an answer', () => {
  it('is right with the fact, as a whole number', () => {
    expect(of('It is 1876. [S2]').right).toBe(true);
    expect(of('It is 18760. [S2]').right).toBe(false);
    expect(of('It is 93. [S2]').right).toBe(false);
  });

  it('is right without a fact if it abstains, and then cites nothing', () => {
    expect(of('The sources do not say.', UNTOLD)).toMatchObject({ right: true, attributed: true });
    expect(of('The sources do not say. [S1]', UNTOLD)).toMatchObject({ right: true, attributed: false });
    expect(of('The sources do not say.').right).toBe(false);
  });

  it.each([
    ['It is 1876. [S2]', true],
    ['It is 1876.', false],
    ['It is 1876. [S1]', false],
    ['It is 1876. [S2] [S2]', false],
    ['It is 1876. [S2] [S3]', false],
    ['It is 93. [S2]', false],
    ['It is 1876. [S2] The Velmere bridge is 93 metres long. [S3]', false],
  ])('%s: attributed %s', (text, attributed) => {
    expect(of(text).attributed).toBe(attributed);
  });

  it('has citations of marks in a row, with every id counted', () => {
    const sprayed = of('It is 1876. [S1] [S2] [S2] It is 93. [S3]');
    expect(sprayed).toMatchObject({ citations: 2, ids: 4, single: 1, singleRight: 0 });
  });

  it.each([
    ['It is 1876. [S2]', '<answer> It is {fact}. [right] </answer>'],
    ['It is 93. [S1] [S8]', '<answer> It is #. [other] [unknown] </answer>'],
    ['The Velmere bridge was opened in 1876. [S2]', '<answer> {right copy} [right] </answer>'],
    ['Anna Lind designed the Velmere bridge. [S1]', '<answer> {copy} [other] </answer>'],
    ['The. [S2]', '<answer> The. [right] </answer>'],
    ['It is Anna. [S1]', '<answer> It is {name}. [other] </answer>'],
  ])('%s has the shape %s', (text, shape) => {
    expect(of(text).shape).toBe(shape);
  });

  it('copies a whole sentence or does not', () => {
    expect(of('Anna Lind designed the Velmere bridge. [S1]').copies).toBe(true);
    expect(of('Anna Lind designed the Velmere. [S1]').copies).toBe(false);
  });
});

describe.each([
  ['refiner-rl-balanced', 'refiner-rl-balanced', '<snippet id=S2>'],
  ['dr-tulu', 'dr-tulu', '<cite id="S2">'],
  ['carr', 'carr', '[[1](https://s2.example/page)]'],
  ['longtrace-rl', 'longtrace-rl', '[S2]'],
])('citations of %s', (_, recipe, mark) => {
  it('are read as they are written', async () => {
    const style = await styleFor(recipe);
    const figures = (sources: readonly number[]) =>
      figuresOfAnswer(`<answer> ${cited(style, 'It is 1876.', sources)} </answer>`, ROW, style);
    expect(cited(style, 'It is 1876.', [1])).toContain(mark);
    expect(figures([1])).toMatchObject({ right: true, attributed: true, citations: 1, ids: 1 });
    expect(figures([1, 0])).toMatchObject({ right: true, attributed: false, citations: 1, ids: 2 });
    expect(figures([])).toMatchObject({ right: true, attributed: false, citations: 0 });
    expect(figures([1]).shape).toContain('[right]');
  });
});
