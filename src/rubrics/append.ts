/**
 * Adds to a prompt's log what a group of samples showed, or what a person decides. A group counts once: whatever of it the
 * log already has is left out, so a call whose reply was lost can be repeated.
 */
import { MAX_CRITERIA } from '../limits.ts';
import type { Result } from '../result.ts';
import { applied, observeFrom, type PromptRubrics, setOf } from './evolution.ts';
import {
  BY_HAND,
  type CriterionStatistics,
  type EvolutionEvent,
  type RejectedProposal,
  type WeightedCriterion,
} from './evolution-log.ts';
import type { EvolutionRules } from './evolution-rules.ts';
import { setId } from './rubric-set.ts';

/** What a generator made for a group, or why it made nothing. */
export type GroupProposal =
  | {
      readonly kind: 'proposed';
      readonly criteria: readonly WeightedCriterion[];
      /** Key of the generation; `null` = the caller made the criteria. */
      readonly judgment: string | null;
      /** Digests of the responses that the generator read. */
      readonly responses: readonly string[];
      /** What the generator wrote besides, and which check it failed. */
      readonly rejected: readonly RejectedProposal[];
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** What a group of samples showed. */
export type GroupObservation = {
  readonly step: number;
  readonly group: string;
  /** The set that the group was scored or proposed under. */
  readonly under: string;
  /** `null` = nothing was scored. */
  readonly statistics: readonly CriterionStatistics[] | null;
  /** `null` = nothing was asked of a generator. */
  readonly proposal: GroupProposal | null;
};

/** What a log gained. */
export type Appended = {
  /** The new events, in order. */
  readonly events: readonly EvolutionEvent[];
  readonly state: PromptRubrics;
  /** Whether the log had gone on since the set that the group names. */
  readonly stale: boolean;
  /** Whether each part is new; false where the log already has it from this group, or the group does not bring it. */
  readonly scored: boolean;
  readonly proposed: boolean;
};

/** The reason of a proposal that would make the set larger than a rollout may be. */
const TOO_MANY_CRITERIA = 'too_many_criteria';

/** Adds a group's observations: its scores first, then its proposal. @param before the state of the log. */
export function appendGroup(
  log: readonly EvolutionEvent[],
  before: PromptRubrics,
  rules: EvolutionRules,
  { step, group, under, statistics, proposal }: GroupObservation,
): Appended {
  const ofGroup = log.filter((event) => event.event !== 'started' && event.step === step && event.group === group);
  const scored = statistics !== null && !ofGroup.some(({ event }) => event === 'scored');
  const proposed = proposal !== null && !ofGroup.some(({ event }) => PROPOSALS.has(event));
  const stale = setId(setOf(before)) !== under;
  let now: Pick<Appended, 'events' | 'state'> = { events: [], state: before };
  const after = (event: EvolutionEvent): typeof now => {
    const { events, state } = observeFrom(now.state, event, rules);
    return { events: [...now.events, ...events], state };
  };
  if (scored) now = after({ event: 'scored', step, group, set: under, statistics: [...statistics] });
  if (proposed) {
    const next = after(proposalEvent(proposal, { step, group, under }));
    now =
      setOf(next.state).length <= MAX_CRITERIA
        ? next
        : after({ event: 'generation_failed', step, group, reason: TOO_MANY_CRITERIA });
  }
  return { ...now, stale, scored, proposed };
}

const PROPOSALS: ReadonlySet<string> = new Set(['proposed', 'generation_failed']);

function proposalEvent(
  proposal: GroupProposal,
  { step, group, under }: Pick<GroupObservation, 'step' | 'group' | 'under'>,
): EvolutionEvent {
  if (proposal.kind === 'failed') return { event: 'generation_failed', step, group, reason: proposal.reason };
  const { criteria, judgment, responses, rejected } = proposal;
  return {
    ...{ event: 'proposed', step, group, criteria: [...criteria], under, judgment, responses: [...responses] },
    ...(rejected.length === 0 ? {} : { rejected: [...rejected] }),
  };
}

/** Whether a log has a group's proposal, or the failure of one. */
export function hasProposal(log: readonly EvolutionEvent[], step: number, group: string): boolean {
  return log.some(
    (event) =>
      (event.event === 'proposed' || event.event === 'generation_failed') &&
      event.step === step &&
      event.group === group,
  );
}

/** What a person decides about a prompt. An edited criterion is a new one in place of a retired one. */
export type HandEdit = {
  /** The step from which on it counts. */
  readonly step: number;
  /** The set that the person saw. */
  readonly set: string;
  readonly retire: readonly string[];
  readonly restore: readonly string[];
  /** One that the prompt already has gets this weight, and is restored if it is inactive. */
  readonly add: readonly WeightedCriterion[];
};

/** Why an edit is refused: the set is another one by now, or `ids` are not where the edit expects them. */
export type EditRefusal =
  | { readonly why: 'stale'; readonly set: string }
  | { readonly why: 'not_in_set' | 'not_inactive' | 'too_many'; readonly ids: readonly string[] };

/** Adds an edit by hand: retirements, then restorations, then new criteria. */
export function appendEdit(
  before: PromptRubrics,
  rules: EvolutionRules,
  { step, set, retire, restore, add }: HandEdit,
): Result<Pick<Appended, 'events' | 'state'>, EditRefusal> {
  const now = setOf(before);
  if (setId(now) !== set) return { ok: false, error: { why: 'stale', set: setId(now) } };
  const inSet = new Set(now.map(({ id }) => id));
  const inactive = new Set(before.inactive.map(({ id }) => id));
  const notInSet = retire.filter((id) => !inSet.has(id));
  if (notInSet.length > 0) return { ok: false, error: { why: 'not_in_set', ids: notInSet } };
  const notInactive = restore.filter((id) => !inactive.has(id));
  if (notInactive.length > 0) return { ok: false, error: { why: 'not_inactive', ids: notInactive } };
  const at = { step, group: BY_HAND };
  const by = { ...at, reason: 'by_hand' as const };
  const events: EvolutionEvent[] = [];
  if (retire.length > 0) events.push({ event: 'retired', ...by, ids: [...new Set(retire)] });
  const retired = new Set(retire);
  const again = add.flatMap(({ id }) => (inactive.has(id) || retired.has(id) ? [id] : []));
  const back = [...new Set([...restore, ...again])];
  // Before the proposal, so that rules which refuse retired criteria do not decide about it.
  if (back.length > 0) events.push({ event: 'restored', ...by, ids: back });
  let state = events.reduce<PromptRubrics>((one, event) => applied(one, event, rules), before);
  if (add.length > 0) {
    const proposal = { kind: 'proposed', criteria: add, judgment: null, responses: [], rejected: [] } as const;
    const event = proposalEvent(proposal, { ...at, under: set });
    const added = observeFrom(state, event, rules);
    events.push(...added.events);
    state = added.state;
  }
  if (setOf(state).length > MAX_CRITERIA) {
    return { ok: false, error: { why: 'too_many', ids: add.map(({ id }) => id) } };
  }
  return { ok: true, value: { events, state } };
}
