/** Spellings of numbers: magnitudes, rounding, dates and percentages agree; another currency, unit or sign does not. */
import { describe, expect, it } from 'vitest';
import { type ClaimEvidence, gatherEvidence, indexSources, supportVerdict } from '../../../src/lexical/index.ts';

function gather(claim: string, source: string): ClaimEvidence {
  return gatherEvidence(indexSources([{ text: source }]), claim, [0]);
}

function missing(claim: string, source: string): string[] {
  return gather(claim, source).missing_numbers.map(({ value }) => value);
}

describe('a number is found in another spelling', () => {
  it.each([
    ['In Q2 they sold for $740M.', 'In Q2 they sold for $740,000,000.'],
    ['Revenue was $1.2bn.', 'Revenue was $1,200,000,000.'],
    ['Revenue was $1.2B.', 'Revenue was 1.2 billion dollars.'],
    ['Revenue was £3m.', 'Revenue was 3 million.'],
    ['It sold 5k units.', 'It sold 5,000 units.'],
    ['8.2m people live there.', '8.2 million people live there.'],
    ['8.2 million people live there.', '8.2m people live there.'],
    ['It cost 3 Mrd. Euro.', 'It cost €3 billion.'],
    ['It has 4万 people.', 'It has 40,000 people.'],
    ['It has 1.5 lakh people.', 'It has 1,50,000 people.'],
    ['It has 2 crore users.', 'It has 20 million users.'],
    ['The test found 72.3% of cases.', 'The test found 72·3% of cases.'],
    ['The test found 72·3% of cases.', 'The test found 72.3% of cases.'],
    ['45% voted.', 'A share of 0.45 voted.'],
    ['A share of 0.45 voted.', '45% voted.'],
    ['It is 5 km long.', 'It is 5 kilometres long.'],
    ['It grew by 12 percent.', 'It grew by 12 per cent.'],
    ["It has 1'000'000 users.", 'It has 1,000,000 users.'],
    ['It has 1,250 users.', 'It has 1’250 users.'],
    ['It is 3½ km long.', 'It is 3.5 km long.'],
    ['It costs 50 cents.', 'It costs 50¢.'],
    ['长度5公里。', '长度5千米。'],
  ])('%s is found in: %s', (claim, source) => {
    expect(missing(claim, source)).toEqual([]);
  });
});

describe('the same quantity in another unit or in words is full support', () => {
  it.each([
    ['The dose is 5 mg.', 'The dose is 0.005 g.'],
    ['The dose is 5 mg.', 'The dose is 5,000 µg.'],
    ['The dose is 250 micrograms.', 'The dose is 250 μg.'],
    ['The dose is 250 mcg.', 'The dose is 250 µg.'],
    ['The bridge is 1.2 km long.', 'The bridge is 1,200 metres long.'],
    ['The trail is 26 miles long.', 'The trail is 42 km long.'],
    ['The delay was 250 ms.', 'The delay was 0.25 seconds.'],
    ['The plant makes 3 gigawatts.', 'The plant makes 3,000 megawatts.'],
    ['The clock runs at 2.4 GHz.', 'The clock runs at 2400 MHz.'],
    ['It lasted two weeks.', 'It lasted 14 days.'],
    ['It took 18 months.', 'It took 1.5 years.'],
    ['The train goes 90 km/h.', 'The train goes 90 kilometres per hour.'],
    ['The water had 5 mg/L of lead.', 'The water had 5,000 µg per litre of lead.'],
    ['The Moon moves 3.8 centimetres each year.', 'The Moon moves 3.8 centimetres away.'],
    ['The Moon moves 3.8 centimetres each year.', 'The Moon moves 38 mm a year.'],
    ['It covers 2 km².', 'It covers 200 hectares.'],
    ['The rate rose 25 basis points.', 'The rate rose 0.25 percentage points.'],
    ['含量是5毫克。', '含量是0.005克。'],
    ['In the 19th century trams ran.', 'In the nineteenth century trams ran.'],
    ['In the twenty-first century trams ran.', 'In the 21st century trams ran.'],
    ['It is the third largest city.', 'It is the 3rd largest city.'],
    ['It is the 3rd largest city.', 'It is the third largest city.'],
    ['It has 21 rooms.', 'It has twenty-one rooms.'],
    ['Turnover was €4.2 million.', 'Turnover was 4,2 M€.'],
    ['The odds were .5 at noon.', 'The odds were 0.5 at noon.'],
    ['In 3Q24 sales rose.', 'In Q3 2024 sales rose.'],
    ['In 2019 and 2020 the club won.', 'In 2019/20 the club won.'],
    ['Turnout came to 80% of voters.', 'Turnout came to 79.58% of voters.'],
  ])('%s against: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.missing_numbers).toEqual([]);
    expect(evidence.said_otherwise).toBe(false);
    expect(supportVerdict(evidence.support)).toBe('full');
  });
});

