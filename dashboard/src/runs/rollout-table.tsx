/** Rollouts as a table: by group with question and mean, or as one sorted list; with their answers, if asked for. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { columnText, plural } from '../display/number-text.ts';
import type { Query } from '../navigation/route.ts';
import { unscoredWords } from '../words/unscored.ts';
import { GroupPair } from './answer-pair.tsx';
import { FindingChips } from './finding-chips.tsx';
import { advantageText } from './group-table.tsx';
import type { LinkPlace } from './kept-view.ts';
import { type ListPart, useNearParts } from './near-parts.ts';
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
  place: LinkPlace;
};

export function RolloutTable({ groups, rollouts, hasReplayed, answers, query, place }: RolloutTableProps) {
  const table = useRef<HTMLTableElement>(null);
  useLinkKeys(table);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [paired, setPaired] = useState<string | null>(null);
  const names = [...new Set(rollouts.flatMap(({ rollout }) => Object.keys(rollout.components)))];
  const columns = names.length + (hasReplayed ? 6 : 4);
  const parts = useMemo(
    () => (groups === null ? partsOf(null, rollouts) : groups.flatMap((group) => partsOfGroup(group, opened))),
    [groups, rollouts, opened],
  );
  const start = usePlace(table, parts, place);
  const { from, to, before_px, after_px } = useNearParts(table, parts, answers, start);
  return (
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
        <Space key="before" px={before_px} />
        {parts.slice(from, to).map(({ key, estimate_px, head, rows }) => (
          <tbody key={key} data-part={key} style={{ '--estimate': `${estimate_px}px` }}>
            {head !== null && (
              <tr class="group-row">
                <th scope="rowgroup" colSpan={columns}>
                  <GroupHead group={head} />
                  {isFolded(head, opened) && (
                    <button type="button" onClick={() => setOpened(new Set([...opened, head.group]))}>
                      Show {plural(head.rollouts.length, 'sample')}
                    </button>
                  )}
                  {head.rollouts.length > 1 && (
                    <button
                      type="button"
                      aria-expanded={paired === head.group}
                      onClick={() => setPaired(paired === head.group ? null : head.group)}
                    >
                      Side by side
                    </button>
                  )}
                </th>
              </tr>
            )}
            {head !== null && paired === head.group && <PairRow group={head} columns={columns} />}
            {rows.map((one) => (
              <Row
                key={linkKey(one)}
                shown={one}
                names={names}
                hasGroup={groups === null}
                hasReplayed={hasReplayed}
                answers={answers}
                columns={columns}
                query={query}
                onOpen={(top) => place.leave({ key: linkKey(one), top })}
              />
            ))}
          </tbody>
        ))}
        <Space key="after" px={after_px} />
      </table>
    </div>
  );
}

/** In place of the parts that are not drawn. */
function Space({ px }: { px: number }) {
  return px === 0 ? null : <tbody class="space" style={{ height: `${px}px` }} />;
}

/** The columns of every row, since each part of the table is laid out by itself. @param numbers columns of numbers. */
function columnsText(hasGroup: boolean, numbers: number): string {
  return `minmax(${hasGroup ? 14 : 6}em, 1.5fr) repeat(${numbers}, minmax(6.5em, 1fr)) minmax(var(--findings), 2fr)`;
}

/** Rows that are drawn together. */
type Part = ListPart & {
  /** The group whose head is above the rows; `null` = none. */
  readonly head: ShownGroup | null;
  readonly rows: readonly ShownRollout[];
};

/** A larger group is drawn in parts. */
const ROWS_OF_PART = 20;
const HEAD_PX = 60;
const ROW_PX = 90;

function partsOfGroup(group: ShownGroup, opened: ReadonlySet<string>): readonly Part[] {
  return partsOf(group, isFolded(group, opened) ? [] : group.rollouts);
}

function partsOf(group: ShownGroup | null, rows: readonly ShownRollout[]): readonly Part[] {
  return Array.from({ length: Math.max(1, Math.ceil(rows.length / ROWS_OF_PART)) }, (_, part) => {
    const own = rows.slice(part * ROWS_OF_PART, (part + 1) * ROWS_OF_PART);
    const head = part === 0 ? group : null;
    const estimate_px = (head === null ? 0 : HEAD_PX) + own.length * ROW_PX;
    return { key: JSON.stringify([group?.group ?? null, part]), head, rows: own, estimate_px };
  });
}

function linkKey({ rollout: { group, sample } }: Pick<ShownRollout, 'rollout'>): string {
  return JSON.stringify([group, sample]);
}

const BEGINS_TO_READ = ['wheel', 'pointerdown', 'keydown'] as const;

/**
 * Begins where a person left the list to read a rollout: with that link where it was on the screen, and focused. Returns
 * there each time rollouts are added, until the person reads on.
 *
 * @returns the index of the part that has it; -1 = the list stays where it is.
 */
function usePlace(
  table: { readonly current: HTMLTableElement | null },
  parts: readonly Part[],
  { left, forget }: LinkPlace,
): number {
  /** The parts in which the list has returned. */
  const [returned, setReturned] = useState<readonly Part[] | null>(null);
  const start = useMemo(
    () =>
      left === null || returned === parts
        ? -1
        : parts.findIndex(({ rows }) => rows.some((one) => linkKey(one) === left.key)),
    [parts, left, returned],
  );
  useEffect(() => {
    if (left === null || start === -1) return;
    const link = [...(table.current?.querySelectorAll<HTMLAnchorElement>('th.place-id a') ?? [])].find(
      ({ dataset }) => dataset['link'] === left.key,
    );
    // Drawn in the next turn.
    if (link === undefined) return;
    scrollBy(0, link.getBoundingClientRect().top - left.top);
    link.focus({ preventScroll: true });
    setReturned(parts);
  });
  const isReturning = left !== null;
  useEffect(() => {
    if (!isReturning) return;
    for (const kind of BEGINS_TO_READ) addEventListener(kind, forget);
    return () => {
      for (const kind of BEGINS_TO_READ) removeEventListener(kind, forget);
    };
  }, [isReturning]);
  return start;
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
  /** @param top where its link is on the screen, in pixels. */
  onOpen: (top: number) => void;
};

function Row({
  shown: { rollout, standing, replayed },
  names,
  hasGroup,
  hasReplayed,
  answers,
  columns,
  query,
  onOpen,
}: RowProps) {
  const { run, step, group, sample, attempt, reward, reason, components, summary } = rollout;
  const counts = summary?.finding_counts ?? null;
  const place = { run, step: stepText(step), group, sample };
  return (
    <>
      <tr>
        <th scope="row" class="place-id">
          <a
            href={rolloutHref(place, query)}
            aria-label={`Read ${group}, sample ${sample}`}
            data-link={linkKey({ rollout })}
            onClick={(event) => onOpen(event.currentTarget.getBoundingClientRect().top)}
          >
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
