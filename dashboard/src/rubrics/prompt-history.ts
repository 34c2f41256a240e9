/** What a prompt's log tells over its steps: the criteria, the groups that were scored, and the events by group. */
import type { PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import type { Values } from '../charts/line-chart.tsx';

export type LoggedEvent = NonNullable<PromptRubricsReply['events']>[number];
type CriterionState = 'persistent' | 'active' | 'inactive';

/** A criterion of the prompt, as it is now. */
export type ShownCriterion = PromptRubricsReply['active'][number] & {
  readonly state: CriterionState;
  /** Its title, or the start of its description. Distinct within the prompt. */
  readonly name: string;
};

/** How the responses of one group met a criterion. */
export type Met = {
  /** Responses with a verdict. */
  readonly n: number;
  /** In [0, 1]; of a negative criterion the share that avoids it. `null` = no verdict. */
  readonly passRate: number | null;
  /** Standard deviation of the scores; `null` = fewer than two verdicts. */
  readonly std: number | null;
};

/** A group that was scored. */
export type Visit = {
  /** The number of its event. */
  readonly n: number;
  readonly step: number;
  readonly group: string;
  readonly set: string;
  /** By the id of the criterion; a criterion outside the set has no entry. */
  readonly met: ReadonlyMap<string, Met>;
};

/** The events of one group, or of one edit by hand. */
export type LogEntry = {
  /** `null` = the start. */
  readonly step: number | null;
  /** Empty for an edit by hand. */
  readonly group: string;
  readonly at: number;
  readonly isSuperseded: boolean;
  readonly events: readonly LoggedEvent[];
};

/** All criteria, those of the set first. */
export function shownCriteria({ persistent, active, inactive }: PromptRubricsReply): ShownCriterion[] {
  const taken = new Set<string>();
  const named = (state: CriterionState) => (one: PromptRubricsReply['active'][number]) => {
    const text = one.title === null || one.title === '' ? one.description : one.title;
    const short = text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS - 1)}…` : text;
    const name = taken.has(short) ? `${short} (${one.id.slice(0, 6)})` : short;
    taken.add(name);
    return { ...one, state, name };
  };
  return [...persistent.map(named('persistent')), ...active.map(named('active')), ...inactive.map(named('inactive'))];
}

const NAME_CHARS = 60;

/** The groups that were scored, in the order of the log. */
export function visitsOf(events: readonly LoggedEvent[], criteria: readonly ShownCriterion[]): Visit[] {
  const negative = new Set(criteria.flatMap(({ id, polarity }) => (polarity === 'negative' ? [id] : [])));
  const inSet = new Set<string>();
  const visits: Visit[] = [];
  for (const { n, superseded, entry } of events) {
    if (superseded) continue;
    switch (entry.event) {
      case 'started':
        for (const { id } of entry.own) inSet.add(id);
        break;
      case 'activated':
      case 'restored':
        for (const id of entry.ids) inSet.add(id);
        break;
      case 'retired':
      case 'capped':
        for (const id of entry.ids) inSet.delete(id);
        break;
      case 'scored': {
        const met = new Map<string, Met>([...inSet].map((id) => [id, NO_VERDICT]));
        for (const { id, n: count, mean, std } of entry.statistics) {
          const passRate = mean !== null && negative.has(id) ? 1 - mean : mean;
          met.set(id, { n: count, passRate, std });
        }
        visits.push({ n, step: entry.step, group: entry.group, set: entry.set, met });
        break;
      }
      case 'proposed':
      case 'generation_failed':
        break;
    }
  }
  return visits;
}

const NO_VERDICT: Met = { n: 0, passRate: null, std: null };

/** The events of a group one after the other are one entry; the latest entry first. */
export function logEntries(events: readonly LoggedEvent[]): LogEntry[] {
  const entries: (LogEntry & { readonly events: LoggedEvent[] })[] = [];
  for (const event of events) {
    const { entry, superseded: isSuperseded } = event;
    const [step, group] = entry.event === 'started' ? [null, ''] : [entry.step, entry.group];
    const last = entries.at(-1);
    const isSame = last?.step === step && last.group === group && last.isSuperseded === isSuperseded;
    // Two edits by hand at one step differ in their time.
    if (isSame && (group !== '' || last.at === Date.parse(event.at))) last.events.push(event);
    else entries.push({ step, group, at: Date.parse(event.at), isSuperseded, events: [event] });
  }
  return entries.reverse();
}

/** The values of a criterion over steps: those of the last group of each step. */
export function overSteps(
  visits: readonly Visit[],
  id: string,
  read: (met: Met) => number | null,
): { readonly steps: readonly number[]; readonly values: Values } {
  const last = new Map(visits.map((visit) => [visit.step, visit]));
  const steps = [...last.keys()].sort((one, other) => one - other);
  const values = steps.map((step) => {
    const met = last.get(step)?.met.get(id);
    return met === undefined ? null : read(met);
  });
  return { steps, values };
}

/** The step after the last one of the log that counts. */
export function nextStep(events: readonly LoggedEvent[]): number {
  const steps = events.flatMap(({ superseded, entry }) =>
    superseded || entry.event === 'started' ? [] : [entry.step],
  );
  return steps.reduce((most, step) => Math.max(most, step + 1), 0);
}
