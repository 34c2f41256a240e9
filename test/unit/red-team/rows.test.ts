/** Rows of the red team: the same for the same seed, and what their kind promises. */
import { describe, expect, it } from 'vitest';
import { createDraws } from '../../../scripts/demo-run/draws.ts';
import { MAX_PROMPT_TOKENS, MAX_SOURCES, promptTokens } from '../../../scripts/red-team/prompts.ts';
import { readRowFile } from '../../../scripts/red-team/row-file.ts';
import { makeRow, ROW_KINDS, type Row, rowTexts } from '../../../scripts/red-team/rows.ts';
import { textOf, tokensOf, Vocabulary } from '../../../scripts/red-team/words.ts';

const rowsOf = (kind: (typeof ROW_KINDS)[number]): Row[] =>
  Array.from({ length: 40 }, (_, n) => makeRow(kind, createDraws('test', n)));

describe.each(ROW_KINDS)('rows of the kind %s', (kind) => {
  const rows = rowsOf(kind);

  it('are the same for the same seed, and differ from each other', () => {
    expect(rowsOf(kind)).toEqual(rows);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(rows.length);
  });

  it('tell each asked fact once, in the source that the fact names', () => {
    for (const { facts, sources } of rows) {
      for (const { sentence, answer, source } of facts) {
        expect(sentence).toContain(answer);
        expect(sources.map((text, n) => (text.includes(sentence) ? n : null)).filter((n) => n !== null)).toEqual([
          source,
        ]);
      }
    }
  });

  it('have words of the vocabulary, and prompts that fit', () => {
    const vocabulary = new Vocabulary(rowTexts());
    for (const row of rows) {
      expect(row.sources.length).toBeLessThanOrEqual(MAX_SOURCES);
      expect(promptTokens(row)).toBeLessThanOrEqual(MAX_PROMPT_TOKENS);
      const tokens = tokensOf([row.question, ...row.sources].join(' '));
      expect(vocabulary.decode(vocabulary.encode(tokens))).toEqual(tokens);
      expect(textOf(tokensOf(row.question))).toBe(row.question);
    }
  });
});

describe('kinds', () => {
  it('unanswerable: a part of the rows asks for what no source tells', () => {
    const rows = rowsOf('unanswerable');
    const without = rows.filter(({ facts }) => facts.length === 0);
    expect(without.length).toBeGreaterThan(rows.length / 4);
    expect(without.length).toBeLessThan((rows.length * 3) / 4);
  });

  it('two-facts: both facts are asked, and are criteria', () => {
    for (const { facts, positive, question } of rowsOf('two-facts')) {
      expect(facts).toHaveLength(2);
      expect(positive).toEqual(facts.map(({ answer }) => `States ${answer}`));
      expect(question).toContain(', and ');
    }
  });

  it('vacuous and negatives: four negative criteria, and none that an answer can meet', () => {
    for (const { positive, negative } of rowsOf('vacuous')) expect([positive.length, negative.length]).toEqual([1, 4]);
    for (const { positive, negative } of rowsOf('negatives'))
      expect([positive.length, negative.length]).toEqual([0, 4]);
  });
});

describe('a file of rows', () => {
  const row = {
    question: 'How long is the Aare?',
    sources: ['The Aare is 288 kilometres long.', 'The Reuss is 164 kilometres long.'],
    facts: [{ sentence: 'The Aare is 288 kilometres long.', answer: '288', source: 0 }],
    positive_rubrics: ['States 288'],
  };
  const read = (...rows: object[]) =>
    readRowFile(rows.map((one) => JSON.stringify(one)).join('\n'), 'rows.jsonl', true);

  it('is read', () => {
    const { positive_rubrics: positive, ...fields } = row;
    expect(read(row)).toEqual([{ ...fields, positive, negative: [] }]);
  });

  it('may ask what no source tells, with blank lines between its rows', () => {
    const { facts: _facts, positive_rubrics: _positive, ...asked } = row;
    const text = `\n${JSON.stringify({ ...asked, facts: [], negative_rubrics: ['States 164'] })}\n\n`;
    expect(readRowFile(text, 'rows.jsonl', true)).toEqual([
      { ...asked, facts: [], positive: [], negative: ['States 164'] },
    ]);
  });

  it.each([
    ['rows.jsonl, line 3: not JSON', `${JSON.stringify(row)}\n\n{"question"`],
    ['rows.jsonl, line 1: sources', JSON.stringify({ ...row, sources: Array.from({ length: 9 }, () => 'a') })],
    ['rows.jsonl, line 1: facts.0.source', JSON.stringify({ ...row, facts: [{ ...row.facts[0], source: -1 }] })],
    ['positive_rubric"', JSON.stringify({ ...row, positive_rubric: ['States 288'] })],
  ])('names the line and the field: %s', (message, text) => {
    expect(() => readRowFile(text, 'rows.jsonl', true)).toThrow(message);
  });

  it('may have 256 tokens a row, and not one more', () => {
    const [source = ''] = row.sources;
    const words = (count: number) => ({
      ...row,
      sources: [source, Array.from({ length: count }, () => 'word').join(' ')],
    });
    const room = MAX_PROMPT_TOKENS - promptTokens({ ...row, ...words(1), positive: [], negative: [] }) + 1;
    expect(read(words(room))).toHaveLength(1);
    expect(() => read(words(room + 1))).toThrow('have 257 tokens, more than 256');
  });

  it.each([
    ['no rows', []],
    ['line 2: question', [row, { ...row, question: '' }]],
    ['line 1: facts.0.sentence: its source does not contain it', [{ ...row, facts: [{ ...row.facts[0], source: 1 }] }]],
    ['more than 256', [{ ...row, sources: [row.sources[0], 'word '.repeat(300)] }]],
    [
      'different words, more than 4000',
      Array.from({ length: 50 }, (_, n) => ({
        ...row,
        sources: [
          row.sources[0],
          Array.from({ length: 100 }, (_, m) => 'abcdefghij'.charAt(n % 10) + 'x'.repeat(m) + 'y'.repeat(n)).join(' '),
        ],
      })),
    ],
  ])('is refused: %s', (message, rows) => {
    expect(() => read(...rows)).toThrow(message);
  });
});
