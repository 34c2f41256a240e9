/** Where sentences end, and that splitting a text in steps gives the same sentences as splitting it at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SENTENCE_LOOKBACK,
  type SentenceState,
  settleSentence,
  splitFurther,
  splitSentences,
} from '../../../src/text/sentences.ts';
import type { Span } from '../../../src/text/span.ts';

const text = fc
  .array(
    fc.constantFrom(
      ...['It opened in 1937.', 'Dr.', 'approx.', 'U.S.', 'J.', '12.', '3)', '-', '#', '…', '。', '!”', '(', '[12]'],
      ...['---', '===', '***', '**', 'b**', '**B', '\n---\n', '**Rhine**\n'],
      ...['al.', 'v.', 'U.S.C.', '§', 'άν;', 'են:', '፡', '።', '.*', '19.', 'die 2.', '」', 'と'],
      ...['the', 'The', 'Mai', ' ', ' ', ' ', '\n', '\n', '\r\n', '\u2028', '\u3000'],
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''));

it('continues from any white space, with only SENTENCE_LOOKBACK units of the text before it', () => {
  fc.assert(
    fc.property(text, fc.nat(), (text, choice) => {
      const spaces = [...text.matchAll(/[ \u3000]/gu)].map(({ index }) => index + 1);
      const end = spaces[choice % Math.max(1, spaces.length)] ?? 0;
      const begin = text.length - text.trimStart().length;
      const state: SentenceState = { from: 0, at: begin, lineStart: begin, blockLine: null };
      const spans: Span[] = [];
      splitFurther(text, Math.max(end, begin), false, state, spans);
      settleSentence(text, state);

      const dropped = Math.max(0, state.at - SENTENCE_LOOKBACK);
      const kept = text.slice(dropped);
      const rest = {
        ...state,
        from: state.from - dropped,
        at: state.at - dropped,
        lineStart: state.lineStart - dropped,
      };
      const further: Span[] = [];
      splitFurther(kept, kept.length, true, rest, further);
      for (const span of further) spans.push({ start: span.start + dropped, end: span.end + dropped });
      const last = text.slice(rest.from + dropped).trim();
      if (last !== '') {
        const from = rest.from + dropped;
        const start = from + text.slice(from).indexOf(last);
        spans.push({ start, end: start + last.length });
      }
      expect(spans).toEqual(splitSentences(text));
    }),
    { numRuns: 5_000 },
  );
});

/** Texts of whole sentences, separated by ` | `. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'abbreviations of sources and firms': [
    'Roth et al. (2011) and Kim et al. Measured it.',
    'Roth et al. measured it. | The map shows it.',
    'It was shown by Roth et al. | The map shows it.',
    'Acme Inc. Chairman Ames left. | He had led Acme Inc. | The shares fell.',
  ],
  initials: [
    'Her name is Clara M. Voss.',
    'They moved to the U.S.A. | My aunt stayed.',
    'She met Malcolm X. | Today she teaches.',
    'Роман написал А. С. Пушкин. | Его читают.',
  ],
  law: [
    'The court heard Roe v. Stone first. | The judge agreed.',
    'In Roe v. The State it was heard.',
    'See 42 U.S.C. § 1983 and Fed. R. Civ. P. 12.',
    'See 347 U.S. 483 and 9th Cir. 2004. | It was upheld.',
    'He cited the U.S.C. | The court agreed.',
  ],
  German: [
    'Es gibt z. B. Brot. | Das kostet nichts.',
    'Sie wohnt in der Bahnhofstr. 5 in Bern. | Die Str. | Es ist rot.',
    'Im 19. Jahrhundert war es so. | Er starb im Jahr 44 v. Chr. | Danach kam Augustus.',
    'Sie wurde 19. | Der Preis stieg.',
    'Er kam in die 2. Liga und zum 3. Treffen. | Es waren die 2. | Die anderen kamen.',
    'Sie wiegt max. 5 kg. | Er war das Max. | Sie war da.',
  ],
  'French, Spanish, Italian': [
    'Il naquit en 44 av. J.-C. et mourut. | Elle vécut.',
    'Nació en EE. UU. | El año es desconocido.',
    'Hay pan, p. ej. Baguette. | Es rojo.',
    'Il sig. Rossi arrivò. | La casa era chiusa.',
  ],
  'stops of other scripts': [
    'ቤቱ ተሠራ። | ስፋቱ 3.5 ሜትር ነው፡፡ | የት ነው፧ | እሺ።',
    'ቤቱ፡በ1890፡ተሠራ።',
    'Πού είναι; | Είναι στη Βέρνη.',
    'Είναι εδώ; όχι.',
    'α; Β',
    'Կամուրջը բացվել է: | Այն երկար է։ | Վերջ։',
    'Կամուրջ: երկար',
    'ស្ពាននេះបើក។ | វាវែង៕',
    'တံတားကို ဖွင့်ခဲ့သည်။ | ၎င်းသည် ရှည်သည်။',
    'สะพานเปิดในปี ๒๔๘๐ ฯ๛ | สะพานยาว',
  ],
  'closing marks after the stop': [
    '**It opened in 1937.** | It is orange.',
    '(It opened in 1937.) | It is orange.',
    '«It opened in 1937.» | It is orange.',
    '《它于1937年开放。》 | 它是橙色的。',
    '「長い。」と言った。 | 川は長い。',
    '「長い。」 | 『広い。』 | 川だ。',
    'It opened in 1937.¹² | It is orange.',
    'It opened in 1937.[12] | It is orange.',
    'It is 3.5² km. | It is orange.',
  ],
  'abbreviations before a number, a title or an ampersand': [
    'Vgl. dazu Abb. 3 und Tab. 4. | Es gilt.',
    'Prof. Dr. med. Hans Meier kam. | Dipl. Ing. Kurt Fuchs ging.',
    'He went to Com. & Adm. in 1937.',
  ],
  'punctuation inside a sentence': [
    'It is red; It is long: Very long.',
    'It is 3.5 km. | No. 5 is red.',
    'It is red, see Equ. 3. | Il est. | Elle part.',
    'Il se trouve à l’est. | 30 communes le bordent. | Il est à l’est. | 1937 arrive.',
  ],
};

describe.each(Object.entries(SENTENCES))('%s', (_kind, texts) => {
  it.each(texts)('%s', (marked) => {
    const expected = marked.split(' | ');
    const text = expected.join(' ');
    expect(splitSentences(text).map(({ start, end }) => text.slice(start, end))).toEqual(expected);
  });
});

describe('abbreviations', () => {
  const sentencesOf = (text: string): string[] =>
    splitSentences(text, 0, text.length).map(({ start, end }) => text.slice(start, end));

  it.each([
    'Deutschland hat 83 Mio. Einwohner und 16 Länder.',
    'Der Umsatz lag bei 3 Mrd. Franken.',
    'Het kost 5 mln. Euro.',
    'Lt. Col. John Smith met Brig. Gen. Adams there.',
    'C. & N. W. Ry. Co. v. The People was decided then.',
    'It is in a letter (Phil. 4:8) of Paul.',
    'See Fig. 2 and ref. 4 for more.',
    'Tai pvz. Vilnius ir Kaunas.',
    'O Exmo. Sr. Silva falou.',
    'Der Hl. Nikolaus kommt im Winter.',
  ])('%s', (text) => {
    expect(sentencesOf(text)).toEqual([text]);
  });

  it.each([
    ['Es sind 5 Mio. Das ist viel.', 'Das ist viel.'],
    ['Es kostet 5 Mrd. Die Aare ist lang.', 'Die Aare ist lang.'],
    ['He lives with Phil. She knows.', 'She knows.'],
    ['There is no ref. Nobody knows it.', 'Nobody knows it.'],
  ])('%s ends two sentences', (text, last) => {
    expect(sentencesOf(text).at(-1)).toBe(last);
  });
});

it.each([
  ['a line of dashes', 'Rivers\n------\nIt is long.', ['Rivers', '------', 'It is long.']],
  ['a short one', 'It is red.\n---\nit is long.', ['It is red.', '---', 'it is long.']],
  ['equals signs', 'Rivers\n===\nIt is long.', ['Rivers', '===', 'It is long.']],
  ['stars with spaces', 'It is red\n*** \nit is long.', ['It is red', '***', 'it is long.']],
  ['a heading in bold', '**Rivers**\nIt is long.', ['**Rivers**', 'It is long.']],
  ['one with blanks behind it', '**Rivers**  \r\nIt is long.', ['**Rivers**', 'It is long.']],
  ['no bold line', '**Rivers** are\nIt.', ['**Rivers** are\nIt.']],
  ['a bold line that goes on', '**Rivers** are **red**\nand long.', ['**Rivers** are **red**\nand long.']],
  [
    'a long bold line',
    `**The Aare ${'is long '.repeat(5)}**\nIt is.`,
    [`**The Aare ${'is long '.repeat(5)}**\nIt is.`],
  ],
  ['dashes before text', 'It is\n--- long.', ['It is\n--- long.']],
  ['bold italics', 'It is\n***red*** and long.', ['It is\n***red*** and long.']],
  ['a dash', 'It is\n-- red -- and long.', ['It is\n-- red -- and long.']],
  ['stars alone', 'It is\n** red.', ['It is\n** red.']],
])('%s', (_, text, sentences) => {
  expect(splitSentences(text).map(({ start, end }) => text.slice(start, end))).toEqual(sentences);
});
