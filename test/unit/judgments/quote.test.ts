/** A quote is verified only if a cited source contains it word for word, after folding what copying changes. */
import { describe, expect, it } from 'vitest';
import { QuoteFinder } from '../../../src/judgments/kinds/citations/quote.ts';
import { decodedAt } from '../../../src/text/character-references.ts';
import { foldForQuote } from '../../../src/text/quote-fold.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';
import { SeededChoices } from '../seeded-random.ts';
import { ARTEFACTS, worn } from './page-artefacts.ts';

const TEXTS = [
  'The Aare is 288 kilometres long. It lies entirely within Switzerland.',
  'It “rises” at the Aare Glaciers — in the Bernese Alps, not in Italy.',
  'ﬁnally, the Straße is ½ done 😀 and Ⅷ more <b>bold</b>',
  'Bern',
];

function locate(quote: string, cited: readonly number[] = [0, 1, 2, 3]) {
  return new QuoteFinder(TEXTS).locate(quote, cited);
}

/** The part of a source that the located quote points at; `null` = the quote is not found. */
function placeIn(source: string, quote: string): string | null {
  const found = new QuoteFinder([source]).locate(quote, [0]);
  return typeof found === 'string' ? null : source.slice(found.start, found.end);
}

describe('a quote is found', () => {
  it.each([
    ['288 kilometres long', '288 kilometres long'],
    ['THE AARE IS 288', 'The Aare is 288'],
    ['the\n  Aare   is 288', 'The Aare is 288'],
    ['"rises" at the Aare Glaciers - in the', 'rises” at the Aare Glaciers — in the'],
    ['‘rises’ at the Aare Glaciers – in', 'rises” at the Aare Glaciers — in'],
    ['finally, the Straße', 'ﬁnally, the Straße'],
    ['FINALLY, THE STRASSE', 'ﬁnally, the Straße'],
    ['done 😀 and VIII more', 'done 😀 and Ⅷ more'],
    ['more ‹b›bold‹/b›', 'more <b>bold'],
    ['and VIII more bold', 'and Ⅷ more <b>bold'],
    ['… It lies entirely within Switzerland...', 'It lies entirely within Switzerland'],
  ])('%j', (quote, text) => {
    const found = locate(quote);
    if (typeof found === 'string') throw new Error(found);
    expect(TEXTS[found.source]?.slice(found.start, found.end)).toBe(text);
  });

  it('in the first cited source that has it, and in no other', () => {
    expect(locate('in the Bernese Alps', [0, 1])).toMatchObject({ source: 1 });
    expect(locate('in the Bernese Alps', [0, 2])).toBe('unverified');
    expect(locate('in the Bernese Alps', [])).toBe('unverified');
  });

  it('even if short, where it is the whole source', () => {
    expect(locate('Bern', [3])).toEqual({ source: 3, start: 0, end: 4 });
    expect(placeIn('Bern.', 'Bern')).toBe('Bern');
  });

  it.each([
    ['Doppler , who was born in Salzburg', 'Doppler, who was born in Salzburg'],
    ['it is long[1] and deep. [2] It', 'it is long and deep. It'],
    ['it is long [ 1 ] and deep [2].', 'it is long and deep.'],
    ['it grew in 1987 — by 5 km', 'it grew in 1987\n- by 5 km'],
    ['between 2010 – 2015 it grew', 'between 2010-2015 it grew'],
    ['the well-\nknown river', 'the well-known river'],
    ['the kilo-\nmetres of the river', 'the kilometres of the river'],
    ['a caf&eacute; &amp;amp; a &#8220;bar&#8221;', 'a café & a "bar"'],
    ['itâ€™s 5Â\u00a0Â°C in ZÃ¼rich', "it's 5 °C in Zürich"],
    ['la qualité » de l’Aare', 'la qualité " de l\'Aare'],
    ['Length: 288 km\n- 5 tributaries', 'Length: 288 km 5 tributaries'],
    ['全长288公里。', '全长288公里'],
    ['the riverThe Aare is long', 'The Aare is long'],
    ['Population288,000 people', '288,000 people'],
    ["L'Aare est longue", 'Aare est longue'],
    ['a (b) ... c and the end of it', 'a (b) ... c and the end'],
  ])('of %j as %j', (source, quote) => {
    expect(placeIn(source, quote)).not.toBeNull();
    expect(placeIn(quote, quote)).not.toBeNull();
  });

  it.each([
    ['The Aare is 288 kilometres long ... It lies entirely within Switzerland', TEXTS[0]?.slice(0, -1)],
    ['It lies entirely […] Switzerland', 'It lies entirely within Switzerland'],
    ['The Aare is (...) It lies entirely . . . Switzerland.', TEXTS[0]?.slice(0, -1)],
  ])('in parts, from the first to the last: %j', (quote, place) => {
    const source = TEXTS[0] ?? '';
    expect(placeIn(source, quote)).toBe(place);
  });

  it('if a constrained decoder cut it at its longest, within a word', () => {
    const source = 'The Aare carries water to the Rhine. '.repeat(20);
    expect(placeIn(source, source.slice(0, 500))).not.toBeNull();
  });
});

