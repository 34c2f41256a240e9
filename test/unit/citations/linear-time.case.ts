/** Time is linear on hostile input (linear-growth.ts). */
import { describe, it } from 'vitest';
import { suspectedInjections } from '../../../src/citations/injection.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { parseSources } from '../../../src/citations/sources.ts';
import { splitSentences } from '../../../src/text/sentences.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

const HOSTILE: Readonly<Record<string, string>> = {
  'a million <': '<',
  'unclosed tags': '<snippet id=S1>',
  'unclosed headers': '<snippet id=',
  'open quotes': '<snippet id="',
  'alternating open quotes': `<snippet id="<snippet id='`,
  'quoted tags': `<snippet a='<snippet ' `,
  'typographic quotes': '<snippet id=“',
  'closing tags': '</snippet>',
  pairs: '<snippet id=S1>x</snippet>',
  commas: '<snippet id=,,,,,,,,,,>x</snippet>',
  answers: '<answer>x</answer>',
  'open answers': '<answer>',
  thoughts: '<think>x</think>',
  brackets: '[',
  stops: '. ',
  spaces: '        ',
  'soft lines': ' a\n',
  initials: 'A. ',
  'line breaks': '\r\n',
  'open addresses': '[a](https://b.c/(',
  'address titles': '[a](https://b.c "',
  'links in a paragraph': '[a](https://b.c/(d)), ',
  'notes and brackets': '[[3]] (',
  'numbered references': '\nSources:\n[1] https://b.c/d\n[2]\n',
  'empty addresses': ' https:// http://',
  'links to marks': '[3](#a',
  'spellings of addresses': '[a](https://www.b.c/%7e?utm_a=1) ',
  'script stops': 'άν; Α፡፡Α',
  backticks: '`',
  'backticks in words': 'a ` `` b',
  'code with citations': '`<snippet id=S1>x</snippet> [1]` ',
  fences: '\n```\n[1]\n',
  'open fences': '\n~~~~ ~~~ ',
  backslashes: '\\[1\\\\]',
  'lists of titles': '\nSources:\n[1] a\n',
  definitions: '\n[^1]: a\n[b]: https://b.c/d\n',
  'links by label': '[a][b',
  'code of HTML': '<code>a[1]</code> ',
  'open code of HTML': '<code>[1]',
  'open blocks of code': '\n<pre>\n[1]',
  'open comments': '<!-- [1] ',
  formulas: '$x[1]$ and $$y_1[2]$$ ',
  'open formulas': '$x ',
  'open displayed formulas': '$$x ',
  'formulas of LaTeX': '\\(\\[x[1]',
  'words between markers': '[1] and ',
  'words in markers': '[1 and 2 or 3 and ',
  'rows of a table': '\nSources:\n| a |\n| [1] a |\n',
  'headings of HTML': '\n<h2>Sources</h2>\n<li>[1] a</li>\n<b ',
  'lists on a line': '\nSources: [1] a; [2] b\n',
  'an endless list on a line': 'Sources: [1] a; ',
  'open links around markers': '[[1](',
  'links around markers': '[[1]](https://b.c/d)',
  'open quoted fences': '\n> > ```\n> [1]\n',
  'headings in bold': '\n**a**  \n[1]',
  rules: '\n--- --\n=== [1]',
  'titles before ids': '\nSources:\n- A: - - - - - - - - - - [1]\nSource: A -----',
  'dashes behind a heading of one source': `Source: ${'-'.repeat(190)}\n`,
  'marks behind a heading of one source': `Source: ${'- '.repeat(93)}A[\n`,
  'closing remarks': '\nSources:\n[1] A\n\nLet me know\n',
  'sentences in lists': '\nSources:\n[1] A b. C is d. ',
  'numbers in markers': '[1.4–3.2, 0.1][0, 1][n=1]',
  'keys in markers': '[@a1 @b2 @c3 ',
  webpages: '<webpage id=W1><snippet id=S1>x</webpage>',
};

/** @param largeChars Length of the larger input in UTF-16 code units. */
export function testLinearTime(largeChars: number): void {
  describe.each(Object.entries(HOSTILE))('%s', (_name, unit) => {
    const large = unit.repeat(Math.ceil(largeChars / unit.length));
    const small = unit.repeat(Math.ceil(largeChars / GROWTH / unit.length));
    const none = parseSources('<snippet id=S1>x</snippet>');

    it.each<[string, (text: string) => unknown]>([
      ['response', (text) => parseResponse(`<answer>${text}</answer>`, none)],
      ['whole response, markers', (text) => parseResponse(text, none, { grammar: 'bracket' })],
      ['whole response, links', (text) => parseResponse(text, none, { grammar: 'link' })],
      ['tool output', (text) => parseSources(text)],
      ['sentences', (text) => splitSentences(text)],
      ['injection scan', (text) => suspectedInjections(text, 0, text.length)],
    ])('%s', (_what, read) => {
      expectLinear(read, small, large);
    });
  });
}
