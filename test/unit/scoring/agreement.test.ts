/**
 * Receipts of scored rollouts: of every family, of groups, and of null rewards; and their comparison with other
 * replies.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { digestJson } from '../../../src/digest.ts';
import type { RecipeInput } from '../../../src/families/resolve.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { Issuer, KnownIssuers, Signing } from '../../../src/judgments/issuer.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../../src/judgments/obtain.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { checkReceipt } from '../../../src/scoring/receipt.ts';
import { differsFromReply, differsFromRequest } from '../../../src/scoring/receipt-agreement.ts';
import { type Receipt, receiptedReplySchema } from '../../../src/scoring/receipt-schema.ts';
import { scoreGroup, scoreRollout } from '../../../src/scoring/score-rollouts.ts';
import { type ScoreResponse, scoreResponseSchema } from '../../../src/wire/score.ts';
import { freshIssuer } from './issuers.ts';
import { type Answer, judgeThat, resolved } from './scoring-line.ts';

const CITED: Rollout = {
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  response:
    '<answer><snippet id=S1>The river Aare is 288 km in length.</snippet> It is a popular place to swim.</answer>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
  negative_rubrics: [],
};

const TRACE: Rollout = {
  question: 'Which river flows through Bern?',
  response: '<think>Bern lies on the Aare.</think>The Aare.',
  reference: 'the Aare',
  entities: ['Aare', 'Thun'],
  finish_reason: 'stop',
};

const MATH: Rollout = { response: 'So \\boxed{42}.', reference: '42', num_turns: 4, response_tokens: 100 };

const RIGHT: Answer = () => ({ kind: 'outcome', correct: true });

let issuer: Issuer;
let known: KnownIssuers;
beforeAll(async () => {
  ({ issuer, known } = await freshIssuer());
});

function options(judge: Answer, signing: Signing): ObtainOptions {
  return {
    judge: judgeThat('judge', judge).choice,
    store: createMemoryJudgmentStore(),
    signing,
    mode: 'use',
    replicate: 0,
    deadline_ms: 1_000,
    now: () => '2026-11-21T12:00:00.000Z',
    elapsed: () => 0,
  };
}

async function scored(rollout: Rollout, recipe: RecipeInput, judge: Answer): Promise<ScoreResponse> {
  const request = { rollout, recipe: await resolved(recipe), receiptIssuer: issuer };
  const result = await scoreRollout(request, options(judge, { issuer, known }));
  if (result.status !== 'done') throw new Error(JSON.stringify(result));
  return scoreResponseSchema.parse(JSON.parse(JSON.stringify(result.reply)));
}

function receiptOf({ receipt }: ScoreResponse): Receipt {
  if (receipt === null) throw new Error('no receipt');
  return receipt;
}

async function expectAgreement(reply: ScoreResponse, rollout: Rollout, recipe: RecipeInput): Promise<void> {
  const receipt = receiptOf(reply);
  expect(await checkReceipt(receipt, known)).toBe('valid');
  expect(differsFromReply(receipt, receiptedReplySchema.parse(reply))).toEqual([]);
  const asked = { rollout, recipe: (await resolved(recipe)).digest };
  expect(differsFromRequest(receipt, asked)).toEqual([]);
  expect(differsFromRequest(receipt, { ...asked, recipe: null })).toEqual([]);
}

describe('receipts of replies', () => {
  it.each<[string, RecipeInput, Rollout, Answer]>([
    ['refiner', 'refiner-rl-balanced', CITED, judgeLexically],
    ['long-trace', 'longtrace-rl', TRACE, RIGHT],
    ['tool-call', 'grpo-tcr', MATH, RIGHT],
    [
      'dr-tulu',
      'dr-tulu',
      { ...CITED, rubrics: [{ description: 'the Aare is 288 km long', weight: 1 }] },
      judgeLexically,
    ],
  ])('vouch for a score of the family %s', async (family, recipe, rollout, judge) => {
    const reply = await scored(rollout, recipe, judge);
    await expectAgreement(reply, rollout, recipe);
    expect(receiptOf(reply)).toMatchObject({ family, reward: reply.reward, status: 'scored', reason: null });
    expect(reply.reward).not.toBeNull();
  });

  it('vouch for a reward that is null, with the reason: never for a number', async () => {
    const reply = await scored(TRACE, 'longtrace-rl', () => 'judge_timeout');
    await expectAgreement(reply, TRACE, 'longtrace-rl');
    const said = { reward: null, status: 'unscored', reason: 'judge_timeout', judgments: [] };
    expect(receiptOf(reply)).toMatchObject(said);
  });

  it('name the judgments that were had by key and by what was answered', async () => {
    const reply = await scored(TRACE, 'longtrace-rl', RIGHT);
    const wrong = await scored(TRACE, 'longtrace-rl', () => ({ kind: 'outcome', correct: false }));
    const [judgment] = receiptOf(reply).judgments;
    expect(judgment).toEqual({
      kind: 'outcome',
      key: reply.judgments[0]?.key,
      verdicts: digestJson({ kind: 'outcome', correct: true }),
    });
    expect(receiptOf(wrong).judgments).toMatchObject([{ key: judgment?.key }]);
    expect(receiptOf(wrong).judgments[0]?.verdicts).not.toBe(judgment?.verdicts);
  });

  it('of a group stand for one member each, with what it takes from the others', async () => {
    const rollouts = ['The Aare, by Thun.', 'The Aare.', 'The Rhine.'].map((response) => ({
      ...TRACE,
      response: `<think>x</think>${response}`,
    }));
    const recipe = await resolved('longtrace-rl');
    const result = await scoreGroup({ rollouts, recipe, receiptIssuer: issuer }, options(RIGHT, { issuer, known }));
    if (result.status !== 'done') throw new Error(JSON.stringify(result));
    for (const [n, { reply }] of result.members.entries()) {
      const rollout = rollouts[n];
      if (rollout === undefined) throw new Error('a member too many');
      await expectAgreement(reply, rollout, 'longtrace-rl');
    }
    const receipts = result.members.map(({ reply }) => receiptOf(reply));
    expect(receipts.map(({ group_max }) => group_max)).toEqual([1, 1, 1]);
    expect(new Set(receipts.map(({ request }) => request)).size).toBe(3);
    expect(receiptOf(await scored(TRACE, 'longtrace-rl', RIGHT)).group_max).toBeNull();
  });

  it('are null where nobody asked for them, also where judgments are signed', async () => {
    const result = await scoreRollout(
      { rollout: TRACE, recipe: await resolved('longtrace-rl') },
      options(RIGHT, { issuer, known }),
    );
    if (result.status !== 'done') throw new Error(JSON.stringify(result));
    expect(scoreResponseSchema.parse(result.reply)).toMatchObject({ receipt: null, status: 'scored' });
  });
});

describe('a receipt beside a reply that is not its own', () => {
  it('names every part that differs', async () => {
    const reply = receiptedReplySchema.parse(await scored(TRACE, 'longtrace-rl', RIGHT));
    const { receipt } = reply;
    if (receipt === null) throw new Error('no receipt');
    const [judgment] = reply.judgments;
    if (judgment === undefined) throw new Error('no judgment');
    const changes: readonly [string, Partial<typeof reply>][] = [
      ['family', { family: 'refiner' }],
      ['reward', { reward: (reply.reward ?? 0) + 2 ** -50 }],
      ['reward', { reward: null }],
      ['status', { status: 'unscored' }],
      ['reason', { reason: 'judge_timeout' }],
      ['recipe', { recipe: { name: 'longtrace-rl', digest: '0'.repeat(64) } }],
      ['judgments', { judgments: [] }],
      ['judgments', { judgments: [{ ...judgment, key: '0'.repeat(64) }] }],
      ['judgments', { judgments: [{ ...judgment, failure: { reason: 'judge_timeout' } }] }],
      ['judgments', { judgments: [judgment, judgment] }],
      ['group_max', { details: { group_max: 0.5 } }],
    ];
    for (const [part, change] of changes) expect(differsFromReply(receipt, { ...reply, ...change })).toEqual([part]);
  });

  it('names the request and the recipe that it is not of', async () => {
    const receipt = receiptOf(await scored(CITED, 'refiner-rl-balanced', judgeLexically));
    const recipe = (await resolved('refiner-rl-balanced')).digest;
    const other = (await resolved('refiner-gpt54-instance-rubric')).digest;
    const changed: Rollout = { ...CITED, response: CITED.response.replace('288', '289') };
    expect(differsFromRequest(receipt, { rollout: changed, recipe })).toEqual(['request']);
    expect(differsFromRequest(receipt, { rollout: CITED, recipe: other })).toEqual(['recipe']);
  });
});
