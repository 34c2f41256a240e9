/**
 * A receipt is valid only for what was signed: changing any leaf or byte, or using the signature of another record,
 * makes it invalid.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Score } from '../../../src/families/composers.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { createKnownIssuers, type Issuer, type KnownIssuers, signed } from '../../../src/judgments/issuer.ts';
import { JUDGMENT_KINDS } from '../../../src/judgments/kinds/names.ts';
import { checkReceipt, createReceipt } from '../../../src/scoring/receipt.ts';
import { type Receipt, receiptSchema } from '../../../src/scoring/receipt-schema.ts';
import { createRequestDigests } from '../../../src/scoring/request-digest.ts';
import { sampleJudgment } from '../../contract/judgment-store.case.ts';
import { freshIssuer } from './issuers.ts';

let issuer: Issuer;
let known: KnownIssuers;
let stranger: Issuer;
beforeAll(async () => {
  ({ issuer, known } = await freshIssuer());
  stranger = (await freshIssuer()).issuer;
});

const digest = fc.stringMatching(/^[0-9a-f]{64}$/);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const time = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') })
  .map((date) => date.toISOString());

function longTrace(reward: number | null, group_max: number | null): Score {
  const nothing = { status: 'not_applicable', value: null, weight: 0, contribution: 0 } as const;
  return {
    family: 'long-trace',
    reward,
    base: reward,
    status: reward === null ? 'unscored' : 'scored',
    reason: reward === null ? 'judge_timeout' : null,
    decided_by: reward === null ? null : 'components',
    components: { outcome: nothing, rubric: nothing },
    details: { rubric_share: null, group_max, final: true },
  };
}

const parts = fc.record({
  request: digest,
  recipe: digest,
  judgments: fc.array(fc.record({ kind: fc.constantFrom(...JUDGMENT_KINDS), key: digest, verdicts: digest }), {
    maxLength: 3,
  }),
  score: fc
    .tuple(fc.option(finite), fc.option(fc.double({ min: 0, max: 1, noNaN: true })))
    .map(([reward, max]) => longTrace(reward, max)),
  issued_at: time,
});

/** Another value of the same kind, or of another where there is none. */
function other(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('0') ? `1${value.slice(1)}` : `0${value.slice(1)}`;
  if (typeof value === 'number') return value === 1 ? 0 : 1;
  return value === null ? 0 : null;
}

/** The value with each of its leaves changed, members left out, and members added; one change each. */
function* mutants(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [n, member] of value.entries()) {
      yield value.toSpliced(n, 1);
      yield value.toSpliced(n, 0, member);
      for (const changed of mutants(member)) yield value.with(n, changed);
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, further: 1 };
    for (const [name, member] of Object.entries(value)) {
      const rest = Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      yield rest;
      for (const changed of mutants(member)) yield { ...value, [name]: changed };
    }
  } else {
    yield other(value);
  }
}

