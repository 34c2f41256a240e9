import { describe, expect, it } from 'vitest';
import type { GrammarName } from '../../../src/citations/grammars.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import type { FindingReason, ParsedResponse, SourceSet } from '../../../src/citations/types.ts';

const SOURCES = sourcesFromList(
  ['S1', 'S2', 'S3', 'doc-4', '源1', 'a b'].map((id) => ({ id, text: `Text of ${id} about the bridge.` })),
);

function parse(response: string, options: Parameters<typeof parseResponse>[2] = {}): ParsedResponse {
  return parseResponse(response, SOURCES, options);
}

function reasons(parsed: ParsedResponse): FindingReason[] {
  return parsed.findings.map((finding) => finding.reason);
}

function claims(parsed: ParsedResponse): [string, string[]][] {
  return parsed.claims.map((claim) => [claim.text, claim.ids.map(({ id }) => id)]);
}

describe('claims of the snippet grammar', () => {
  it.each<[string, string, [string, string[]][]]>([
    ['unquoted id', '<snippet id=S1>It opened in 1937.</snippet>', [['It opened in 1937.', ['S1']]]],
    [
      'double and single quotes',
      `<snippet id="S1">Aare.</snippet> <snippet id='S2'>Bern.</snippet>`,
      [
        ['Aare.', ['S1']],
        ['Bern.', ['S2']],
      ],
    ],
    ['several ids without spaces', '<snippet id=S1,S2,doc-4>Aare.</snippet>', [['Aare.', ['S1', 'S2', 'doc-4']]]],
    ['several ids with spaces, unquoted', '<snippet id=S1, S2 , S3>Aare.</snippet>', [['Aare.', ['S1', 'S2', 'S3']]]],
    ['several ids with spaces, quoted', '<snippet id="S1, S2">Aare.</snippet>', [['Aare.', ['S1', 'S2']]]],
    [
      'semicolons and full-width commas',
      '<snippet id="S1;S2，S3、源1">Aare.</snippet>',
      [['Aare.', ['S1', 'S2', 'S3', '源1']]],
    ],
    ['attribute ids', '<snippet ids=S1,S2>Aare.</snippet>', [['Aare.', ['S1', 'S2']]]],
    ['any case', '<SNIPPET ID=S1>Aare.</Snippet>', [['Aare.', ['S1']]]],
    ['spaces around =', '<snippet id = "S1" >Aare.</snippet >', [['Aare.', ['S1']]]],
    ['other attributes', '<snippet lang="x > y" id=S1 n=2>Aare.</snippet>', [['Aare.', ['S1']]]],
    [
      'a claim with <',
      '<snippet id=S1>The effect was small (p < 0.05, n<30).</snippet>',
      [['The effect was small (p < 0.05, n<30).', ['S1']]],
    ],
    ['entities stay as written', '<snippet id=S1>R&amp;D was &lt; 5%.</snippet>', [['R&amp;D was &lt; 5%.', ['S1']]]],
    ['other markup inside', '<snippet id=S1>The <b>main</b> span.</snippet>', [['The <b>main</b> span.', ['S1']]]],
    [
      'line breaks are trimmed at the edges',
      '<snippet id=S1>\r\n  It opened\r\nin 1937.\r\n</snippet>',
      [['It opened\r\nin 1937.', ['S1']]],
    ],
    ['a known id with a space', '<snippet id="a b">Aare.</snippet>', [['Aare.', ['a b']]]],
    ['typographic quotes', '<snippet id=“S1”>Aare.</snippet>', [['Aare.', ['S1']]]],
    ['any script', '<snippet id=源1>准点率升至99.83%。</snippet>', [['准点率升至99.83%。', ['源1']]]],
  ])('%s', (_name, inner, expected) => {
    const parsed = parse(`<answer>${inner}</answer>`);
    expect(claims(parsed)).toEqual(expected);
    expect(reasons(parsed)).toEqual([]);
    expect(parsed.format).toEqual({ answer_only: 1, full: 1 });
  });

  it('ignores tags with similar names', () => {
    const parsed = parse('<answer><snippets id=S1>A claim that is not one.</snippets> <snippetid=S1> x</answer>');
    expect(parsed.claims).toEqual([]);
  });
});

