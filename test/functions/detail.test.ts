/**
 * `detail: "reward"` of `POST /v1/score` and `POST /v1/groups` in workerd: the short reply says what the full one says
 * about the reward, its reason and its judges, and an unscored member keeps its reason.
 */
import { describe, expect, it } from 'vitest';
import { groupResponseSchema, groupRewardResponseSchema } from '../../src/wire/groups.ts';
import { scoreResponseSchema } from '../../src/wire/score.ts';
import { rewardResponseSchema } from '../../src/wire/score-detail.ts';
import { ORIGIN, post, ROLLOUT, send, wrongFields } from './api.ts';

const { response: GOOD, ...SHARED } = ROLLOUT;
const SAMPLES = Array.from({ length: 8 }, (_, n) => GOOD.replace('Thousands', `${n + 1} thousands`));
const GROUP = { ...SHARED, responses: SAMPLES };

async function bodyOf(path: string, request: object): Promise<string> {
  const reply = await send(post(path, request));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return text;
}

async function both(path: string, request: object): Promise<{ readonly full: unknown; readonly short: unknown }> {
  const full: unknown = JSON.parse(await bodyOf(path, { ...request, detail: 'full' }));
  return { full, short: JSON.parse(await bodyOf(path, { ...request, detail: 'reward' })) };
}

function valuesOf(components: Readonly<Record<string, { readonly value: number | null }>>) {
  return Object.fromEntries(Object.entries(components).map(([name, { value }]) => [name, value]));
}

describe('detail: "reward" of /v1/score', () => {
  it('has the reward, components, contributions and recipe of the full reply, and counts its judgments', async () => {
    const replies = await both('/v1/score', ROLLOUT);
    const [full, short] = [scoreResponseSchema.parse(replies.full), rewardResponseSchema.parse(replies.short)];
    if (full.family !== 'refiner') throw new Error(full.family);
    const { family, reward, status, reason, components, contributions, recipe } = full;
    const { vacuous_credit } = full.details;
    expect(vacuous_credit).toBeGreaterThan(0);
    const judges = full.judgments.map(({ kind, model, template, sampling, issuer }) => ({
      ...{ kind, model, template, sampling, issuer },
      ...{ judgments: 1, cached: 1, stored: 1, cut: 0 },
    }));
    expect(short).toEqual({
      ...{ family, reward, status, reason, vacuous_credit, contributions, recipe, judges },
      components: valuesOf(components),
    });
  });

  it('says why a reward is missing', async () => {
    const short = rewardResponseSchema.parse((await both('/v1/score', { ...ROLLOUT, judgments: 'skip' })).short);
    expect(short).toMatchObject({ reward: null, status: 'unscored', reason: 'judgment_skipped', judges: [] });
  });

  it('is the full reply by default, and names an unknown detail', async () => {
    scoreResponseSchema.parse(JSON.parse(await bodyOf('/v1/score', ROLLOUT)));
    expect(await wrongFields(await send(post('/v1/score', { ...ROLLOUT, detail: 'short' })))).toEqual(['detail']);
  });

  it('says what recording did, and records the full report', async () => {
    const run = { id: 'detail-1', step: 0, group: 'g', sample: 's' };
    const first = rewardResponseSchema.parse(
      JSON.parse(await bodyOf('/v1/score', { ...ROLLOUT, run, detail: 'reward' })),
    );
    expect(first.run).toEqual({ attempt: 0, status: 'recorded' });
    const again = scoreResponseSchema.parse(JSON.parse(await bodyOf('/v1/score', { ...ROLLOUT, run })));
    expect(again.run).toMatchObject({ attempt: 0, status: 'unchanged' });
  });
});

describe('credit', () => {
  it('is no part of what a run records', async () => {
    const run = { id: 'credit-1', step: 0, group: 'g', sample: 's' };
    const replies = await both('/v1/score', { ...ROLLOUT, run, credit: 'claims' });
    const [full, short] = [scoreResponseSchema.parse(replies.full), rewardResponseSchema.parse(replies.short)];
    expect(full.credit?.entries.reduce((sum, { share }) => sum + share, 0)).toBe(full.reward);
    expect(short.credit).toEqual(full.credit);
    const again = scoreResponseSchema.parse(JSON.parse(await bodyOf('/v1/score', { ...ROLLOUT, run })));
    expect([again.run?.status, again.credit]).toEqual(['unchanged', undefined]);
    const shown = await send(new Request(`${ORIGIN}/v1/runs/credit-1/rollouts?detail=true`));
    const text = await shown.text();
    expect([shown.status, text.includes('"credit"')], text).toEqual([200, false]);
  });
});

describe('detail: "reward" of /v1/groups', () => {
  it('has the rewards, advantages and components of the full reply in less than 3 KB for 8 samples', async () => {
    const replies = await both('/v1/groups', { ...GROUP, advantages: 'trl' });
    const full = groupResponseSchema.parse(replies.full);
    const short = groupRewardResponseSchema.parse(replies.short);
    const { members, ...head } = full;
    const { members: shortMembers, judges, family, ...shortHead } = short;
    expect(shortHead).toEqual(head);
    expect(family).toBe('refiner');
    expect(shortMembers.map(({ components }) => components)).toEqual(members.map((one) => valuesOf(one.components)));
    expect(judges.map(({ kind, judgments }) => [kind, judgments])).toEqual([
      ['rubric', 8],
      ['citations', 8],
    ]);
    expect(JSON.stringify(short).length).toBeLessThan(3_000);
  });

  it('keeps the reason of each unscored member', async () => {
    const request = { ...SHARED, responses: [GOOD, 'I would rather not say.'], judgments: 'skip' };
    const short = groupRewardResponseSchema.parse((await both('/v1/groups', request)).short);
    expect(short.rewards).toEqual([null, 0]);
    expect(short.members.map(({ status, reason }) => [status, reason])).toEqual([
      ['unscored', 'judgment_skipped'],
      ['scored', null],
    ]);
    expect(short.advantages.map(({ masked }) => masked)).toEqual([true, false]);
  });
});
