/** Claims that contradict an earlier one of their answer, and neighbours that do not. */
import { describe, expect, it } from 'vitest';
import { contradictingClaims } from '../../../src/citations/contradictions.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

const SOURCES = sourcesFromList([{ id: '1', text: 'x' }]);

function found(...claims: readonly string[]): string[] {
  const response = claims.map((claim) => `<snippet id=1>${claim}</snippet>`).join(' ');
  const parsed = parseResponse(response, SOURCES, { answer: 'whole' });
  return contradictingClaims(parsed.claims).map(({ text }) => text);
}

describe('a claim contradicts an earlier one', () => {
  it.each([
    ['another number', 'The Aare is 288 km long.', 'The Aare is 295 km long.'],
    ['another number like a year', 'The bridge has 1937 stones.', 'The bridge has 1938 stones.'],
    ['another count', 'The team won 3 matches against Spain.', 'The team won 4 matches against Spain.'],
    ['another share', 'The tax is about 19% of the price.', 'The tax is about 7% of the price.'],
    ['a negation', 'The Aare is a tributary of the Rhine.', 'The Aare is not a tributary of the Rhine.'],
    ['a short negation', 'The bridge was painted red.', 'The bridge wasn’t painted red.'],
    ['a denial first', 'There is no evidence of damage.', 'There is evidence of damage.'],
    ['German', 'Die Aare ist kein Nebenfluss des Rheins.', 'Die Aare ist Nebenfluss des Rheins.'],
    ['a verb with do', 'The Aare flows into the Rhine.', 'The Aare does not flow into the Rhine.'],
    ['the past of a verb', 'The bridge opened in 1937.', 'The bridge didn’t open in 1937.'],
    ['a negation for an article', 'The tower has a lift inside.', 'The tower has no lift inside.'],
    ['a negation first', 'All birds can fly.', 'Not all birds can fly.'],
    ['German, for an article', 'Der Turm hat einen Aufzug.', 'Der Turm hat keinen Aufzug.'],
    ['German, behind a verb', 'Der Fluss fließt durch Bern.', 'Der Fluss fließt nicht durch Bern.'],
    ['French, around a verb', 'La tour mesure 330 mètres de haut.', 'La tour ne mesure pas 330 mètres de haut.'],
    ['French, elided', 'La tour est en fer forgé.', "La tour n'est pas en fer forgé."],
    ['French, for an article', 'La tour a un grand ascenseur.', 'La tour n’a pas de grand ascenseur.'],
    ['Spanish, before a verb', 'El río es un afluente del Rin.', 'El río no es un afluente del Rin.'],
    ['Spanish, first', 'Es un afluente del río Rin.', 'No es un afluente del río Rin.'],
    ['Spanish, twice', 'El puente tiene una torre alta.', 'El puente no tiene ninguna torre alta.'],
    ['Italian, before a verb', 'Il fiume passa per la città.', 'Il fiume non passa per la città.'],
    ['Italian, first', 'Passa per la città di Berna.', 'Non passa per la città di Berna.'],
    ['Portuguese', 'O rio passa pela cidade velha.', 'O rio não passa pela cidade velha.'],
    ['French', 'La tour mesure 330 mètres de haut.', 'La tour mesure 324 mètres de haut.'],
    ['a negation last', 'The bridge is open and the road is.', 'The bridge is open and the road is not.'],
    ['a short negation last', 'The bridge is open and the road is.', "The bridge is open and the road isn't."],
    ['a number last', 'The tower was built with a lift of 5.', 'The tower was built with a lift of 9.'],
    ['another ending', 'The river does not flow past the old gates.', 'The river flows past the old gate!'],
    ['quotation marks last', 'The bridge is called “the old mill”', 'The bridge is not called the old mill'],
  ])('%s', (_, one, other) => {
    expect(found(one, 'It is long.', other)).toEqual([other]);
    expect(found(other, one)).toEqual([one]);
  });

  it('once, however many say it', () => {
    const [first, second] = ['The Aare is 288 km long.', 'The Aare is 295 km long.'];
    expect(found(first, second, first, second)).toEqual([second, second]);
  });
});

