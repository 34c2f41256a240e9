/** The reply of the agent, and the trajectories that have no reward whatever their content. */
import { describe, expect, it } from 'vitest';
import { TOOL_CALL_RECIPES } from '../../../src/families/tool-call/composer.ts';
import type { ToolCallRecipe } from '../../../src/families/tool-call/recipe.ts';
import {
  agentReply,
  agentResponseSchema,
  agentStart,
  unscored,
  unscoredReason,
} from '../../../src/wire/agent-reply.ts';
import { scripted } from '../generation/scripted-generator.ts';
import { callText, GENERATOR_DOWN, played, prints, SANDBOX_DOWN, says } from './scripted-agent.ts';
import { settingsWith } from './settings.ts';

/** Words of so many tokens, as estimated. */
const wordsOf = (tokens: number) => 'their '.repeat(Math.ceil(tokens / 2)).slice(0, 3 * tokens);

const RECIPE: ToolCallRecipe = TOOL_CALL_RECIPES['grpo-tcr'];
const call = says(callText('1'));

describe('a reward', () => {
  it('is not computed without reference or tests', async () => {
    expect(unscoredReason((await played({ turns: [says('42')] })).loop, null)).toBe('not_asked');
  });

  it('exists for every end that the policy caused', async () => {
    const { loop } = await played({ turns: [call], settings: { max_turns: 1 } });
    expect(unscoredReason(loop, RECIPE)).toBeNull();
  });

  it('is null for an incomplete trajectory; the failure is the reason, otherwise the stop condition', async () => {
    const sandbox = await played({ turns: [call], outputs: [SANDBOX_DOWN] });
    expect(unscoredReason(sandbox.loop, RECIPE)).toBe('sandbox_unreachable');
    const generator = await played({ turns: [call, [GENERATOR_DOWN]], outputs: [prints('x')] });
    expect(unscoredReason(generator.loop, RECIPE)).toBe('generator_unreachable');
    const cut = await played({ turns: [says('x', 'length')], generator: { context_tokens: 4096 } });
    expect(unscoredReason(cut.loop, RECIPE)).toBe('length');
  });

  describe('if the server counts no tokens', () => {
    // The penalty begins at 10,480 - 3,000 tokens; the estimate of words is one token per three units.
    const long = says(wordsOf(7481));

    it('exists while the upper estimate stays below the penalty', async () => {
      const { loop } = await played({ turns: [says(wordsOf(7480))] });
      expect(unscoredReason(loop, RECIPE)).toBeNull();
    });

    it('is null once the penalty depends on the estimate', async () => {
      const { loop } = await played({ turns: [long] });
      expect(unscoredReason(loop, RECIPE)).toBe('tokens_estimated');
      const free: ToolCallRecipe = { ...RECIPE, overlong_penalty: { ...RECIPE.overlong_penalty, enabled: false } };
      expect(unscoredReason(loop, free)).toBeNull();
    });

    it('exists if the server counts', async () => {
      const turns = [says(wordsOf(7481), 'stop', { prompt_tokens: 10, completion_tokens: 7481 })];
      expect(unscoredReason((await played({ turns })).loop, RECIPE)).toBeNull();
    });

    it('is null if the estimate ended the trajectory', async () => {
      const turns = [says(`${wordsOf(100)}${callText('1')}`)];
      const { loop } = await played({ turns, settings: { max_response_tokens: 100 } });
      expect(unscoredReason(loop, RECIPE)).toBe('tokens_estimated');
    });
  });
});

describe('a reply', () => {
  it('matches the schema and contains the whole trajectory', async () => {
    const { loop } = await played({ turns: [call, says('\\boxed{1}')], outputs: [prints('1\n')] });
    const start = agentStart(settingsWith(), scripted(() => []).generator);
    const reply = agentResponseSchema.parse(agentReply(start, loop, unscored('not_asked')));
    expect(reply).toMatchObject({
      generator: 'scripted',
      model: 'scripted-1',
      max_turns: 16,
      max_response_tokens: 20_480,
      sampling: { temperature: 1, top_p: 1, top_k: null, seed: null },
      stop: 'no_tool_call',
      failure: null,
      num_turns: 4,
      token_counts: 'estimated',
      reward: null,
      reason: 'not_asked',
      score: null,
    });
    expect(reply.trajectory.prompt).toHaveLength(2);
    expect(reply.trajectory.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
  });
});
