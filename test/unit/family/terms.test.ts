/** The length and turn terms: added to every reward, only with their counts, and the same in replay. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composeFields } from '../../../dashboard/src/recipe/recipe-fields.ts';
import {
  compose,
  composeGroup,
  contributions,
  type Facts,
  RECIPES,
  type Recipe,
  rewardRange,
} from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { factsSchema, recipeSchema } from '../../../src/families/schemas.ts';
import { judgeLexically } from '../../../src/judgments/lexical-judge.ts';
import { estimateTokens } from '../../../src/judgments/protocol/token-estimate.ts';
import { FiguresOfGroups } from '../../../src/runs/figures.ts';
import { replayGroup } from '../../../src/runs/replay-group.ts';
import { requestedRollout, scoreRequestSchema } from '../../../src/wire/score.ts';
import { FAMILIES_OF_FACTS, rowsOf } from '../runs/synthetic-rows.ts';
import { refusedPaths, scoreAlone } from '../scoring/scoring-line.ts';

const LENGTH = { count: 'given', max_response_tokens: 100, buffer_tokens: 40, factor: 2 } as const;
const TURNS = { free_turns: 2, cost_per_turn: 0.25 } as const;

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe, facts }) => {
  const on = { ...recipe, length: LENGTH, turns: TURNS };
  const counted = facts.map((one): Facts => ({ ...one, response_tokens: 80, num_turns: 9 }));

  it('adds both terms to every reward, as contributions of constant names', () => {
    fc.assert(
      fc.property(fc.array(counted, { minLength: 1, maxLength: 4 }), (group) => {
        const off = composeGroup(group, recipe);
        for (const [position, score] of composeGroup(group, on).entries()) {
          const alone = off[position];
          // Half of the buffer, and 4 turns of the policy.
          expect(score.components).toMatchObject({ length: { contribution: -1 }, turns: { contribution: -0.5 } });
          expect(score.reward).toBe(alone?.reward == null ? null : alone.reward - 1.5);
          expect(score).toMatchObject({ base: alone?.base, decided_by: alone?.decided_by, reason: alone?.reason });
          const parts = contributions(score, on);
          if (parts !== null)
            expect(parts).toMatchObject({ length: expect.closeTo(-1, 9), turns: expect.closeTo(-0.5, 9) });
          expect(factsSchema.parse(group[position])).toEqual(group[position]);
        }
      }),
      { numRuns: 50 },
    );
  });

  // Facts of tool-call rollouts always have the counts.
  const isUncounted = recipe.family !== 'tool-call';

  it.runIf(isUncounted)('has no reward without the counts, but for a reason', () => {
    fc.assert(
      fc.property(facts, (one) => {
        const score = compose(one, on);
        expect(score).toMatchObject({ reward: null, status: 'unscored', decided_by: null });
        expect(score.reason).not.toBeNull();
      }),
      { numRuns: 20 },
    );
  });

  it('replays a run recorded without the terms, and leaves the rollouts without counts unscored by name', () => {
    const [known, unknown] = [fc.sample(counted, { numRuns: 3, seed: 1 }), fc.sample(facts, { numRuns: 3, seed: 2 })];
    const replayed = replayGroup(rowsOf([...known, ...unknown], recipe), recipe, on);
    for (const [n, { before, after, gaps }] of replayed.samples.entries()) {
      if (n < known.length || !isUncounted) {
        expect(gaps).toEqual([]);
        expect(after.reward === null).toBe(before.reward === null);
      } else {
        expect(gaps).toEqual(['rollout.response_tokens', 'rollout.num_turns']);
        expect(after).toMatchObject({ reward: null, reason: 'not_measured', masked: true });
      }
    }
    const figures = new FiguresOfGroups();
    figures.add(replayed);
    const compared = replayed.samples.filter(({ before, after }) => before.reward !== null && after.reward !== null);
    if (isUncounted && compared.length > 0) {
      expect(figures.figures.components['length']).toEqual({
        compared: compared.length,
        mean: -1,
        value: -1,
        contribution: -1,
      });
    }
  });

  it('has a digest of its own with the terms, and a range that contains the penalties', async () => {
    const [least, most] = rewardRange(recipe);
    expect(rewardRange({ ...recipe, length: LENGTH })).toEqual([least === null ? null : least - 2, most]);
    expect(rewardRange({ ...recipe, turns: TURNS })).toEqual([null, most]);
    const resolutions = await Promise.all([resolveRecipe(recipe), resolveRecipe(on)]);
    const [off, with_] = resolutions.map((one) => (one.ok ? one.value.digest : null));
    expect(off).not.toBe(with_);
    expect(recipeSchema.safeParse({ ...recipe, length: { ...LENGTH, buffer_tokens: 101 } }).success).toBe(false);
  });
});

it('has controls in the dashboard if the recipe has the terms', () => {
  const recipe = RECIPES['refiner-rl-balanced'];
  const names = (one: Recipe): string[] => composeFields(one).map(({ name }) => name);
  expect(names({ ...recipe, length: LENGTH, turns: TURNS }).slice(names(recipe).length)).toEqual([
    'length.count',
    'length.max_response_tokens',
    'length.buffer_tokens',
    'length.factor',
    'turns.free_turns',
    'turns.cost_per_turn',
  ]);
});

it('has a switch in the dashboard for an optional field that is on or off, with its description', () => {
  const switches = (one: Recipe) => composeFields(one).filter(({ name }) => name === 'own_positives_required');
  expect(switches(RECIPES['refiner-rl-balanced'])).toMatchObject([{ kind: 'switch', value: false }]);
  expect(switches(RECIPES['refiner-guarded'])).toMatchObject([
    { kind: 'switch', value: true, description: expect.stringMatching(/^Scales the citation score/u) },
  ]);
});

describe('the length term', () => {
  const penalty = (response_tokens: number): unknown => {
    const facts: Facts = {
      ...{ v: 1, family: 'long-trace', well_formed: true, finish_reason: 'stop', entities: null, chunks: 1 },
      ...{ outcome: { status: 'scored', observed: 1 }, response_tokens },
    };
    return compose(facts, { ...RECIPES['longtrace-rl'], length: LENGTH }).components.length?.contribution;
  };

  it.each([
    [0, 0],
    [60, 0],
    [61, -0.05],
    [80, -1],
    [100, -2],
    [101, -2],
    [1_000_000, -2],
  ])('%i tokens cost %d: linear from the buffer on, and never more than the factor', (tokens, cost) => {
    expect(penalty(tokens)).toBe(cost);
  });
});

const ROW = {
  question: 'How long is the Aare?',
  positive_rubrics: ['States the length'],
  tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
  response: '<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>',
};
const rolloutOf = (fields: object) => requestedRollout(scoreRequestSchema.parse({ ...fields, recipe: 'dr-tulu' }));

describe('a request', () => {
  const base = 'refiner-rl-balanced';

  it('is refused before judging if it lacks what a term reads, and the problem names the field', async () => {
    const rollout = rolloutOf(ROW);
    expect(await refusedPaths(rollout, { base, length: LENGTH, turns: TURNS })).toEqual([
      'response_tokens',
      'num_turns',
    ]);
    expect(await refusedPaths({ ...rollout, num_turns: 2 }, { base, length: LENGTH, turns: TURNS })).toEqual([
      'response_tokens',
    ]);
  });

  it('may leave the length to an estimate if the recipe says so, and a given length is never estimated', async () => {
    const recipe = { base, length: { ...LENGTH, count: 'estimated' } };
    const estimated = await scoreAlone(rolloutOf(ROW), recipe, { judge: judgeLexically });
    expect(estimated.facts).toMatchObject({ estimated_tokens: estimateTokens(ROW.response) });
    expect(estimated.facts).not.toHaveProperty('response_tokens');
    const given = await scoreAlone({ ...rolloutOf(ROW), response_tokens: 200 }, recipe, { judge: judgeLexically });
    expect(given.facts).toMatchObject({ response_tokens: 200 });
    expect(given.facts).not.toHaveProperty('estimated_tokens');
    expect(given.reply.components.length).toMatchObject({ value: -2 });
  });

  it('takes the turns, and the estimate with the tool output, from messages', async () => {
    const { response, tool_output, ...row } = ROW;
    const output = `${tool_output} ${'word '.repeat(200)}`;
    const call = { id: 'c', type: 'function', function: { name: 'search', arguments: '{"q":"aare"}' } };
    const messages = [
      { role: 'user', content: row.question },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: output },
      { role: 'assistant', content: response },
    ];
    const recipe = { base, length: { ...LENGTH, count: 'estimated' }, turns: { free_turns: 1, cost_per_turn: 0.25 } };
    const { facts, reply } = await scoreAlone(rolloutOf({ ...row, messages }), recipe, { judge: judgeLexically });
    const written = [response, 'search', call.function.arguments, output];
    const estimated_tokens = written.reduce((sum, text) => sum + estimateTokens(text), 0);
    expect(facts).toMatchObject({ num_turns: 4, estimated_tokens });
    expect(reply.contributions).toMatchObject({ length: -2, turns: -0.25 });
  });

  it('explains dr-tulu with the terms in both modes', async () => {
    const rollout = rolloutOf({
      question: ROW.question,
      rubrics: [{ description: 'States the length', weight: 1 }],
      response: '<answer>It is long.</answer>',
      response_tokens: 100,
    });
    const recipe = { base: 'dr-tulu', length: LENGTH };
    const { reply } = await scoreAlone(rollout, recipe, { judge: judgeLexically, plan: { explain: true } });
    if (reply.family !== 'dr-tulu') throw new Error(reply.family);
    expect(reply.explain?.exact.components.length).toMatchObject({ value: -2 });
    expect(reply.explain?.corrected.components.length).toMatchObject({ value: -2 });
  });
});
