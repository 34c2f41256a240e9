/**
 * Injection attempts: wherever one is inserted, the prompt keeps its structure, and the text stays in its data block.
 */
import { describe, expect, it } from 'vitest';
import { judgePrompt } from '../../../src/judgments/model-judge.ts';
import { EVIDENCE_SYSTEM } from '../../../src/judgments/protocol/prompt.ts';
import { contentNonce, dataBlock, neutralise, neutraliseAttribute } from '../../../src/text/untrusted.ts';
import { INJECTIONS } from './injections.ts';
import { CITATIONS, type CitedRequest, RUBRIC } from './requests.ts';

/** Every place of a request that holds untrusted text, and how to insert an attempt there. */
const PLACES: Readonly<Record<string, (text: string) => CitedRequest>> = {
  question: (text) => ({ ...RUBRIC, question: text }),
  'source text': (text) => ({ ...CITATIONS, sources: CITATIONS.sources.map((source) => ({ ...source, text })) }),
  'source id': (text) => ({ ...RUBRIC, sources: RUBRIC.sources.map((source) => ({ ...source, id: text })) }),
  'source title': (text) => ({
    ...CITATIONS,
    sources: CITATIONS.sources.map((source) => ({ ...source, title: text })),
  }),
  'criterion title': (text) => ({ ...RUBRIC, criteria: RUBRIC.criteria.map((one) => ({ ...one, title: text })) }),
  'criterion description': (text) => ({
    ...RUBRIC,
    criteria: RUBRIC.criteria.map((one) => ({ ...one, description: text })),
  }),
  answer: (text) => ({ ...RUBRIC, answer: text }),
  claim: (text) => ({ ...CITATIONS, claims: CITATIONS.claims.map((claim) => ({ ...claim, text })) }),
  statement: (text) => ({ ...CITATIONS, statements: CITATIONS.statements.map((one) => ({ ...one, text })) }),
};

type Block = { readonly name: string; readonly attributes: string; readonly text: string };

/** Splits a user message into blocks and the text between them. Throws if it has any other form. */
function structureOf(
  message: string,
  nonce: string,
): { readonly between: readonly string[]; readonly blocks: Block[] } {
  const blocks: Block[] = [];
  const between: string[] = [];
  let at = 0;
  for (;;) {
    const open = message.indexOf('<', at);
    between.push(message.slice(at, open === -1 ? undefined : open));
    if (open === -1) return { between, blocks };
    const head = message.slice(open, message.indexOf('>\n', open) + 2);
    const parts = new RegExp(`^<([a-z]+)-${nonce}((?: [a-z]+="[^"<>\\n]*")*)>\\n$`).exec(head);
    const [, name = '', attributes = ''] = parts ?? [];
    expect(parts, `no opening tag of ours: ${head.slice(0, 80)}`).not.toBeNull();
    const close = `\n</${name}-${nonce}>`;
    const end = message.indexOf(close, open);
    expect(end, `no closing tag of ${name}`).toBeGreaterThan(-1);
    blocks.push({ name, attributes, text: message.slice(open + head.length, end) });
    at = end + close.length;
  }
}

function nonceOf({ question, sources }: CitedRequest): string {
  return contentNonce([question, ...sources.map(({ id, text }) => `${id} ${text}`)]);
}

function userMessage(request: CitedRequest): string {
  const [system, user] = judgePrompt(request).messages;
  expect(system.content).toBe(EVIDENCE_SYSTEM);
  return user.content;
}

/** Marks on which tokenizers and templates act. */
const CONTROL = [
  /[<>]/,
  /\[\/?[A-Za-z_]+\]/,
  /[｜▁]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is one that must not be there
  /\u0000/,
];