describe('another quantity in similar words is no full support', () => {
  it.each([
    ['The dose is 5 mg.', 'The dose is 5 µg.'],
    ['The dose is 5 µg.', 'The dose is 5 mg.'],
    ['The dose is 5 mg.', 'The dose is 5 micrograms.'],
    ['The dose is 5 mg.', 'The dose is 0.05 g.'],
    ['The plant makes 5 MW.', 'The plant makes 5 mW.'],
    ['The plant makes 5 kilowatts.', 'The plant makes 5 megawatts.'],
    ['The file has 5 MB.', 'The file has 5 PB.'],
    ['The water had 5 mg/L of lead.', 'The water had 5 µg/L of lead.'],
    ['The train goes 90 km/h.', 'The train goes 90 m/s.'],
    ['The Moon moves 3.8 centimetres each year.', 'The Moon moves 3.8 centimetres each month.'],
    ['The train goes 90 km/h.', 'The train goes 90 mph.'],
    ['It covers 2 km².', 'It covers 2 m².'],
    ['It lasted two weeks.', 'It lasted two days.'],
    ['In the 19th century trams ran.', 'In the eighteenth century trams ran.'],
    ['It has twenty-one rooms.', 'It has twenty-two rooms.'],
    ['Turnover was 4,2 M€.', 'Turnover was 4,2 k€.'],
    ['The odds were .5 at noon.', 'The odds were 5 at noon.'],
    ['In 3Q24 sales rose.', 'In Q3 2023 sales rose.'],
    ['In 2019/20 the club won.', 'In 2018/19 the club won.'],
  ])('%s against: %s', (claim, source) => {
    expect(supportVerdict(gather(claim, source).support)).not.toBe('full');
  });

  it.each([
    ['Figure 5 has a map.', 'Figure 5 shows a map.'],
    ['It sold 5 a day.', 'It sold 5 an hour or a day.'],
    ['The second half was long.', 'The second half was long.'],
    ['It grew in the third quarter.', 'It grew in the third quarter.'],
    ['It grew from 2010 to 2012.', 'It grew 2010-2012.'],
  ])('words around a number that are no unit: %s', (claim, source) => {
    expect(missing(claim, source)).toEqual([]);
    expect(supportVerdict(gather(claim, source).support)).toBe('full');
  });
});

