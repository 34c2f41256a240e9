/** The strict reply reader: every requested entry once and in range, or no verdicts at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readReply } from '../../../src/judgments/model-judge.ts';
import { readAs, readEntries } from '../../../src/judgments/protocol/reply.ts';
import { CITATIONS, type CitedRequest, RUBRIC } from './requests.ts';

const RUBRIC_REPLY = { c1: { reason: 'It does.', score: 2 }, c2: { reason: 'It does not.', score: 0 } };
const CITATIONS_REPLY = {
  k1: { reason: 'Stated.', quote: 'The Aare is 288 kilometres long', support: 'full', relevant: [true] },
  k2: { reason: 'Half.', quote: 'in the Bernese Alps', support: 'partial', relevant: [true, false] },
  u1: { reason: 'A fact.', needs_citation: true },
};

const SECRET = 'KANARIENVOGEL';

function problemOf(request: CitedRequest, reply: unknown): string | null {
  const read = readReply(request, typeof reply === 'string' ? reply : JSON.stringify(reply));
  if (read.ok) return null;
  expect(read.detail).not.toContain(SECRET);
  return read.problem;
}

describe('a good reply', () => {
  it('is read in the order of the request, whatever its own', () => {
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(RUBRIC_REPLY).toReversed()));
    for (const text of [JSON.stringify(RUBRIC_REPLY), reversed]) {
      expect(readReply(RUBRIC, text)).toEqual({
        ok: true,
        verdicts: {
          kind: 'rubric',
          criteria: [
            { key: 'c1', score: 2 },
            { key: 'c2', score: 0 },
          ],
        },
        reasons: [RUBRIC_REPLY.c1.reason, RUBRIC_REPLY.c2.reason],
      });
    }
  });

  it('has its quotes located and its entries named as they were asked', () => {
    expect(readReply(CITATIONS, JSON.stringify(CITATIONS_REPLY))).toEqual({
      ok: true,
      verdicts: {
        kind: 'citations',
        claims: [
          { claim: 0, support: 1, relevant: [true], quote: { source: 0, start: 0, end: 31 } },
          { claim: 3, support: 0.5, relevant: [true, false], quote: { source: 1, start: 30, end: 49 } },
        ],
        statements: [{ statement: 2, needs_citation: true }],
      },
      reasons: ['Stated.', 'Half.', 'A fact.'],
    });
  });

  it.each([
    ['full', 'unverified'],
    ['partial', 'unverified'],
    ['none', 'absent'],
  ])('that quotes nothing for %s support has a quote that is %s', (support, quote) => {
    const reply = { ...CITATIONS_REPLY, k1: { ...CITATIONS_REPLY.k1, quote: ' “” ', support } };
    const read = readReply(CITATIONS, JSON.stringify(reply));
    expect(read).toMatchObject({ ok: true, verdicts: { claims: [{ quote }, { support: 0.5 }] } });
  });

  it.each([
    ['in a fence', (json: string) => `\`\`\`json\n${json}\n\`\`\``],
    ['in a fence without a language', (json: string) => `\`\`\`\n${json}\n\`\`\`\n`],
    ['between blank lines', (json: string) => `\n\n ${json} \n`],
    ['with line breaks', (json: string) => json.replaceAll(',', ',\n  ')],
  ])('may stand %s', (_name, wrapped) => {
    expect(problemOf(RUBRIC, wrapped(JSON.stringify(RUBRIC_REPLY)))).toBeNull();
  });

  it('may hold anything in its reasons', () => {
    const reason = `"}], {"c1": \\ ${SECRET} : { [ \u0000 \ud800`;
    expect(problemOf(RUBRIC, { ...RUBRIC_REPLY, c1: { reason, score: 1 } })).toBeNull();
  });
});

describe('a reply that is no JSON object', () => {
  const json = JSON.stringify(RUBRIC_REPLY);
  it.each([
    ['', 'nothing'],
    ['   ', 'blanks'],
    ['null', 'null'],
    ['[]', 'a list'],
    [`[${json}]`, 'a list of one'],
    ['"{}"', 'a text'],
    [`Here you are: ${json}`, 'words before'],
    [`${json} I hope this helps.`, 'words behind'],
    [`${json}\n${json}`, 'two objects'],
    [json.slice(0, -1), 'cut by one'],
    [json.slice(0, 30), 'cut in the middle'],
    [`<think>hm</think>${json}`, 'thoughts before'],
    [`\`\`\`json\n${json}`, 'a fence that never closes'],
    [json.replace('2', 'NaN'), 'NaN'],
    [json.replace('2', 'Infinity'), 'Infinity'],
    [json.replace('2', '+2'), 'a plus sign'],
    [json.replace('2', '02'), 'a leading zero'],
    [json.replaceAll('"', "'"), 'single quotes'],
    [`${json.slice(0, -1)},}`, 'a trailing comma'],
  ])('%j: %s', (text) => {
    expect(problemOf(RUBRIC, text)).toBe('not_json');
  });
});

describe('a reply of the wrong shape', () => {
  const { c1, c2 } = RUBRIC_REPLY;
  const rubric: readonly (readonly [string, unknown])[] = [
    ['no entry', {}],
    ['one entry too few', { c1 }],
    ['one entry too many', { c1, c2, c3: c1 }],
    ['an entry with a name of its own', { c1, [SECRET]: c2 }],
    ['other keys', { C1: c1, C2: c2 }],
    ['keys counted from nought', { c0: c1, c1: c2 }],
    ['a list of entries', { scores: [c1, c2] }],
    ['bare scores', { c1: 2, c2: 0 }],
    ['a score of 3', { c1, c2: { ...c2, score: 3 } }],
    ['a score of -1', { c1, c2: { ...c2, score: -1 } }],
    ['a score of 0.5', { c1, c2: { ...c2, score: 0.5 } }],
    ['a score as text', { c1, c2: { ...c2, score: '2' } }],
    ['a score of true', { c1, c2: { ...c2, score: true } }],
    ['a score of null', { c1, c2: { ...c2, score: null } }],
    ['a score beyond a double', `{"c1":{"reason":"","score":1e999},"c2":${JSON.stringify(c2)}}`],
    ['no score', { c1, c2: { reason: '' } }],
    ['no reason', { c1, c2: { score: 0 } }],
    ['a reason that is none', { c1, c2: { ...c2, reason: 7 } }],
    ['something beside the score', { c1, c2: { ...c2, confidence: SECRET } }],
    ['an entry that is null', { c1, c2: null }],
    ['a reply to the other kind', CITATIONS_REPLY],
    ['an inherited name', `{"c1":${JSON.stringify(c1)},"__proto__":${JSON.stringify(c2)}}`],
  ];
  it.each(rubric)('rubric: %s', (_name, reply) => {
    expect(problemOf(RUBRIC, reply)).toBe('wrong_shape');
  });

  const { k1, k2, u1 } = CITATIONS_REPLY;
  const citations: readonly (readonly [string, unknown])[] = [
    ['a claim too few', { k1, u1 }],
    ['a statement too few', { k1, k2 }],
    ['a claim too many', { k1, k2, k3: k1, u1 }],
    ['another entry', { k1, k2, u1, [SECRET]: 1 }],
    ['another level of support', { k1: { ...k1, support: 'mostly' }, k2, u1 }],
    ['support as a number', { k1: { ...k1, support: 1 }, k2, u1 }],
    ['support in capitals', { k1: { ...k1, support: 'FULL' }, k2, u1 }],
    ['a source too few', { k1, k2: { ...k2, relevant: [true] }, u1 }],
    ['a source too many', { k1: { ...k1, relevant: [true, true] }, k2, u1 }],
    ['relevance as a number', { k1: { ...k1, relevant: [1] }, k2, u1 }],
    ['relevance of one', { k1: { ...k1, relevant: true }, k2, u1 }],
    ['no quote', { k1: { reason: '', support: 'full', relevant: [true] }, k2, u1 }],
    ['a quote of null', { k1: { ...k1, quote: null }, k2, u1 }],
    ['a statement judged as a claim', { k1, k2, u1: k1 }],
    ['need as text', { k1, k2, u1: { ...u1, needs_citation: 'yes' } }],
    ['a reply to the other kind', RUBRIC_REPLY],
  ];
  it.each(citations)('citations: %s', (_name, reply) => {
    expect(problemOf(CITATIONS, reply)).toBe('wrong_shape');
  });
});

describe('a key that is there twice', () => {
  const c2 = JSON.stringify(RUBRIC_REPLY.c2);
  it.each([
    ['with two verdicts', `{"c1":{"reason":"","score":0},"c2":${c2},"c1":{"reason":"","score":2}}`],
    ['with the same verdict', `{"c1":{"reason":"","score":0},"c1":{"reason":"","score":0},"c2":${c2}}`],
    ['once escaped', `{"c1":{"reason":"","score":0},"c2":${c2},"\\u0063\\u0031":{"reason":"","score":2}}`],
    [
      'behind quotes that are escaped',
      `{"c1":{"reason":"\\"}, \\\\","score":0},"c2":${c2},"c1":{"reason":"","score":2}}`,
    ],
  ])('%s is no reply', (_name, text) => {
    expect(problemOf(RUBRIC, text)).toBe('not_json');
  });

  it.each([
    ['the score', '{"c1":{"reason":"","score":0,"score":2},"c2":C2}'],
    ['the reason', '{"c1":{"reason":"a","score":0,"reason":"b"},"c2":C2}'],
  ])('inside an entry, %s, is no reply', (_name, text) => {
    expect(problemOf(RUBRIC, text.replace('C2', c2))).not.toBeNull();
  });
});

describe('readEntries', () => {
  const entry = z.strictObject({ reason: z.string(), score: z.union([z.literal(0), z.literal(1)]) });
  const value = fc.oneof(
    fc.record({ reason: fc.string(), score: fc.constantFrom(0, 1, 2) }, { requiredKeys: [] }),
    fc.record({ reason: fc.constant('r'), score: fc.constant(1), more: fc.constant(true) }),
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant({ reason: 'r', score: 0 }),
  );
  const reply = fc.oneof(
    fc.uniqueArray(fc.constantFrom('c1', 'c2', 'c3', '__proto__', 'constructor'), { maxLength: 5 }).chain((keys) =>
      fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), value))).map((members) => {
        const text = members.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`).join(',');
        return JSON.parse(`{${text}}`) as unknown;
      }),
    ),
    fc.jsonValue({ maxDepth: 1 }),
  );

  it.each(['refused', 'ignored'] as const)('reads as one schema of the whole reply does, others %s', (others) => {
    const keys = ['c1', 'c2'];
    const shape = Object.fromEntries(keys.map((key) => [key, entry]));
    const whole = others === 'refused' ? z.strictObject(shape) : z.object(shape);
    fc.assert(
      fc.property(reply, (value) => {
        const expected = readAs(whole, value, (entries) => entries);
        const read = readEntries(
          keys.map((key) => [key, entry] as const),
          value,
          others,
        );
        expect(read.ok ? { ok: true, verdicts: read.entries } : read).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
