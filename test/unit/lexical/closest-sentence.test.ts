/** The closest sentence of a source decides: another number, or a negation on one side only, is no full support. */
import { describe, expect, it } from 'vitest';
import { gatherEvidence, indexSources, supportVerdict } from '../../../src/lexical/index.ts';

function verdict(claim: string, ...sources: readonly string[]): string {
  const index = indexSources(sources.map((text) => ({ text })));
  const cited = sources.map((_, source) => source);
  return supportVerdict(gatherEvidence(index, claim, cited).support);
}

describe('a number of another sentence', () => {
  it.each([
    ['The bridge has nine arches.', 'The bridge has six arches, says the council. Its nine lamps burn at night.'],
    ['The trial lasted 7 months.', 'The trial lasted 7 weeks, says the report. Of its patients 7 left.'],
    ['Sales rose to 42 million euros.', 'Sales rose to 24 million euros, says the firm. It has 42 million users.'],
    ['Five firms signed the letter.', 'Seven firms signed the letter, the paper says. Five others read it.'],
  ])('%s is not what is said: %s', (claim, source) => {
    expect(verdict(claim, source)).not.toBe('full');
  });

  it.each([
    ['The farm has 12 horses.', 'The farm has 40 cows and 12 horses.'],
    ['60 firms grew.', 'Of the 80 firms 20 failed. The rest, 60 firms, grew.'],
    ['The tower is 210 metres tall and has 45 floors.', 'The tower, by 3 firms, is 210 metres tall. It has 45 floors.'],
    ['Revenue grew 12% to $4 million in 2023.', 'In 2023 revenue grew 12%. At $4 million it was up from $3 million.'],
    ['The museum shows 400 works in 3 halls.', 'The museum has 3 halls. It shows 400 works of 90 painters.'],
    ['It opened on 3 May 1937.', 'It opened on 3 May 1937, with 12 lamps.'],
  ])('%s is said: %s', (claim, source) => {
    expect(verdict(claim, source)).toBe('full');
  });
});

describe('a negation on one side only', () => {
  it.each([
    ['The drug causes fever.', 'The drug is safe and does not cause fever.'],
    ['The drug does not cause fever.', 'The drug causes fever, say doctors, and is not safe.'],
    ['The bridge opened in May.', 'The bridge did not open in May but in June.'],
    ['The bridge was closed in winter.', 'The bridge was not closed in winter, but the bridge was repainted.'],
    ['Das Museum öffnet montags.', 'Das Museum öffnet nicht montags, sondern dienstags.'],
    ['Le pont ferme en hiver.', 'Le pont ne ferme pas en hiver, selon la ville.'],
    ['Il museo apre il lunedì.', 'Il museo non apre il lunedì, dice la città.'],
    ['O museu abre às segundas.', 'O museu não abre às segundas, diz a cidade.'],
    ['Музей открыт зимой.', 'Музей не открыт зимой, но открыт летом.'],
    ['大桥冬季关闭。', '大桥冬季不关闭，市长说。'],
    ['橋は冬に閉鎖される。', '橋は冬に閉鎖されない、と市長は言う。'],
    ['박물관은 월요일에 연다.', '박물관은 월요일에 열지 않는다, 시가 말했다.'],
    ['يغلق الجسر في الشتاء.', 'لا يغلق الجسر في الشتاء، حسب الصحيفة.'],
    ['पुल सर्दियों में बंद होता है।', 'पुल सर्दियों में बंद नहीं होता है, अखबार ने बताया।'],
  ])('%s is not what is said: %s', (claim, source) => {
    expect(verdict(claim, source)).not.toBe('full');
  });

  it.each([
    ['The bridge opened in June.', 'The bridge did not open in May but in June.'],
    ['The bus arrived late at the station.', 'The train was not late, but the bus arrived late at the station.'],
    ['The bridge opened in 1937.', 'The bridge did not open until 1937, the council said.'],
    ['The law bans smoking.', 'The law not only bans smoking but also limits advertising.'],
    ['The treaty was never ratified.', 'The treaty failed to be ratified.'],
    ['The town has 400 residents.', 'The town, which has no school, has 400 residents.'],
    ['Das Museum zeigt Bilder.', 'Das Museum zeigt nicht nur Bilder, sondern auch Filme, so die Stadt.'],
    ['Le musée ouvre le lundi.', "Le musée n'ouvre que le lundi, selon la ville."],
    ['El museo muestra cuadros.', 'El museo no solo muestra cuadros, sino también películas.'],
    ['Музей показывает картины.', 'Музей показывает не только картины, но и фильмы.'],
    ['المتحف مفتوح للزوار.', 'لا يزال المتحف مفتوح للزوار في المدينة.'],
    ['संग्रहालय चित्र दिखाता है।', 'संग्रहालय न केवल चित्र दिखाता है बल्कि फ़िल्में भी।'],
    ['박물관은 그림을 전시한다.', '박물관은 그림뿐만 아니라 영화도 전시한다.'],
    ['博物馆展出画作。', '博物馆不仅展出画作，还展出电影。'],
  ])('%s is said: %s', (claim, source) => {
    expect(verdict(claim, source)).toBe('full');
  });
});

it('takes the source that says the same, of several that are as close', () => {
  const denied = 'The bridge is not closed in winter, says the council.';
  const stated = 'The bridge is closed in winter, says the council.';
  expect(verdict('The bridge is closed in winter.', denied)).not.toBe('full');
  expect(verdict('The bridge is closed in winter.', denied, stated)).toBe('full');
  expect(verdict('The bridge is closed in winter.', stated, denied)).toBe('full');
});
