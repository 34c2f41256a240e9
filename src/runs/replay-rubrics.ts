/**
 * Replays the rollouts of evolving rubrics under other sets: chooses the verdicts that a set needs from the recorded
 * ones, and names the criteria that have none. A missing verdict is never 0: the rollout has no reward then.
 */
import type { Facts } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import type { SignedCriterionInput } from '../family/rollout.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import type { EvolutionEvent, WeightedCriterion } from '../rubrics/evolution-log.ts';
import type { EvolutionRules } from '../rubrics/evolution-rules.ts';
import type { RecordedSet } from '../rubrics/recorded-set.ts';
import { type ReplayedRubricsInput, type ReplayedSets, replayedSets } from '../rubrics/replayed-set.ts';
import { type RubricSet, setId } from '../rubrics/rubric-set.ts';
import type { OtherRubric } from './replay-group.ts';
import type { LedgerRow } from './row.ts';

/** The log of a prompt: the events that count, and its rules. */
export type PromptLog = { readonly rules: EvolutionRules; readonly log: readonly EvolutionEvent[] };

/** Gaps of a rollout: criteria of the other set without a verdict; a set that the log does not have. */
const NO_VERDICT = 'rubric_set.criteria';
const NO_SET = 'rubric_set.log';

/** Sets of prompts that are kept between groups, and the events behind them. */
const KEPT = { entries: 1_000, size: 20_000 };

export class ReplayedRubrics {
  readonly #asked: ReplayedRubricsInput;
  readonly #readLog: (prompt: string) => Promise<PromptLog | null>;
  readonly #known = createRecentlyUsed<ReplayedSets | 'no_log'>(KEPT);

  /** @param readLog reads the log of a prompt; `null` = there is none. */
  constructor(asked: ReplayedRubricsInput, readLog: (prompt: string) => Promise<PromptLog | null>) {
    this.#asked = asked;
    this.#readLog = readLog;
  }

  /** Returns the rubric of each row in the replay, by index; `null` = the recorded one. */
  async of(rows: readonly LedgerRow[]): Promise<(OtherRubric | null)[]> {
    const others: (OtherRubric | null)[] = [];
    for (const { rubric_set: recorded, facts, step, group } of rows) {
      if (recorded === undefined) {
        others.push(null);
        continue;
      }
      const sets = await this.#setsOf(recorded.prompt);
      const set = sets === 'no_log' ? null : sets.setOfGroup({ step, group, set: recorded.id });
      others.push(
        set === null || sets === 'no_log'
          ? { set: null, criteria: null, facts, missing: [], gaps: [NO_SET] }
          : otherRubric(facts, recorded, set, sets.criteria),
      );
    }
    return others;
  }

  async #setsOf(prompt: string): Promise<ReplayedSets | 'no_log'> {
    const known = this.#known.get(prompt);
    if (known !== undefined) return known;
    const read = await this.#readLog(prompt);
    const sets = read === null ? 'no_log' : replayedSets(read.log, read.rules, this.#asked);
    this.#known.add(prompt, sets, read?.log.length ?? 1);
    return sets;
  }
}

function otherRubric(
  facts: Facts,
  recorded: RecordedSet,
  set: RubricSet,
  criteria: ReadonlyMap<string, WeightedCriterion>,
): OtherRubric {
  const port = familyOf(facts).rubric;
  if (port === undefined) throw new Error('otherRubric: a set of a family without criteria');
  const id = setId(set);
  const other = { set: id, criteria: set.map(({ id, weight }) => signed(criteria.get(id), weight)) };
  if (id === recorded.id) return { ...other, facts, missing: [], gaps: [] };
  // Without any verdicts the facts say why: there is no answer, or its judge failed. No set changes that.
  if (port.scores(facts) === null) return { ...other, facts, missing: [], gaps: [] };
  const places = new Map(recorded.entries.map(({ id }, n) => [id, recorded.positions[n]]));
  const missing = set.flatMap(({ id }) => (places.get(id) === undefined ? [id] : []));
  if (missing.length > 0) return { ...other, facts, missing, gaps: [NO_VERDICT] };
  const weights = new Map(set.map(({ id, weight }) => [places.get(id) ?? -1, weight]));
  return { ...other, facts: port.only(facts, weights), missing, gaps: [] };
}

/** The criterion as rows give it. */
function signed(known: WeightedCriterion | undefined, weight: number): SignedCriterionInput {
  if (known === undefined) throw new Error('replay: a set names a criterion that nothing proposed');
  const { polarity, ...text } = known.criterion;
  return { ...text, weight: polarity === 'negative' ? -weight : weight };
}
