/**
 * The evolving rubrics of prompts in the SQLite of the shard of a run that their digest selects, which erases them with
 * the run: one row for each event of a log, one for each visit of a group, one for each prompt. The log alone decides;
 * the row of a prompt repeats what lists show of it. Every method is synchronous and runs in the caller's transaction.
 */
import * as z from 'zod';
import type {
  GroupVisit,
  LoggedEvent,
  ObserveAnswer,
  PromptSummary,
  StartAnswer,
  StoredPrompt,
} from '../../service/ledger-port.ts';
import { createRecentlyUsed, type RecentlyUsed } from '../../src/recently-used.ts';
import { appendEdit, appendGroup, hasProposal } from '../../src/rubrics/append.ts';
import { foldLog, type PromptRubrics, setOf } from '../../src/rubrics/evolution.ts';
import { type EvolutionEvent, evolutionEventSchema, type WeightedCriterion } from '../../src/rubrics/evolution-log.ts';
import { evolutionRulesSchema } from '../../src/rubrics/evolution-rules.ts';
import { rubricSetSchema, setId } from '../../src/rubrics/rubric-set.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import type { EditAnswer, EditCall, ObserveCall, StartCall } from './rubric-messages.ts';

const TABLES = [
  `CREATE TABLE IF NOT EXISTS rubric_prompts_v1 (
     prompt TEXT PRIMARY KEY, rules TEXT NOT NULL, summary TEXT NOT NULL
   ) STRICT, WITHOUT ROWID`,
  // `step` of the first event is null: no step goes before it. `superseded`: the step from which the run resumed.
  `CREATE TABLE IF NOT EXISTS rubric_events_v1 (
     prompt TEXT NOT NULL, n INTEGER NOT NULL, step INTEGER, at INTEGER NOT NULL, superseded INTEGER,
     event TEXT NOT NULL, PRIMARY KEY (prompt, n)
   ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS rubric_events_v1_step ON rubric_events_v1 (step) WHERE superseded IS NULL',
  `CREATE TABLE IF NOT EXISTS rubric_visits_v1 (
     prompt TEXT NOT NULL, step INTEGER NOT NULL, group_id TEXT NOT NULL, visit TEXT NOT NULL,
     PRIMARY KEY (prompt, step, group_id)
   ) STRICT, WITHOUT ROWID`,
];

/** Events of the prompts that the object holds in memory, those used last: about 10 MB. */
const MAX_HELD_EVENTS = 10_000;
const MAX_HELD_PROMPTS = 1_000;

/** A prompt as the object holds it. */
type HeldPrompt = StoredPrompt & {
  /** The events that count, and the state after them. */
  readonly log: readonly EvolutionEvent[];
  readonly state: PromptRubrics;
};

const visitSchema = z.object({ entries: rubricSetSchema, inactive: z.array(z.string()) });
type StoredVisit = z.infer<typeof visitSchema>;

const summarySchema = z.object({
  prompt: z.string(),
  set: z.string(),
  persistent: z.int(),
  active: z.int(),
  inactive: z.int(),
  visits: z.int(),
  failed_generations: z.int(),
  last_step: z.int().nullable(),
  started_at: z.int(),
  changed_at: z.int(),
}) satisfies z.ZodType<PromptSummary>;

type Place = { readonly step: number; readonly group: string };

export class RubricTable {
  readonly #sql: SqlStorage;
  #isMade = false;
  #held = heldPrompts();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Forgets what it remembers of the tables: they were erased, or the transaction that made them was undone. */
  forget(): void {
    this.#isMade = false;
    this.#held = heldPrompts();
  }

  /** Starts a prompt unless it is there, and opens a visit of it. Idempotent. */
  start({ prompt, rules, fallback, own, visit }: StartCall, at: number): StartAnswer {
    const found = this.#hold(prompt);
    if (found === null) {
      const begun: EvolutionEvent = { event: 'started', question: prompt, own: [...(own ?? [])] };
      const rulesOfPrompt = rules ?? fallback;
      const state = foldLog([begun], rulesOfPrompt);
      this.#append({ rules: rulesOfPrompt, events: [], log: [], state }, prompt, { events: [begun], state }, at);
      return { status: 'started', visit: visit === null ? null : this.#visit(prompt, visit) };
    }
    if (rules !== null && JSON.stringify(rules) !== JSON.stringify(found.rules)) return { status: 'rules_differ' };
    const [first] = found.events;
    if (own !== null && first?.entry.event === 'started' && !isSame(first.entry.own, own)) {
      return { status: 'criteria_differ' };
    }
    return { status: 'known', visit: visit === null ? null : this.#visit(prompt, visit) };
  }

  /** The log of a prompt; `null` = there is none. @throws UnknownForm if a later version wrote it. */
  read(prompt: string): StoredPrompt | null {
    const found = this.#hold(prompt);
    return found === null ? null : { rules: found.rules, events: found.events };
  }

  #hold(prompt: string): HeldPrompt | null {
    const held = this.#held.get(prompt);
    if (held !== undefined) return held;
    this.#make();
    const [row] = this.#sql.exec<{ rules: string }>('SELECT rules FROM rubric_prompts_v1 WHERE prompt = ?', prompt);
    if (row === undefined) return null;
    const rows = this.#sql.exec<{ n: number; at: number; superseded: number | null; event: string }>(
      'SELECT n, at, superseded, event FROM rubric_events_v1 WHERE prompt = ? ORDER BY n',
      prompt,
    );
    const events = [...rows].map(({ n, at, superseded, event }): LoggedEvent => {
      const entry = evolutionEventSchema.safeParse(JSON.parse(event));
      if (!entry.success) throw new UnknownForm('event of a rubric');
      return { n, at, superseded: superseded !== null, entry: entry.data };
    });
    const rules = evolutionRulesSchema.safeParse(JSON.parse(row.rules));
    if (!rules.success) throw new UnknownForm('rules of a rubric');
    const log = events.flatMap(({ superseded, entry }) => (superseded ? [] : [entry]));
    const read = { rules: rules.data, events, log, state: foldLog(log, rules.data) };
    this.#held.add(prompt, read, events.length);
    return read;
  }

  /** Records what a group showed; `null` = there is no such prompt. Idempotent by step and group. */
  observe({ prompt, observation, scoresNext }: ObserveCall, at: number): ObserveAnswer | null {
    const found = this.#hold(prompt);
    if (found === null) return null;
    const { events, state, ...did } = appendGroup(found.log, found.state, found.rules, observation);
    this.#append(found, prompt, { events, state }, at);
    const seen = this.#findVisit(prompt, observation);
    if (seen !== null && scoresNext && did.proposed) {
      this.#keepVisit(prompt, observation, { ...seen, entries: [...setOf(state)] });
    }
    const visit = seen === null ? null : this.#visit(prompt, observation);
    return { events, ...did, set: setId(setOf(state)), visit };
  }

  /** Edits a prompt by hand; `null` = there is no such prompt. */
  edit({ prompt, edit }: EditCall, at: number): EditAnswer | null {
    const found = this.#hold(prompt);
    if (found === null) return null;
    const edited = appendEdit(found.state, found.rules, edit);
    if (!edited.ok) {
      const { error } = edited;
      return error.why === 'stale' ? { status: 'stale', set: error.set } : { status: error.why, ids: error.ids };
    }
    this.#append(found, prompt, edited.value, at);
    return { status: 'edited', events: edited.value.events, set: setId(setOf(edited.value.state)) };
  }

  /** Prompts in the order of their digests, after one. */
  list(after: string, limit: number): PromptSummary[] {
    this.#make();
    const rows = this.#sql.exec<{ summary: string }>(
      'SELECT summary FROM rubric_prompts_v1 WHERE prompt > ? ORDER BY prompt LIMIT ?',
      ...[after, limit],
    );
    return [...rows].map(({ summary }) => {
      const read = summarySchema.safeParse(JSON.parse(summary));
      if (!read.success) throw new UnknownForm('summary of a rubric');
      return read.data;
    });
  }

  /**
   * Goes back to the end of a step, from whose checkpoint the run resumes: later events stay readable and no longer
   * count. Idempotent. @returns the number of prompts that changed.
   */
  resume(step: number, at: number): number {
    this.#make();
    const changed = this.#sql
      .exec<{ prompt: string }>(
        'SELECT DISTINCT prompt FROM rubric_events_v1 WHERE superseded IS NULL AND step > ?',
        step,
      )
      .toArray();
    this.#sql.exec('UPDATE rubric_events_v1 SET superseded = ?1 WHERE superseded IS NULL AND step > ?1', step);
    this.#sql.exec('DELETE FROM rubric_visits_v1 WHERE step > ?', step);
    this.#held = heldPrompts();
    for (const { prompt } of changed) {
      const found = this.#hold(prompt);
      if (found !== null) this.#summarise(prompt, found, at);
    }
    return changed.length;
  }

  /** The visit of a group, which begins with the set of now. The prompt exists. */
  #visit(prompt: string, place: Place): GroupVisit {
    const found = this.#hold(prompt);
    if (found === null) throw new Error('rubrics: a visit of a prompt that is not there');
    const { log, state } = found;
    let seen = this.#findVisit(prompt, place);
    if (seen === null) {
      seen = { entries: [...setOf(state)], inactive: state.inactive.map(({ id }) => id) };
      this.#keepVisit(prompt, place, seen);
    }
    const named = [...seen.entries.map(({ id }) => id), ...seen.inactive];
    const criteria = named.flatMap((id): WeightedCriterion[] => {
      const known = state.criteria.get(id);
      return known === undefined ? [] : [known];
    });
    return { ...seen, criteria, rules: found.rules, proposed: hasProposal(log, place.step, place.group) };
  }

  #findVisit(prompt: string, { step, group }: Place): StoredVisit | null {
    const [row] = this.#sql.exec<{ visit: string }>(
      'SELECT visit FROM rubric_visits_v1 WHERE prompt = ? AND step = ? AND group_id = ?',
      ...[prompt, step, group],
    );
    if (row === undefined) return null;
    const read = visitSchema.safeParse(JSON.parse(row.visit));
    if (!read.success) throw new UnknownForm('visit of a rubric');
    return read.data;
  }

  #keepVisit(prompt: string, { step, group }: Place, visit: StoredVisit): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO rubric_visits_v1 (prompt, step, group_id, visit) VALUES (?, ?, ?, ?)',
      ...[prompt, step, group, JSON.stringify(visit)],
    );
  }

  /** Appends events to a prompt. @param added the events, and the state after them. */
  #append(
    { rules, events, log }: HeldPrompt,
    prompt: string,
    added: { readonly events: readonly EvolutionEvent[]; readonly state: PromptRubrics },
    at: number,
  ): void {
    if (added.events.length === 0) return;
    const next = (events.at(-1)?.n ?? -1) + 1;
    const logged = added.events.map((entry, place) => ({ n: next + place, at, superseded: false, entry }));
    for (const { n, entry } of logged) {
      const step = entry.event === 'started' ? null : entry.step;
      this.#sql.exec(
        'INSERT INTO rubric_events_v1 (prompt, n, step, at, event) VALUES (?, ?, ?, ?, ?)',
        ...[prompt, n, step, at, JSON.stringify(entry)],
      );
    }
    const held = { rules, events: [...events, ...logged], log: [...log, ...added.events], state: added.state };
    this.#held.add(prompt, held, held.events.length);
    this.#summarise(prompt, held, at);
  }

  /** Writes what lists show of a prompt. */
  #summarise(prompt: string, { rules, events, log, state }: HeldPrompt, at: number): void {
    const steps = log.flatMap((event) => (event.event === 'started' ? [] : [event.step]));
    const summary: PromptSummary = {
      prompt,
      set: setId(setOf(state)),
      persistent: state.persistent.length,
      active: state.active.length,
      inactive: state.inactive.length,
      visits: log.filter(({ event }) => event === 'scored').length,
      failed_generations: log.filter(({ event }) => event === 'generation_failed').length,
      last_step: steps.length === 0 ? null : steps.reduce((most, step) => Math.max(most, step), 0),
      started_at: events[0]?.at ?? at,
      changed_at: at,
    };
    this.#sql.exec(
      'INSERT OR REPLACE INTO rubric_prompts_v1 (prompt, rules, summary) VALUES (?, ?, ?)',
      ...[prompt, JSON.stringify(rules), JSON.stringify(summary)],
    );
  }

  /** Runs that began before the tables were introduced lack them. */
  #make(): void {
    if (this.#isMade) return;
    for (const table of TABLES) this.#sql.exec(table);
    this.#isMade = true;
  }
}

function heldPrompts(): RecentlyUsed<HeldPrompt> {
  return createRecentlyUsed({ entries: MAX_HELD_PROMPTS, size: MAX_HELD_EVENTS });
}

/** Whether two lists have the same criteria with the same weights, in order. */
function isSame(one: readonly WeightedCriterion[], other: readonly WeightedCriterion[]): boolean {
  return (
    one.length === other.length && one.every(({ id, weight }, n) => other[n]?.id === id && other[n]?.weight === weight)
  );
}
