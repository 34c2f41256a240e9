/** The link grammar: Markdown links and notes as citations. */
import { describe, expect, it } from 'vitest';
import { readCitedAnswer } from '../../../src/citations/formats/read-answer.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { type SourceInput, sourcesFromList } from '../../../src/citations/sources.ts';
import { createIncrementalVerifier } from '../../../src/citations/stream/verifier.ts';
import type { ParsedResponse } from '../../../src/citations/types.ts';
import { describeResponse } from '../../../src/citations/verify.ts';

const SOURCES: readonly SourceInput[] = [
  { id: 'S1', url: 'https://example.com/a', text: 'The bridge opened in 1937.' },
  { id: 'https://example.com/b_(bridge)', text: 'It is red.' },
];

const parse = (response: string, sources = SOURCES): ParsedResponse =>
  parseResponse(response, sourcesFromList(sources), { grammar: 'link' });

/** Each claim with its ids: `claim <- id, id`. */
const brief = ({ claims }: ParsedResponse): string[] =>
  claims.map(({ text, ids }) => `${text} <- ${ids.map(({ id }) => id).join(', ')}`);
const reasons = ({ findings }: ParsedResponse): string[] => findings.map(({ reason }) => reason);
const uncited = ({ statements }: ParsedResponse): string[] => statements.map(({ text }) => text);

const A = 'https://example.com/a';
const B = 'https://example.com/b_(bridge)';

