export type Kind = 'number' | 'unit' | 'name' | 'negation' | 'direction' | 'relation';

export type MinimalPair = {
  readonly kind: Kind;
  /** ISO 639-1. */
  readonly language: string;
  readonly source: string;
  readonly true: string;
  readonly false: string;
};

export const PLACES =
  'Velmere Ostrand Caldwick Torvan Merrow Quilby Hasten Drovina Pellworth Sandrake Ilmora Brevik'.split(' ');
export const PEOPLE =
  'Anna Keller,Tomas Varga,Ruth Osei,Pierre Lamont,Ingrid Solberg,Marco Bellini,Yusuf Demir,Clara Winter,Jonas Reuter,Elena Petrova,David Marsh,Nora Quinn'.split(
    ',',
  );

/** The item at a place of a list that is read in a circle. */
export function at<T>(items: readonly T[], place: number): T {
  const item = items[place % items.length];
  if (item === undefined) throw new RangeError('at: an empty list');
  return item;
}

/** A sentence with the slot `_`, filled with the right and with the wrong words. */
type Edit = readonly [kind: Kind, sentence: string, right: string, wrong: string];

/** English facts of one bridge. Each edit changes one slot of one sentence of the same source. */
function englishPairs(n: number): MinimalPair[] {
  const place = at(PLACES, n);
  const [person, other] = [at(PEOPLE, n), at(PEOPLE, n + 5)];
  const [town, otherTown] = [at(PLACES, n + 3), at(PLACES, n + 7)];
  const year = 1880 + 7 * n;
  const length = 210 + 13 * n;
  const cars = 4_000 + 350 * n;
  const edits: readonly Edit[] = [
    ['number', `The ${place} Bridge was opened in _`, `${year}`, `${year + 10}`],
    ['number', `The ${place} Bridge is _ metres long`, `${length}`, `${length + 100}`],
    ['number', 'The bridge carries _ cars a day', `${cars}`, `${cars + 1_000}`],
    ['number', 'The repair cost _ million euros', `${n + 12}`, `${n + 21}`],
    ['number', '_% of the cables were replaced', `${n + 31}`, `${n + 13}`],
    ['number', 'The towers have _ floors', `${n + 3}`, `${n + 4}`],
    ['number', `It lies _ kilometres from ${town}`, `${n + 14}.5`, `${n + 14}.8`],
    ['number', 'The bridge has _ arches', 'six', 'nine'],
    ['number', 'The work took _ years', 'three', 'seven'],
    ['unit', `The ${place} Bridge is ${length} _ long`, 'metres', 'feet'],
    ['unit', `The repair cost ${n + 12} million _`, 'euros', 'dollars'],
    ['unit', `It lies ${n + 14}.5 _ from ${town}`, 'kilometres', 'miles'],
    ['unit', `A cable weighs ${n + 21} _`, 'tonnes', 'kilograms'],
    ['unit', `The deck withstands ${n + 41} degrees _`, 'Celsius', 'Fahrenheit'],
    ['unit', `Painting takes ${n + 5} _`, 'weeks', 'days'],
    ['unit', `The crane lifts ${n + 2} _`, 'tonnes', 'pounds'],
    ['unit', `The toll is ${n + 4} _`, 'euros', 'cents'],
    ['unit', `The roadway is ${n + 9} _ wide`, 'metres', 'yards'],
    ['name', `The ${place} Bridge was designed by _`, person, at(PEOPLE, n + 8)],
    ['name', 'The bridge crosses the _ river', town, at(PLACES, n + 11)],
    ['name', 'The steel came from _', otherTown, at(PLACES, n + 9)],
    ['name', 'The mayor _ opened the bridge', other, at(PEOPLE, n + 2)],
    ['negation', `The ${place} Bridge _ closed in winter`, 'is not', 'is'],
    ['negation', 'The deck _ rebuilt after the flood', 'was never', 'was'],
    ['negation', 'The city _ a toll from cyclists', 'does not collect', 'collects'],
    ['negation', 'The towers _ lit at night', 'are', 'are not'],
    ['negation', 'The council _ the plan', 'approved', 'did not approve'],
    ['direction', 'Traffic _ after the repair', 'rose', 'fell'],
    ['direction', 'The toll was _ in spring', 'raised', 'lowered'],
    ['direction', `The bridge was finished _ the tunnel of ${town}`, 'before', 'after'],
    ['direction', 'The new deck is _ than the old one', 'heavier', 'lighter'],
  ];
  const source = edits.map(([, sentence, right]) => `${sentence.replace('_', right)}, says the yearbook.`).join(' ');
  const made = edits.map(([kind, sentence, right, wrong]) => ({
    kind,
    language: 'en',
    source,
    true: `${sentence.replace('_', right)}.`,
    false: `${sentence.replace('_', wrong)}.`,
  }));
  const relations = [
    ['supplies steel to', 'The firm'],
    ['bought', 'In May the company'],
    ['sued', 'The builder'],
    ['lies north of', 'The village'],
  ].map(([verb, who]) => ({
    kind: 'relation' as const,
    language: 'en',
    source: `${who} ${person} Works ${verb} ${town} Mills, says the yearbook.`,
    true: `${person} Works ${verb} ${town} Mills.`,
    false: `${town} Mills ${verb} ${person} Works.`,
  }));
  return [...made, ...relations];
}

