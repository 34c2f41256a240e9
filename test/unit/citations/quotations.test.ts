/** What an answer puts in quotation marks must be in a source that it cites. */
import { describe, expect, it } from 'vitest';
import { verifyCitations } from '../../../lib/verify.ts';
import { CLAIM_WRITERS } from '../../../src/citations/claim-writers.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { type SourceInput, sourcesFromList } from '../../../src/citations/sources.ts';
import { createIncrementalVerifier } from '../../../src/citations/stream/verifier.ts';
import type { VerifyInput } from '../../../src/citations/verify.ts';
import { ARTEFACTS } from '../judgments/page-artefacts.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';
import { SeededChoices } from '../seeded-random.ts';

const BRIDGE =
  'The old bridge was opened to the public in May 1937 after four years of difficult work. ' +
  'Its towers can be seen from every hill of the town.';
const FERRY = 'For thirty years a slow ferry carried workers, horses and mail across the strait.';
const SOURCES: readonly SourceInput[] = [
  { id: 'S1', text: BRIDGE, title: 'How we built and paid for the long bridge' },
  { id: 'S2', text: FERRY },
];

/** The findings about quotations of an answer with markers: reason, quoted text, and the source that has it. */
function found(response: string, more: Partial<VerifyInput> = {}): string[] {
  const input: VerifyInput = { response, sources: SOURCES, grammar: 'bracket', ...more };
  return verifyCitations(input, { evidence: 'lexical' }).findings.flatMap(({ reason, span, source }) => {
    if (!reason.startsWith('quotation_')) return [];
    const text = response.slice(span.start, span.end);
    return [`${reason.slice('quotation_'.length)}: ${text}${source === undefined ? '' : ` (source ${source})`}`];
  });
}

const TRUE_QUOTE = 'was opened to the public in May 1937 after four years';
const INVENTED = 'nobody ever paid the workers for their long nights';

describe('a quotation of the cited source is no finding', () => {
  it.each([
    [TRUE_QUOTE],
    ['Was opened to the PUBLIC in May 1937 after four years.'],
    ['was opened  to the\npublic in May 1937, after four years'],
    ['was **opened** to the public in May 1937 after four years'],
    ['The old bridge … in May 1937 after four years of difficult work'],
    ['The old bridge [...] in May 1937 after four years of difficult work'],
    ['The old bridge . . . in May 1937 after four years of difficult work'],
    ['The old bridge (...) in May 1937 after four years of difficult work'],
    ['[T]he old bridge was opened to the public in May 1937'],
    ['The old bridge was opened to the [astonished] public in May 1937'],
    ['[It] was opened to the public in May 1937 [sic] after four years'],
  ])('%s', (quote) => {
    expect(found(`It says: “${quote}” [S1].`)).toEqual([]);
  });

  it('nor one of a title, of the question, or of any source where nothing is cited', () => {
    expect(found('The page is “how we built and paid for the long bridge” [S2].')).toEqual([]);
    const question = `Why does the poem say that ${INVENTED}?`;
    expect(found(`The line “${INVENTED}” [S1] is a lie.`, { question })).toEqual([]);
    expect(found(`The line “${INVENTED}” [S1] is a lie.`)).toEqual([`invented: ${INVENTED}`]);
    expect(found(`The page says “${TRUE_QUOTE}”.`)).toEqual([]);
    expect(found(`The page says “${TRUE_QUOTE}” [S9].`)).toEqual([]);
  });

  it('nor one whose source has the artefacts of a converted page', () => {
    for (const [name, artefact] of Object.entries(ARTEFACTS)) {
      for (let seed = 0; seed < 20; seed++) {
        const text = artefact(BRIDGE, new SeededChoices(seed));
        expect(found(`It “${TRUE_QUOTE}” [S1].`, { sources: [{ id: 'S1', text }] }), `${name}: ${text}`).toEqual([]);
      }
    }
  });
});

