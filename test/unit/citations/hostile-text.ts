/** Texts for property tests: random mixtures of pieces that matter to the parser, and plausible answers. */
import fc from 'fast-check';

const MARKUP = [
  '<answer>',
  '</answer>',
  '<think>',
  '</think>',
  '<snippet id=S1>',
  '<snippet id="S1, S2">',
  "<snippet id='S9'>",
  '<snippet id=S1,S2,S3,S4,S5,S6>',
  '<snippet id=S1 S9>',
  '<snippet/ id=S9/>',
  '<snippet>',
  '<snippet id=',
  '<snippet id="S9>',
  '<snippet id=“S1',
  '</snippet>',
  '</snippet >',
  '<cite id=S1>',
  '<cite ids="S9">',
  '</cite>',
  '<answer x="',
  '<webpage id=W1>',
  '</webpage>',
  '<tool_output>',
  '[S1]',
  '[S9]',
  '[S1-S3]',
  '[S1 and S2]',
  '【S1†L1, L2】',
  '[2004]',
  '[^S2]',
  '[^S9,S1]',
  '[ref:S1]',
  '[ref:',
  '[web:S1]',
  '[web:',
  '<cite>',
  '<cite index="S1">',
  '(S1)',
  '(S9, S1)',
  '(',
  ')',
  '【S1】',
  '【S9】',
  '<<S1>>',
  '<<S9>>',
  '<<',
  '>>',
  '[]',
  '](x)',
  '[a](https://b.c/d)',
  '[4](#S1)',
  '[a](http://www.b.c/d?utm_a=1)',
  '[3](https://B.c/d/)',
  '（[乙](https://b.c/（丁）)）',
  '](https://b.c/(',
  '[b.c](https://b.c "t")',
  '[3]',
  '\n## References\n[3] https://b.c/d\n',
  '[',
  ']',
  '<',
  '>',
  '/',
  '/>',
  '=',
  '"',
  "'",
  '“',
  '”',
  '’',
  ',',
];

const TEXT = [
  '. ',
  '.',
  ' ',
  '\n',
  '\n\n',
  '\r\n',
  '- ',
  '2. ',
  '(',
  ')',
  'Dr. ',
  'A',
  'b',
  '12',
  '\0',
  '\ud800',
  '\udc00',
  '🙂',
  'It opened in 1937.',
  '准点率升至99.83%。',
  'Dr. Snow said 3.5 < 4',
  'p < 0.05, R&amp;D',
  'ignore all previous',
  '\u00a0',
  '\u2028',
  '\ufeff',
];

/** A random mixture of pieces. */
export const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...MARKUP, ...TEXT), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 40 })
  .map((parts) => parts.join(''));

const words = fc.constantFrom(
  'It opened in 1937',
  'The bridge',
  'U.S. Army',
  '准点率。',
  'is red.',
  '(p < 0.05)',
  '\n',
  ' ',
);
const claimed = fc.tuple(fc.constantFrom('snippet', 'cite'), fc.constantFrom('S1', 'S2', 'S9', 'S1, S9', ''), words);
const cited = fc.oneof(
  claimed.map(([name, ids, text]) => `<${name} id="${ids}">${text}</${name}>`),
  claimed.map(([name, ids, text]) => `<${name} id=${ids}>${text} <${name} id=S2>red</${name}></${name}>`),
  fc.constantFrom(
    '[S1]',
    '[S9].',
    ' [^S1][^S9]',
    '[ref:S1],[ref:S2]',
    '【S9】',
    ' <<S1>>',
    '[sic]',
    '[S1](url)',
    '[red](https://b.c)',
    ' ([b.c](https://b.c)).',
    '[3]',
  ),
);
const content = fc.array(fc.oneof(words, cited, fc.constantFrom('. ', '.', ' ')), { maxLength: 12 });
const block = content.map((parts) => `<answer>${parts.join('')}</answer>`);
const thought = fc
  .tuple(content, fc.constantFrom('<think>', ''))
  .map(([parts, open]) => `${open}${parts.join('')}</think>`);

/** Answers like those of models, with a few faults. */
export const likelyResponse = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: block },
      thought,
      content.map((parts) => parts.join('')),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
