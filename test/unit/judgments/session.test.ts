/** The session of a judge call: what a router may send to one engine. */
import { expect, it } from 'vitest';
import type { Judge } from '../../../src/judgments/judge.ts';
import { judgmentKey, judgmentPreimage } from '../../../src/judgments/key.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { makeJudgment } from '../../../src/judgments/make-judgment.ts';

const REQUEST = {
  kind: 'rubric',
  question: 'How long is the Aare?',
  sources: [{ id: 'S1', text: 'The Aare is 288 km long.' }],
  criteria: [{ description: 'States the length' }],
  answer: 'It is 288 km long.',
} satisfies JudgmentRequest;

async function sessionOf(request: JudgmentRequest): Promise<string | undefined> {
  let session: string | undefined;
  const judge: Judge = {
    ...LEXICAL_JUDGE,
    async judge(asked, options) {
      ({ session } = options);
      return LEXICAL_JUDGE.judge(asked, options);
    },
  };
  const preimage = judgmentPreimage(request, judge.identityFor(request.kind), 0);
  await makeJudgment(judge, { key: judgmentKey(preimage), preimage, request, deadline_ms: 1_000 }, null, () => '');
  return session;
}

it('is the same for all answers to a question with its sources, and for no other question', async () => {
  const session = await sessionOf(REQUEST);
  expect(session).toMatch(/^[0-9a-f]{32}$/);
  expect(await sessionOf({ ...REQUEST, answer: 'I do not know.' })).toBe(session);
  expect(await sessionOf({ ...REQUEST, question: 'How long is the Rhine?' })).not.toBe(session);
  expect(await sessionOf({ ...REQUEST, sources: [] })).not.toBe(session);
});