describe('what differs', () => {
  it.each([
    ['invented', INVENTED],
    ['altered', 'was closed to the public in May 1937 after four years'],
    ['altered', 'was opened to the public in May 1938 after four years'],
    ['altered', 'was not opened to the public in May 1937 after four years'],
    ['altered', 'ridge was opened to the public in May 1937 after four years'],
    ['stitched', 'The old bridge was opened in May 1937 after four years'],
    ['stitched', 'in May 1937 after four years. The old bridge was opened'],
    ['altered', 'four years of difficult work … was opened to the public in May 1937 and closed'],
  ])('%s: %s', (kind, quote) => {
    expect(found(`It says: “${quote}” [S1].`)).toEqual([`${kind}: ${quote}`]);
  });

  it('is told of a short one if it is a clause: 7 words, 3 of them content words', () => {
    const sources = [{ id: 'S1', text: 'She said: We will not raise any taxes this year.' }];
    expect(found('She said “we will not raise any taxes this year” [S1].', { sources })).toEqual([]);
    const altered = 'we will now raise any taxes this year';
    expect(found(`She said “${altered}” [S1].`, { sources })).toEqual([`altered: ${altered}`]);
    expect(found('She said “we will raise the city taxes” [S1].', { sources })).toEqual([]);
  });

  it('is nothing if another source has it: then it is misattributed', () => {
    expect(found(`It says: “${TRUE_QUOTE}” [S2].`)).toEqual([`misattributed: ${TRUE_QUOTE} (source 0)`]);
    expect(found(`It says: “${TRUE_QUOTE}” [S2][S1].`)).toEqual([]);
  });

  it('is nothing if the page of a cited source has it in another source', () => {
    const url = 'https://example.com/bridge';
    const sources = [
      { id: 'S1', text: BRIDGE, url: `${url}?utm_source=x` },
      { id: 'S2', text: FERRY, url },
    ];
    expect(found(`It says: “${TRUE_QUOTE}” [S2].`, { sources })).toEqual([]);
  });

  it('is told for each citation within one pair of marks', () => {
    const response = `“The old bridge was opened to the public in May 1937 [S1]. ${FERRY.slice(0, -1)} [S1].”`;
    expect(found(response)).toEqual([expect.stringMatching(/^misattributed: .*carried workers.*\(source 1\)$/)]);
  });

  it('belongs to the claim that contains it', () => {
    const input: VerifyInput = { response: `It is old [S1]. It says “${INVENTED}” [S2].`, sources: SOURCES };
    const { claims, finding_counts } = verifyCitations({ ...input, grammar: 'bracket' }, { evidence: 'lexical' });
    expect(claims.map(({ findings }) => findings)).toEqual([
      expect.not.arrayContaining(['quotation_invented']),
      expect.arrayContaining(['quotation_invented']),
    ]);
    expect(finding_counts.quotation_invented).toBe(1);
    expect(verifyCitations(input, { evidence: 'none' }).finding_counts.quotation_invented).toBeUndefined();
  });
});