describe('findings', () => {
  it.each<[FindingReason, string, string]>([
    ['no_answer', 'I think <snippet id=S1>it opened.</snippet>', ''],
    ['answer_unclosed', '<answer><snippet id=S1>It opened.</snippet>', '<answer>'],
    ['several_answers', '<answer>First one.</answer> <answer>Second.</answer>', '<answer>Second.</answer>'],
    ['citation_unclosed', '<answer><snippet id=S1>It opened in 1937.</answer>', '<snippet id=S1>'],
    [
      'citation_nested',
      '<answer><snippet id=S1>It <snippet id=S2>opened</snippet>.</snippet></answer>',
      '<snippet id=S2>',
    ],
    ['citation_stray_close', '<answer>It opened.</snippet></answer>', '</snippet>'],
    ['citation_empty_claim', '<answer>Yes. <snippet id=S1> </snippet></answer>', '<snippet id=S1>'],
    ['citation_no_id', '<answer><snippet>It opened.</snippet></answer>', '<snippet>'],
    ['citation_no_id', '<answer><snippet id="">It opened.</snippet></answer>', '<snippet id="">'],
    ['citation_id_malformed', '<answer><snippet id="S1,">It opened.</snippet></answer>', ''],
    ['citation_id_malformed', '<answer><snippet id=S1 S2>It opened.</snippet></answer>', 'S2'],
    ['citation_id_malformed', `<answer><snippet id="S1'>It opened.</snippet></answer>`, 'S1'],
    [
      'citation_id_malformed',
      `<answer><snippet id=${'x'.repeat(10_000)}>It opened.</snippet></answer>`,
      'x'.repeat(10_000),
    ],
    ['citation_id_unknown', '<answer><snippet id=S9>It opened.</snippet></answer>', 'S9'],
    ['citation_id_repeated', '<answer><snippet id=S1,S1>It opened.</snippet></answer>', 'S1'],
    ['citation_outside_answer', 'See <snippet id=S1>this</snippet>. <answer>It opened.</answer>', '<snippet id=S1>'],
    [
      'ids_shotgun',
      '<answer><snippet id=S1,S2,S3,doc-4,源1,S9>It opened.</snippet></answer>',
      '<snippet id=S1,S2,S3,doc-4,源1,S9>It opened.</snippet>',
    ],
    ['claim_without_content', '<answer>It opened. <snippet id=S1>The.</snippet></answer>', 'The.'],
    [
      'claim_covers_answer',
      '<answer><snippet id=S1>It opened in 1937. It is red. It is long.</snippet></answer>',
      'It opened in 1937. It is red. It is long.',
    ],
    ['markup_only', '<answer>Yes, it is. <snippet id=S1>**--**</snippet></answer>', '**--**'],
    ['markup_only', '<answer> <b></b> </answer>', '<b></b>'],
  ])('%s', (reason, response, at) => {
    const parsed = parse(response);
    const finding = parsed.findings.find((one) => one.reason === reason);
    expect(finding, JSON.stringify(parsed.findings)).toBeDefined();
    if (finding !== undefined) expect(response.slice(finding.span.start, finding.span.end)).toBe(at);
    expect(parsed.counts[reason]).toBeGreaterThan(0);
  });

  it.each<[string, string, 0 | 1, 0 | 1]>([
    ['well formed', '<answer>A. <snippet id=S1>It opened.</snippet></answer>', 1, 1],
    ['text before', 'Sure! <answer>It opened.</answer>', 0, 1],
    ['text after', '<answer>It opened.</answer> Hope this helps', 0, 1],
    ['thinking before', '<think>hm</think><answer>It opened.</answer>', 0, 1],
    ['white space outside is nothing', '\n<answer>It opened.</answer>\n\n', 1, 1],
    ['invented id', '<answer><snippet id=S9>It opened.</snippet></answer>', 0, 0],
    ['unclosed citation', '<answer><snippet id=S1>It opened.</answer>', 0, 0],
    ['two answers', '<answer>A one.</answer><answer>B two.</answer>', 0, 0],
    ['a repeated id is harmless', '<answer><snippet id=S1,S1>It opened.</snippet></answer>', 1, 1],
    ['no answer', 'It opened.', 0, 0],
  ])('format: %s', (_name, response, answerOnly, full) => {
    expect(parse(response).format).toEqual({ answer_only: answerOnly, full });
  });
});

