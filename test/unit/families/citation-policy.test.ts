import { describe, expect, it } from 'vitest';
import { createScorer, lexicalJudge } from '../../../lib/index.ts';
import { composeRefiner } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES, refinerComposer } from '../../../src/families/refiner/composer.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import type { RefinerRecipe } from '../../../src/families/refiner/recipe.ts';

const PLAIN = REFINER_RECIPES['refiner-rl-balanced'];
const UNCITED = '<answer>The bridge opened in 1937.</answer>';
const CITED = '<answer><snippet id=S1>The bridge opened in 1937.</snippet></answer>';

describe('the citations of a recipe', () => {
  const scorer = createScorer({ judge: lexicalJudge });
  const score = async (response: string, more: Partial<RefinerRecipe> = {}) => {
    const rollout = {
      question: 'When did it open?',
      sources: [{ id: 'S1', text: 'The bridge opened in 1937.' }],
      positive_rubrics: [{ description: 'States that the bridge opened in 1937' }],
      finish_reason: 'length',
      response,
    };
    return scorer.score(rollout, { ...PLAIN, ...more });
  };

  it.each([
    ['required', UNCITED, CITED, 'citation_missing'],
    ['forbidden', CITED, UNCITED, 'citation_forbidden'],
  ] as const)('%s: an answer that breaks it earns 0 without a judge, another as before', async (...given) => {
    const [citations, broken, kept, reason] = given;
    const zero = await score(broken, { citations });
    expect(zero).toMatchObject({ reward: 0, status: 'scored', decided_by: 'citation_policy', judgments: [] });
    expect(zero.finding_counts).toEqual({ [reason]: 1 });
    const [before, after] = [await score(kept), await score(kept, { citations })];
    expect(after.reward).toBe(before.reward);
    expect(after.reward).toBeGreaterThan(0);
    expect(after.judgments.map(({ key }) => key)).toEqual(before.judgments.map(({ key }) => key));
    expect(after.finding_counts).toEqual({});
  });

  it('allowed is the same as none', async () => {
    for (const response of [UNCITED, CITED]) {
      expect((await score(response, { citations: 'allowed' })).reward).toBe((await score(response)).reward);
    }
  });

  it('a penalty for a truncated answer comes first', async () => {
    const penalty = { non_stop_penalty: { enabled: true, value: -1 } };
    const { reward, decided_by } = await score(UNCITED, { ...penalty, citations: 'required' });
    expect([reward, decided_by]).toEqual([-1, 'non_stop_penalty']);
  });
});

describe('a replay under a recipe that requires citations', () => {
  const required: RefinerRecipe = { ...PLAIN, citations: 'required' };
  const gapsOf = (facts: RefinerFacts) =>
    refinerComposer.gaps(PLAIN, required, []).flatMap(({ name, isOpen }) => (isOpen(facts) ? [name] : []));
  const facts: RefinerFacts = {
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: 'stop',
    rubric: { status: 'scored', observed: [{ origin: 'instance', polarity: 'positive', weight: 1, score: 2 }] },
    citation: { status: 'scored', observed: [{ cited: false, needs_citation: false }] },
  };

  it('reads from the judged claims whether the answer cites', () => {
    expect(gapsOf(facts)).toEqual([]);
    expect(composeRefiner(facts, required)).toMatchObject({ reward: 0, decided_by: 'citation_policy' });
  });

  it('has a gap where the facts do not say, and no number', () => {
    const unknown: RefinerFacts = { ...facts, citation: { status: 'unscored', reason: 'not_measured' } };
    expect(gapsOf(unknown)).toEqual(['recipe.citations']);
    expect(composeRefiner(unknown, { ...required, citation_weight: 0 })).toMatchObject({
      reward: null,
      reason: 'not_measured',
    });
    expect(gapsOf({ ...unknown, cites: true })).toEqual([]);
    expect(gapsOf({ ...unknown, has_answer: false })).toEqual([]);
  });
});