describe('words that only look like units, places and years', () => {
  it.each([
    ['The clip lasts thirty seconds.', 'The clip lasts 30 seconds.'],
    ['The clip lasts 30 seconds.', 'The clip lasts thirty seconds.'],
    ['The battery stores 500 kWh of energy.', 'The battery stores 500 kilowatt-hours of energy.'],
    ['The battery stores 500 kilowatt hours of energy.', 'The battery stores 500 kWh of energy.'],
    ['Patients got 10 mg/kg/day of the drug.', 'Patients got 10 mg/kg per day of the drug.'],
    ['Patients got 10 mg/kg per day of the drug.', 'Patients got 10 mg/kg/day of the drug.'],
    ['He was born on the nineteenth of May 1845.', 'He was born on 19 May 1845.'],
    ['The second of June 1950 was dry.', '2 June 1950 was dry.'],
    ['A third of the voters stayed home.', '33% of the voters stayed home.'],
    ['She won for the third time.', 'She won three times.'],
    ['The block has fifty two-bedroom flats.', 'The block has 50 flats with two bedrooms.'],
    ['The dam holds 5 megalitres of water.', 'The dam holds 5 ML of water.'],
  ])('do not deny: %s against: %s', (claim, source) => {
    expect(supportVerdict(gather(claim, source).support)).toBe('full');
  });

  it.each([
    ['The bank lent 500 trillion euros in May.', 'The bank lent 500 T€ in May.'],
    ['In 2012 the firm grew.', 'In 2010-12 the firm grew.'],
  ])('do not support: %s against: %s', (claim, source) => {
    expect(supportVerdict(gather(claim, source).support)).not.toBe('full');
  });
});

describe('a rounded number is within half of its last written place', () => {
  it.each([
    ['Turnout came to 80% of voters.', 'Turnout came to 79.58% of voters.'],
    ['It is 3.14 exactly.', 'It is 3.14159.'],
    ['About 0.05 g was found.', 'About 0.048 g was found.'],
    ['It cost $2 million.', 'It cost $1,953,000.'],
    ['About 1.2 million came.', 'Exactly 1,183,204 came.'],
    ['About 1,200 came.', 'Exactly 1,187 came.'],
  ])('%s is found in: %s', (claim, source) => {
    expect(missing(claim, source)).toEqual([]);
  });

  it.each([
    ['Usage was 80%.', 'Usage was 78.9%.', '80'],
    ['It cost 5.0 thousand.', 'It cost 5,400.', '5000'],
    ['It is 3.1 m.', 'It is 3.2 m.', '3.1'],
    ['There were 3 people.', 'There were 2.9 people.', '3'],
    ['It opened in 1940.', 'It opened in 1940.4.', '1940'],
    ['About 1,200 came.', 'Exactly 1,251 came.', '1200'],
    ['It is 3 km long.', 'It is 3½ km long.', '3'],
  ])('%s is not found in: %s', (claim, source, value) => {
    expect(missing(claim, source)).toEqual([value]);
  });
});

describe('dates and quarters', () => {
  it.each([
    ['Sie fuhr am 14. März 1962 zuerst.', 'Sie fuhr am 14.03.1962 zuerst.'],
    ['Sie fuhr am 14.03.1962 zuerst.', 'Sie fuhr am 14. März 1962 zuerst.'],
    ['It opened on 27 May 1937.', 'Opened: 1937-05-27.'],
    ['It opened on 1937-05-27.', 'It opened on May 27, 1937.'],
    ['It opened on 5/27/1937.', 'It opened on May 27, 1937.'],
    ['In Q3 profit rose.', 'In the third quarter profit rose.'],
    ['In the third quarter profit rose.', 'In Q3 profit rose.'],
    ['In 3Q profit rose.', 'In Q3 profit rose.'],
  ])('%s is found in: %s', (claim, source) => {
    const evidence = gather(claim, source);
    expect(evidence.missing_numbers).toEqual([]);
    expect(evidence.missing_names).toEqual([]);
  });

  it('another month is another date, and another quarter another name', () => {
    expect(missing('Sie fuhr am 14.03.1962 zuerst.', 'Sie fuhr am 14. Juni 1962 zuerst.')).toEqual(['3']);
    expect(gather('It opened on 27 May 1937.', 'It opened on 27.06.1937.').missing_names).toHaveLength(1);
    expect(gather('In Q4 profit rose.', 'In Q3 profit rose.').missing_names).toHaveLength(1);
  });

  it('a version with points stays one number', () => {
    expect(missing('Version 1.2.3 is out.', 'Version 1.2.4 is out.')).toEqual(['1.2.3']);
  });
});

