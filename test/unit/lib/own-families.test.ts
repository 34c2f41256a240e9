/** Families of the library's user: scored, grouped, resolved and replayed beside the built-in ones. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  ask,
  defineFamily,
  done,
  mapObserved,
  missingFields,
  type Observed,
  type ScoringFamily,
  verdictsOf,
  z,
} from '../../../lib/families.ts';
import { createScorer, InputError, lexicalJudge, recipes, replay, resolveRecipe } from '../../../lib/index.ts';

const schema = z.strictObject({ family: z.literal('right-answer'), pay: z.number().min(0).max(100) });
type Recipe = z.infer<typeof schema>;
type Facts = { readonly v: 1; readonly family: 'right-answer'; readonly right: Observed<boolean> };

function composed({ right }: Facts, { pay }: Recipe) {
  const reason = right.status === 'unscored' ? right.reason : null;
  const reward = right.status === 'unscored' ? null : right.observed ? pay : 0;
  const status: 'scored' | 'unscored' = reward === null ? 'unscored' : 'scored';
  const common = { family: 'right-answer', decided_by: null, components: {}, details: {} } as const;
  return { ...common, reward, base: reward, status, reason };
}

const rightAnswer = defineFamily({
  name: 'right-answer',
  recipe: {
    schema,
    fields: { pay: 'compose' },
    named: { 'right-answer': { family: 'right-answer', pay: 1 } },
    range: ({ pay }: Recipe) => [0, pay],
  },
  plan(rollout, _recipe: Recipe) {
    const { question, reference, response: answer } = rollout;
    if (question === undefined || reference === undefined) {
      return { ok: false, error: missingFields(rollout, ['question', 'reference'], 'right-answer') };
    }
    const request = { kind: 'outcome', question, reference, answer } as const;
    const value = ask([{ request, cited: new Set() }], ([outcome]) => {
      const right = mapObserved(verdictsOf(request, outcome), ({ correct }) => correct);
      const facts: Facts = { v: 1, family: 'right-answer', right };
      return done({ facts, reply: (score: ReturnType<typeof composed>) => ({ ...score, asked: 1 }) });
    });
    return { ok: true, value };
  },
  compose: (facts: Facts, recipe: Recipe) => composed(facts, recipe),
  groupVote: () => null,
  gaps: () => [],
});

const INVALID = { family: 'right-answer', pay: -1 };
const families = [rightAnswer];
const ROW = { question: 'How long is the Aare?', reference: '288 km', response: 'It is 288 km long.' };
const WRONG = { ...ROW, response: 'It is 300 km long.' };

describe('families of the caller', () => {
  const scorer = createScorer({ judge: lexicalJudge, families });

  it('are scored under a name, a changed recipe and a whole recipe, with types of their own', async () => {
    const named = await scorer.score(ROW, 'right-answer');
    expectTypeOf(named.facts).toEqualTypeOf<Facts>();
    expectTypeOf(named.asked).toEqualTypeOf<number>();
    expect(named).toMatchObject({ family: 'right-answer', reward: 1, asked: 1, recipe: { reward_range: [0, 1] } });
    expect((await scorer.score(ROW, { base: 'right-answer', pay: 10 })).reward).toBe(10);
    const whole = await scorer.score(ROW, { family: 'right-answer', pay: 3 });
    expectTypeOf(whole.facts).toEqualTypeOf<Facts>();
    expect(whole.reward).toBe(3);
  });

  it('leave the built-in families their types and rewards', async () => {
    const trace = { ...ROW, reference: '288 km', entities: ['Aare'], finish_reason: 'stop' };
    const own = await scorer.score({ ...trace, response: '<think>Aare.</think>288 km' }, 'longtrace-rl');
    const builtIn = await createScorer({ judge: lexicalJudge }).score(
      { ...trace, response: '<think>Aare.</think>288 km' },
      'longtrace-rl',
    );
    expectTypeOf(own).toEqualTypeOf(builtIn);
    expect(own.reward).toBe(builtIn.reward);
  });

  it('are scored as groups and replayed', async () => {
    const { samples } = await scorer.group([ROW, WRONG], 'right-answer', { advantages: 'trl' });
    expect(samples.map(({ reward }) => reward)).toEqual([1, 0]);
    const recipe = { family: 'right-answer', pay: 1 } as const;
    const group = samples.map(({ facts, reward }) => ({ facts, reward, recipe }));
    const { figures, groups } = await replay([group], { set: { pay: 7 } }, { families });
    expect(groups[0]?.map(({ after }) => after.reward)).toEqual([7, 0]);
    expect(figures.recorded).toEqual({ equal: 2, alone: 0, different: 0 });
    await expect(replay([group], 'right-answer', { families })).resolves.toBeDefined();
    await expect(replay([group], { set: { pay: 7 } })).rejects.toBeInstanceOf(InputError);
  });

  it('report wrong input like the built-in ones', async () => {
    const { reference: _reference, ...incomplete } = ROW;
    await expect(scorer.score(incomplete, 'right-answer')).rejects.toMatchObject({
      problems: [{ path: ['reference'] }],
    });
    await expect(scorer.score(ROW, { base: 'right-answer', pay: -1 })).rejects.toMatchObject({
      problems: [{ path: ['recipe', 'pay'] }],
    });
    expect(await resolveRecipe('right-answer', { families })).toMatchObject({ reward_range: [0, 1] });
  });

  const WRONG_LISTS: readonly (readonly [string, readonly ScoringFamily[], RegExp])[] = [
    ['a built-in family', [{ ...rightAnswer, name: 'refiner' }], /the name "refiner" is taken/],
    ['another of the list', [rightAnswer, rightAnswer], /the name "right-answer" is taken/],
    [
      'a named recipe',
      [{ ...rightAnswer, recipe: { ...rightAnswer.recipe, named: { 'longtrace-rl': recipes['longtrace-rl'] } } }],
      /the recipe name "longtrace-rl" of the family "right-answer" is taken/,
    ],
    [
      'no name, but its recipe is not valid',
      [{ ...rightAnswer, recipe: { ...rightAnswer.recipe, named: { mine: INVALID } } }],
      /the recipe "mine" is not valid under the schema of the family "right-answer"/,
    ],
  ];

  it.each(WRONG_LISTS)('are refused by name if they share %s', (_what, wrong, message) => {
    expect(() => createScorer({ judge: lexicalJudge, families: wrong })).toThrow(TypeError);
    expect(() => createScorer({ judge: lexicalJudge, families: wrong })).toThrow(message);
  });
});
