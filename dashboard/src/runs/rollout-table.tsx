/** Rollouts as a table: by group with question and mean, or as one sorted list; with their answers, if asked for. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { columnText, countText, plural } from '../display/number-text.ts';
import type { Query } from '../navigation/route.ts';
import { unscoredWords } from '../words/unscored.ts';
import { GroupPair } from './answer-pair.tsx';
import { FindingChips } from './finding-chips.tsx';
import { advantageText } from './group-table.tsx';
import { rolloutHref, stepText } from './place.ts';
import { type AnswersShown, RolloutAnswer } from './rollout-answer.tsx';
import type { ShownGroup, ShownRollout } from './step-rollouts.ts';

type RolloutTableProps = {
  /** `null` = one list. */
  groups: readonly ShownGroup[] | null;
  /** All rollouts, in the order of the list. */
  rollouts: readonly ShownRollout[];
  hasReplayed: boolean;
  answers: AnswersShown;
  query: Query;
};

/** More rows make the page slow. */
const ROWS_AT_ONCE = 400;

export function RolloutTable({ groups, rollouts, hasReplayed, answers, query }: RolloutTableProps) {
  const table = useRef<HTMLTableElement>(null);
  useLinkKeys(table);
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [paired, setPaired] = useState<string | null>(null);
  const names = [...new Set(rollouts.flatMap(({ rollout }) => Object.keys(rollout.components)))];
  const columns = names.length + (hasReplayed ? 6 : 4);
  const row = (one: ShownRollout) => (
    <Row
      key={JSON.stringify([one.rollout.group, one.rollout.sample])}
      shown={one}
      names={names}
      hasGroup={groups === null}
      hasReplayed={hasReplayed}
      answers={answers}
      columns={columns}
      query={query}
    />
  );
  return (
    <>
      <div class="scroll-x">
        <table ref={table} class="list rollouts" style={{ '--columns': columnsText(groups === null, columns - 2) }}>
          <thead>
            <tr>
              <th scope="col">{groups === null ? 'Rollout' : 'Sample'}</th>
              {[
                'Reward',
                'Advantage',
                ...(hasReplayed ? ['Replayed', 'Advantage replayed'] : []),
                ...names.map((name) => name.replaceAll('_', ' ')),
              ].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
              <th scope="col">Findings</th>
            </tr>
          </thead>
          {groups === null
            ? partsOf(rollouts.slice(0, most)).map((part, at) => (
                <tbody key={at} style={{ '--rows': part.length }}>
                  {part.map(row)}
                </tbody>
              ))
            : upTo(groups, most).map((group) => (
                <tbody key={group.group} style={{ '--rows': isFolded(group, opened) ? 0 : group.rollouts.length }}>
                  <tr class="group-row">
                    <th scope="rowgroup" colSpan={columns}>
                      <GroupHead group={group} />
                      {isFolded(group, opened) && (
                        <button type="button" onClick={() => setOpened(new Set([...opened, group.group]))}>
                          Show {plural(group.rollouts.length, 'sample')}
                        </button>
                      )}
                      {group.rollouts.length > 1 && (
                        <button
                          type="button"
                          aria-expanded={paired === group.group}
                          onClick={() => setPaired(paired === group.group ? null : group.group)}
                        >
                          Side by side
                        </button>
                      )}
                    </th>
                  </tr>
                  {paired === group.group && <PairRow group={group} columns={columns} />}
                  {isFolded(group, opened) ? null : group.rollouts.map(row)}
                </tbody>
              ))}
        </table>
      </div>
      {rollouts.length > most && (
        <p class="pad">
          <button type="button" onClick={() => setMost(most + ROWS_AT_ONCE)}>
            Show more of {countText(rollouts.length)} rollouts
          </button>
        </p>
      )}
    </>
  );
}

/** The columns of every row, since each part of the table is laid out by itself. @param numbers columns of numbers. */
function columnsText(hasGroup: boolean, numbers: number): string {
  return `minmax(${hasGroup ? 14 : 6}em, 1.5fr) repeat(${numbers}, minmax(5.5em, 1fr)) minmax(160px, 2fr)`;
}

/** Rows that are drawn together once one of them is near the view. */
const ROWS_OF_PART = 10;

function partsOf(rollouts: readonly ShownRollout[]): readonly (readonly ShownRollout[])[] {
  return Array.from({ length: Math.ceil(rollouts.length / ROWS_OF_PART) }, (_, part) =>
    rollouts.slice(part * ROWS_OF_PART, (part + 1) * ROWS_OF_PART),
  );
}

function PairRow({ group: { group, rollouts }, columns }: { group: ShownGroup; columns: number }) {
  const [first] = rollouts;
  if (first === undefined) return null;
  const { run, step } = first.rollout;
  return (
    <tr class="answer-row">
      <td colSpan={columns}>
        <GroupPair place={{ run, step: stepText(step), group }} samples={rollouts.map(({ rollout }) => rollout)} />
      </td>
    </tr>
  );
}

/** A group without signal teaches nothing, so its samples are shown on request. */
function isFolded({ group, standings }: ShownGroup, opened: ReadonlySet<string>): boolean {
  return standings.degenerate !== null && standings.samples.length > 1 && !opened.has(group);
}

/** `j` and `k` go to the next and the previous rollout of the table; Enter then opens it. */
function useLinkKeys(table: { readonly current: HTMLTableElement | null }): void {
  useEffect(() => {
    const move = (event: KeyboardEvent): void => {
      const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      const { activeElement } = document;
      if (by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (activeElement?.matches('input, select, textarea') === true) return;
      const links = [...(table.current?.querySelectorAll<HTMLAnchorElement>('th.place-id a') ?? [])];
      const at = links.findIndex((link) => link.matches(':focus'));
      const next = links[at === -1 ? 0 : at + by];
      next?.focus();
      next?.scrollIntoView({ block: 'nearest' });
    };
    document.addEventListener('keydown', move);
    return () => document.removeEventListener('keydown', move);
  }, []);
}

/** The first groups that together have about `most` rollouts. */
function upTo(groups: readonly ShownGroup[], most: number): readonly ShownGroup[] {
  let rows = 0;
  const end = groups.findIndex(({ rollouts }) => {
    rows += rollouts.length;
    return rows >= most;
  });
  return end === -1 ? groups : groups.slice(0, end + 1);
}

function GroupHead({ group: { group, question, rollouts, standings } }: { group: ShownGroup }) {
  const { mean, degenerate, samples } = standings;
  return (
    <>
      <span class="place-id">
        <span class="muted">Group</span> {group}
      </span>{' '}
      <span class="muted">
        ·{' '}
        {rollouts.length === samples.length
          ? plural(samples.length, 'sample')
          : `${rollouts.length} of ${plural(samples.length, 'sample')}`}
        {mean === null ? '' : ` · mean ${columnText(mean)}`}
        {degenerate === null || samples.length === 1 ? '' : ` · no training signal: ${degenerate}`}
      </span>
      {question !== null && <p class="group-question">{question}</p>}
    </>
  );
}

type RowProps = {
  shown: ShownRollout;
  names: readonly string[];
  hasGroup: boolean;
  hasReplayed: boolean;
  answers: AnswersShown;
  columns: number;
  query: Query;
};

function Row({
  shown: { rollout, standing, replayed },
  names,
  hasGroup,
  hasReplayed,
  answers,
  columns,
  query,
}: RowProps) {
  const { run, step, group, sample, attempt, reward, reason, components, summary } = rollout;
  const counts = summary?.finding_counts ?? null;
  const place = { run, step: stepText(step), group, sample };
  return (
    <>
      <tr>
        <th scope="row" class="place-id">
          <a href={rolloutHref(place, query)} aria-label={`Read ${group}, sample ${sample}`}>
            {hasGroup && `${group} · `}
            {sample}
          </a>
          {attempt > 0 && <span class="tag">attempt {attempt + 1}</span>}
        </th>
        <td class="number">
          {reward === null ? (
            <span class="muted">not scored{reason === null ? '' : `: ${unscoredWords(reason)}`}</span>
          ) : (
            <b>{columnText(reward)}</b>
          )}
        </td>
        <td class="number">{advantageText(standing.advantage)}</td>
        {hasReplayed && (
          <>
            <td class="number">{replayed?.reward == null ? 'not scored' : columnText(replayed.reward)}</td>
            <td class="number">
              {replayed === null ? 'n/a' : advantageText(replayed.advantage)}
              {replayed?.hasFlipped === true && <span class="tag">flipped</span>}
            </td>
          </>
        )}
        {names.map((name) => {
          const value = components[name];
          return (
            <td key={name} class="number">
              {value == null ? 'n/a' : columnText(value)}
            </td>
          );
        })}
        <td>{counts === null ? <span class="muted">not kept</span> : <FindingChips counts={counts} />}</td>
      </tr>
      {answers !== 'hidden' && (
        <tr class="answer-row">
          <td colSpan={columns}>
            <RolloutAnswer place={place} shown={answers} />
          </td>
        </tr>
      )}
    </>
  );
}