describe('injection attempts', () => {
  it('are at least forty, in every place', () => {
    expect(INJECTIONS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(INJECTIONS.map(({ name }) => name)).size).toBe(INJECTIONS.length);
    expect(Object.keys(PLACES).length).toBe(9);
  });

  it.each(INJECTIONS)('$name stays where it stands', ({ text }) => {
    for (const [place, plant] of Object.entries(PLACES)) {
      const benign = plant('harmless');
      // Who writes an answer, a claim or a criterion can know question and sources, and so the nonce.
      const planted = plant(text(nonceOf(benign)));
      const expected = structureOf(userMessage(benign), nonceOf(benign));
      const found = structureOf(userMessage(planted), nonceOf(planted));
      expect(found.between, place).toEqual(expected.between);
      expect(
        found.blocks.map(({ name }) => name),
        place,
      ).toEqual(expected.blocks.map(({ name }) => name));
      expect(found.blocks.map(({ attributes }) => attributes.match(/ [a-z]+="/g))).toEqual(
        expected.blocks.map(({ attributes }) => attributes.match(/ [a-z]+="/g)),
      );
      for (const block of found.blocks) {
        for (const control of CONTROL) expect(`${block.attributes}${block.text}`, place).not.toMatch(control);
        expect(block.text.isWellFormed()).toBe(true);
        expect(block.attributes).not.toMatch(/[\r\n\u2028\u2029]/);
      }
    }
  });

  it('change the schema of the reply in no way', () => {
    for (const { text } of INJECTIONS) {
      for (const plant of Object.values(PLACES)) {
        expect(judgePrompt(plant(text('0'.repeat(12)))).schema).toEqual(judgePrompt(plant('harmless')).schema);
      }
    }
  });
});

describe('neutralised text', () => {
  it('has the same length, so that offsets stay', () => {
    for (const { text } of INJECTIONS) {
      const attempt = text('0123456789ab');
      expect(neutralise(attempt).length).toBe(attempt.length);
      expect(neutralise(neutralise(attempt))).toBe(neutralise(attempt));
    }
  });

  it('is the text itself where nothing has to be done', () => {
    for (const harmless of ['', 'plain', 'a [1] b [12, 13] c', 'x – “y” 你好 😀 [a b] [', 'f(x)=[x, y]']) {
      expect(neutralise(harmless)).toBe(harmless);
    }
  });

  it('keeps a bracketed word readable', () => {
    expect(neutralise('He said [sic] that [INST] is a word.')).toBe('He said ⁅sic⁆ that ⁅INST⁆ is a word.');
    expect(neutralise('[UNUSED_TOKEN_146] [control_8] [1] [S1] [2, 3]')).toBe(
      '⁅UNUSED_TOKEN_146⁆ ⁅control_8⁆ [1] [S1] [2, 3]',
    );
  });

  it('keeps citation markup readable', () => {
    expect(neutralise('<snippet id=S1,S2>A claim.</snippet>')).toBe('‹snippet id=S1,S2›A claim.‹/snippet›');
  });

  it('is one line without quotes in an attribute', () => {
    expect(neutraliseAttribute('a "b"\n<c>\t\u2028d')).toBe('a ”b” ‹c›  d');
  });

  it('is linear in its text', () => {
    for (const piece of ['[', '[a', '<', '[A'.repeat(40), '\ud800']) {
      const hostile = piece.repeat(Math.ceil(1_000_000 / piece.length));
      expect(neutralise(hostile).length).toBe(hostile.length);
    }
  });
});

describe('the nonce', () => {
  it('follows the content alone', () => {
    expect(contentNonce(['a', 'b'])).toMatch(/^[0-9a-f]{12}$/);
    expect(contentNonce(['a', 'b'])).toBe(contentNonce(['a', 'b']));
    expect(contentNonce(['a', 'b'])).not.toBe(contentNonce(['ab']));
    expect(contentNonce(['a', 'b'])).not.toBe(contentNonce(['a', 'c']));
  });

  it('stands in both tags of a block', () => {
    expect(dataBlock('source', 'abc', { n: '1', id: 'x"' }, 't')).toBe('<source-abc n="1" id="x”">\nt\n</source-abc>');
  });
});