describe('which text is judged', () => {
  const text = (response: string, options: Parameters<typeof parseResponse>[2] = {}) => {
    const { answer } = parse(response, options);
    return answer === null ? null : response.slice(answer.start, answer.end);
  };

  it.each<[string, string, string | null]>([
    ['the block', 'x <answer>It opened.</answer> y', 'It opened.'],
    ['the first of two', '<answer>One.</answer><answer>Two.</answer>', 'One.'],
    [
      'nested: from the first opening to the first closing',
      '<answer>Draft <answer>Two.</answer> z</answer>',
      'Draft <answer>Two.',
    ],
    ['not the one in thinking', '<think><answer>Draft.</answer></think><answer>Final.</answer>', 'Final.'],
    [
      'a tag mentioned in thinking opens nothing',
      '<think>I will write <answer> soon.</think><answer>Final.</answer>',
      'Final.',
    ],
    ['thinking opened by the template', 'draft words</think><answer>Final.</answer>', 'Final.'],
    ['thinking that never ends holds no answer', '<think>hm <answer>Draft.</answer>', null],
    ['a stray </think> after the answer changes nothing', '<answer>Final.</answer></think>', 'Final.'],
    ['empty', '<answer></answer>', null],
    ['punctuation only', '<answer> -- ... </answer>', null],
    ['unclosed', '<answer>It opened', null],
    ['any case', '<ANSWER>It opened.</Answer>', 'It opened.'],
  ])('first: %s', (_name, response, expected) => expect(text(response)).toBe(expected));

  it('last', () => {
    expect(text('<answer>One.</answer><answer>Two.</answer>', { answer: 'last' })).toBe('Two.');
    expect(text('<answer>One.</answer><answer>Two', { answer: 'last' })).toBe('One.');
  });

  it('whole: everything after the thinking', () => {
    expect(text('<think>x</think> It opened.', { answer: 'whole' })).toBe(' It opened.');
    expect(claims(parse('It opened. <snippet id=S1>It is red.</snippet>', { answer: 'whole' }))).toEqual([
      ['It is red.', ['S1']],
    ]);
  });
});

describe('uncited statements', () => {
  const statements = (inner: string) => parse(`<answer>${inner}</answer>`).statements.map((one) => one.text);

  it.each<[string, string, string[]]>([
    [
      'a sentence outside',
      'The bridge spans the strait since 1937. <snippet id=S1>It is red.</snippet>',
      ['The bridge spans the strait since 1937.'],
    ],
    [
      'connecting words are none',
      'In short: <snippet id=S1>it is red.</snippet> Also, <snippet id=S2>it is long.</snippet>',
      [],
    ],
    [
      'the rest of a cited sentence',
      'The famous suspension bridge near the city <snippet id=S1>opened in 1937</snippet>.',
      ['The famous suspension bridge near the city'],
    ],
    [
      'two pieces of one sentence',
      'The orange suspension bridge <snippet id=S1>opened in 1937</snippet> for motor traffic and pedestrians.',
      ['The orange suspension bridge for motor traffic and pedestrians.'],
    ],
    [
      'a claim that ends a sentence separates',
      'Orange suspension <snippet id=S1>it opened.</snippet> Motor traffic.',
      [],
    ],
    [
      'text of an unclosed citation',
      'Yes. <snippet id=S1>The bridge opened to motor traffic in 1937.',
      ['The bridge opened to motor traffic in 1937.'],
    ],
    [
      'text of a citation without id',
      '<snippet>The bridge opened to motor traffic in 1937.</snippet>',
      ['The bridge opened to motor traffic in 1937.'],
    ],
    [
      'list items',
      '- Orange suspension bridge paint\n- Motor traffic lanes opened 1937',
      ['Orange suspension bridge paint', 'Motor traffic lanes opened 1937'],
    ],
    [
      'two sentences are two',
      'The bridge opened to traffic in 1937. Its towers rise 227 metres high.',
      ['The bridge opened to traffic in 1937.', 'Its towers rise 227 metres high.'],
    ],
  ])('%s', (_name, inner, expected) => expect(statements(inner)).toEqual(expected));
});

