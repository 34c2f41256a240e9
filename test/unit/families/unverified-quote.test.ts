/** Support behind an unverified quote: each family that asks about citations can zero it, in a replay too. */
import { expect, it } from 'vitest';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { JudgmentRequest, Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { criterionKey } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { gapsOf } from '../../../src/runs/replay-group.ts';
import { resolved, scoreAlone } from '../scoring/scoring-line.ts';

const CITED = '<snippet id=S1>The bridge is 288 m long.</snippet>';
const REFINER: Rollout = {
  question: 'How long is the bridge?',
  response: '<answer><snippet id=S1>The bridge is 288 m long today.</snippet></answer>',
  tool_output: CITED,
  positive_rubrics: [{ description: 'Gives the length.' }],
  finish_reason: 'stop',
};
const DR_TULU: Rollout = {
  question: 'How long is the bridge?',
  response: `<call_tool name="google_search">bridge</call_tool><tool_output>${CITED}</tool_output><answer><cite id="S1">It is 288 m long today.</cite></answer>`,
  rubrics: [{ description: 'Gives the length.', weight: 1 }],
  finish_reason: 'stop',
};

/** Finds everything met and supported, and quotes what no source has. */
function misquoting(request: JudgmentRequest): Verdicts {
  if (request.kind === 'rubric') {
    return { kind: 'rubric', criteria: request.criteria.map((_, n) => ({ key: criterionKey(n), score: 2 })) };
  }
  if (request.kind !== 'citations') throw new Error(`no verdicts on ${request.kind}`);
  return {
    kind: 'citations',
    claims: request.claims.map(({ claim, sources }) => ({
      claim,
      support: 1,
      relevant: sources.map(() => true),
      quote: 'unverified',
    })),
    statements: request.statements.map(({ statement }) => ({ statement, needs_citation: false })),
  };
}

it.each([
  ['refiner-rl-balanced', REFINER],
  ['dr-tulu', DR_TULU],
] as const)('%s: zeroes the claim, and a replay does the same', async (base, rollout) => {
  const recipeOf = (unverified_quote: 'keep' | 'zero') => ({ base, unverified_quote });
  const keep = await scoreAlone(rollout, recipeOf('keep'), { judge: misquoting });
  const zero = await scoreAlone(rollout, recipeOf('zero'), { judge: misquoting });
  expect(zero.facts).toEqual(keep.facts);
  expect(zero.reply.reward).toBeLessThan(keep.reply.reward ?? Number.NaN);
});

it('dr-tulu: facts that were recorded without quotes are not replayed under zero', async () => {
  const before = await resolved('dr-tulu');
  const after = await resolved({ base: 'dr-tulu', unverified_quote: 'zero' });
  const recorded = await scoreAlone(DR_TULU, 'dr-tulu', { judge: misquoting });
  expect(JSON.stringify(recorded.facts)).not.toContain('quote');
  const row = { step: 0, group: 'g', sample: '0', recipe: before.digest, reward: 1, facts: recorded.facts };
  expect(gapsOf([row], before.recipe, after.recipe)).toEqual([['citation.quote']]);
  expect(gapsOf([row], before.recipe, before.recipe)).toEqual([[]]);
});