/** The result of reading a receipt file: refused by the schema, or checked. */
async function read(value: unknown): Promise<string> {
  const parsed = receiptSchema.safeParse(value);
  return parsed.success ? checkReceipt(parsed.data, known) : 'malformed';
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

describe('a receipt', () => {
  it('survives JSON, any order of its members, and a key that is one of several', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (content) => {
        const receipt = await createReceipt(content, issuer);
        const again = receiptSchema.parse(JSON.parse(JSON.stringify(receipt)));
        const reversed = receiptSchema.parse(Object.fromEntries(Object.entries(again).reverse()));
        const keys = createKnownIssuers([stranger.key, issuer.key]);
        expect([await checkReceipt(again, known), await checkReceipt(reversed, keys)]).toEqual(['valid', 'valid']);
        expect(await checkReceipt(again, createKnownIssuers([stranger.key]))).toBe('unknown_key');
      }),
      { numRuns: 50 },
    );
  });

  it('breaks with any leaf changed, any member left out or added', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (content) => {
        const receipt = await createReceipt(content, issuer);
        for (const mutant of mutants(receipt)) expect(await read(mutant), JSON.stringify(mutant)).not.toBe('valid');
      }),
      { numRuns: 30 },
    );
  });

  it('breaks with any byte of its JSON changed, unless the JSON says the same', async () => {
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 127 }), async (content, difference) => {
        const text = JSON.stringify(await createReceipt(content, issuer));
        const value: unknown = JSON.parse(text);
        for (let at = 0; at < text.length; at++) {
          const byte = String.fromCharCode(text.charCodeAt(at) ^ difference);
          const changed = parsedJson(text.slice(0, at) + byte + text.slice(at + 1));
          // 1e21 and 1E21 are one number.
          if (JSON.stringify(changed) === JSON.stringify(value)) continue;
          expect(await read(changed), `byte ${at}`).not.toBe('valid');
        }
      }),
      { numRuns: 8 },
    );
  });

  it('has one text of its signature: the spare bits of its last digit are not free', async () => {
    const receipt = await createReceipt(example, issuer);
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const { key_id, signature } = receipt.issuer;
    const held = [];
    for (const digit of digits) {
      const text = signature.slice(0, -1) + digit;
      if ((await checkReceipt({ ...receipt, issuer: { key_id, signature: text } }, known)) === 'valid') held.push(text);
    }
    expect(held).toEqual([signature]);
  });

  it('is no other thing that the same key signs, and no other thing is it', async () => {
    const { issuer: _, ...unsigned } = await sampleJudgment(1);
    const judgment = await signed(unsigned, issuer);
    const receipt = await createReceipt(example, issuer);
    expect(await known.check(judgment)).toBe('valid');
    if (judgment.issuer === null) throw new Error('not signed');
    expect(await checkReceipt({ ...receipt, issuer: judgment.issuer }, known)).toBe('wrong');
    expect(await known.check({ ...judgment, issuer: receipt.issuer })).toBe('wrong');
    // Even the signature of the judgment's own content as a statement is none of the judgment.
    const posed = await issuer.signStatement({ kind: 'receipt', ...unsigned });
    expect(await known.check({ ...judgment, issuer: posed })).toBe('wrong');
  });

  it('is not made of a number that is none', async () => {
    for (const reward of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      await expect(createReceipt({ ...example, score: longTrace(reward, null) }, issuer)).rejects.toThrow(
        'not allowed',
      );
    }
    for (const reward of ['1e999', '-1e999', '"1"', 'true']) {
      const receipt: Receipt = await createReceipt(example, issuer);
      expect(await read(parsedJson(JSON.stringify({ ...receipt, reward: 'X' }).replace('"X"', reward)))).toBe(
        'malformed',
      );
    }
  });

  const example = {
    request: 'a'.repeat(64),
    recipe: 'b'.repeat(64),
    judgments: [{ kind: 'outcome', key: 'c'.repeat(64), verdicts: 'd'.repeat(64) }],
    score: longTrace(0.1 + 0.2, 0.5),
    issued_at: '2026-11-21T12:00:00.000Z',
  } as const;
});

const ROLLOUT: Rollout = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response: '<answer><snippet id=S1>Die Aare ist 288 km lang – länger als \u{1F30A}.</snippet></answer>',
  positive_rubrics: [{ description: 'States the length', weight: 0.5 }],
  negative_rubrics: [],
  num_turns: 2,
};

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

describe('the digest of a request', () => {
  it('is what the documentation says, for whoever computes it from that', async () => {
    const fields = {
      num_turns: sha256('2'),
      positive_rubrics: sha256('[{"description":"States the length","weight":0.5}]'),
      question: sha256('"How long is the Aare?"'),
      response: sha256(JSON.stringify(ROLLOUT.response)),
      tool_output: sha256(JSON.stringify(ROLLOUT.tool_output)),
    };
    expect(createRequestDigests()(ROLLOUT)).toBe(sha256(JSON.stringify({ fields, v: 1 })));
  });

  it('changes with every field that is there, and with none that is absent or empty', async () => {
    const digests = createRequestDigests();
    const whole: Required<Rollout> = {
      question: 'q',
      tool_output: 't',
      sources: [{ id: 'S1', text: 's' }],
      response: 'r',
      messages: [{ role: 'assistant', content: 'r' }],
      trajectory: { source_ids: 'call' },
      cited_answer: 'r',
      answer_format: 'markdown',
      reasoning: 'because',
      history: [{ role: 'assistant', content: 'x' }],
      positive_rubrics: [{ description: 'p' }],
      negative_rubrics: [{ description: 'n' }],
      rubrics: [{ description: 'd', weight: -1 }],
      finish_reason: 'stop',
      reference: 'ref',
      entities: ['e'],
      entity_rubrics: ['<E0> is old.'],
      useful_chunks: [1],
      num_turns: 2,
      response_tokens: 3,
      tests: [{ stdin: '', stdout: '1' }],
    };
    const names = Object.keys(whole);
    const without = await Promise.all(
      names.map((name) => digests({ ...whole, [name]: name === 'response' ? '' : undefined })),
    );
    const all = [await digests(whole), ...without];
    expect(new Set(all).size).toBe(names.length + 1);
    expect(await digests({ response: 'r', positive_rubrics: [], sources: [] })).toBe(await digests({ response: 'r' }));
    // A text and a list that look alike, and a value under another name.
    expect(await digests({ response: 'r', question: 'x' })).not.toBe(await digests({ response: 'r', reference: 'x' }));
  });

  it('gives members of a group what they would have alone', async () => {
    const shared = createRequestDigests();
    for (const response of ['a', 'b', '', '\ud800']) {
      const rollout = { ...ROLLOUT, response };
      expect(shared(rollout)).toBe(createRequestDigests()(rollout));
    }
  });
});