describe('a quote is unverified', () => {
  it.each([
    ['another number', '289 kilometres long'],
    ['a word left out', 'The Aare is kilometres long'],
    ['a word added', 'The Aare is only 288 kilometres long'],
    ['a negation dropped', 'in the Bernese Alps, in Italy'],
    ['two passages joined without an ellipsis', 'The Aare is 288 kilometres long within Switzerland'],
    ['parts in the wrong order', 'It lies entirely within ... The Aare is 288 kilometres'],
    ['parts of two sources', 'The Aare is 288 kilometres ... in the Bernese Alps'],
    ['a part too short to prove anything', 'The Aare is 288 kilometres ... in'],
    ['over the end of a source', 'within Switzerland. It “rises”'],
    ['too short to prove anything', 'long'],
    ['an invention', 'The Aare carries more water than the Danube.'],
  ])('%s', (_name, quote) => {
    expect(locate(quote)).toBe('unverified');
  });

  it.each([
    ['It is 1288 kilometres long', '288 kilometres long'],
    ['It is 1,288 kilometres long', '288 kilometres long'],
    ['It is 1\u00a0288 kilometres long', '288 kilometres long'],
    ['It is 3.5 metres deep', '5 metres deep'],
    ['The depth is 12.5', 'The depth is 12'],
    ['It cost more than 5bn', 'It cost more than 5'],
    ['It fell to -5 degrees', '5 degrees'],
    ['It was unable to swim', 'able to swim'],
    ['It was un\u00adable to swim', 'able to swim'],
    ['It was un-\nable to swim', 'able to swim'],
    ['the non-toxic substance', 'toxic substance'],
    ["That is what he can't", 'That is what he can'],
    ['That is what he can&#8217;t', 'That is what he can'],
    ['That is what he cannot', 'That is what he can'],
    ['这条河不是最长的河流', '是最长的河流'],
    ['人口为12万', '人口为12'],
    ['The value p < 0.05 was found', 'The value p > 0.05 was found'],
    ['The drug did not reduce mortality', 'The drug did ... reduce mortality'],
    ["The drug didn't really reduce mortality", 'The drug ... reduce mortality'],
    ['The drug did not reduce mortality', 'reduce mortality'],
    ['It has never been shown that the drug works well', 'the drug works well'],
    ['There is no evidence that the drug works well', 'the drug works well'],
    ['It is not true that the Aare is the longest river', 'the Aare is the longest river'],
    ['That the Aare is the longest river is a myth.', 'the Aare is the longest river'],
    ['Die Brücke wurde 1937 nicht eröffnet.', 'Die Brücke wurde 1937'],
    ['Le pont ne sera pas fermé en hiver', 'fermé en hiver'],
    ['Мост не был открыт в 1937 году', 'был открыт в 1937 году'],
    ['この橋は1937年には行われなかった', 'この橋は1937年には行われ'],
    ['If the council agrees, the bridge will close in May.', 'the bridge will close in May'],
    ['Unless it rains, the bridge will close in May.', 'the bridge will close in May'],
    ['The bridge will close in May if the council agrees.', 'The bridge will close in May'],
    ['The bridge will close in May, provided that the council agrees.', 'The bridge will close in May'],
    ['Wenn der Rat zustimmt, schließt die Brücke im Mai.', 'schließt die Brücke im Mai'],
    ['如果议会同意，大桥将于五月关闭。', '大桥将于五月关闭'],
    ['The bridge is old. The dam was built in 1876.', 'The bridge ... was built in 1876'],
  ])('that cuts %j to %j', (source, quote) => {
    expect(placeIn(source, quote)).toBeNull();
  });

  it.each([
    ['It did not rain. The bridge opened in May.', 'The bridge opened in May'],
    ['Though not the first, the bridge opened in May, not in June.', 'the bridge opened in May'],
    ['He did not sell the house that was built in 1990', 'was built in 1990'],
    ['It is not known.\n\nThe bridge opened in May', 'The bridge opened in May'],
    ['Ask if it rains. The bridge opened in May. If not, wait.', 'The bridge opened in May'],
    ['The bridge did not open, but the bridge is not old and the bridge was rebuilt', 'the bridge was rebuilt'],
    ['The drug did not reduce mortality', 'did not reduce mortality'],
    ['If the council agrees, the bridge will close.', 'If the council agrees, the bridge will close'],
  ])('but not that takes from %j %j', (source, quote) => {
    expect(placeIn(source, quote)).not.toBeNull();
  });
});

