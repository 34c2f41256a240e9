/** What a run records of how an answer cites: the same in every family that reads citations. */
import { describe, expect, it } from 'vitest';
import { RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { planRollout } from '../../../src/families/registry.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import { createWordCounter } from '../../../src/lexical/index.ts';
import { answerCounts } from '../../../src/runs/recorded-score.ts';
import type { AnswerStructure } from '../../../src/runs/rollout-counts.ts';

const TEXTS = [
  'The Halden bridge was opened in 1937.',
  'The Halden bridge is 88 metres long.',
  'Ida Lind designed it.',
];

const ROW: Omit<Rollout, 'response'> = {
  question: 'When was the Halden bridge opened?',
  sources: TEXTS.map((text, n) => ({ id: `S${n + 1}`, url: `https://s${n + 1}.example/page`, text })),
  positive_rubrics: [{ description: 'States 1937' }],
  rubrics: [{ description: 'States 1937', weight: 1 }],
  reference: '1937',
  entities: ['1937'],
  entity_rubrics: ['The Halden bridge was opened in <E0>.'],
  finish_reason: 'stop',
};

/** Reads the answer of a rollout whose judge fails: what it cites needs none. */
function structureOf(recipe: Recipe, response: string, row = ROW): AnswerStructure | null | undefined {
  const planned = planRollout({ ...row, response }, recipe, {});
  if (!planned.ok) throw new Error(JSON.stringify(planned.error));
  let stage = planned.value;
  while (stage.status === 'ask') {
    stage = stage.next(
      stage.wanted.map(
        () => ({ ok: false, failure: { reason: 'judge_error', detail: 'down', retryable: true } }) as const,
      ),
    );
  }
  const { answer } = stage.value;
  return answer == null ? answer : answerCounts(answer(), { run: 'r', count: createWordCounter() }).structure;
}

const link = (source: number): string => `[[${source}](https://s${source}.example/page)]`;

const bracket = (source: number): string => `[S${source}]`;

describe.each<[string, Recipe, (source: number) => string]>([
  ['carr', RECIPES.carr, link],
  ['carr-exact', RECIPES['carr-exact'], link],
  ['longtrace-rl', RECIPES['longtrace-rl'], bracket],
  ['refiner-guarded', { ...RECIPES['refiner-guarded'], grammar: 'bracket' }, bracket],
])('%s', (_, recipe, cite) => {
  const read = (text: string) => structureOf(recipe, `<answer>${text}</answer>`);
  const NOTHING = { claims: 0, ids: 0, repeated: 0, place: null, hedges: false };

  it('counts claims, different ids and ids that are cited again', () => {
    expect(read(`It was opened in 1937. ${cite(1)}`)).toEqual({ ...NOTHING, claims: 1, ids: 1, place: 0 });
    const sprayed = `It was opened in 1937. ${cite(2)} ${cite(1)} ${cite(3)}`;
    expect(read(sprayed)).toEqual({ ...NOTHING, claims: 1, ids: 3 });
    const again = `It was opened in 1937. ${cite(2)} ${cite(2)} ${cite(2)}`;
    expect(read(again)).toEqual({ ...NOTHING, claims: 1, ids: 1, repeated: 2, place: 1 });
    expect(read('It was opened in 1937.')).toEqual(NOTHING);
  });

  it('says which place of the list most claims cite, and whether the answer hedges', () => {
    const two = `It was opened in 1937. ${cite(3)} It is 88 metres long. ${cite(2)} Ida Lind designed it. ${cite(3)}`;
    expect(read(two)).toEqual({ ...NOTHING, claims: 3, ids: 3, place: 2 });
    expect(read(`It is 57. ${cite(1)} The sources do not say.`)?.hedges).toBe(true);
    expect(read('The sources do not say.')?.hedges).toBe(false);
    const each = `It was opened in 1937. ${cite(1)} It is 88 metres long. ${cite(2)} Ida Lind designed it. ${cite(3)}`;
    expect(read(each)?.place).toBeNull();
  });
});

it('reads the citations of dr-tulu', () => {
  const found = TEXTS.map((text, n) => `<snippet id=S${n + 1}>${text}</snippet>`).join('');
  const response = `<tool_output>${found}</tool_output><answer><cite id="S1,S2,S1">It was opened in 1937.</cite></answer>`;
  const { sources: _, ...row } = ROW;
  expect(structureOf(RECIPES['dr-tulu'], response, row)).toEqual({
    ...{ claims: 1, ids: 2, repeated: 1, place: null, hedges: false },
  });
  const invented = '<cite id="S1,S9">It was opened in 1937.</cite><cite id="S8">Ida Lind designed it.</cite>';
  const answered = `<tool_output>${found}</tool_output><answer>${invented}</answer>`;
  expect(structureOf(RECIPES['dr-tulu'], answered, row)).toMatchObject({ claims: 2, ids: 3, place: 0 });
  // Its published code keeps one id of a claim, so nothing is known of them.
  expect(structureOf(RECIPES['dr-tulu-exact'], answered, row)).toBeUndefined();
});

it.each([
  ['The sources do not say when it was opened. They only describe its length.', false],
  ['I do not know. Sorry.', false],
  ['It opened in 1937. [S1] The sources do not say who built it.', false],
  ['The sources do not say when it was opened. It opened in 1937. [S1]', true],
  ['It opened in 1937. [S1] The provided sources do not explicitly state the answer.', true],
  ['It opened in 1937. [S1] No source says when it was opened.', true],
])('tells a guess beside an abstention from an honest abstention: %s', (text, hedges) => {
  expect(structureOf(RECIPES['longtrace-rl'], text)?.hedges).toBe(hedges);
});

it('counts one id for a link to a page that two sources have', () => {
  const page = ROW.sources?.map((source) => ({ ...source, url: 'https://s1.example/page' })) ?? [];
  expect(structureOf(RECIPES.carr, `It was opened in 1937. ${link(1)}`, { ...ROW, sources: page })).toMatchObject({
    ...{ claims: 1, ids: 1, place: 0 },
  });
});

it('is unknown for a recipe that reads no answer over sources, and null without an answer', () => {
  expect(structureOf(RECIPES.carr, '<think>It was')).toBeNull();
  expect(
    structureOf(RECIPES['grpo-tcr'], '\\boxed{1937}', { reference: '1937', num_turns: 4, response_tokens: 9 }),
  ).toBeUndefined();
});
