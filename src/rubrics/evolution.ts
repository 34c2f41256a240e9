/**
 * Folds a prompt's log to its criteria, and decides what an observation changes. Pure: the same log and rules give the
 * same sets on every machine.
 *
 * The rules follow the published code (evolution-rules.ts), with three differences that hold under every preset: a missing
 * verdict is no score of 0 and enters no statistics, fewer than two scores retire nothing, and two criteria of equal
 * content are one criterion.
 */
import type { Result } from '../result.ts';
import {
  BY_HAND,
  type CriterionStatistics,
  type Decision,
  type EvolutionEvent,
  isRuleDecision,
  type WeightedCriterion,
} from './evolution-log.ts';
import type { EvolutionRules } from './evolution-rules.ts';
import { type RubricSet, type SetEntry, setId } from './rubric-set.ts';

/** The criteria of a prompt after some events. */
export type PromptRubrics = {
  /** Never retired by a rule, in the order of the row. */
  readonly persistent: readonly SetEntry[];
  /** In the order of their activation. */
  readonly active: readonly SetEntry[];
  /** Retired or capped, in the order in which they went. */
  readonly inactive: readonly SetEntry[];
  /** Every criterion that was ever given or proposed, by its id. */
  readonly criteria: ReadonlyMap<string, WeightedCriterion>;
  /** The standard deviations of a criterion's scores at each visit where it had at least two, oldest first. */
  readonly deviations: ReadonlyMap<string, readonly number[]>;
};

const EMPTY: PromptRubrics = {
  persistent: [],
  active: [],
  inactive: [],
  criteria: new Map(),
  deviations: new Map(),
};

/** The set that scores a prompt in this state: persistent criteria first. */
export function setOf({ persistent, active }: Pick<PromptRubrics, 'persistent' | 'active'>): RubricSet {
  return [...persistent, ...active];
}

/**
 * Folds a log up to a step.
 * @param throughStep the last step whose events count; without it, all.
 */
export function foldLog(
  events: readonly EvolutionEvent[],
  rules: EvolutionRules,
  throughStep = Number.POSITIVE_INFINITY,
): PromptRubrics {
  // Collected here once: `applied` copies both maps, which would make the time quadratic in a long log.
  const criteria = new Map<string, WeightedCriterion>();
  const deviations = new Map<string, number[]>();
  let state: PromptRubrics = { ...EMPTY, criteria, deviations };
  for (const event of events) {
    if (event.event !== 'started' && event.step > throughStep) continue;
    if (event.event === 'scored') {
      for (const { id, std } of event.statistics) {
        const known = deviations.get(id) ?? [];
        if (std !== null) deviations.set(id, [...known, std]);
      }
      continue;
    }
    const given = event.event === 'started' ? event.own : event.event === 'proposed' ? event.criteria : [];
    for (const one of given) if (!criteria.has(one.id) || isByHand(event)) criteria.set(one.id, one);
    state = applied(state, event, rules);
  }
  return state;
}

/** The state after one event. */
export function applied(state: PromptRubrics, event: EvolutionEvent, rules: EvolutionRules): PromptRubrics {
  switch (event.event) {
    case 'started': {
      const entries = event.own.map(
        ({ id, weight }): SetEntry => ({ id, weight, type: 'persistent', since_step: null }),
      );
      const known = withCriteria(state, event.own);
      return rules.persistent === 'row' ? { ...known, persistent: entries } : { ...known, active: entries };
    }
    case 'proposed':
      return isByHand(event) ? weighedAgain(state, event.criteria) : withCriteria(state, event.criteria);
    case 'generation_failed':
      return state;
    case 'scored':
      return { ...state, deviations: withDeviations(state.deviations, event.statistics) };
    case 'activated': {
      const { step } = event;
      const added = event.ids.map(
        (id): SetEntry => ({ id, weight: weightOf(state, id), type: 'evolving', since_step: step }),
      );
      return { ...state, active: [...state.active, ...added] };
    }
    case 'retired':
    case 'capped': {
      const [gone, kept] = parted(state.active, event.ids);
      const [handed, persistent] = parted(state.persistent, event.ids);
      return { ...state, persistent, active: kept, inactive: [...state.inactive, ...gone, ...handed] };
    }
    case 'restored': {
      const [back, inactive] = parted(state.inactive, event.ids);
      const byId = new Map(back.map((entry) => [entry.id, entry]));
      const inOrder = event.ids.flatMap((id) => byId.get(id) ?? []);
      const isPersistent = ({ type }: SetEntry): boolean => type === 'persistent' && rules.persistent === 'row';
      return {
        ...state,
        inactive,
        persistent: [...state.persistent, ...inOrder.filter(isPersistent)],
        active: [...state.active, ...inOrder.filter((entry) => !isPersistent(entry))],
      };
    }
  }
}

