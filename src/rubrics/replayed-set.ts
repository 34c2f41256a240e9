/**
 * The sets that groups are scored under in a replay: the set of one step for all of them, or the sets that other rules
 * would have given. Pure.
 */
import * as z from 'zod';
import { MAX_RUN_STEP } from '../limits.ts';
import { applied, foldLog, observeFrom, setOf } from './evolution.ts';
import { type EvolutionEvent, isRuleDecision, type WeightedCriterion } from './evolution-log.ts';
import {
  EVOLUTION_PRESET_NAMES,
  EVOLUTION_PRESETS,
  type EvolutionRules,
  evolutionRulesSchema,
} from './evolution-rules.ts';
import { type RubricSet, setId } from './rubric-set.ts';

const { cap, retire, persistent, again } = evolutionRulesSchema.shape;

const changedRulesSchema = z
  .strictObject({
    cap: cap.exactOptional(),
    retire: retire.exactOptional(),
    persistent: persistent.exactOptional(),
    again: again.exactOptional(),
  })
  .refine((rules) => Object.keys(rules).length > 0, {
    error: 'give at least one of cap, retire, persistent and again',
  });

/** The schema of `rubrics` in a replay. */
export const replayedRubricsSchema = z
  .union([
    z.strictObject({
      at_step: z
        .int()
        .min(0)
        .max(MAX_RUN_STEP)
        .describe("Every group of a prompt is scored under the prompt's set at the end of this step."),
    }),
    z.strictObject({
      rules: z
        .union([z.enum(EVOLUTION_PRESET_NAMES), changedRulesSchema])
        .describe('A preset, or the rules that differ from those of the prompt. `when` stays as it was recorded.'),
    }),
  ])
  .describe('Other sets of the evolving rubrics of the run. Default: the sets that scored its groups.');
export type ReplayedRubricsInput = Readonly<z.infer<typeof replayedRubricsSchema>>;

/** A group as it was recorded. `set`: the id of the set that scored it. */
type ScoredPlace = { readonly step: number | null; readonly group: string; readonly set: string };

export type ReplayedSets = {
  /** Every criterion of the log, by its id. */
  readonly criteria: ReadonlyMap<string, WeightedCriterion>;
  /** The set that scores a group in the replay; `null` = the log does not have the set that scored the group. */
  setOfGroup(scored: ScoredPlace): RubricSet | null;
};

/** Finds the sets of a prompt. @param log the events that count. */
export function replayedSets(
  log: readonly EvolutionEvent[],
  rules: EvolutionRules,
  asked: ReplayedRubricsInput,
): ReplayedSets {
  const { criteria } = foldLog(log, rules);
  if ('at_step' in asked) {
    const fixed = setOf(foldLog(log, rules, asked.at_step));
    return { criteria, setOfGroup: () => fixed };
  }
  const other: EvolutionRules =
    typeof asked.rules === 'string'
      ? { ...EVOLUTION_PRESETS[asked.rules], when: rules.when }
      : { ...rules, ...asked.rules };
  const moments = momentsOf(log, rules, other);
  return {
    criteria,
    setOfGroup: (place) => moments.slice(0, endOf(moments, place)).findLast(({ was }) => was === place.set)?.is ?? null,
  };
}

/** The sets after an observation and all that was decided from it. */
type Moment = {
  readonly event: EvolutionEvent;
  /** The id of the recorded set. */
  readonly was: string;
  /** The set under the other rules. */
  readonly is: RubricSet;
};

/**
 * Folds a log twice side by side: as it was recorded, and with the decisions of other rules. A group that was scored
 * while another one was logged saw the set of its start, so its moment is found by the set and not by its place in the
 * log.
 */
function momentsOf(log: readonly EvolutionEvent[], rules: EvolutionRules, other: EvolutionRules): readonly Moment[] {
  let recorded = foldLog([], rules);
  let refolded = foldLog([], other);
  const moments: Moment[] = [];
  for (const event of log) {
    recorded = applied(recorded, event, rules);
    const last = isRuleDecision(event) ? moments.pop() : undefined;
    if (last === undefined) refolded = observeFrom(refolded, event, other).state;
    moments.push({ event: last?.event ?? event, was: setId(setOf(recorded)), is: setOf(refolded) });
  }
  return moments;
}

/** How many moments can have set the group's set: those before its scores, or all if the log has no scores of it. */
function endOf(moments: readonly Moment[], { step, group }: ScoredPlace): number {
  const scored = moments.findIndex(
    ({ event }) => event.event === 'scored' && event.step === step && event.group === group,
  );
  return scored === -1 ? moments.length : scored;
}
