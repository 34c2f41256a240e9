/** Messages between the Worker and the `RunLedger` objects about the evolving rubrics of a run's prompts. */
import type { GroupObservation, HandEdit } from '../../src/rubrics/append.ts';
import type { EvolutionEvent, WeightedCriterion } from '../../src/rubrics/evolution-log.ts';
import type { EvolutionRules } from '../../src/rubrics/evolution-rules.ts';
import type { SetEntry } from '../../src/rubrics/rubric-set.ts';

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

/** A stored event. */
export type LoggedEvent = {
  readonly n: number;
  /** When it was recorded, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the run resumed from an earlier step, so that the event no longer counts. */
  readonly superseded: boolean;
  readonly entry: EvolutionEvent;
};

export type StoredPrompt = { readonly rules: EvolutionRules; readonly events: readonly LoggedEvent[] };

/** A group's visit of a prompt: the set that scores it, and what a generator is shown. The same whenever it is asked. */
export type PromptVisit = {
  readonly entries: readonly SetEntry[];
  readonly inactive: readonly string[];
  /** Whether the log has the group's proposal, or the failure of one. */
  readonly proposed: boolean;
  /** Every criterion that `entries` and `inactive` name. */
  readonly criteria: readonly WeightedCriterion[];
  readonly rules: EvolutionRules;
};

/** `rules_differ`, `criteria_differ`: the prompt began with other ones. */
export type StartAnswer =
  | { readonly status: 'started' | 'known'; readonly visit: PromptVisit | null }
  | { readonly status: 'rules_differ' }
  | { readonly status: 'criteria_differ' };

export type ObserveCall = {
  readonly v: number;
  readonly prompt: string;
  readonly observation: GroupObservation;
  /** Whether the group's visit goes on with the set after its proposal. */
  readonly scoresNext: boolean;
};

export type ObserveAnswer = {
  readonly events: readonly EvolutionEvent[];
  readonly stale: boolean;
  readonly scored: boolean;
  readonly proposed: boolean;
  /** The digest of the set after the events. */
  readonly set: string;
  /** The visit of the group, if it has one. */
  readonly visit: PromptVisit | null;
};

export type EditCall = { readonly v: number; readonly prompt: string; readonly edit: HandEdit };

export type EditAnswer =
  | { readonly status: 'edited'; readonly events: readonly EvolutionEvent[]; readonly set: string }
  | { readonly status: 'stale'; readonly set: string }
  | { readonly status: 'not_in_set' | 'not_inactive' | 'too_many'; readonly ids: readonly string[] };

/** What a list of prompts shows of one. */
export type PromptSummary = {
  readonly prompt: string;
  readonly set: string;
  readonly persistent: number;
  readonly active: number;
  readonly inactive: number;
  /** Groups whose scores the log has. */
  readonly visits: number;
  readonly failed_generations: number;
  /** `null` = nothing happened since the start. */
  readonly last_step: number | null;
  readonly started_at: number;
  readonly changed_at: number;
};
