/** Nothing in code or behind a backslash is a citation, in every grammar. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GrammarName, parseResponse, sourcesFromList } from '../../../lib/citations.ts';
import { CodeMask, withoutCode } from '../../../src/citations/code.ts';
import { readCitedAnswer } from '../../../src/citations/formats/read-answer.ts';
import { citedAddresses } from '../../../src/families/carr/addresses.ts';

const SOURCES = sourcesFromList(['1', '2'].map((id) => ({ id, text: 'x' })));

/** The claims of a text, each with its ids. */
const claimsIn = (text: string, grammar: GrammarName = 'bracket'): string[] =>
  parseResponse(text, SOURCES, { grammar, answer: 'whole' }).claims.map(
    ({ text, ids }) => `${text} <- ${ids.map(({ id }) => id).join(' ')}`,
  );

const FENCE = '```';

describe('a marker in code', () => {
  it.each([
    ['a span', 'Print `arr[1]` [2].', ['Print `arr[1]` <- 2']],
    ['a span with backticks', 'Print ``a ` [1]`` [2].', ['Print ``a ` [1]`` <- 2']],
    ['a span that ends no sentence', 'Call `a. B[1]` first [2].', ['Call `a. B[1]` first <- 2']],
    ['a fence', `Print it.[1]\n${FENCE}js\nx = [2]\n${FENCE}\nIt is red.[2]`, ['Print it. <- 1', 'It is red. <- 2']],
    ['an indented fence of tildes', 'So:\n  ~~~\n  x[1]\n  ~~~~\nIt is red [2].', ['It is red <- 2']],
    ['a fence in a fence', `~~~\n${FENCE}\n[1]\n~~~\nIt is red [2].`, ['It is red <- 2']],
    [
      'the empty box of a task',
      '- [ ] It is red [1].\n  * [ ] It is long [2].',
      ['- [ ] It is red <- 1', '* [ ] It is long <- 2'],
    ],
    ['a fence that is never closed', `It is red [2].\n${FENCE}\nx[1] = y [1].`, ['It is red <- 2']],
  ])('is text: %s', (_name, text, claims) => {
    expect(claimsIn(text)).toEqual(claims);
  });

  it.each([
    ['a backtick alone', 'A ` is a mark [1].', ['A ` is a mark <- 1']],
    ['backticks on two lines', 'A ` is\na mark [1] ` too [2].', ['A ` is\na mark <- 1', '` too <- 2']],
    ['runs of other lengths', 'A ` and [1] `` differ [2].', ['A ` and <- 1', '`` differ <- 2']],
    ['a backtick in a word', 'Hawai`i [1] and O`ahu [2].', ['Hawai`i <- 1', 'and O`ahu <- 2']],
    ['quotations of TeX', "``Open'' [1] and ``red'' [2].", ["``Open'' <- 1", "and ``red'' <- 2"]],
    ['marks of a fence in a line', `So ${FENCE} [1].`, [`So ${FENCE} <- 1`]],
    ['code of a line between fences', `${FENCE}a[1]${FENCE} is red [2].`, [`${FENCE}a[1]${FENCE} is red <- 2`]],
    ['two tildes', '~~It is red~~ [1].', ['~~It is red~~ <- 1']],
  ])('is one after %s', (_name, text, claims) => {
    expect(claimsIn(text)).toEqual(claims);
  });

  it.each<[GrammarName, string]>([
    ['ref', '`[ref:1]`'],
    ['web', '`[web:1]`'],
    ['lenticular', '`【1】`'],
    ['footnote', '`[^1]`'],
    ['guillemet', '`<<1>>`'],
    ['cite-tag', '`<cite>1</cite>`'],
    ['paren', '`(1)`'],
    ['link', '`[x](https://a.example/b) [1]`'],
    ['snippet', '`<snippet id=1>x</snippet>`'],
    ['cite', '`<cite id="1">x</cite>`'],
    ['cite-index', '`(cite index="1">x</cite>`'],
  ])('is text in the grammar %s', (grammar, code) => {
    expect(claimsIn(`It is written as ${code}, see below.`, grammar)).toEqual([]);
  });

  it('is text in the formats and for carr', () => {
    const read = readCitedAnswer(
      'Print `[x](https://a.example/b)`, it is [red](https://c.example/d).',
      undefined,
      null,
    );
    expect(read.ok && read.value.sources?.map(({ id }) => id)).toEqual(['https://c.example/d']);
    expect(citedAddresses('Print `[x](https://a.example/b)`, it is [red](https://c.example/d).')).toEqual([
      'https://c.example/d',
    ]);
  });
});