/** Languages whose names and negations have templates. `{p}`: a person; `{c}`: a place. */
const OTHERS: readonly {
  readonly language: string;
  /** What a source adds to each sentence. */
  readonly tail: string;
  readonly people: readonly string[];
  readonly places: readonly string[];
  readonly names: readonly string[];
  /** A true sentence and its opposite. The source has the first. */
  readonly negations: readonly (readonly [string, string])[];
}[] = [
  {
    language: 'zh',
    tail: '，据年鉴记载',
    people: ['王晓明', '李建国', '张丽华', '陈志强', '刘德海'],
    places: ['青河', '白山', '临江', '东岭', '南浦'],
    names: ['{p}设计了{c}大桥', '{c}大桥由{p}主持修建', '{p}担任{c}的市长'],
    negations: [['{c}大桥冬季不关闭', '{c}大桥冬季关闭']],
  },
  {
    language: 'ja',
    tail: '、年鑑による',
    people: ['田中一郎', '佐藤恵子', '鈴木健太', '高橋美咲', '伊藤誠'],
    places: ['青川', '白山', '東浜', '南沢', '北原'],
    names: ['{p}が{c}橋を設計した', '{c}橋は{p}によって建設された', '{p}は{c}の市長である'],
    negations: [['{c}橋は冬に閉鎖されない', '{c}橋は冬に閉鎖される']],
  },
  {
    language: 'ko',
    tail: ', 연감에 따르면',
    people: ['김민수', '이서연', '박지훈', '최은정', '정우성'],
    places: ['청하', '백산', '동포', '남천', '북원'],
    names: ['{p}이 {c} 다리를 설계했다', '{c} 다리는 {p}의 지휘로 건설되었다', '{p}은 {c}의 시장이다'],
    negations: [
      ['{c} 다리는 겨울에 닫히지 않는다', '{c} 다리는 겨울에 닫힌다'],
      ['{p}은 {c} 시장이 아니다', '{p}은 {c} 시장이다'],
    ],
  },
  {
    language: 'ar',
    tail: '، حسب الكتاب السنوي',
    people: ['أحمد منصور', 'ليلى حداد', 'يوسف كريم', 'سعاد نجار', 'خالد رشيد'],
    places: ['الواحة', 'الصفا', 'النهرين', 'الرمال', 'البستان'],
    names: ['صمم {p} جسر {c}', 'بني جسر {c} بإشراف {p}', '{p} هو رئيس بلدية {c}'],
    negations: [
      ['لا يغلق جسر {c} في الشتاء', 'يغلق جسر {c} في الشتاء'],
      ['لم يوافق {p} على خطة {c}', 'وافق {p} على خطة {c}'],
    ],
  },
  {
    language: 'hi',
    tail: ', वार्षिकी के अनुसार',
    people: ['राजेश शर्मा', 'सुनीता वर्मा', 'अमित पटेल', 'कविता सिंह', 'विकास मेहता'],
    places: ['नीलपुर', 'श्वेतगढ़', 'पूर्वनगर', 'दक्षिणा', 'उत्तरपुर'],
    names: ['{p} ने {c} पुल बनाया', '{c} पुल का निर्माण {p} ने कराया', '{p} {c} के महापौर हैं'],
    negations: [
      ['{c} पुल सर्दियों में बंद नहीं होता', '{c} पुल सर्दियों में बंद होता है'],
      ['{p} {c} के महापौर नहीं हैं', '{p} {c} के महापौर हैं'],
    ],
  },
  {
    language: 'it',
    tail: ', secondo l’annuario',
    people: PEOPLE.slice(0, 5),
    places: PLACES.slice(0, 5),
    names: ['Il ponte di {c} fu progettato da {p}'],
    negations: [
      ['Il ponte di {c} non chiude in inverno', 'Il ponte di {c} chiude in inverno'],
      ['{p} non ha mai approvato il progetto di {c}', '{p} ha approvato il progetto di {c}'],
    ],
  },
  {
    language: 'pt',
    tail: ', segundo o anuário',
    people: PEOPLE.slice(0, 5),
    places: PLACES.slice(0, 5),
    names: ['A ponte de {c} foi projetada por {p}'],
    negations: [
      ['A ponte de {c} não fecha no inverno', 'A ponte de {c} fecha no inverno'],
      ['{p} nunca aprovou o projeto de {c}', '{p} aprovou o projeto de {c}'],
    ],
  },
];

function otherPairs({ language, tail, people, places, names, negations }: (typeof OTHERS)[number]): MinimalPair[] {
  const stop = language === 'zh' || language === 'ja' ? '。' : language === 'hi' ? '।' : '.';
  return places.flatMap((place, n) =>
    people.slice(0, 4).flatMap((person, m) => {
      const filled = (text: string, who: string): string => text.replace('{p}', who).replace('{c}', place) + stop;
      const stated = (text: string): string => filled(text + tail, person);
      const wrong = at(people, m + 1 + (n % 3));
      return [
        ...names.slice(0, 1).map((text) => ({ kind: 'name' as const, true: text, false: text, who: wrong })),
        ...negations.map(([right, opposite]) => ({
          kind: 'negation' as const,
          true: right,
          false: opposite,
          who: person,
        })),
      ].map(({ kind, who, ...pair }) => ({
        kind,
        language,
        // Another sentence might state the opposite of a negation.
        source: (kind === 'negation' ? [pair.true] : names).map(stated).join(' '),
        true: filled(pair.true, person),
        false: filled(pair.false, who),
      }));
    }),
  );
}

/** All pairs, the same at every call. */
export function minimalPairs(): MinimalPair[] {
  return [
    ...Array.from({ length: 2 * PLACES.length + 2 }, (_, n) => englishPairs(n)).flat(),
    ...OTHERS.flatMap(otherPairs),
  ];
}