/**
 * Decides what follows from an observation that has been applied to the state.
 * @returns decisions in the order in which they apply; empty for most.
 */
function decisions(state: PromptRubrics, event: EvolutionEvent, rules: EvolutionRules): Decision[] {
  switch (event.event) {
    case 'proposed':
      return decidedInTurn(state, rules, [
        (now) => activations(now, event, rules),
        (now) => (rules.cap.rule === 'fifo' ? oldest(now, event, rules.cap.most) : []),
      ]);
    case 'scored':
      return decidedInTurn(state, rules, [
        (now) => retirements(now, event, rules),
        (now) => (rules.cap.rule === 'std' ? leastTelling(now, event, rules.cap.most) : []),
        (now) => restorations(now, event, rules),
      ]);
    default:
      return [];
  }
}

/**
 * Adds an observation and what follows from it to a log.
 *
 * @param expected the set that the caller scored or showed under; another set means that the log has gone on meanwhile.
 * The observation still counts: its proposals are compared with the criteria of now, and statistics of criteria that
 * are gone change nothing.
 * @returns the new events, and whether the log had gone on.
 */
export function observe(
  log: readonly EvolutionEvent[],
  event: EvolutionEvent,
  rules: EvolutionRules,
  expected: string,
): { readonly events: readonly EvolutionEvent[]; readonly stale: boolean } {
  const before = foldLog(log, rules);
  const stale = setId(setOf(before)) !== expected;
  return { events: observeFrom(before, event, rules).events, stale };
}

/** The same from a state: the new events, and the state after them. */
export function observeFrom(
  before: PromptRubrics,
  event: EvolutionEvent,
  rules: EvolutionRules,
): { readonly events: readonly EvolutionEvent[]; readonly state: PromptRubrics } {
  const after = applied(before, event, rules);
  const decided = decisions(after, event, rules);
  const state = decided.reduce<PromptRubrics>((now, decision) => applied(now, decision, rules), after);
  return { events: [event, ...decided], state };
}

/** What a log would have been under other rules. */
export type Refolded = {
  readonly events: readonly EvolutionEvent[];
  /**
   * Criteria that the other rules would have kept, by the group that was scored without them: they have no verdicts
   * there, so the group's rewards under the other rules are unknown.
   */
  readonly missing: readonly { readonly step: number; readonly group: string; readonly ids: readonly string[] }[];
};

/**
 * Folds a log again under other rules: observations and edits by hand stay, decisions of rules are made again from the
 * recorded statistics.
 */
export function refold(log: readonly EvolutionEvent[], rules: EvolutionRules): Refolded {
  let state = EMPTY;
  const events: EvolutionEvent[] = [];
  const missing: { step: number; group: string; ids: readonly string[] }[] = [];
  const add = (event: EvolutionEvent): void => {
    state = applied(state, event, rules);
    events.push(event);
  };
  for (const event of log) {
    if (isRuleDecision(event)) continue;
    if (event.event === 'scored') {
      const scored = new Set(event.statistics.map(({ id }) => id));
      const lacking = setOf(state).flatMap(({ id }) => (scored.has(id) ? [] : [id]));
      if (lacking.length > 0) missing.push({ step: event.step, group: event.group, ids: lacking });
    }
    add(event);
    for (const decision of decisions(state, event, rules)) add(decision);
  }
  return { events, missing };
}

