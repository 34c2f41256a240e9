/** What a rollout needs from a trajectory besides its transcript: the final answer, the turns, the finish reason. */
import { TextBuilder } from './draft.ts';
import type { TracedText, Trajectory, TrajectoryFinding, Turn } from './trajectory.ts';

export type TrajectoryEnd = {
  /**
   * The text of the last policy turns that have text, joined by line breaks: a turn ends where a tool or a user answers.
   * Empty if the policy wrote no text.
   */
  readonly answer: TracedText;
  /** The thinking of those turns, as far as the trainer sends it apart from the text; `null` = none. */
  readonly thinking: string | null;
  /** As the last policy turn reports it; `null` = it does not. */
  readonly finish_reason: string | null;
  /**
   * As verl counts: the policy's generations, plus the answers of tools and users between and after them, plus 1. A round
   * of tool results counts once.
   */
  readonly num_turns: number;
  readonly calls: number;
  /** Tool calls or results follow the answer. */
  readonly findings: readonly TrajectoryFinding[];
};

export function endOf({ turns }: Trajectory): TrajectoryEnd {
  const last = answerIndex(turns);
  let first = last;
  while (first > 0 && continues(turns[first - 1])) first--;
  const answer = new TextBuilder();
  const thoughts: string[] = [];
  // The thinking right before the answer can be an item of its own, without text.
  for (const { text, thinking } of last === -1 ? [] : turns.slice(first, last + 1)) {
    if (thinking !== null) thoughts.push(thinking.text);
    if (text === null || text.text === '') continue;
    if (!answer.isEmpty()) answer.addOwn('\n');
    answer.addText(text);
  }
  const after =
    last === -1 ? undefined : turns.slice(last).find(({ calls, results }) => calls.length + results.length > 0);
  return {
    answer: answer.build(),
    thinking: thoughts.length === 0 ? null : thoughts.join('\n'),
    finish_reason: turns.findLast(({ by_policy }) => by_policy)?.finish_reason ?? null,
    num_turns: countTurns(turns),
    calls: turns.reduce((sum, { by_policy, calls }) => sum + (by_policy ? calls.length : 0), 0),
    findings: after === undefined ? [] : [{ reason: 'tools_after_answer', path: after.path }],
  };
}

/** The index of the last turn of the answer; -1 if the policy wrote no text. */
export function answerIndex(turns: readonly Turn[]): number {
  // A turn with content ends the rollout, even with an empty one; trainers write calls with empty content.
  return turns.findLastIndex(
    ({ by_policy, text, calls }) => by_policy && text !== null && (text.text !== '' || calls.length === 0),
  );
}

/** The turns up to the policy's answer; all turns if it wrote none. What comes later, the answer cannot have cited. */
export function turnsToAnswer({ turns }: Trajectory): readonly Turn[] {
  const last = answerIndex(turns);
  return last === -1 ? turns : turns.slice(0, last + 1);
}

/** Whether the answer goes on before this turn: the policy wrote it, and called no tool in it. */
function continues(turn: Turn | undefined): boolean {
  return turn?.by_policy === true && turn.calls.length === 0 && turn.results.length === 0;
}

function countTurns(turns: readonly Turn[]): number {
  let count = 1;
  let wasPolicy: boolean | null = null;
  for (const { by_policy } of turns) {
    // Turns before the first generation are the prompt.
    if (wasPolicy === null && !by_policy) continue;
    if (by_policy !== wasPolicy) count++;
    wasPolicy = by_policy;
  }
  return count;
}

/** The fields of a rollout that its messages determine. */
export type DerivedFields = {
  readonly response: string;
  readonly question?: string;
  readonly reasoning?: string;
  readonly finish_reason?: string;
  readonly num_turns: number;
};

export function derivedFields(trajectory: Trajectory): DerivedFields {
  const { answer, thinking, finish_reason, num_turns } = endOf(trajectory);
  const question = askedQuestion(trajectory);
  return {
    response: answer.text,
    ...(question === null ? {} : { question }),
    ...(thinking === null ? {} : { reasoning: thinking }),
    ...(finish_reason === null ? {} : { finish_reason }),
    num_turns,
  };
}

/** The question: the text of the last user turn before the policy's first one; `null` if there is none. */
function askedQuestion({ turns }: Trajectory): string | null {
  const first = turns.findIndex(({ by_policy }) => by_policy);
  const user = turns.slice(0, first).findLast(({ role, text }) => role === 'user' && text !== null && text.text !== '');
  return user?.text?.text ?? null;
}
