/**
 * What the use cases record of a run, and read of it: rollouts with their rows and details, and the evolving rubrics of its
 * prompts. functions/ledger keeps it in D1, Durable Objects and R2.
 */
import type { FamilyName, Recipe } from '../src/families/composers.ts';
import type { EvolutionEvent, WeightedCriterion } from '../src/rubrics/evolution-log.ts';
import type { EvolutionRules } from '../src/rubrics/evolution-rules.ts';
import type { SetEntry } from '../src/rubrics/rubric-set.ts';
import type { RolloutReport, RowStatistics, StoredFacts } from '../src/runs/recorded-score.ts';
import type { RolloutCounts } from '../src/runs/rollout-counts.ts';
import type { LedgerRow } from '../src/runs/row.ts';

/** One incarnation of a run: its id may be used again after a deletion. */
export type RunLife = {
  readonly project: string;
  readonly run: string;
  readonly incarnation: string;
  /** Number of objects among which its groups are divided, fixed when the run begins. */
  readonly shards: number;
};

export type StoredRun = {
  readonly project: string;
  /** The caller's own id; another project may use the same one. */
  readonly id: string;
  readonly incarnation: string;
  readonly shards: number;
  readonly family: FamilyName;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Time of the last recording, to the minute; milliseconds since 1970. */
  readonly active_at: number;
  /** Whether the text of any of its rollouts is stored. */
  readonly store_text: boolean;
  /** `null` = no rollout has a step. */
  readonly first_step: number | null;
  readonly last_step: number | null;
  /** What people call the run; `null` = only by its id. */
  readonly title: string | null;
};

export function lifeOf({ project, id, incarnation, shards }: StoredRun): RunLife {
  return { project, run: id, incarnation, shards };
}

/** A recipe of a run. `name` as requested; `null` = inline. */
type RunRecipe = { readonly digest: string; readonly name: string | null; readonly recipe: Recipe };

export type NewRollout = {
  /** The training step; `null` = the trainer sent no step. */
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
  readonly grouping: 'given' | 'inferred';
  readonly content: string;
  /** Digest of the rollout's recipe, which is one of `Recording.recipes`. */
  readonly recipe: string;
  readonly stored: StoredFacts;
  readonly statistics: RowStatistics;
  readonly counts: RolloutCounts;
  /** The report of the scoring; `null` = the rollout has no report, as one that was imported. */
  readonly report: RolloutReport | null;
  /** The rollout as sent, without the shared fields; `null` = its text is not stored. */
  readonly rollout: Readonly<Record<string, unknown>> | null;
  /** For a rollout from a file: its recorded attempt and time. It replaces nothing. */
  readonly imported?: { readonly attempt: number; readonly recorded_at: string };
};

export type Recording = {
  readonly run: string;
  readonly family: FamilyName;
  readonly recipes: readonly RunRecipe[];
  /** The rollouts to record. Two rollouts with different content never share step, group and sample. */
  readonly rollouts: readonly NewRollout[];
  /** Fields that all rollouts share, if the text is stored. */
  readonly shared: Readonly<Record<string, unknown>>;
  readonly store_text: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type RecordingResult =
  /** In the order of the rollouts. `created`: this was the first recording of the run. */
  | { readonly status: 'done'; readonly rollouts: readonly RecordingOutcome[]; readonly created: boolean }
  /** The run contains rewards of another family. */
  | { readonly status: 'family_differs'; readonly family: string }
  /** The run is being deleted; its id is free afterwards. */
  | { readonly status: 'deleting' };

/**
 * `unchanged`: the same content is already recorded, with no more missing measurements. `taken`: other content is
 * recorded under the attempt number of an imported rollout.
 */
export type RecordingOutcome = { readonly attempt: number; readonly status: 'recorded' | 'unchanged' | 'taken' };

/** The sort key of a rollout in the order of its run. `step` as stored: NO_STEP = the rollout has no step. */
export type RowPosition = {
  readonly step: number;
  readonly group: string;
  readonly sample: string;
  readonly attempt: number;
};

/** The prompt and the sample that is to be recorded. */
export type VisitedPrompt = {
  readonly run: string;
  readonly prompt: string;
  /** The sample's own id; `null` = it has none. */
  readonly sample: string | null;
  /** Digest of the sample's content. */
  readonly content: string;
};

/** What a run holds beside its rollouts. */
export type RunContents = {
  /** The number of recorded rollouts, all attempts included. */
  readonly rollouts: number;
  /** The recipes by digest. */
  readonly recipes: ReadonlyMap<string, RunRecipe>;
};

/** The stored parts of a rollout besides its row. */
export type RolloutDetail = {
  /**
   * The report of the reply: components, claims and so on, without text unless the run stores text. `null` = the
   * rollout was imported.
   */
  readonly report: Readonly<Record<string, unknown>> | null;
  /** The rollout as sent; `null` = its text is not stored. */
  readonly rollout: Readonly<Record<string, unknown>> | null;
};

/** First and last step, both inclusive. Rollouts without a step are included only if neither is given. */
export type StepRange = { readonly fromStep?: number | undefined; readonly toStep?: number | undefined };

export type RowSelection = StepRange & {
  /** `latest`: only the last attempt at each position. */
  readonly attempts: 'latest' | 'all';
  /** Only rollouts without a step. */
  readonly withoutStep?: boolean;
  readonly group?: string | undefined;
  readonly sample?: string | undefined;
  /** Only rows after this position. */
  readonly after?: RowPosition | null;
};

export type StoredRow = {
  readonly row: LedgerRow;
  readonly position: RowPosition;
  /** The value of each component of the reward; `null` = the component has no value. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Number of judgments that needed no judge call. */
  readonly cached: number;
  readonly counts: RolloutCounts;
  /** Where the rollout's report and text are; `null` = there are none, as for an imported run. */
  readonly detail: DetailPlace | null;
};

/** A line among the packed details of a record. */
export type DetailPlace = {
  readonly life: RunLife;
  readonly shard: number;
  readonly seq: number;
  readonly line: number;
};

export type RunGroup = {
  readonly step: number | null;
  readonly group: string;
  /** The latest attempt of each sample, ordered by sample. */
  readonly rows: readonly CountedRow[];
};

/** A row with what the figures and alerts of a run count. */
export type CountedRow = LedgerRow & { readonly counts: RolloutCounts };

export type PromptStart = {
  readonly run: string;
  readonly family: FamilyName;
  /** The digest of the question. */
  readonly prompt: string;
  /** `null` = those of the prompt, or ours for a new prompt. */
  readonly rules: EvolutionRules | null;
  /** `null` = those of the prompt, or none for a new prompt. */
  readonly own: readonly WeightedCriterion[] | null;
  readonly visit: { readonly step: number; readonly group: string } | null;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type StartedPrompt =
  | { readonly status: 'done'; readonly answer: StartAnswer; readonly life: RunLife }
  | { readonly status: 'family_differs'; readonly family: string }
  | { readonly status: 'deleting' };

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
export type GroupVisit = {
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
  | { readonly status: 'started' | 'known'; readonly visit: GroupVisit | null }
  | { readonly status: 'rules_differ' }
  | { readonly status: 'criteria_differ' };

export type ObserveAnswer = {
  readonly events: readonly EvolutionEvent[];
  readonly stale: boolean;
  readonly scored: boolean;
  readonly proposed: boolean;
  /** The digest of the set after the events. */
  readonly set: string;
  /** The visit of the group, if it has one. */
  readonly visit: GroupVisit | null;
};

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
