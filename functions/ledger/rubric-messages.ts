/** Messages between the Worker and the `RunLedger` objects about the evolving rubrics of a run's prompts. */
import type { GroupObservation, HandEdit } from '../../src/rubrics/append.ts';
import type { EvolutionEvent, WeightedCriterion } from '../../src/rubrics/evolution-log.ts';
import type { EvolutionRules } from '../../src/rubrics/evolution-rules.ts';

/** What a call needs that may begin the object, as in `RecordCall`. */
type Opening = { readonly v: number; readonly prefix: string; readonly shard: number; readonly open: boolean };

export type StartCall = Opening & {
  /** The digest of the question, which names the prompt in its run. */
  readonly prompt: string;
  /** `null` = those of the prompt, or the default ones of a new prompt. */
  readonly rules: EvolutionRules | null;
  readonly fallback: EvolutionRules;
  /** The row's own criteria; `null` = those of the prompt, or none. */
  readonly own: readonly WeightedCriterion[] | null;
  /** The group that is about to be scored; `null` = none. */
  readonly visit: { readonly step: number; readonly group: string } | null;
};

export type ObserveCall = {
  readonly v: number;
  readonly prompt: string;
  readonly observation: GroupObservation;
  /** Whether the group's visit goes on with the set after its proposal. */
  readonly scoresNext: boolean;
};

export type EditCall = { readonly v: number; readonly prompt: string; readonly edit: HandEdit };

export type EditAnswer =
  | { readonly status: 'edited'; readonly events: readonly EvolutionEvent[]; readonly set: string }
  | { readonly status: 'stale'; readonly set: string }
  | { readonly status: 'not_in_set' | 'not_inactive' | 'too_many'; readonly ids: readonly string[] };
