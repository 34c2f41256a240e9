/** What happened to the criteria of a prompt and why, the latest first. */
import { useMemo, useState } from 'preact/hooks';
import { plural } from '../display/number-text.ts';
import { Time } from '../display/time.tsx';
import { eventIds, eventWords, leftOutWords } from './event-words.ts';
import { type LogEntry, type LoggedEvent, logEntries, type ShownCriterion } from './prompt-history.ts';

const SHOWN_ENTRIES = 30;

type LogProps = { events: readonly LoggedEvent[]; criteria: readonly ShownCriterion[] };

export function LogCard({ events, criteria }: LogProps) {
  const entries = useMemo(() => logEntries(events), [events]);
  const [most, setMost] = useState(SHOWN_ENTRIES);
  const names = useMemo(() => new Map(criteria.map(({ id, name }) => [id, name])), [criteria]);
  return (
    <section class="card" aria-label="Log">
      <header class="card-head">
        <h2>Log</h2>
        <span class="muted">{plural(events.length, 'event')}, the latest first</span>
      </header>
      <ol class="rubric-log">
        {entries.slice(0, most).map((entry) => (
          <Entry key={entry.events[0]?.n} entry={entry} names={names} />
        ))}
      </ol>
      {entries.length > most && (
        <p class="pad">
          <button type="button" onClick={() => setMost(most + SHOWN_ENTRIES)}>
            Show earlier entries
          </button>
        </p>
      )}
    </section>
  );
}

function Entry({
  entry: { step, group, at, isSuperseded, events },
  names,
}: {
  entry: LogEntry;
  names: ReadonlyMap<string, string>;
}) {
  const isByHand = step !== null && group === '';
  return (
    <li class={isSuperseded ? 'is-superseded' : ''}>
      <p>
        <b>{step === null ? 'Start' : `Step ${step}`}</b>
        {isByHand ? ', by hand' : group !== '' && `, group ${group}`}
        <span class="muted">
          {' '}
          · <Time at={at} />
        </span>
        {isSuperseded && <span class="tag">no longer counts: the run resumed from an earlier step</span>}
      </p>
      <ul>
        {events.flatMap(({ n, entry }) => {
          const ids = eventIds(entry);
          return [
            <li key={n}>
              {eventWords(entry, isByHand)}
              {ids.length > 0 && ': '}
              {ids.map((id) => names.get(id) ?? id.slice(0, 8)).join('; ')}
            </li>,
            ...leftOutWords(entry).map((words, place) => <li key={`${n}.${place}`}>{words}</li>),
          ];
        })}
      </ul>
    </li>
  );
}