describe('quotation marks', () => {
  it.each([
    ['"', '"'],
    ['“', '”'],
    ['„', '“'],
    ['„', '”'],
    ['”', '”'],
    ['«', '»'],
    ['« ', ' »'],
    ['»', '«'],
    ['‹', '›'],
    ['‘', '’'],
    ["'", "'"],
    ['‚', '‘'],
    ['「', '」'],
    ['『', '』'],
    ['＂', '＂'],
  ])('%s…%s', (open, close) => {
    expect(found(`He wrote: ${open}${INVENTED}${close} [S1].`)).toEqual([`invented: ${INVENTED}`]);
    expect(found(`He wrote: ${open}${TRUE_QUOTE}${close} [S1].`)).toEqual([]);
  });

  it.each([
    ['他说“这座古老的大桥从来没有在一九三七年向公众开放过”[S1]。', '这座古老的大桥从来没有在一九三七年向公众开放过'],
    ['他說"這座古老的大橋從來沒有在一九三七年向公眾開放過"[S1]。', '這座古老的大橋從來沒有在一九三七年向公眾開放過'],
    [
      "他说'这座古老的大桥从来没有在一九三七年向公众开放过'然后离开[S1]。",
      '这座古老的大桥从来没有在一九三七年向公众开放过',
    ],
    ['彼は「この橋は一九三七年に一般公開されなかった」と言った[S1]。', 'この橋は一九三七年に一般公開されなかった'],
    [
      '그는 "이 다리는 천구백삼십칠년에 개통되지 않았다고"라고 말했다 [S1].',
      '이 다리는 천구백삼십칠년에 개통되지 않았다고',
    ],
    ['Он сказал: «никто никогда не платил рабочим за ночи» [S1].', 'никто никогда не платил рабочим за ночи'],
  ])('in scripts with and without spaces: %s', (response, quote) => {
    expect(found(response)).toEqual([`invented: ${quote}`]);
    expect(found(response, { sources: [{ id: 'S1', text: `A ${quote} B` }] })).toEqual([]);
    expect(found(response, { sources: [{ id: 'S1', text: `桥${quote}桥` }] })).toEqual([]);
  });

  it('block quotes', () => {
    expect(found(`The page:\n\n> ${INVENTED}\n> by night\n> — A. Writer\n\nThat is all [S1].`)).toEqual([
      `invented: > ${INVENTED}\n> by night`,
    ]);
    expect(found(`The page:\n\n> The old bridge ${TRUE_QUOTE}\n> of difficult work. [S1]\n`)).toEqual([]);
    expect(found(`> “${TRUE_QUOTE}” [S1]\n`)).toEqual([]);
    expect(found(`> [!NOTE]\n> ${INVENTED} [S1]\n`)).toEqual([]);
    expect(found(`> **Note:** ${INVENTED} [S1]\n`)).toEqual([]);
  });

  it('within a quotation belong to it', () => {
    const text = 'She said that “the slow ferry is the real old bridge” of every honest worker.';
    const sources = [{ id: 'S1', text }];
    expect(
      found(`“She said that ‘the slow ferry is the real old bridge’ of every honest worker” [S1]`, { sources }),
    ).toEqual([]);
    expect(
      found(`"She said that 'the slow ferry is the real new bridge' of every honest worker" [S1]`, { sources }),
    ).toEqual(["altered: She said that 'the slow ferry is the real new bridge' of every honest worker"]);
  });
});

describe('no quotation is', () => {
  it.each([
    ['a term', 'The “public private bridge model” is new [S1].'],
    ['a title', 'Her book “The Long Night of the Unpaid Bridge Workers” is new [S1].'],
    ['an apostrophe', "The workers' wages weren't paid; the town's mayor and the nurses' union didn't know it [S1]."],
    ['a shortened word', "In the '60s nobody paid rock 'n' roll bands or the workers' nights [S1]."],
    ['a plural', "He read 'the poor workers' houses by night and told nobody about any of it [S1]."],
    ['inches', `The 5'10" worker bought nobody paid pipes of 12" and 14" by night [S1].`],
    ['an attribute', '<a title="nobody ever paid the workers for their long nights">x</a> It is old [S1].'],
    ['an address', '"https://example.com/nobody-ever-paid-the-workers-for-long-nights" is a page [S1].'],
    ['code', `Write \`print("${INVENTED}")\` [S1].`],
    ['code in a fence', `It is old [S1].\n\n\`\`\`\nprint("${INVENTED}")\n\`\`\`\n`],
    ['a mark that is never closed', `It is 12 “ long.\n\nNobody ever paid the workers for their nights” [S1].`],
    ['the title in a list of sources', `It is old [1].\n\nSources:\n[1] "${INVENTED}", 1990\n`],
    ['outside the answer', `<think>“${INVENTED}”</think>It is old [S1].`],
  ])('%s', (_name, response) => {
    expect(found(response)).toEqual([]);
  });
});