describe('a number with another currency, unit or sign is missing', () => {
  it.each([
    ['The grant was €6 million in 2021.', 'The grant was $6 million in 2021.', '6000000'],
    ['It cost A$5.', 'It cost US$5.', '5'],
    ['It cost 20 euros.', 'It cost 20 USD.', '20'],
    ['It is 5 km long.', 'It is 5 miles long.', '5'],
    ['It took 5 days.', 'It took 5 weeks.', '5'],
    ['It took 5 ms.', 'It took 5 s.', '5'],
    ['It weighs 5 pounds.', 'It weighs 5 kg.', '5'],
    ['It cost 50 cents.', 'It cost 50 euros.', '50'],
    ['It cost 5 yuan.', 'It cost 5 yen.', '5'],
    ['Costó 5 pesos.', 'Costó 5 euros.', '5'],
    ['Он весит 5 кг.', 'Он весит 5 т.', '5'],
    ['长度5公里。', '长度5米。', '5'],
    ['价格5元。', '价格5美元。', '5'],
    ['The change was 3%.', 'The change was -3%.', '3'],
    ['The change was -3%.', 'The change was 3%.', '3'],
    ['It was −5 °C at noon.', 'It was 5 °C at noon.', '5'],
    ['45% voted.', 'A share of 0.46 voted.', '45'],
    ['Revenue was $890M.', 'Revenue was $890,000.', '890000000'],
  ])('%s against: %s', (claim, source, value) => {
    const evidence = gather(claim, source);
    expect(evidence.missing_numbers.map((one) => one.value)).toEqual([value]);
    expect(supportVerdict(evidence.support)).not.toBe('full');
  });

  it.each([
    ['It cost US$5 million.', 'It cost $5 million.'],
    ['It cost 5 million euros.', 'It cost €5 million.'],
    ['It cost 5 million.', 'It cost €5 million.'],
    ['It cost USD 5 million.', 'It cost $5 million.'],
    ['It cost 5 pounds.', 'It cost £5.'],
    ['It weighs 5 pounds.', 'It weighs 5 lb.'],
    ['It cost ¥5.', 'It cost 5 yuan.'],
    ['Profit fell by 5%.', 'Profit changed by -5%.'],
    ['Profit: -5%.', 'Profit fell by 5 percent.'],
    ['It was -5 °C.', 'It was −5 °C.'],
    ['It lasted from 2019-2020.', 'It lasted from 2019 to 2020.'],
    ['It takes 3-5 people.', 'It takes 3 to 5 people.'],
    ['It cost 5 million dollars.', 'Rents were €5 million, and the bridge cost $5 million.'],
  ])('%s is found in: %s', (claim, source) => {
    expect(missing(claim, source)).toEqual([]);
  });
});

describe('digits of a name', () => {
  it.each([
    ['COVID-19 spread.', 'A virus spread.', 'COVID-19'],
    ['It uses 5G now.', 'It uses radio now.', '5'],
    ['It runs GPT-4 now.', 'It runs GPT-3 now.', '4'],
    ['The A4 is long.', 'The road is long.', 'A4'],
  ])('%s: a missing name, no missing number', (claim, source, name) => {
    const evidence = gather(claim, source);
    expect(evidence.missing_numbers).toEqual([]);
    expect(evidence.missing_names.map(({ start, end }) => claim.slice(start, end))).toEqual([name]);
  });

  it('a year after a prefix is a number', () => {
    expect(missing('Mid-1990s trams ran.', 'Trams ran.')).toEqual(['1990']);
  });
});

it.each(['constructor', 'toString', 'valueOf'])('the word %s after a number is no unit', (word) => {
  const text = `The class has 5 ${word} calls.`;
  expect(supportVerdict(gather(text, text).support)).toBe('full');
});
