/**
 * Plans the judgment of a long-trace rollout: reads the response, and asks a judge one question: is the answer right?
 */

import { sourcesOf } from '../../citations/sources.ts';
import { readAnswerText } from '../../family/answer-text.ts';
import { countProblems, countsOf } from '../../family/counts.ts';
import { citedAnswerProblems, missingFields, sourcesOfRollout } from '../../family/requirements.ts';
import type { Rollout, TraceMessage } from '../../family/rollout.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { OutcomeRequest } from '../../judgments/kinds/outcome/outcome.ts';
import { outcomeAsking } from '../../judgments/kinds/outcome/outcome-templates.ts';
import type { AnswerText } from '../../lexical/index.ts';
import type { Result } from '../../result.ts';
import { hasContent } from '../../text/characters.ts';
import { trajectoryOf } from '../../trajectory/rollout-messages.ts';
import { isPunished, readsOutcome } from './compose.ts';
import { entityHits } from './entity-share.ts';
import type { LongTraceFacts } from './facts.ts';
import { chosenText, finalAnswer, splitThinking } from './messages.ts';
import type { LongTraceRecipe } from './recipe.ts';
import { usefulChunksScore } from './useful-chunks.ts';

export type LongTracePlan = {
  /** The facts except for the outcome. */
  readonly observed: Omit<LongTraceFacts, 'outcome'>;
  /**
   * The question to the judge. `no_final_answer`: the outcome is 0. `not_needed`: the outcome cannot change the reward.
   */
  readonly outcome: OutcomeRequest | 'no_final_answer' | 'not_needed';
  /** Reads the final answer with its question and the sources of the row, cited as `[S1]`; `null` = there is none. */
  readonly answerText: (() => AnswerText) | null;
};

/**
 * @param measureAll judge the outcome even if the recipe does not read it.
 */
export function planLongTrace(
  rollout: Rollout,
  recipe: LongTraceRecipe,
  measureAll: boolean,
): Result<LongTracePlan, readonly InputProblem[]> {
  const chunksOnly = rollout.entities === undefined && rollout.useful_chunks !== undefined;
  const gold = recipe.variant === 'chunks' || chunksOnly ? 'useful_chunks' : 'entities';
  const needed = [...(['question', 'reference', gold] as const), ...(recipe.punish_ill_formed ? FINISH_REASON : [])];
  const problems = [
    ...missingFields(rollout, needed, 'long-trace'),
    ...citedAnswerProblems(rollout, 'long-trace'),
    ...countProblems(rollout, recipe),
  ];
  const { question, reference } = rollout;
  if (problems.length > 0 || question === undefined || reference === undefined) return { ok: false, error: problems };

  const answer = finalAnswer(rollout.response);
  const messages = rollout.history ?? policyMessages(rollout) ?? [messageOf(rollout)];
  const observed = {
    v: 1,
    family: 'long-trace',
    well_formed: isWellFormed(rollout.response, answer),
    finish_reason: rollout.finish_reason ?? null,
    entities: rollout.entities === undefined ? null : entitiesIn(rollout.entities, messages),
    chunks:
      rollout.useful_chunks === undefined
        ? null
        : usefulChunksScore(rollout.useful_chunks, chosenText(messages, TEXTS[recipe.text])),
    ...countsOf(rollout, recipe),
  } as const;
  const punished = isPunished(observed, recipe);
  const ask = measureAll || (!punished && readsOutcome(recipe));
  const outcome =
    answer === null
      ? 'no_final_answer'
      : ask
        ? ({ kind: 'outcome', question, reference, answer, ...outcomeAsking(recipe) } as const)
        : 'not_needed';
  const origin = sourcesOfRollout(rollout) ?? { sources: [] };
  const answerText = answer === null ? null : () => readAnswerText(answer, question, sourcesOf(origin), 'bracket');
  return { ok: true, value: { observed, outcome, answerText } };
}

const FINISH_REASON = ['finish_reason'] as const;

const TEXTS = {
  content: { content: true, reasoning: false },
  reasoning: { content: false, reasoning: true },
  both: { content: true, reasoning: true },
} as const;

/** The policy's messages of a rollout that came as messages; `null` if it came as a text. */
function policyMessages(rollout: Rollout): readonly TraceMessage[] | null {
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) return null;
  return trajectory.turns.flatMap(({ by_policy, text, thinking }) =>
    by_policy
      ? [messageOf({ response: text?.text ?? '', ...(thinking === null ? {} : { reasoning: thinking.text }) })]
      : [],
  );
}

/** The rollout as one message. The thinking is in `reasoning`, or in the response before its first `</think>`. */
function messageOf({ response, reasoning }: Rollout): TraceMessage {
  const message = splitThinking(response);
  return reasoning === undefined || message.reasoning_content !== undefined
    ? message
    : { ...message, reasoning_content: reasoning };
}

/**
 * A response is well formed if all thinking is closed and an answer follows. The definition is ours, because the
 * reference leaves it to its rollout engine.
 */
function isWellFormed(response: string, answer: string | null): boolean {
  if (answer === null || !hasContent(answer, 0, answer.length)) return false;
  return response.includes('</think>') || !response.includes('<think>');
}

function entitiesIn(
  entities: readonly string[],
  messages: readonly TraceMessage[],
): NonNullable<LongTraceFacts['entities']> {
  const count = (text: keyof typeof TEXTS): number =>
    entityHits(entities, chosenText(messages, TEXTS[text])).filter((hit) => hit).length;
  return {
    total: entities.length,
    content: count('content'),
    reasoning: count('reasoning'),
    both: count('both'),
  };
}