describe('a claim contradicts nothing', () => {
  it.each([
    ['the same claim', 'The Aare is 288 km long.', 'the Aare is 288 km long'],
    ['the same number in another spelling', 'The span is 1,280 metres.', 'The span is 1280.0 metres.'],
    ['other words', 'The Aare is 288 km long.', 'The Rhine is 1,230 km long.'],
    ['two other numbers', 'The town had 90 people in 1850.', 'The town had 120 people in 1900.'],
    ['another time first', 'In 2019 the bridge was closed to cars.', 'In 2021 the bridge was closed to cars.'],
    ['another thing that is numbered', 'Chapter 1 covers the basics of it.', 'Chapter 2 covers the basics of it.'],
    ['another version', 'Version 3.1 supports this format.', 'Version 3.2 supports this format.'],
    ['sources that differ', 'According to one report it is 5 km long.', 'According to one report it is 6 km long.'],
    ['a part of them', 'Some birds can fly.', 'Some birds can not fly.'],
    ['a condition', 'If it is wet, the road is closed.', 'If it is not wet, the road is closed.'],
    ['a win of another year', 'Nadal won the French Open in 2005.', 'Nadal won the French Open in 2006.'],
    ['another amendment', 'The treaty was amended in 1990.', 'The treaty was amended in 1995.'],
    ['another election', 'She was elected mayor in 2004.', 'She was elected mayor in 2008.'],
    ['another day', 'The bridge was closed on 3 May.', 'The bridge was closed on 5 May.'],
    ['another day, with the month first', 'The bridge was closed on June 3.', 'The bridge was closed on June 5.'],
    ['another time of day', 'The bridge is closed at 9:30 daily.', 'The bridge is closed at 10:30 daily.'],
    ['another week', 'The drug was given at week 1.', 'The drug was given at week 2.'],
    ['another ordinal', 'The team finished its 2nd season.', 'The team finished its 3rd season.'],
    ['another step', 'Step by step: add 2 eggs to the bowl.', 'Step by step: add 3 eggs to the bowl.'],
    ['a decimal in either spelling', 'It measures 2.500 m in length.', 'It measures 2.5 m in length.'],
    ['thousands in either spelling', 'It measures 2.500 m in length.', 'It measures 2500 m in length.'],
    ['not only', 'It is only a bridge of stone.', 'It is not only a bridge of stone.'],
    ['not only … but', 'The dam is not only long but also high.', 'The dam is only long but also high.'],
    ['nicht nur', 'Der Damm ist nicht nur lang und hoch.', 'Der Damm ist nur lang und hoch.'],
    ['pas seulement', "Le pont n'est pas seulement long et haut.", 'Le pont est seulement long et haut.'],
    ['no solo', 'El puente no solo es largo y alto.', 'El puente solo es largo y alto.'],
    ['another letter', 'Vitamin D improves bone health.', 'Vitamin A does not improve bone health.'],
    ['another part', 'Part A covers hospital care.', 'Part D does not cover hospital care.'],
    ['another group', 'Le groupe A est très fort.', "Le groupe D n'est pas très fort."],
    ['another army', 'The UN troops entered the city.', 'The troops did not enter the city.'],
    ['a question', 'Do vaccines cause autism in children?', 'Vaccines do not cause autism in children.'],
    ['a question before its mark', 'Do vaccines cause autism in children', 'Vaccines do not cause autism in children.'],
    ['what was and is', 'The firm did not pay taxes.', 'The firm pays taxes.'],
    ['the month of May', 'Il fiume è chiuso a mai.', 'Il fiume è chiuso a.'],
    ['no fewer than', 'No fewer than ten people live here.', 'Fewer than ten people live here.'],
    ['members and others', 'Non-members can vote here.', 'Members can vote here.'],
    ['two denials', 'The Aare does not flow north.', 'The Aare never flows north.'],
    ['a byline', 'John Ashmore, 17 Aug 2019', 'John Ashmore, 16 Aug 2019'],
    ['a date alone', 'Published 16 August 2019', 'Published 12 August 2019'],
    ['a heading', 'Annual Meeting 2018', 'Annual Meeting 2017'],
  ])('%s', (_, one, other) => {
    expect(found(one, other)).toEqual([]);
    expect(found(other, one)).toEqual([]);
  });
});

it('takes linear time', () => {
  const claims = (count: number) =>
    parseResponse(
      Array.from({ length: count }, (_, n) => `<snippet id=1>The Aare is ${n} km and ${n % 7} m long.</snippet>`).join(
        '',
      ),
      SOURCES,
      { answer: 'whole' },
    ).claims;
  expectLinear(contradictingClaims, claims(1_000), claims(1_000 * GROWTH));
  const long = (count: number) => [`It is ${'1 m or '.repeat(count)}`, `It is ${'2 m or '.repeat(count)}`];
  const made = (count: number) =>
    parseResponse(
      long(count)
        .map((text) => `<snippet id=1>${text}</snippet>`)
        .join(''),
      SOURCES,
      { answer: 'whole' },
    ).claims;
  expectLinear(contradictingClaims, made(10_000), made(10_000 * GROWTH));
});
