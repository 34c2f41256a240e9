/** The reply of a refinement: which candidates are scored, why a reward is null, and the order of candidates. */
import { describe, expect, it } from 'vitest';
import type { Generator } from '../../../src/generation/generator.ts';
import { finishRefinement } from '../../../src/generation/refine.ts';
import type { JudgeChoice } from '../../../src/judgments/judge.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { scoreGroup } from '../../../src/scoring/score-rollouts.ts';
import { refineResponseSchema } from '../../../src/wire/refine.ts';
import { refineReply, scoredRollouts } from '../../../src/wire/refine-reply.ts';
import { choice, planOf, running, scripted } from './scripted-generator.ts';

const LONG = '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>';
const INVENTED = '<answer><snippet id=S9>It is 288 kilometres long.</snippet></answer>';
const UNCITED = '<answer>The Aare is 288 kilometres long, and it rises in the Alps.</answer>';
const MIXED = '<answer><snippet id=S1>It is 288 km.</snippet> Thousands of swimmers float down it in summer.</answer>';
const NONE = 'I do not know.';

const RUBRICS = { positive_rubrics: ['States that the Aare is 288 kilometres long'] };

const LEXICAL: JudgeChoice = { ok: true, judge: LEXICAL_JUDGE };
const UNCONFIGURED: JudgeChoice = {
  ok: false,
  failure: { reason: 'judge_unconfigured', detail: 'none', retryable: false },
};

/** Runs a refinement from end to end; each text is one candidate's. */
async function refined(
  texts: readonly string[],
  fields: Readonly<Record<string, unknown>>,
  judge: JudgeChoice = LEXICAL,
  finish_reasons: readonly string[] = [],
) {
  const plan = await planOf({ n: texts.length, ...fields });
  const ofCall = (call: number) => choice(0, texts[call] ?? '', finish_reasons[call] ?? 'stop');
  const all = texts.flatMap((text, index) => choice(index, text, finish_reasons[index] ?? 'stop'));
  const { generator } = scripted((_, call) => (plan.calls.length === 1 ? all : ofCall(call)));
  const run = await finishRefinement(running(plan, generator));
  if (!run.ok) throw new Error(run.error.reason);
  const rollouts = scoredRollouts(plan, run.value.candidates);
  const reply = refineReply(plan, generator, run.value, await scoresOf(rollouts, plan, judge));
  if (!reply.ok) throw new Error(JSON.stringify(reply.error));
  return { rollouts, reply: refineResponseSchema.parse(JSON.parse(JSON.stringify(reply.value))), generator };
}

async function scoresOf(
  rollouts: ReturnType<typeof scoredRollouts>,
  { recipe }: Awaited<ReturnType<typeof planOf>>,
  judge: JudgeChoice,
) {
  if (recipe === null || rollouts.length === 0) return [];
  const result = await scoreGroup(
    { rollouts, recipe },
    {
      judge,
      store: createMemoryJudgmentStore(),
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '2026-11-21T00:00:00.000Z',
      elapsed: () => 0,
    },
  );
  if (result.status !== 'done') throw new Error(result.status);
  return result.members.map((member) => member.reply);
}

function order(reply: { readonly candidates: readonly { readonly index: number }[] }): number[] {
  return reply.candidates.map(({ index }) => index);
}