/**
 * Checks that a log's decisions follow from its observations under these rules.
 * @returns the index of the first event that does not.
 */
export function checkLog(
  log: readonly EvolutionEvent[],
  rules: EvolutionRules,
): Result<null, { readonly index: number }> {
  const { events } = refold(log, rules);
  const index = log.findIndex((event, n) => JSON.stringify(event) !== JSON.stringify(events[n]));
  if (index !== -1) return { ok: false, error: { index } };
  return events.length === log.length ? { ok: true, value: null } : { ok: false, error: { index: log.length } };
}

/** The statistics of one criterion over a group. `null` = no verdict. */
export function statisticsOf(id: string, scores: readonly (number | null)[]): CriterionStatistics {
  const known = scores.filter((score) => score !== null);
  const n = known.length;
  if (n === 0) return { id, n, mean: null, std: null };
  const mean = known.reduce((sum, score) => sum + score, 0) / n;
  if (n < 2) return { id, n, mean, std: null };
  // Equal scores have a deviation of exactly 0, which a sum of rounded squares need not have.
  if (known.every((score) => score === known[0])) return { id, n, mean, std: 0 };
  const squares = known.reduce((sum, score) => sum + (score - mean) * (score - mean), 0);
  return { id, n, mean, std: Math.sqrt(squares / n) };
}

type Observation<Name extends EvolutionEvent['event']> = Extract<EvolutionEvent, { event: Name }>;

/** Runs rules in turn, each on the state that the decisions before it leave. */
function decidedInTurn(
  state: PromptRubrics,
  rules: EvolutionRules,
  turns: readonly ((state: PromptRubrics) => Decision[])[],
): Decision[] {
  let now = state;
  return turns.flatMap((decide) => {
    const made = decide(now);
    for (const decision of made) now = applied(now, decision, rules);
    return made;
  });
}

/** Proposals that are new become active; retired ones come back where the rules say so. */
function activations(state: PromptRubrics, event: Observation<'proposed'>, rules: EvolutionRules): Decision[] {
  const { step, group } = event;
  const proposed = [...new Set(event.criteria.map(({ id }) => id))];
  const inUse = new Set(setOf(state).map(({ id }) => id));
  const gone = new Set(state.inactive.map(({ id }) => id));
  const decided: Decision[] = [];
  for (const id of proposed) {
    if (inUse.has(id) || (gone.has(id) && rules.again === 'refuse')) continue;
    const last = decided.at(-1);
    // One event for neighbours of one kind: the order of the proposal is that of their age.
    if (last !== undefined && (last.event === 'restored') === gone.has(id)) last.ids.push(id);
    else if (gone.has(id)) decided.push({ event: 'restored', step, group, ids: [id], reason: 'proposed_again' });
    else decided.push({ event: 'activated', step, group, ids: [id] });
  }
  return decided;
}

function retirements(
  state: PromptRubrics,
  { step, group, statistics }: Observation<'scored'>,
  rules: EvolutionRules,
): Decision[] {
  const { retire } = rules;
  const retired = (ids: readonly string[], reason: 'zero_std' | 'low_std'): Decision[] =>
    ids.length === 0 ? [] : [{ event: 'retired', step, group, ids: [...ids], reason }];
  const scored = new Map(statistics.map((one) => [one.id, one]));
  switch (retire.rule) {
    case 'never':
      return [];
    case 'zero_std':
      return retired(
        state.active.flatMap(({ id }) => (scored.get(id)?.std === 0 ? [id] : [])),
        'zero_std',
      );
    case 'below': {
      const tellsNothing = ({ id }: SetEntry): boolean => {
        if (scored.get(id)?.std === undefined || scored.get(id)?.std === null) return false;
        const last = (state.deviations.get(id) ?? []).slice(-retire.visits);
        return last.length === retire.visits && last.every((std) => std < retire.std);
      };
      return retired(
        state.active.filter(tellsNothing).map(({ id }) => id),
        'low_std',
      );
    }
  }
}