describe('what a link cites', () => {
  it.each<[string, readonly string[]]>([
    // A label after the claim.
    [`It opened in 1937 ([BBC](${A})). It is red [2](${B}).`, ['It opened in 1937 <- S1', `It is red <- ${B}`]],
    [`It opened in 1937. ([example.com](${A}))`, ['It opened in 1937. <- S1']],
    [`It opened in 1937. [BBC](${A})\nIt is red [[2](${B})]`, ['It opened in 1937. <- S1', `It is red <- ${B}`]],
    [`It opened in 1937.[BBC](${A}) It is red [[2]](${B}).`, ['It opened in 1937. <- S1', `It is red <- ${B}`]],
    [`It opened in 1937 ([BBC](${A}), [CNN](${B})).`, [`It opened in 1937 <- S1, ${B}`]],
    [`It opened in 1937 ([BBC](${A})) ([CNN](${B})).`, [`It opened in 1937 <- S1, ${B}`]],
    // A link around the claim or a part of it.
    [`[It opened in 1937](${A}). It [is red](${B}).`, ['It opened in 1937 <- S1', `It is red <- ${B}`]],
    [`According to [the BBC](${A}), it opened in 1937.`, ['According to the BBC, it opened in 1937. <- S1']],
    [`It [opened](${A}) in 1937 and [is red](${B}).`, ['It opened in 1937 and <- S1', `is red <- ${B}`]],
    [`It [opened in 1937](${A}) [1](${B}).`, [`It opened in 1937 <- S1, ${B}`]],
    [`It [opened in 1937](${A}) and is red [1](${B}).`, ['It opened in 1937 <- S1', `and is red <- ${B}`]],
    // Addresses.
    [`It is red [1](<${B}>). It opened [2](${A} "BBC").`, [`It is red <- ${B}`, 'It opened <- S1']],
    [`It opened [1](https://example.com/x?a[0]=1).`, ['It opened <- https://example.com/x?a[0]=1']],
    // Full width.
    [
      `大桥于1937年开放（[来源](${A})）。大桥是红色的【[2](${B})】。`,
      ['大桥于1937年开放 <- S1', `大桥是红色的 <- ${B}`],
    ],
    [`大桥是红色的［2］（https://example.com/路（一））。`, ['大桥是红色的 <- https://example.com/路（一）']],
    [`大桥于1937年开放[1](${A})，[2](${B})。`, [`大桥于1937年开放 <- S1, ${B}`]],
    // No citations.
    ['See [the page](/a), [mail](mailto:a@b.c), [sic] and [2024].', []],
    [`![It opened in 1937](${A})`, []],
  ])('%s', (response, expected) => {
    expect(brief(parse(response))).toEqual(expected);
  });

  it('cites all sources of a page, which count as one address', () => {
    const sources = Array.from({ length: 7 }, (_, n) => ({ id: `S${n}`, url: A, text: 'It opened in 1937.' }));
    const parsed = parse(`It opened in 1937 [1](${A}).`, sources);
    expect(parsed.claims[0]?.ids.map(({ source }) => source)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(reasons(parsed)).toEqual([]);
  });

  it('gives the place of the address, and of the claim in the response', () => {
    const response = `So [it opened](${A}) in 1937.`;
    const [claim] = parse(response).claims;
    expect(response.slice(claim?.ids[0]?.span.start, claim?.ids[0]?.span.end)).toBe(A);
    expect(response.slice(claim?.span.start, claim?.span.end)).toBe(response);
  });
});

describe('a link to a mark of its own page', () => {
  it.each<[string, readonly string[]]>([
    ['It opened in 1937 [2](#S1).', ['It opened in 1937 <- S1']],
    ['[It opened in 1937](#S1). It is red.', ['It opened in 1937 <- S1']],
    [`It opened in 1937 [1](#S1) [2](${B}).`, [`It opened in 1937 <- S1, ${B}`]],
    ['It opened in 1937 [7](#fn7).', ['It opened in 1937 <- 7']],
    ['See [the history](#history), [top](#) and [3](#a b).', []],
  ])('%s', (response, expected) => {
    expect(brief(parse(response))).toEqual(expected);
  });

  it('is read in Markdown with the sources of the request', () => {
    const read = readCitedAnswer('It opened in 1937 [2](#S1).', 'markdown', sourcesFromList(SOURCES));
    expect(read.ok && read.value.response).toBe('<answer><snippet id="S1">It opened in 1937</snippet>.</answer>');
  });
});

describe('a broken link', () => {
  it.each<[string, readonly string[]]>([
    [`It is red [1](https://x.y/(z. It opened [2](${A}).`, ['It opened <- S1']],
    [`It is red [1](https://x.y [2](${A}).`, ['It is red [1](https://x.y <- S1']],
    [`It is red [1](https://x.y\n\nIt opened [2](${A}).`, ['It opened <- S1']],
    [`It is red [1](https://). It opened [2](${A}).`, ['It opened <- S1']],
    [`It is [red [1](${A})](https://x.y).`, ['It is [red <- S1']],
  ])('%s swallows no later one', (response, expected) => {
    const parsed = parse(response);
    expect(brief(parsed)).toEqual(expected);
    expect(reasons(parsed)).toEqual(['citation_id_malformed']);
  });
});

describe('numbered notes', () => {
  it.each([
    `## References\n\n1. BBC: ${A}\n2. [The bridge](${B})`,
    `Sources:\n[1] ${A}.\n[2] <${B}>`,
    `**参考文献：**\n[1]：${A}，2020。\n【2】${B}`,
    `### Quellen\n- [^1]: ${A}\n- [^2]: ${B}\n`,
    `Références\n1. BBC, The bridge\n   ${A}\n2) ${B}`,
  ])('are resolved by %j', (section) => {
    const parsed = parse(`It opened in 1937 [1]. It is red [1, 2].\n\n${section}`);
    expect(brief(parsed)).toEqual(['It opened in 1937 <- S1', `It is red <- S1, ${B}`]);
    expect(reasons(parsed)).toEqual([]);
    expect(uncited(parsed)).toEqual([]);
  });

  it('take full-width separators', () => {
    expect(brief(parse(`大桥于1937年开放【1，2】。\n\n来源\n1、${A}\n2、${B}`))).toEqual([
      `大桥于1937年开放 <- S1, ${B}`,
    ]);
  });

  it('are unknown without an entry, and may be the ids of sources', () => {
    const parsed = parse('It opened in 1937 [1]. It is red [2].', [{ id: '1', text: 'It opened in 1937.' }]);
    expect(brief(parsed)).toEqual(['It opened in 1937 <- 1', 'It is red <- 2']);
    expect(reasons(parsed)).toEqual(['citation_id_unknown']);
  });

  it('find no references in prose under such a heading', () => {
    const prose = 'The bridge was built by many workers.';
    expect(
      uncited(parse(`It opened [1](${A}).\n\n## Notes\n\n${prose}\n1. It also has six lanes today.`)),
    ).toHaveLength(2);
    expect(uncited(parse(`It opened [1](${A}).\n\n## Sources\n[1] ${A}\n\n${prose}`))).toContain(prose);
  });
});

it('is read in a stream when the answer ends', () => {
  const sources = sourcesFromList(SOURCES);
  const verifier = createIncrementalVerifier({ sources, grammar: 'link' });
  const before = verifier.push(`It opened in 1937 [1].\n\nSources:\n[1] ${A}`);
  expect(before.map(({ type }) => type)).toEqual(['answer']);
  const { events, parsed } = verifier.finish();
  expect(events).toContainEqual(expect.objectContaining({ type: 'claim', text: 'It opened in 1937' }));
  expect(brief(parsed)).toEqual(['It opened in 1937 <- S1']);
});

describe('the spelling of an address', () => {
  it('is normalised, and another spelling than the source’s is a finding', () => {
    const parsed = parse(`It opened in 1937 [1](HTTPS://Example.com:443/a/#top). It is long [2](${A}).`);
    expect(brief(parsed)).toEqual(['It opened in 1937 <- S1', 'It is long <- S1']);
    expect(reasons(parsed)).toEqual(['citation_url_alias']);
    expect(parsed.format).toEqual({ answer_only: 1, full: 1 });
  });

  it('may have another scheme, and the prefix of a browser', () => {
    const parsed = parse(`It opened in 1937 [1](http://example.com/a). It is red [2](view-source:${B}).`);
    expect(brief(parsed)).toEqual(['It opened in 1937 <- S1', `It is red <- ${B}`]);
    expect(reasons(parsed)).toEqual(['citation_url_alias', 'citation_url_alias']);
    const unknown = parse('It opened [1](http://x.y/a). It is red [2](https://x.y/a/).');
    expect(brief(unknown)).toEqual(['It opened <- http://x.y/a', 'It is red <- http://x.y/a']);
  });

  it('of one unknown page makes one id', () => {
    const response = 'It opened [1](https://x.y/a), [2](https://x.y/a/). It is red [3](https://x.y/a#b).';
    const parsed = parse(response);
    expect(brief(parsed)).toEqual(['It opened <- https://x.y/a', 'It is red <- https://x.y/a']);
    expect(reasons(parsed)).toEqual([
      'citation_id_unknown',
      'citation_url_alias',
      'citation_id_repeated',
      'citation_url_alias',
      'citation_id_unknown',
    ]);
    expect(
      describeResponse(response, parsed, sourcesFromList([]), { mode: 'full', evidence: 'none' }).ratios.distinct_ids,
    ).toBe(1);
  });

  it('is a finding in a cited answer too, which may hold what its vendor added', () => {
    const sources = sourcesFromList([{ id: A, text: 'The bridge opened in 1937.' }]);
    const read = readCitedAnswer(`It opened in 1937 [1](${A}?utm_source=openai).`, 'markdown', sources);
    if (!read.ok) throw new Error('expected an answer');
    const { claims, counts } = parseResponse(read.value.response, sources);
    expect(read.value.findings).toEqual([]);
    expect(claims.map(({ ids }) => ids.map(({ id, source }) => [id, source]))).toEqual([[[A, 0]]]);
    expect(counts).toEqual({ citation_url_alias: 1 });
  });

  it('may be a DOI', () => {
    const sources = [{ id: 'doi:10.1000/abc', text: 'It opened in 1937.' }];
    const parsed = parse('It opened in 1937 [1](https://dx.doi.org/10.1000/ABC).', sources);
    expect(brief(parsed)).toEqual(['It opened in 1937 <- doi:10.1000/abc']);
    expect(reasons(parsed)).toEqual(['citation_url_alias']);
    const cited = parseResponse('It opened [https://doi.org/10.1000/abc].', sourcesFromList(sources), {
      grammar: 'bracket',
    });
    expect(brief(cited)).toEqual(['It opened <- doi:10.1000/abc']);
  });

  it('keeps pages apart that only look alike', () => {
    expect(brief(parse('It opened [1](https://example.com/A).'))).toEqual(['It opened <- https://example.com/A']);
  });
});