describe('a citation around code', () => {
  it.each([
    ['around a span', '<snippet id=1>Print `x`.</snippet>', ['Print `x`. <- 1']],
    ['that begins in a span', 'Print `x <snippet id=1>y` z</snippet> `w`.', ['y` z <- 1']],
    ['that ends in a span', '<snippet id=1>`x</snippet>` and <snippet id=2>y</snippet>.', ['`x <- 1', 'y <- 2']],
    [
      'between two backticks',
      '<snippet id=1>The ` key</snippet> and <snippet id=2>the ` sign</snippet>.',
      ['The ` key <- 1', 'the ` sign <- 2'],
    ],
  ])('is one: %s', (_name, text, claims) => {
    expect(claimsIn(text, 'snippet')).toEqual(claims);
  });
});

describe('a marker behind a backslash', () => {
  it.each<[GrammarName, string, string[]]>([
    ['bracket', 'It is red \\[1\\] [2].', ['It is red \\[1\\] <- 2']],
    ['bracket', 'It is in C:\\\\[1].', ['It is in C:\\\\ <- 1']],
    ['lenticular', 'It is red \\【1】.', []],
    ['footnote', 'It is red \\[^1].', []],
    ['paren', 'It is \\(1\\) long (2).', ['It is \\(1\\) long <- 2']],
    ['link', 'It is \\[red](https://a.example/b).', []],
    ['bracket', 'It is \\`red [1] ` too [2].', ['It is \\`red <- 1', '` too <- 2']],
  ])('in %s: %s', (grammar, text, claims) => {
    expect(claimsIn(text, grammar)).toEqual(claims);
  });
});

describe('an environment of LaTeX hides nothing: prose is written in it, and an equation may be cited', () => {
  it.each([
    ['\\begin{equation}\nE = mc^2 [1]\n\\end{equation}\nIt is red [2].', ['E = mc^2 <- 1', 'It is red <- 2']],
    [
      'open with \\begin{equation} as it says [1], write \\frac{a}{b} [2], close with \\end{equation} [1]',
      ['as it says <- 1', 'write \\frac{a}{b} <- 2', 'close with \\end{equation} <- 1'],
    ],
    ['\\begin{equation}\nThe Aare is long [1].\n\\end{equation}', ['The Aare is long <- 1']],
  ])('%j', (text, claims) => {
    const read = claimsIn(text, 'bracket');
    expect(read).toHaveLength(claims.length);
    for (const [n, claim] of claims.entries()) expect(read[n]?.endsWith(claim)).toBe(true);
  });

  it('not even a tag', () => {
    const text = '\\begin{equation} \\frac{a}{b} <snippet id=1>The dam broke in 1953.</snippet> \\end{equation}';
    expect(claimsIn(text, 'snippet')).toEqual(['The dam broke in 1953. <- 1']);
  });
});

it('hides the same code however the text is cut, and keeps length and line breaks', () => {
  const piece = fc.constantFrom(
    ...[
      '`',
      '``',
      '```',
      '~~~',
      '\n',
      ' ',
      'a',
      '[1]',
      '\\',
      '(',
      "''",
      '\r\n',
      '\n - ',
      '[ ]',
      'a'.repeat(1000),
      '`'.repeat(17),
    ],
    ...['<code>', '</CODE>', '<pre', '>', '\n<pre>', '</pre>', '<!--', '-->', '<', '<tt x="1">', '</tt>'],
    ...['$', '$$', 'x = 1', '\\(', '\\)', '\\[', '\\]', '5'],
  );
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 8 }), (chunks) => {
      const pieces = chunks.map((chunk) => chunk.join(''));
      const text = pieces.join('');
      const mask = new CodeMask(0);
      const masked = pieces.map((one) => mask.push(one)).join('') + mask.finish();
      const whole = withoutCode(text, { start: 0, end: text.length });
      expect(masked).toBe(whole.text);
      expect(mask.spans).toEqual(whole.code);
      expect(masked.replace(/[^\n]/g, 'x')).toBe(text.replace(/[^\n]/g, 'x'));
    }),
    { numRuns: 3000 },
  );
});