it.each(['', '   ', '…', '...', '""', '“ ”', '. … .', '[...]', '&nbsp;', '\u200b'])('%j quotes nothing', (quote) => {
  expect(locate(quote)).toBe('absent');
});

/** Passages with the marks that artefacts change; `|` limits the passage that is quoted. */
const PASSAGES = [
  'Before it. |The Aare is the longest river, 288.5 kilometres, that both rises and ends “within” Switzerland|. Then',
  'Heading\n|Its office’s “first” findings — filed in 1987 — affected 3,400 staff & their families|\nmore',
  'a |Doppler, who was born in Salzburg, described the effect in 1842: waves shift, not speed|, b',
  'x. |Die Straße über den Gotthardpaß führt auf 2106 Metern nach Süden; im Winter ist sie nicht offen|. y',
  'Le |café français, à l’angle, affiche 14 prix différents – dont 9 sont « modifiés »|. Fin',
  'Z |Efficient officers flew five difficult flights\nin 2003\nand never landed with 12% fuel|. Z',
  'В |Москве живёт 13,1 миллиона человек, и город не самый большой в мире|. Да',
];

function passageOf(choices: SeededChoices): { readonly source: string; readonly quote: string } {
  const passage = choices.of(PASSAGES);
  return { source: passage.replaceAll('|', ''), quote: passage.split('|')[1] ?? '' };
}

const SEEDS = Array.from({ length: 40 }, (_, n) => n);

describe('an honest quote is never unverified', () => {
  describe.each(Object.entries(ARTEFACTS))('%s', (_name, artefact) => {
    it('in the source or in the quote', () => {
      for (const seed of SEEDS) {
        const choices = new SeededChoices(seed);
        const { source, quote } = passageOf(choices);
        for (const [there, here] of [
          [artefact(source, choices), quote],
          [source, artefact(quote, choices)],
        ] as const) {
          expect(placeIn(there, here), JSON.stringify({ source: there, quote: here })).not.toBeNull();
        }
      }
    });
  });

  it('with several artefacts on both sides', () => {
    for (let seed = 0; seed < 3_000; seed++) {
      const choices = new SeededChoices(seed);
      const { source, quote } = passageOf(choices);
      const [there, here] = [worn(source, choices), worn(quote, choices)];
      expect(placeIn(there, here), JSON.stringify({ source: there, quote: here })).not.toBeNull();
    }
  });
});