describe('duplicates count once', () => {
  const duplicates = (inner: string) => parse(`<answer>${inner}</answer>`).claims.map((claim) => claim.duplicate_of);

  it('with equal text and ids, ignoring case, spaces and closing punctuation', () => {
    expect(
      duplicates(
        '<snippet id=S1>It opened.</snippet><snippet id=S1>it  OPENED</snippet><snippet id=S2>It opened.</snippet>',
      ),
    ).toEqual([null, 0, null]);
  });

  it('with ids in any order', () => {
    expect(duplicates('<snippet id=S1,S2>It opened.</snippet><snippet id=S2,S1>It opened.</snippet>')).toEqual([
      null,
      0,
    ]);
  });
});

describe('nesting', () => {
  it('makes two claims, and the outer text has no inner tag', () => {
    const response = '<answer><snippet id=S1>It opened <snippet id=S2>in 1937</snippet> indeed.</snippet></answer>';
    expect(claims(parse(response))).toEqual([
      ['It opened in 1937 indeed.', ['S1']],
      ['in 1937', ['S2']],
    ]);
  });

  it('survives very deep nesting', () => {
    const depth = 5_000;
    const parsed = parse(`<answer>${'<snippet id=S1>x'.repeat(depth)}${'</snippet>'.repeat(depth)}</answer>`);
    expect(parsed.counts.citation_nested).toBe(depth - 1);
    expect(parsed.claims.length).toBeGreaterThan(0);
  });
});

describe('marker grammars', () => {
  it.each<[GrammarName, string]>([
    ['bracket', 'It opened in 1937 [S1]. It is red [S2, S3].'],
    ['ref', 'It opened in 1937 [ref:S1]. It is red [ref:S2][ref:S3].'],
    ['lenticular', 'It opened in 1937 【S1】. It is red 【S2】【S3】.'],
    ['footnote', 'It opened in 1937.[^S1] It is red.[^S2][^S3]'],
    ['guillemet', 'It opened in 1937 <<S1>>. It is red <<S2>>, <<S3>>.'],
    ['web', 'It opened in 1937 [web:S1]. It is red [web:S2][web:S3].'],
    ['cite-tag', 'It opened in 1937 <cite>S1</cite>. It is red <cite>S2, S3</cite>.'],
    ['paren', 'It opened in 1937 (S1). It is red (S2, S3).'],
  ])('%s', (grammar, response) => {
    const parsed = parse(response, { grammar });
    expect(claims(parsed).map(([text, ids]) => [text.replace(/\.$/u, ''), ids])).toEqual([
      ['It opened in 1937', ['S1']],
      ['It is red', ['S2', 'S3']],
    ]);
    expect(parsed.format.full).toBe(1);
  });

  it('reads parentheses as citations only where they name ids like those of the sources', () => {
    const text = 'It opened in 1937 (S1). It (the bridge) is red (see S2), 90 m (1937) and (A380) () long (S12).';
    const parsed = parse(text, { grammar: 'paren' });
    expect(claims(parsed).map(([, ids]) => ids)).toEqual([['S1'], ['S12']]);
    expect(parsed.counts).toEqual({ citation_id_unknown: 1, citation_no_id: 1 });
  });

  it('reads the ids of <cite index="…">', () => {
    const parsed = parse('<answer><cite index="S1,S9">It opened in 1937.</cite></answer>', { grammar: 'cite-index' });
    expect(claims(parsed)).toEqual([['It opened in 1937.', ['S1', 'S9']]]);
    expect(parsed.counts).toEqual({ citation_id_unknown: 1 });
  });

  it('splits a sentence with two runs into two claims', () => {
    expect(claims(parse('It opened in 1937 [S1] and is red [S2].', { grammar: 'bracket' }))).toEqual([
      ['It opened in 1937', ['S1']],
      ['and is red', ['S2']],
    ]);
  });

  it('tells markers from links and asides', () => {
    const parsed = parse('It opened [sic] in 1937 [see here](https://example.org) [S1].', { grammar: 'bracket' });
    expect(claims(parsed)).toEqual([['It opened [sic] in 1937 [see here](https://example.org)', ['S1']]]);
  });

  it('reports invented ids', () => {
    expect(reasons(parse('It opened [12].', { grammar: 'bracket' }))).toEqual(['citation_id_unknown']);
  });
});

