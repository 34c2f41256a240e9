/** Pairs of tried-pairs.ts in other languages than English: a negation that only the source or only the claim has. */
import type { MinimalPair } from './minimal-pairs.ts';

/** By language: people, places, and negations as what a source says, a true claim and a false one. */
const OTHERS: readonly {
  readonly language: string;
  readonly people: string;
  readonly places: string;
  readonly negations: readonly (readonly [source: string, right: string, wrong: string])[];
}[] = [
  {
    language: 'de',
    people: 'Jonas Reuter,Clara Winter,Anna Keller',
    places: 'Altenau,Birkheim,Kesselbach',
    negations: [
      [
        '{p} hat den Vertrag mit {c} nie unterschrieben, so der Bericht',
        '{p} hat den Vertrag nie unterschrieben',
        '{p} hat den Vertrag unterschrieben',
      ],
      [
        'In {c} gibt es laut Bericht kein Krankenhaus',
        'Es gibt in {c} kein Krankenhaus',
        'Es gibt in {c} ein Krankenhaus',
      ],
      [
        'Das Museum in {c} öffnet laut Bericht auch montags',
        'Das Museum in {c} öffnet montags',
        'Das Museum in {c} öffnet montags nicht',
      ],
    ],
  },
  {
    language: 'fr',
    people: 'Pierre Lamont,Claire Duval,Nora Quinn',
    places: 'Montval,Bellerive,Sauvigny',
    negations: [
      [
        "Selon le rapport, {p} n'a jamais signé le contrat avec {c}",
        "{p} n'a jamais signé le contrat",
        '{p} a signé le contrat',
      ],
      [
        "Il n'y a aucun hôpital dans la ville de {c}, selon le rapport",
        "Il n'y a aucun hôpital dans la ville de {c}",
        'Il y a un hôpital dans la ville de {c}',
      ],
      [
        'Selon le rapport, le musée de {c} ouvre aussi le lundi',
        'Le musée de {c} ouvre le lundi',
        "Le musée de {c} n'ouvre pas le lundi",
      ],
    ],
  },
  {
    language: 'es',
    people: 'Marta Ruiz,Pablo Herrera,Elena Soto',
    places: 'Montalva,Ribera,Castromar',
    negations: [
      ['Según el informe, {p} nunca firmó el contrato con {c}', '{p} nunca firmó el contrato', '{p} firmó el contrato'],
      [
        'En la ciudad de {c} no hay hospital, según el informe',
        'No hay hospital en la ciudad de {c}',
        'Hay un hospital en la ciudad de {c}',
      ],
      [
        'El museo de {c} abre también los lunes, según el informe',
        'El museo de {c} abre los lunes',
        'El museo de {c} no abre los lunes',
      ],
    ],
  },
  {
    language: 'it',
    people: 'Marco Bellini,Giulia Conti,Paolo Ferri',
    places: 'Montalto,Rivabella,Castelmare',
    negations: [
      [
        'Secondo il rapporto {p} non ha mai firmato il contratto con {c}',
        '{p} non ha mai firmato il contratto',
        '{p} ha firmato il contratto',
      ],
      [
        'Nella città di {c} non c’è nessun ospedale, secondo il rapporto',
        'Non c’è nessun ospedale nella città di {c}',
        'C’è un ospedale nella città di {c}',
      ],
      [
        'Il museo di {c} apre anche il lunedì, secondo il rapporto',
        'Il museo di {c} apre il lunedì',
        'Il museo di {c} non apre il lunedì',
      ],
    ],
  },
  {
    language: 'pt',
    people: 'Rui Santos,Beatriz Lima,Tiago Rocha',
    places: 'Montalvo,Ribeirinha,Castromar',
    negations: [
      [
        'Segundo o relatório, {p} nunca assinou o contrato com {c}',
        '{p} nunca assinou o contrato',
        '{p} assinou o contrato',
      ],
      [
        'Na cidade de {c} não há nenhum hospital, segundo o relatório',
        'Não há hospital na cidade de {c}',
        'Há um hospital na cidade de {c}',
      ],
      [
        'O museu de {c} também abre às segundas, segundo o relatório',
        'O museu de {c} abre às segundas',
        'O museu de {c} não abre às segundas',
      ],
    ],
  },
  {
    language: 'ru',
    people: 'Иван Орлов,Мария Белова,Олег Фомин',
    places: 'Заречье,Белогорск,Сосновка',
    negations: [
      [
        'Согласно отчёту, {p} никогда не подписывал договор',
        '{p} никогда не подписывал договор',
        '{p} подписывал договор',
      ],
      ['По данным отчёта, город {c} не имеет больницы', 'Город {c} не имеет больницы', 'Город {c} имеет больницы'],
      [
        'Музей города {c} открыт и в понедельник, сообщает отчёт',
        'Музей города {c} открыт в понедельник',
        'Музей города {c} не открыт в понедельник',
      ],
    ],
  },
  {
    language: 'zh',
    people: '赵文静,孙立平,周国华',
    places: '长宁,安平,永康',
    negations: [
      ['报告指出，{p}从未签署{c}的合同', '{p}从未签署{c}的合同', '{p}签署了{c}的合同'],
      ['报告指出，{c}市没有医院', '{c}市没有医院', '{c}市有医院'],
      ['报告指出，{c}博物馆星期一也开放', '{c}博物馆星期一开放', '{c}博物馆星期一不开放'],
    ],
  },
  {
    language: 'ja',
    people: '山本太郎,中村花子,小林誠',
    places: '長野原,安平,永山',
    negations: [
      ['報告書によれば、{p}は契約に署名しなかった', '{p}は契約に署名しなかった', '{p}は契約に署名した'],
      ['報告書によれば、{c}市には病院がない', '{c}市には病院がない', '{c}市には病院がある'],
      [
        '報告書によれば、{c}の美術館は月曜日も開いている',
        '{c}の美術館は月曜日に開いている',
        '{c}の美術館は月曜日に開いていない',
      ],
    ],
  },
  {
    language: 'ko',
    people: '강동원,윤미래,한지민',
    places: '장평,안양,영주',
    negations: [
      ['보고서에 따르면 {p}은 계약에 서명하지 않았다', '{p}은 계약에 서명하지 않았다', '{p}은 계약에 서명했다'],
      ['보고서에 따르면 {c} 시에는 병원이 없다', '{c} 시에는 병원이 없다', '{c} 시에는 병원이 있다'],
      [
        '보고서에 따르면 {c} 박물관은 월요일에도 연다',
        '{c} 박물관은 월요일에 연다',
        '{c} 박물관은 월요일에 열지 않는다',
      ],
    ],
  },
  {
    language: 'ar',
    people: 'محمود سالم,طارق يونس,هدى ناصر',
    places: 'الزهراء,المروج,النخيل',
    negations: [
      ['ذكر التقرير أن {p} لم يوقع العقد مع {c}', '{p} لم يوقع العقد مع {c}', '{p} يوقع العقد مع {c}'],
      ['لا يوجد مستشفى في مدينة {c}، كما ذكر التقرير', 'لا يوجد مستشفى في مدينة {c}', 'يوجد مستشفى في مدينة {c}'],
      [
        'يفتح متحف {c} أبوابه يوم الاثنين، كما ذكر التقرير',
        'يفتح متحف {c} أبوابه يوم الاثنين',
        'لا يفتح متحف {c} أبوابه يوم الاثنين',
      ],
    ],
  },
  {
    language: 'hi',
    people: 'मोहन गुप्ता,सुरेश यादव,मीना जोशी',
    places: 'रामनगर,सोनपुर,हरिपुर',
    negations: [
      ['रिपोर्ट के अनुसार {p} ने अनुबंध पर हस्ताक्षर नहीं किए', '{p} ने अनुबंध पर हस्ताक्षर नहीं किए', '{p} ने अनुबंध पर हस्ताक्षर किए'],
      ['रिपोर्ट के अनुसार {c} शहर में कोई अस्पताल नहीं है', '{c} शहर में अस्पताल नहीं है', '{c} शहर में अस्पताल है'],
      [
        'रिपोर्ट के अनुसार {c} का संग्रहालय सोमवार को भी खुलता है',
        '{c} का संग्रहालय सोमवार को खुलता है',
        '{c} का संग्रहालय सोमवार को नहीं खुलता है',
      ],
    ],
  },
];

function otherPairs({ language, people, places, negations }: (typeof OTHERS)[number]): MinimalPair[] {
  const stop = language === 'zh' || language === 'ja' ? '。' : language === 'hi' ? '।' : '.';
  return places.split(',').flatMap((place) =>
    people.split(',').flatMap((person) => {
      const filled = (text: string): string => text.replace('{p}', person).replace('{c}', place) + stop;
      return negations.map(([source, right, wrong]) => ({
        kind: 'negation' as const,
        language,
        source: filled(source),
        true: filled(right),
        false: filled(wrong),
      }));
    }),
  );
}

/** All pairs, the same at every call. */
export function triedNegations(): MinimalPair[] {
  return OTHERS.flatMap(otherPairs);
}
