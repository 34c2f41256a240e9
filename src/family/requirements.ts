/** Checks that families share: the fields that a recipe requires of a rollout, and those that recorded facts lack. */
import type { InputProblem } from '../input-problem.ts';
import { MAX_CRITERION_WEIGHT } from '../limits.ts';
import type { Result } from '../result.ts';
import { sourcesOfTrajectory, trajectoryOf } from '../trajectory/rollout-messages.ts';
import type { Rollout, RolloutSources } from './rollout.ts';

/** Returns one problem for each required field that is missing. Missing fields are never filled in. */
export function missingFields(rollout: Rollout, fields: readonly (keyof Rollout)[], family: string): InputProblem[] {
  return fields.flatMap((field) =>
    rollout[field] === undefined ? [{ path: [field], message: `required by recipes of the ${family} family` }] : [],
  );
}

/**
 * Refuses a vendor's cited answer: the family reads other citations than the converted ones, or none. The problem is
 * one of `answer_format` if the request has it: a trainer's label names the format, and the policy only writes the
 * answer.
 */
export function citedAnswerProblems(rollout: Rollout, family: string): InputProblem[] {
  if (rollout.cited_answer === undefined) return [];
  const message = `recipes of the ${family} family do not read it: send the text as response, or use another recipe`;
  return [{ path: [rollout.answer_format === undefined ? 'cited_answer' : 'answer_format'], message }];
}

/** Returns one problem for each criterion whose weight is out of its bounds. */
export function weightProblems({ positive_rubrics, negative_rubrics, rubrics }: Rollout): InputProblem[] {
  const of = (field: string, criteria: readonly { readonly weight?: number }[] | undefined, least: number) =>
    (criteria ?? []).flatMap(({ weight = 1 }, position): InputProblem[] => {
      if (weight >= least && weight <= MAX_CRITERION_WEIGHT) return [];
      return [
        { path: [field, position, 'weight'], message: `expected a number from ${least} to ${MAX_CRITERION_WEIGHT}` },
      ];
    });
  return [
    ...of('positive_rubrics', positive_rubrics, 0),
    ...of('negative_rubrics', negative_rubrics, 0),
    ...of('rubrics', rubrics, -MAX_CRITERION_WEIGHT),
  ];
}

/** The sources of a rollout: those of the request, else those of the tool results; `null` if it has neither. */
export function sourcesOfRollout(rollout: Rollout): RolloutSources | null {
  const { tool_output, sources } = rollout;
  if (tool_output !== undefined) return { tool_output };
  if (sources !== undefined) return { sources };
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) return null;
  const derived = sourcesOfTrajectory(trajectory, rollout.trajectory?.source_ids);
  return 'tool_output' in derived
    ? { tool_output: derived.tool_output.text }
    : { sources: derived.sources.map(({ id, text }) => ({ id, text })) };
}

/** Returns the rollout's sources, or the problem that it has none. */
export function originOf(rollout: Rollout, family: string): Result<RolloutSources, InputProblem[]> {
  const origin = sourcesOfRollout(rollout);
  if (origin !== null) return { ok: true, value: origin };
  const message = `give tool_output or sources: recipes of the ${family} family read them`;
  return { ok: false, error: [{ path: ['tool_output'], message }] };
}

/**
 * One reason why a rollout has no exact replay under another recipe: the recipe reads what the recorded facts do not
 * hold.
 */
export type Gap<Facts> = {
  /**
   * `recipe.<measure field>`: a judge would have to be asked other questions. `rollout.<field>`: the request lacked the
   * field.
   */
  readonly name: string;
  isOpen(facts: Facts): boolean;
};

/**
 * The gap of a recipe that reads `finish_reason`, for facts recorded under a recipe that did not require it. A rollout
 * without a finish reason is never assumed to be truncated.
 */
export function finishReasonGaps<Facts extends { readonly finish_reason: string | null }>(reads: {
  readonly before: boolean;
  readonly after: boolean;
}): Gap<Facts>[] {
  if (!reads.after || reads.before) return [];
  return [{ name: 'rollout.finish_reason', isOpen: ({ finish_reason }) => finish_reason === null }];
}