/** Keeps the criteria with the highest deviations of this group, and those without any. */
function leastTelling(
  state: PromptRubrics,
  { step, group, statistics }: Observation<'scored'>,
  most: number,
): Decision[] {
  if (state.active.length <= most) return [];
  const deviation = new Map(statistics.flatMap(({ id, std }) => (std === null ? [] : [[id, std] as const])));
  const measured = state.active.flatMap(({ id }) => {
    const std = deviation.get(id);
    return std === undefined ? [] : [{ id, std }];
  });
  // Stable: of equal deviations the older criterion stays.
  measured.sort((one, other) => other.std - one.std);
  const ids = measured.slice(most).map(({ id }) => id);
  return ids.length === 0 ? [] : [{ event: 'capped', step, group, ids, reason: 'over_cap' }];
}

function oldest(state: PromptRubrics, { step, group }: Observation<'proposed'>, most: number): Decision[] {
  const ids = state.active.slice(0, Math.max(0, state.active.length - most)).map(({ id }) => id);
  return ids.length === 0 ? [] : [{ event: 'capped', step, group, ids, reason: 'oldest' }];
}

/** Each n-th step restores the row's own criteria, where the rules let them go. */
function restorations(
  state: PromptRubrics,
  { step, group }: Observation<'scored'>,
  { persistent }: EvolutionRules,
): Decision[] {
  if (persistent === 'row' || step % persistent.every !== 0) return [];
  const ids = state.inactive.flatMap(({ id, since_step }) => (since_step === null ? [id] : []));
  return ids.length === 0 ? [] : [{ event: 'restored', step, group, ids, reason: 'every_n_steps' }];
}

function withCriteria(state: PromptRubrics, added: readonly WeightedCriterion[]): PromptRubrics {
  if (added.every(({ id }) => state.criteria.has(id))) return state;
  const criteria = new Map(state.criteria);
  for (const one of added) if (!criteria.has(one.id)) criteria.set(one.id, one);
  return { ...state, criteria };
}

function isByHand(event: EvolutionEvent): boolean {
  return event.event === 'proposed' && event.group === BY_HAND;
}

/** A person gives criteria these weights, whether the prompt has them or not. */
function weighedAgain(state: PromptRubrics, given: readonly WeightedCriterion[]): PromptRubrics {
  const weights = new Map(given.map(({ id, weight }) => [id, weight]));
  const weighed = (entries: readonly SetEntry[]) =>
    entries.map((entry) => ({ ...entry, weight: weights.get(entry.id) ?? entry.weight }));
  return {
    ...state,
    persistent: weighed(state.persistent),
    active: weighed(state.active),
    inactive: weighed(state.inactive),
    criteria: new Map([...state.criteria, ...given.map((one) => [one.id, one] as const)]),
  };
}

function withDeviations(
  known: PromptRubrics['deviations'],
  statistics: readonly CriterionStatistics[],
): PromptRubrics['deviations'] {
  const deviations = new Map(known);
  for (const { id, std } of statistics) if (std !== null) deviations.set(id, [...(deviations.get(id) ?? []), std]);
  return deviations;
}

function weightOf(state: PromptRubrics, id: string): number {
  const known = state.criteria.get(id);
  if (known === undefined) throw new Error('evolution: a log activates a criterion that nothing proposed');
  return known.weight;
}

/** The entries with these ids, and the others. */
function parted(entries: readonly SetEntry[], ids: readonly string[]): [SetEntry[], SetEntry[]] {
  const chosen = new Set(ids);
  return [entries.filter(({ id }) => chosen.has(id)), entries.filter(({ id }) => !chosen.has(id))];
}