it.each(GRAMMAR_NAMES)('are checked in every grammar, batch and stream: %s', (grammar) => {
  const ids = grammar === 'link' ? ['https://a.b/1', 'https://a.b/2'] : ['S1', 'S2'];
  const given = SOURCES.map((source, n) => ({ ...source, id: ids[n] ?? '' }));
  const write = CLAIM_WRITERS[grammar];
  const claims = [
    write({ text: `It says: “${TRUE_QUOTE}”.`, ids: [ids[0] ?? ''] }),
    `“${write({ text: INVENTED, ids: [ids[0] ?? ''] })}” was said.`,
    write({ text: `It says: “${TRUE_QUOTE}”.`, ids: [ids[1] ?? ''] }),
  ];
  const response = `<answer>${claims.join(' Really. ')}</answer>`;
  const options = { grammar, answer: 'first' } as const;
  const expected = ['quotation_invented', 'quotation_misattributed'];
  const batch = verifyCitations({ response, sources: given, ...options }, { evidence: 'lexical' });
  const isQuotation = ({ reason }: { reason: string }) => reason.startsWith('quotation_');
  expect(batch.findings.filter(isQuotation).map(({ reason, claim }) => [reason, claim])).toEqual([
    [expected[0], 1],
    [expected[1], 2],
  ]);
  const verifier = createIncrementalVerifier({ sources: sourcesFromList(given), evidence: 'lexical', ...options });
  const events = [...response].flatMap((unit) => verifier.push(unit)).concat(verifier.finish().events);
  const streamed = events.flatMap((event) => (event.type === 'finding' && isQuotation(event) ? [event] : []));
  expect(streamed.map(({ reason, span }) => ({ reason, span }))).toEqual(
    batch.findings.filter(isQuotation).map(({ reason, span }) => ({ reason, span })),
  );
});

describe('limits', () => {
  it('64 quotations of an answer are checked', () => {
    const response = Array.from({ length: 70 }, (_, n) => `“${INVENTED} ${n}” [S1].`).join(' ');
    expect(found(response)).toHaveLength(64);
  });

  it('fewer with large sources, and none with sources of more than 2 million characters', () => {
    const response = `“${INVENTED}” [S1]. “${INVENTED} again” [S1]. “${INVENTED} too” [S1].`;
    const sized = (units: number) => [{ id: 'S1', text: 'word '.repeat(units / 5) }];
    expect(found(response, { sources: sized(4_000_000 / 2) })).toHaveLength(3);
    expect(found(response, { sources: sized(2_000_100) })).toEqual([]);
  });

  it.each([
    ['open marks', '“a '],
    ['marks of several kinds', `'a "b «c ‘d `],
    ['short quotations', '“a” '],
    ['empty quotations', '""'],
    ['long quotations', '“a b c d e f” '],
    ['block quotes', '> a “b”\n'],
    ['lines of one block quote', '\n> a b c'],
    ['ellipses', '. . .'],
    ['brackets', '“[a] b … '],
    ['blank lines', '\n  \n'],
  ])('time is linear: %s', (_name, unit) => {
    const text = (chars: number) => `x [S1] ${unit.repeat(Math.ceil(chars / unit.length))}`;
    expectLinear((response: string) => found(response), text(80_000 / GROWTH), text(80_000));
  });

  it('time is linear in sources that nearly match everywhere', () => {
    const response = Array.from({ length: 20 }, (_, n) => `“${'aa '.repeat(40)}b c d e f ${n}” [S1].`).join(' ');
    const sources = (chars: number) => [{ id: 'S1', text: 'aa '.repeat(chars / 3) }];
    expectLinear(
      (given: SourceInput[]) => found(response, { sources: given }),
      sources(160_000 / GROWTH),
      sources(160_000),
    );
  });
});