describe('sources of tool output', () => {
  it('keeps titles, places and the visible text of a truncated page', () => {
    const toolOutput =
      '<tool_output>query: x\n<snippet id=S1 title="A > B" url=https://example.org/a?b=c>One.</snippet>\n<webpage id="W1">Two cut off';
    const { list } = parseSources(toolOutput);
    expect(list.map(({ id, text, title, url }) => ({ id, text, title, url }))).toEqual([
      { id: 'S1', text: 'One.', title: 'A > B', url: 'https://example.org/a?b=c' },
      { id: 'W1', text: 'Two cut off', title: undefined, url: undefined },
    ]);
    for (const { text, span } of list) expect(span === null ? '' : toolOutput.slice(span.start, span.end)).toBe(text);
  });

  it('reads a page in a page and the text around it', () => {
    const { list } = parseSources('<webpage id=W1>Head. <snippet id=S1>Inner.</snippet> Tail.</webpage>');
    expect(list.map(({ id, text }) => [id, text])).toEqual([
      ['W1', 'Head. Inner. Tail.'],
      ['S1', 'Inner.'],
    ]);
  });

  it('joins repeated ids and reports empty sources', () => {
    const { list, counts } = parseSources(
      '<snippet id=S1>One.</snippet><snippet id=S1>Two.</snippet><snippet id=S2></snippet>',
    );
    expect(list.map(({ id, text }) => [id, text])).toEqual([
      ['S1', 'One.\nTwo.'],
      ['S2', ''],
    ]);
    expect(counts).toEqual({ source_duplicate_id: 1, source_empty: 1 });
  });

  it('ends an unclosed source at the end of its wrapper', () => {
    expect(parseSources('<tool_output><snippet id=S1>One two</tool_output>').list[0]?.text).toBe('One two');
  });
});

describe('sprayed citations', () => {
  const sourcesOf = (count: number): SourceSet =>
    sourcesFromList(Array.from({ length: count }, (_, n) => ({ id: `S${n + 1}`, text: `Text ${n + 1}.` })));
  it.each([
    [2, 2, false],
    [3, 2, false],
    [3, 3, true],
    [4, 3, false],
    [4, 4, true],
    [5, 4, true],
    [6, 4, false],
    [6, 5, true],
    [50, 5, false],
    [50, 6, true],
  ])('of %i sources, %i: %s', (sources, cited, isSprayed) => {
    const markers = Array.from({ length: cited }, (_, n) => `[S${n + 1}]`).join(' ');
    const { counts } = parseResponse(`It opened in 1876. ${markers}`, sourcesOf(sources), { grammar: 'bracket' });
    expect(counts.ids_shotgun).toBe(isSprayed ? 1 : undefined);
  });

  it('that repeat their ids are counted once for each repetition', () => {
    const { counts } = parseResponse('It is 1876 . [S1] [S2] [S3] [S2] [S1]', sourcesOf(3), { grammar: 'bracket' });
    expect(counts).toEqual({ ids_shotgun: 1, citation_id_repeated: 2 });
  });
});