describe('a quote with a changed number, word or negation is never verified', () => {
  const NEGATION = /\b(?:not|never|nicht)\b|(?<!\p{L})не(?!\p{L})/u;
  const changes: Readonly<Record<string, (quote: string, choices: SeededChoices) => string>> = {
    'a digit': (quote, choices) => {
      const digits = [...quote.matchAll(/\d/g)];
      const { index } = choices.of(digits);
      const other = (Number(quote.charAt(index)) + 1 + choices.below(9)) % 10;
      return `${quote.slice(0, index)}${other}${quote.slice(index + 1)}`;
    },
    'a digit added or removed': (quote, choices) => {
      const { index } = choices.of([...quote.matchAll(/\d/g)]);
      const digit = choices.chance(50) ? '' : `${quote.charAt(index)}${(Number(quote.charAt(index)) + 1) % 10}`;
      return `${quote.slice(0, index)}${digit}${quote.slice(index + 1)}`;
    },
    'a word': (quote, choices) => {
      const words = [...quote.matchAll(/\p{L}{4,}/gu)];
      const { index, 0: word } = choices.of(words);
      return `${quote.slice(0, index)}${choices.of(['other', 'greater', 'Bern', 'andere'])}${quote.slice(index + word.length)}`;
    },
    'a negation': (quote, choices) => {
      if (NEGATION.test(quote)) return quote.replace(NEGATION, choices.of(['', '...']));
      const { index } = choices.of([...quote.matchAll(/ (?=\p{L})/gu)]);
      return `${quote.slice(0, index)} not${quote.slice(index)}`;
    },
  };

  it.each(Object.entries(changes))('%s', (_name, change) => {
    for (let seed = 0; seed < 2_000; seed++) {
      const choices = new SeededChoices(seed);
      const { source, quote } = passageOf(choices);
      const wrong = change(quote, choices);
      const [there, here] = [worn(source, choices), worn(wrong, choices)];
      expect(placeIn(there, here), JSON.stringify({ source: there, quote: here })).toBeNull();
    }
  });
});

it('of a source that does not exist is a bug', () => {
  expect(() => locate('288 kilometres long', [7])).toThrow(RangeError);
});

describe('takes linear time', () => {
  it.each([
    ['repeated words', 'ab ', `${'ab'.repeat(200)}c`],
    ['occurrences within a word', 'ab', `${'ab'.repeat(200)}`],
    ['references', '&amp;', 'amp amp amp amp'],
    ['open references', '&amp;amp', 'amp amp amp amp'],
    ['tags', '<a ', 'a a a a a a a a a'],
    ['brackets', '[1](http', 'http http http'],
    ['blanks and dashes', '\n   - - ', 'nothing of this'],
    ['parts', 'a river or two ', 'a river or two ... a river or three'],
    ['combining marks', 'e\u0301\u0323', 'nothing of this'],
  ])('%s', (_name, unit, quote) => {
    const sized = (units: number) => unit.repeat(Math.ceil(units / unit.length));
    const find = (source: string) => new QuoteFinder([source]).locate(quote, [0]);
    expectLinear(find, sized(20_000), sized(20_000 * GROWTH));
  });
});

describe('foldForQuote', () => {
  it('has the offset of each unit', () => {
    const { text, offsets } = foldForQuote('A &eacute; ﬁ😀');
    expect(text).toBe('ae\u0301fi😀');
    expect([...offsets]).toEqual([0, 2, 2, 11, 11, 12, 12]);
  });

  it('folds a long text in pieces', () => {
    const unit = 'The Aare ﬂows. ';
    expect(foldForQuote(unit.repeat(600)).text).toBe(foldForQuote(unit).text.repeat(600));
  });
});

it('a member of every object is no character reference', () => {
  expect(decodedAt('&avalueOf;', 0)).toBeNull();
});
