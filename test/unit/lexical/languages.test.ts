/** Claims in other languages than English: negation, names, numbers, and what the judge says of its own knowledge. */
import { describe, expect, it } from 'vitest';
import { type ClaimEvidence, gatherEvidence, indexSources, supportVerdict } from '../../../src/lexical/index.ts';

function gather(claim: string, text: string): ClaimEvidence {
  return gatherEvidence(indexSources([{ text }]), claim, [0]);
}

type Passage = {
  readonly language: string;
  readonly source: string;
  readonly supported: readonly string[];
  readonly negated: readonly string[];
};

/** In each language: a source, reworded claims that it supports, and claims that deny what it says. */
const PASSAGES: readonly Passage[] = [
  {
    language: 'de',
    source:
      'Die Alte Brücke in Heidelberg wurde zwischen 1786 und 1788 aus rotem Sandstein gebaut. Sie ist 200 Meter lang und sieben Meter breit. Der Verkehr ist seit 1998 den Fußgängern vorbehalten. Die Stadt bezahlt die Pflege der Brücke aus dem Haushalt.',
    supported: [
      'Die Brücke wurde zwischen 1786 und 1788 gebaut.',
      'Die Alte Brücke in Heidelberg ist 200 Meter lang.',
      'Aus rotem Sandstein wurde die Alte Brücke gebaut.',
      'Sie ist sieben Meter breit und 200 Meter lang.',
      'Seit 1998 ist der Verkehr den Fußgängern vorbehalten.',
      'Die Pflege der Brücke bezahlt die Stadt aus dem Haushalt.',
    ],
    negated: [
      'Die Brücke wurde nicht aus rotem Sandstein gebaut.',
      'Die Stadt bezahlt die Pflege der Brücke nicht aus dem Haushalt.',
      'Der Verkehr ist nie den Fußgängern vorbehalten.',
      'Die Alte Brücke in Heidelberg ist keine 200 Meter lang.',
    ],
  },
  {
    language: 'fr',
    source:
      "Le pont de l'Aulne a été construit entre 1786 et 1788 en grès rouge. Il mesure 200 mètres de long et sept mètres de large. La ville paie l'entretien du pont avec l'argent des impôts. L'accès est réservé aux piétons depuis 1998.",
    supported: [
      "Le pont de l'Aulne a été construit en grès rouge.",
      'Le pont mesure 200 mètres de long.',
      "Depuis 1998, l'accès est réservé aux piétons.",
      "La ville paie l'entretien du pont.",
    ],
    negated: [
      "Le pont de l'Aulne n'a pas été construit en grès rouge.",
      "La ville ne paie jamais l'entretien du pont.",
      "L'accès n'est pas réservé aux piétons depuis 1998.",
    ],
  },
  {
    language: 'es',
    source:
      'El puente del Aliso fue construido entre 1786 y 1788 con arenisca roja. Mide 200 metros de largo y siete metros de ancho. La ciudad paga el mantenimiento del puente con los impuestos. El acceso está reservado a los peatones desde 1998.',
    supported: [
      'El puente del Aliso fue construido con arenisca roja.',
      'El puente mide 200 metros de largo.',
      'Desde 1998 el acceso está reservado a los peatones.',
      'La ciudad paga el mantenimiento del puente.',
    ],
    negated: [
      'El puente del Aliso no fue construido con arenisca roja.',
      'La ciudad nunca paga el mantenimiento del puente.',
      'El acceso no está reservado a los peatones desde 1998.',
    ],
  },
  {
    language: 'ru',
    source:
      'Мост через Ольховку построен между 1786 и 1788 годами из красного песчаника. Его длина составляет 200 метров. Город оплачивает ремонт моста из бюджета. Проезд открыт для пешеходов с 1998 года.',
    supported: [
      'Мост через Ольховку построен из красного песчаника.',
      'Его длина составляет 200 метров.',
      'Город оплачивает ремонт моста из бюджета.',
      'Проезд открыт для пешеходов с 1998 года.',
    ],
    negated: [
      'Мост через Ольховку не построен из красного песчаника.',
      'Город не оплачивает ремонт моста из бюджета.',
      'Проезд никогда не открыт для пешеходов.',
      'Город оплачивает ремонт моста без бюджета.',
    ],
  },
  {
    language: 'zh',
    source:
      '赤杨桥建于1786年至1788年之间，使用红色砂岩建造。桥长200米，宽7米。市政府用税款支付桥梁的维护费用。自1998年起，桥梁只对行人开放。',
    supported: [
      '赤杨桥使用红色砂岩建造。',
      '桥长200米，宽7米。',
      '市政府支付桥梁的维护费用。',
      '自1998年起桥梁对行人开放。',
    ],
    negated: [
      '赤杨桥没有使用红色砂岩建造。',
      '市政府不支付桥梁的维护费用。',
      '桥梁从未对行人开放。',
      '市政府并非用税款支付桥梁的维护费用。',
    ],
  },
  {
    language: 'ja',
    source:
      'ハンノキ橋は1786年から1788年にかけて赤い砂岩で建設された。橋の長さは200メートルで、幅は7メートルである。市は税金で橋の維持費を支払っている。1998年から橋は歩行者に開放されている。',
    supported: [
      'ハンノキ橋は赤い砂岩で建設された。',
      '橋の長さは200メートルである。',
      '市は税金で橋の維持費を支払っている。',
      '橋は1998年から歩行者に開放されている。',
    ],
    negated: [
      'ハンノキ橋は赤い砂岩で建設されなかった。',
      '市は税金で橋の維持費を支払っていない。',
      '橋は歩行者に開放されていません。',
    ],
  },
];

