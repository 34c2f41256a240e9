/** Planning a refinement before a token is paid for: the prompt, the calls, and the problems of a refused request. */
import { describe, expect, it } from 'vitest';
import { planRefinement } from '../../../src/generation/refine-plan.ts';
import { pathText, problemsOfIssues } from '../../../src/input-problem.ts';
import { refineRequestSchema } from '../../../src/wire/refine.ts';
import { planOf, QUESTION, refineRequest, TOOL_OUTPUT } from './scripted-generator.ts';

function refusedBySchema(fields: Readonly<Record<string, unknown>>): string[] {
  const input = { question: QUESTION, tool_output: TOOL_OUTPUT, ...fields };
  const parsed = refineRequestSchema.safeParse(input);
  return parsed.success ? [] : problemsOfIssues(parsed.error.issues, input).map(({ path }) => pathText(path));
}

async function refusedByPlan(
  fields: Readonly<Record<string, unknown>>,
  context_tokens: number | null = null,
): Promise<string[]> {
  const planned = await planRefinement(refineRequest(fields), { context_tokens });
  return planned.ok ? [] : planned.error.map(({ path }) => pathText(path));
}

describe('the request', () => {
  it('makes the defaults of the model cards explicit', () => {
    expect(refineRequest()).toMatchObject({
      ...{ mode: 'answer_only', n: 1, prompt_tokens: 6_144, stream: false, on_invented_citation: 'flag' },
      sampling: { temperature: 1, top_p: 1, top_k: null, seed: null, max_tokens: 1_024 },
    });
  });

  it.each([
    [{ sampling: { temprature: 0.5 } }, ['sampling.temprature']],
    [{ grammar: 'cite' }, ['grammar']],
    [{ n: 65 }, ['n']],
    [{ n: 0, sampling: { top_p: 0, top_k: 0 } }, ['n', 'sampling.top_p', 'sampling.top_k']],
    [{ sources: [] }, ['tool_output']],
    [{ judge: 'lexical', positive_rubrics: ['x'] }, ['positive_rubrics', 'judge']],
    [{ on_judge_failure: 'error', replicate: 1 }, ['replicate', 'on_judge_failure']],
    [
      {
        recipe: 'refiner-rl-balanced',
        advantages: { preset: 'open-instruct-margin', bias: 2, verification_reward: 1 },
      },
      ['advantages.bias'],
    ],
  ])('%o is refused by name', (fields, paths) => {
    expect(refusedBySchema(fields)).toEqual(paths);
  });
});

const BALANCED = { base: 'refiner-rl-balanced' };

describe('the plan', () => {
  it('sends everything in one call, and gives the extractive refiner the same tool output as the prompt', async () => {
    const { calls, prompt } = await planOf({ n: 8, mode: 'full', reasoning: 'I searched.', sampling: { top_k: 20 } });
    expect(calls).toEqual([
      {
        messages: prompt.messages,
        ...{ n: 8, max_tokens: 1_024, thinking: true, tools: [] },
        sampling: { temperature: 1, top_p: 1, top_k: 20, seed: null },
        subject: { question: QUESTION, tool_output: TOOL_OUTPUT },
      },
    ]);
    expect(prompt.messages[1].content).toContain('I searched.');
  });

  it('cuts the tool output to budget and context, and keeps only the sources that are left', async () => {
    const tool_output = Array.from({ length: 240 }, (_, n) => `<snippet id=S${n}>Fact number ${n}.</snippet>`).join(
      '\n',
    );
    const whole = await planOf({ tool_output });
    expect([whole.prompt.cut, whole.prompt_tokens, whole.sources.list.length]).toEqual([null, 6_144, 240]);
    const cut = await planOf({ tool_output }, 2_048);
    expect(cut.prompt_tokens).toBe(1_024);
    expect(cut.prompt.cut).toEqual({ kept_chars: cut.prompt.tool_output.length, chars: tool_output.length });
    expect(cut.sources.list.length).toBeLessThan(100);
    expect(cut.calls[0]?.subject?.tool_output).toBe(cut.prompt.tool_output);
  });

  it('writes sources as tagged pieces, and refuses sources that would be read back differently', async () => {
    const sources = [
      { id: 'S1', text: ' The Aare is 288 km long (p < 0.05). ', title: 'The "Aare"' },
      { id: 'https://x.test/?a=1', text: 'It rises in the Alps.', url: 'https://x.test/' },
    ];
    const plan = await planOf({ sources });
    expect(plan.prompt.tool_output.split('\n')).toEqual([
      `<snippet id=S1 title='The "Aare"'> The Aare is 288 km long (p < 0.05). </snippet>`,
      '<snippet id="https://x.test/?a=1" url="https://x.test/">It rises in the Alps.</snippet>',
    ]);
    expect(plan.sources.list).toMatchObject([{ id: 'S1', title: 'The "Aare"' }, { id: 'https://x.test/?a=1' }]);
    const bad = [{ id: 'S1', text: 'a</snippet><snippet id=S7>b' }, sources[0], { id: `"'`, text: 'x' }];
    expect(await refusedByPlan({ sources: bad })).toEqual(['sources[0]', 'sources[2]']);
  });

  it.each([
    ['a question that does not fit', { question: 'why '.repeat(9_000) }, null, ['question']],
    ['reasoning that does not', { reasoning: 'because '.repeat(5_000) }, null, ['reasoning']],
    ['a reply that leaves no room', {}, 1_024, ['sampling.max_tokens']],
    ['a recipe that does not exist', { recipe: 'refinr' }, null, ['recipe']],
    ['a recipe of another family', { recipe: 'longtrace-positive-only' }, null, ['recipe']],
    ['a recipe that reads other citations', { recipe: { ...BALANCED, grammar: 'cite' } }, null, ['recipe.grammar']],
    ['a recipe whose rubrics are missing', { recipe: 'refiner-rl-balanced' }, null, ['positive_rubrics']],
  ])('refuses %s by name', async (_, fields, context, paths) => {
    expect(await refusedByPlan(fields, context)).toEqual(paths);
  });

  it('accepts a recipe with a non-stop penalty, because the generator reports finish reasons', async () => {
    const recipe = { ...BALANCED, non_stop_penalty: { enabled: true, value: -1 } };
    expect(await refusedByPlan({ recipe, positive_rubrics: ['Says how long'] })).toEqual([]);
  });
});
