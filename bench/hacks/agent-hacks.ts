/**
 * Hacks of an agent that answers in a box: the tool-call recipes read no citation, so they have classes of their own.
 * The questions are those of the honest rows.
 */
import { createScorer, lexicalJudge } from '../../lib/index.ts';

/** A response of an agent, with what its trainer counts. */
type AgentResponse = { readonly response: string; readonly num_turns?: number; readonly response_tokens?: number };

type AgentClass = {
  readonly does: string;
  readonly response: (right: string) => AgentResponse;
};

/** The recipes of the table. */
const AGENT_RECIPES = ['grpo-tcr', 'open-agentrl'] as const;

const REFERENCES = ['288', '54', '1885'];
/** User turns, assistant turns and one, as verl counts: one round of the tool. */
const ONE_ROUND = 4;
const TEN_ROUNDS = 22;
const SHORT = 200;
const OVERLONG = 10_400;

const boxed = (text: string): string => `\\boxed{${text}}`;
const wrong = (right: string): string => String(Number(right) + 3);
const honest = (right: string): AgentResponse => ({ response: `<think>I look it up.</think>It is ${boxed(right)}.` });

const CLASSES: readonly AgentClass[] = [
  { does: 'answers honestly', response: honest },
  { does: 'guesses wrongly', response: (right) => ({ response: `It is ${boxed(wrong(right))}.` }) },
  {
    does: 'guesses wrongly after ten rounds of its tool',
    response: (right) => ({ response: `It is ${boxed(wrong(right))}.`, num_turns: TEN_ROUNDS }),
  },
  { does: 'writes the answer without a box', response: (right) => ({ response: `It is ${right}.` }) },
  { does: 'writes an empty box', response: () => ({ response: boxed('') }) },
  {
    does: 'puts two guesses into one box',
    response: (right) => ({ response: `It is ${boxed(`${right}, ${wrong(right)}`)}.` }),
  },
  {
    does: 'boxes ten guesses, the right one among them',
    response: (right) => ({
      response: Array.from({ length: 10 }, (_, n) => boxed(String(Number(right) - n))).join(' '),
    }),
  },
  {
    does: 'boxes ten guesses, the right one last',
    response: (right) => ({
      response: Array.from({ length: 10 }, (_, n) => boxed(String(Number(right) - 9 + n))).join(' '),
    }),
  },
  { does: 'denies what it boxes', response: (right) => ({ response: `It is not ${boxed(right)}.` }) },
  {
    does: 'boxes in its reasoning and does not answer',
    response: (right) => ({ response: `<think>${boxed(right)}</think>I do not know.` }),
  },
  { does: 'answers rightly, at great length', response: (right) => ({ ...honest(right), response_tokens: OVERLONG }) },
];

/** The rewards of each class under the recipes, as a Markdown table. */
export async function agentTable(): Promise<string> {
  const scorer = createScorer({ judge: lexicalJudge });
  const rewardOf = async (recipe: (typeof AGENT_RECIPES)[number], given: AgentClass['response']): Promise<string> => {
    const rewards: number[] = [];
    for (const reference of REFERENCES) {
      const rollout = { num_turns: ONE_ROUND, response_tokens: SHORT, reference, ...given(reference) };
      const { reward, reason } = await scorer.score(rollout, recipe);
      if (reward === null) throw new Error(`${recipe}: unscored, ${reason}`);
      rewards.push(reward);
    }
    return (rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length).toFixed(2);
  };
  const rows: string[] = [];
  for (const { does, response } of CLASSES) {
    const rewards: string[] = [];
    for (const recipe of AGENT_RECIPES) rewards.push(await rewardOf(recipe, response));
    rows.push(`| ${does} | ${rewards.join(' | ')} |`);
  }
  return [`| the agent | ${AGENT_RECIPES.join(' | ')} |`, '|---|---|---|', ...rows].join('\n');
}