describe('without a recipe', () => {
  it('orders well-formed candidates first, then fewer invented ids, then more citations', async () => {
    const { reply, rollouts } = await refined([NONE, INVENTED, UNCITED, MIXED, LONG, LONG], {});
    expect(order(reply)).toEqual([4, 5, 3, 2, 0, 1]);
    expect(rollouts).toEqual([]);
    expect(reply).not.toHaveProperty('group');
    for (const candidate of reply.candidates) expect(candidate).not.toHaveProperty('reward');
  });

  it('orders stopped candidates last, whatever they contain', async () => {
    const { reply } = await refined([INVENTED, NONE, LONG], { on_invented_citation: 'abort' });
    expect(order(reply)).toEqual([2, 1, 0]);
    expect(reply.candidates[2]).toMatchObject({ finish_reason: null, aborted: { id: 'S9' } });
  });

  it('reports the sampling and the generator', async () => {
    const { reply } = await refined([LONG], { sources: [{ id: 'S1', text: 'Long.' }], sampling: { seed: 7 } });
    expect(reply).toMatchObject({
      ...{ generator: 'scripted', model: 'scripted-1', prompt_tokens: 6_144, cut: null, usage: null },
      tool_output: '<snippet id=S1>Long.</snippet>',
      sampling: { temperature: 1, top_p: 1, top_k: null, seed: 7, max_tokens: 1_024 },
    });
  });
});

describe('with a recipe', () => {
  const recipe = 'refiner-gpt54-instance-rubric';

  it('orders by reward, and keeps each advantage with its rollout', async () => {
    const { reply } = await refined([NONE, LONG, UNCITED], { recipe, ...RUBRICS });
    expect(order(reply)).toEqual([1, 2, 0]);
    const rewards = reply.candidates.map(({ reward }) => reward ?? Number.NaN);
    expect(rewards).toEqual(rewards.toSorted((a, b) => b - a));
    expect(rewards[2]).toBe(0);
    const mean = reply.group?.mean ?? Number.NaN;
    for (const { advantage, reward, masked, score } of reply.candidates) {
      expect(advantage).toBeCloseTo((reward ?? Number.NaN) - mean, 12);
      expect(masked).toBe(false);
      expect(score?.reward).toBe(reward);
    }
    expect(reply).toMatchObject({ group: { valid: 3, degenerate: null }, recipe: { name: recipe } });
  });

  it('leaves a stopped candidate unscored: null with the reason, masked, without effect on the others', async () => {
    const fields = { recipe, ...RUBRICS, on_invented_citation: 'abort' };
    const { reply, rollouts } = await refined([INVENTED, LONG, NONE], fields);
    expect(rollouts).toHaveLength(2);
    expect(order(reply)).toEqual([1, 2, 0]);
    expect(reply.candidates[2]).toMatchObject({
      ...{ reward: null, status: 'unscored', reason: 'aborted', score: null, advantage: 0, masked: true },
    });
    expect(reply.group?.valid).toBe(2);
    const alone = await refined([INVENTED], fields);
    expect(alone.reply).toMatchObject({ group: { valid: 0, mean: null, degenerate: { reason: 'no_valid_reward' } } });
  });

  it('gives null, never a number, if the judge fails; candidates that need no judge are still scored', async () => {
    const { reply } = await refined([LONG, NONE], { recipe, ...RUBRICS }, UNCONFIGURED);
    expect(reply.candidates).toMatchObject([
      { index: 1, reward: 0, status: 'scored', masked: false },
      { index: 0, reward: null, status: 'unscored', reason: 'judge_unconfigured', masked: true, advantage: 0 },
    ]);
  });

  it('passes the finish reason to the recipe', async () => {
    const penalised = { base: recipe, non_stop_penalty: { enabled: true, value: -1 } };
    const { reply } = await refined([LONG, LONG], { recipe: penalised, ...RUBRICS }, LEXICAL, ['length', 'stop']);
    expect(reply.candidates).toMatchObject([
      { index: 1, finish_reason: 'stop' },
      { index: 0, finish_reason: 'length', reward: -1, score: { decided_by: 'non_stop_penalty' } },
    ]);
  });

  it('refuses scores of other candidates', async () => {
    const plan = await planOf({ recipe, ...RUBRICS });
    const { generator }: { generator: Generator } = scripted(() => choice(0, LONG));
    const run = await finishRefinement(running(plan, generator));
    if (!run.ok) throw new Error(run.error.reason);
    expect(() => refineReply(plan, generator, run.value, [])).toThrow('fewer scores');
  });
});
