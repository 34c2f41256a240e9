/** Prompts: the part that a prefix cache can share, what a prompt shows and hides, and the token limit of the reply. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgePrompt } from '../../../src/judgments/model-judge.ts';
import type { JudgedSource } from '../../../src/judgments/protocol/prompt.ts';
import { contentNonce, dataBlock } from '../../../src/text/untrusted.ts';
import { CITATIONS, type CitedRequest, RUBRIC, SOURCES } from './requests.ts';

/** The whole prompt as the template will see it, in bytes. */
function bytesOf(request: CitedRequest): Uint8Array {
  const { messages } = judgePrompt(request);
  return new TextEncoder().encode(messages.map(({ role, content }) => `${role}\n${content}`).join('\n'));
}

function sharedPrefix(prompts: readonly Uint8Array[]): string {
  const [first = new Uint8Array(), ...others] = prompts;
  let length = 0;
  while (length < first.length && others.every((other) => other[length] === first[length])) length++;
  return new TextDecoder().decode(first.subarray(0, length));
}

/** Eight samples of a group: everything but the answer, or the claims, is the same. */
const ANSWERS = Array.from(
  { length: 8 },
  (_, n) => `${'The Aare is long. '.repeat(n)}It has ${n}${n} bridges. <b>${n}`,
);
const RUBRIC_GROUP = ANSWERS.map((answer) => ({ ...RUBRIC, answer }));
const CITATIONS_GROUP = ANSWERS.map((text, n) => ({
  ...CITATIONS,
  claims: [{ claim: n, text, sources: [n % 2] }],
  statements: Array.from({ length: n }, (_, statement) => ({ statement, text: `${text} ${statement}` })),
}));

describe('a group of eight samples', () => {
  it('shares everything but the answers between its rubric prompts', () => {
    const prefix = sharedPrefix(RUBRIC_GROUP.map(bytesOf));
    const [, user] = judgePrompt(RUBRIC).messages;
    const upToAnswer = user.content.slice(0, user.content.lastIndexOf(RUBRIC.answer));
    expect(prefix).toContain(upToAnswer);
    expect(upToAnswer).toMatch(/<answer-[0-9a-f]{12}>\n$/);
  });

  it('shares instructions, question, sources and task between its citation prompts', () => {
    const prefix = sharedPrefix(CITATIONS_GROUP.map(bytesOf));
    for (const { text } of SOURCES) expect(prefix).toContain(text);
    expect(prefix).toMatch(/<claim-[0-9a-f]{12} key="k1" cites="source $/);
  });

  it('shares instructions, question and sources between both kinds', () => {
    const prefix = sharedPrefix([...RUBRIC_GROUP, ...CITATIONS_GROUP].map(bytesOf));
    expect(prefix).toMatch(/<\/source-[0-9a-f]{12}>\n\nTASK: $/);
    for (const { text } of SOURCES) expect(prefix).toContain(text);
  });

  it('shares everything before the criterion between the calls of per_criterion', () => {
    const calls = RUBRIC.criteria.map((criterion) => ({ ...RUBRIC, criteria: [criterion] }));
    expect(sharedPrefix(calls.map(bytesOf))).toMatch(/<criterion-[0-9a-f]{12} key="c1"/);
  });
});

describe('a prompt', () => {
  it('is the same for the same request, byte by byte', () => {
    for (const request of [RUBRIC, CITATIONS]) expect(bytesOf(structuredClone(request))).toEqual(bytesOf(request));
  });

  it('shows neither weight nor polarity, and claims with the sources they cite', () => {
    const [, user] = judgePrompt(CITATIONS).messages;
    expect(user.content).toMatch(/<claim-\w+ key="k2" cites="source 2, source 1">\nIt rises in the Bernese Alps\.\n/);
    expect(user.content).toMatch(/<statement-\w+ key="u1">\nThousands of swimmers/);
    expect(judgePrompt(RUBRIC).messages[1].content).not.toMatch(/weight|positive|negative/);
  });

  it('leaves room for every entry that is asked for, each with the reason before the verdict', () => {
    const one = judgePrompt({ ...RUBRIC, criteria: RUBRIC.criteria.slice(0, 1) });
    expect(judgePrompt(RUBRIC).max_reply_tokens).toBeGreaterThan(one.max_reply_tokens);
    for (const request of [RUBRIC, CITATIONS]) {
      const text = JSON.stringify(judgePrompt(request).schema?.schema);
      for (const verdict of ['"score"', '"support"', '"needs_citation"']) {
        const at = text.indexOf(verdict);
        if (at !== -1) expect(text.slice(0, at)).toContain('"reason"');
      }
      expect(text).not.toContain('"additionalProperties":true');
    }
  });
});

describe('a prompt after others with the same question', () => {
  const source = fc.record<JudgedSource>(
    {
      id: fc.constantFrom('S1', 'S2'),
      text: fc.constantFrom('It is long.', 'It is <b>short</b>.'),
      title: fc.constant('A'),
    },
    { requiredKeys: ['id', 'text'] },
  );

  it('begins with its own sources', () => {
    fc.assert(
      fc.property(fc.array(fc.array(source, { maxLength: 2 }), { maxLength: 12 }), (lists) => {
        for (const sources of lists) {
          const { question } = RUBRIC;
          const nonce = contentNonce([question, ...sources.map(({ id, text }) => `${id} ${text}`)]);
          const blocks = sources.map(({ id, text, title }, n) =>
            dataBlock('source', nonce, { n: `${n + 1}`, id, ...(title === undefined ? {} : { title }) }, text),
          );
          const expected = [dataBlock('question', nonce, {}, question), ...blocks, 'TASK'].join('\n\n');
          const [, user] = judgePrompt({ ...RUBRIC, sources }).messages;
          expect(user.content.slice(0, expected.length)).toBe(expected);
        }
      }),
      { numRuns: 100 },
    );
  });
});
