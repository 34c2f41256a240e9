/**
 * The evolving rubrics of prompts in the SQLite of the shard of a run that their digest selects, which erases them with
 * the run: one row for each event of a log, one for each visit of a group, one for each prompt. The log alone decides;
 * the row of a prompt repeats what lists show of it. Every method is synchronous and runs in the caller's transaction.
 */
import * as z from 'zod';
import { appendEdit, appendGroup, hasProposal } from '../../src/rubrics/append.ts';
import { foldLog, type PromptRubrics, setOf } from '../../src/rubrics/evolution.ts';
import { type EvolutionEvent, evolutionEventSchema, type WeightedCriterion } from '../../src/rubrics/evolution-log.ts';
import { type EvolutionRules, evolutionRulesSchema } from '../../src/rubrics/evolution-rules.ts';
import { rubricSetSchema, setId } from '../../src/rubrics/rubric-set.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import type {
  EditAnswer,
  EditCall,
  LoggedEvent,
  ObserveAnswer,
  ObserveCall,
  PromptSummary,
  PromptVisit,
  StartAnswer,
  StartCall,
  StoredPrompt,
} from './rubric-messages.ts';

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

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Forgets what it remembers of the tables: they were erased, or the transaction that made them was undone. */
  forget(): void {
    this.#isMade = false;
  }

  /** Starts a prompt unless it is there, and opens a visit of it. Idempotent. */
  start({ prompt, rules, fallback, own, visit }: StartCall, at: number): StartAnswer {
    const found = this.read(prompt);
    if (found === null) {
      const begun: EvolutionEvent = { event: 'started', question: prompt, own: [...(own ?? [])] };
      this.#append(prompt, rules ?? fallback, [], [begun], at);
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
    return { rules: rules.data, events };
  }

  /** Records what a group showed; `null` = there is no such prompt. Idempotent by step and group. */
  observe({ prompt, observation, scoresNext }: ObserveCall, at: number): ObserveAnswer | null {
    const found = this.read(prompt);
    if (found === null) return null;
    const log = counting(found);
    const { events, ...did } = appendGroup(log, found.rules, observation);
    const state = this.#append(prompt, found.rules, log, events, at);
    const seen = this.#findVisit(prompt, observation);
    if (seen !== null && scoresNext && did.proposed) {
      this.#keepVisit(prompt, observation, { ...seen, entries: [...setOf(state)] });
    }
    const visit = seen === null ? null : this.#visit(prompt, observation);
    return { events, ...did, set: setId(setOf(state)), visit };
  }

  /** Edits a prompt by hand; `null` = there is no such prompt. */
  edit({ prompt, edit }: EditCall, at: number): EditAnswer | null {
    const found = this.read(prompt);
    if (found === null) return null;
    const log = counting(found);
    const edited = appendEdit(log, found.rules, edit);
    if (!edited.ok) {
      const { error } = edited;
      return error.why === 'stale' ? { status: 'stale', set: error.set } : { status: error.why, ids: error.ids };
    }
    const state = this.#append(prompt, found.rules, log, edited.value, at);
    return { status: 'edited', events: edited.value, set: setId(setOf(state)) };
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
    for (const { prompt } of changed) {
      const found = this.read(prompt);
      if (found !== null) this.#summarise(prompt, found.rules, counting(found), at);
    }
    return changed.length;
  }

  /** The visit of a group, which begins with the set of now. The prompt exists. */
  #visit(prompt: string, place: Place): PromptVisit {
    const found = this.read(prompt);
    if (found === null) throw new Error('rubrics: a visit of a prompt that is not there');
    const log = counting(found);
    const state = foldLog(log, found.rules);
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

  /** Appends events. @param log the events that count so far. @returns the state after them. */
  #append(
    prompt: string,
    rules: EvolutionRules,
    log: readonly EvolutionEvent[],
    events: readonly EvolutionEvent[],
    at: number,
  ): PromptRubrics {
    const whole = [...log, ...events];
    if (events.length === 0) return foldLog(whole, rules);
    const [last] = this.#sql.exec<{ n: number | null }>(
      'SELECT max(n) AS n FROM rubric_events_v1 WHERE prompt = ?',
      prompt,
    );
    const next = (last?.n ?? -1) + 1;
    for (const [place, event] of events.entries()) {
      const step = event.event === 'started' ? null : event.step;
      this.#sql.exec(
        'INSERT INTO rubric_events_v1 (prompt, n, step, at, event) VALUES (?, ?, ?, ?, ?)',
        ...[prompt, next + place, step, at, JSON.stringify(event)],
      );
    }
    return this.#summarise(prompt, rules, whole, at);
  }

  /** Writes what lists show of a prompt. */
  #summarise(prompt: string, rules: EvolutionRules, log: readonly EvolutionEvent[], at: number): PromptRubrics {
    const state = foldLog(log, rules);
    const steps = log.flatMap((event) => (event.event === 'started' ? [] : [event.step]));
    const [first] = this.#sql.exec<{ at: number }>(
      'SELECT at FROM rubric_events_v1 WHERE prompt = ? ORDER BY n LIMIT 1',
      prompt,
    );
    const summary: PromptSummary = {
      prompt,
      set: setId(setOf(state)),
      persistent: state.persistent.length,
      active: state.active.length,
      inactive: state.inactive.length,
      visits: log.filter(({ event }) => event === 'scored').length,
      failed_generations: log.filter(({ event }) => event === 'generation_failed').length,
      last_step: steps.length === 0 ? null : Math.max(...steps),
      started_at: first?.at ?? at,
      changed_at: at,
    };
    this.#sql.exec(
      'INSERT OR REPLACE INTO rubric_prompts_v1 (prompt, rules, summary) VALUES (?, ?, ?)',
      ...[prompt, JSON.stringify(rules), JSON.stringify(summary)],
    );
    return state;
  }

  /** Runs that began before the tables were introduced lack them. */
  #make(): void {
    if (this.#isMade) return;
    for (const table of TABLES) this.#sql.exec(table);
    this.#isMade = true;
  }
}

/** The events that count. */
function counting({ events }: StoredPrompt): EvolutionEvent[] {
  return events.flatMap(({ superseded, entry }) => (superseded ? [] : [entry]));
}

/** Whether two lists have the same criteria with the same weights, in order. */
function isSame(one: readonly WeightedCriterion[], other: readonly WeightedCriterion[]): boolean {
  return (
    one.length === other.length && one.every(({ id, weight }, n) => other[n]?.id === id && other[n]?.weight === weight)
  );
}