describe.each(PASSAGES)('$language', ({ language, source, supported, negated }) => {
  it.each(supported)('supported: %s', (claim) => {
    const evidence = gather(claim, source);
    expect(evidence.language).toBe(language);
    expect(evidence.missing_names).toEqual([]);
    expect(evidence.negation_mismatch).toBe(false);
    expect(supportVerdict(evidence.support)).toBe('full');
  });

  it.each(negated)('negated: %s', (claim) => {
    const evidence = gather(claim, source);
    expect(evidence.negation_mismatch).toBe(true);
    expect(supportVerdict(evidence.support)).not.toBe('full');
  });

  it('a negation in the source matches one in the claim', () => {
    for (const claim of negated) expect(gather(claim, `${claim} ${source}`).negation_mismatch).toBe(false);
  });
});

describe('numbers', () => {
  it.each([
    ['Der Turm kostete 1280 Mark.', 'Der Turm hat die Stadt 1.280 Mark gekostet.'],
    ['Der Turm kostete 1.280 Mark.', 'Der Turm hat die Stadt 1280 Mark gekostet.'],
    ['Der Turm kostete 12 500 Mark.', 'Der Turm hat die Stadt 12.500 Mark gekostet.'],
    ['Die Stadt zählt 3 Millionen Einwohner.', 'Die Stadt zählt 3.000.000 Einwohner.'],
    ['Das kostete die Stadt 2,5 Mrd. Euro.', 'Das kostete die Stadt 2.500.000.000 Euro.'],
    ['La tour a coûté 12 500 francs.', 'La tour a coûté 12500 francs à la ville.'],
    ['La ville compte 2 millions de habitants.', 'La ville compte 2 000 000 habitants.'],
    ['La ciudad tiene 12.500 habitantes.', 'La ciudad tiene 12 500 habitantes.'],
    ['Население города 12 500 человек.', 'Население города составляет 12500 человек.'],
    ['Население города 3 млн человек.', 'Население города составляет 3 миллиона человек.'],
    ['这座城市有4万人。', '这座城市有40000人。'],
    ['这座城市有40000人。', '这座城市有4万人。'],
    ['费用为32亿元。', '费用为3200000000元。'],
    ['この町の人口は3万5000人です。', 'この町の人口は35000人です。'],
    ['It cost 12 500 pounds.', 'It cost 12,500 pounds.'],
    ['It drew 2 millions of guests.', 'It drew 2 million guests.'],
  ])('%s is found in: %s', (claim, source) => {
    expect(gather(claim, source).missing_numbers).toEqual([]);
  });

  it.each([
    ['费用为32亿元。', '费用为32万元。'],
    ['费用为32万元。', '费用为32亿元。'],
    ['Der Turm kostete 1.280 Mark.', 'Der Turm kostete 1.380 Mark.'],
    ['Das kostete 2 Millionen Euro.', 'Das kostete 2 Milliarden Euro.'],
    ['Население 3 млн человек.', 'Население 3 тыс. человек.'],
    ['The rate was 1.280 per cent.', 'The rate was 1280 per cent.'],
    ['It cost 12 500 pounds.', 'It cost 12 pounds for 500 sheets.'],
  ])('%s is missing in: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.missing_numbers).toHaveLength(1);
    expect(supportVerdict(evidence.support)).not.toBe('full');
  });

  it('leaves columns of numbers apart', () => {
    expect(gather('Row nine has 25 in it.', 'Row nine: 25 100 37 880').missing_numbers).toEqual([]);
  });
});

describe('the language', () => {
  it.each([
    ['The bridge was opened by the mayor of the city.', 'en'],
    ['Bridge opened 1937.', 'en'],
    ['O rio não é navegável, mas uma parte da água vem do mar.', 'pt'],
    ['Il fiume non è navigabile e la città ha un porto.', 'it'],
    ['다리는 1937년에 개통되었다.', 'ko'],
    ['الجسر افتتح عام 1937', 'ar'],
    ['Міст збудовано з червоного пісковика, його довжина 200 метрів.', null],
  ])('of %j is %s', (claim, language) => {
    const source = language === 'en' ? 'The bridge was opened in 1937 by the mayor of the city.' : claim;
    expect(gather(claim, source).language).toBe(language);
  });

  it('of a claim without function words is that of its source', () => {
    expect(
      gather('Brücke 200 Meter', 'Die Brücke ist nicht sehr lang und 200 Meter sind es auch nicht.').language,
    ).toBe('de');
  });
});
