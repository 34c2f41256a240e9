/** The runs of this deployment, newest first. */
import { useEffect, useState } from 'preact/hooks';
import { namesOf } from '../../../src/names-of.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { EmptyState } from '../display/empty-state.tsx';
import { plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf, type Page } from '../navigation/route.ts';
import { NATURAL } from './place.ts';
import { RunCells } from './run-cells.tsx';
import { activeRules, type KnownFigures, type RunFigures, useRunFigures } from './run-figures.ts';

type RunPage = { readonly runs: readonly RunReply[]; readonly next: string | null };

/** @param leadsTo the page that a run links to. */
export function RunList({ leadsTo }: { leadsTo: Extract<Page, 'runs' | 'replay'> }) {
  const loading = useApi<RunPage>('/v1/runs?limit=50');
  return (
    <WhenLoaded loading={loading}>
      {(page) => (page.runs.length === 0 ? <NoRuns /> : <Runs first={page} leadsTo={leadsTo} />)}
    </WhenLoaded>
  );
}

function NoRuns() {
  return (
    <EmptyState title="No run yet" command={'"run": {"id": "my-run", "step": 0, "group": "prompt-1", "sample": 0}'}>
      Scores and groups that name a run are recorded. Their rewards are charted here by step and can be replayed under
      other recipes. Add this field to the body of a request to <code>/v1/score</code>:
    </EmptyState>
  );
}

function Runs({ first, leadsTo }: { first: RunPage; leadsTo: Extract<Page, 'runs' | 'replay'> }) {
  const [more, setMore] = useState<RunPage>({ runs: [], next: first.next });
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<Order>('newest first');
  const [isAlerted, setAlerted] = useState(false);
  const { known, want } = useRunFigures();
  const loadMore = async (): Promise<void> => {
    if (more.next === null) return;
    const reply = await callApi<RunPage>(`/v1/runs?limit=50&after=${encodeURIComponent(more.next)}`);
    setFailure(reply.ok ? null : reply.failure);
    if (reply.ok) setMore({ runs: [...more.runs, ...reply.value.runs], next: reply.value.next });
  };
  const all = [...first.runs, ...more.runs];
  const wanted = search.trim().toLowerCase();
  // What is searched, kept or sorted by figures needs those of all runs, not of those in view alone.
  const needsAll = wanted !== '' || isAlerted || ORDERS[order];
  useEffect(() => {
    if (needsAll) want(all.map(({ id }) => id));
  }, [needsAll, all.length]);
  const unknown = needsAll ? all.filter(({ id }) => !known.has(id)).length : 0;
  const lost = all.filter(({ id }) => {
    const figures = known.get(id);
    return figures === 'failed' || figures?.alerts === 'failed';
  }).length;
  const found = all.filter((run) => {
    const figures = figuresOf(known, run);
    if (isAlerted && (activeRules(figures) ?? []).length === 0) return false;
    return [run.id, run.title, run.family, figures?.recipe, figures?.judge].join(' ').toLowerCase().includes(wanted);
  });
  const shown = inOrder(found, order, known);
  return (
    <>
      {(all.length > 1 || more.next !== null) && (
        <div class="step-tools pad">
          <label class="inline-field">
            <span>Search</span>
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          <label class="inline-field">
            <span>Sort</span>
            <select
              value={order}
              onChange={(event) => {
                const chosen = ORDER_NAMES.find((one) => one === event.currentTarget.value);
                if (chosen !== undefined) setOrder(chosen);
              }}
            >
              {ORDER_NAMES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label class="inline-field">
            <input type="checkbox" checked={isAlerted} onChange={(event) => setAlerted(event.currentTarget.checked)} />
            <span>With active alerts</span>
          </label>
          <span class="muted" role="status">
            {unknown > 0 && `Loading ${plural(unknown, 'run')}… `}
            {shown.length === all.length ? '' : `${shown.length} of ${plural(all.length, 'run')}`}
            {more.next === null ? '' : ' so far'}
            {isAlerted && lost > 0 && `; the alerts of ${plural(lost, 'run')} failed to load`}
          </span>
        </div>
      )}
      <div class="scroll-x">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Family</th>
              <th scope="col">Recipe</th>
              <th scope="col">Judge</th>
              <th scope="col" class="number">
                Steps
              </th>
              <th scope="col">Mean reward</th>
              <th scope="col" class="number">
                Rollouts
              </th>
              <th scope="col">Active alerts</th>
              <th scope="col">Last recorded</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((run) => (
              <tr key={run.id}>
                <th scope="row" class="row-name">
                  <a class="list-link" href={hrefOf(leadsTo, run.id)}>
                    {run.id}
                  </a>
                  {run.title !== undefined && <span class="run-title">{run.title}</span>}
                </th>
                <td>{run.family}</td>
                <RunCells steps={stepsText(run)} figures={known.get(run.id) ?? null} onSeen={() => want([run.id])} />
                <td>
                  <Time at={Date.parse(run.active_at)} />
                </td>
                <td class="muted">{run.store_text ? 'stored' : 'not stored'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {failure !== null && <ProblemNotice failure={failure} />}
      {more.next !== null && (
        <p class="pad">
          <button type="button" onClick={loadMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}

/** Whether an order of the list needs the figures of the runs. */
const ORDERS = {
  'newest first': false,
  'last recorded': false,
  'by name': false,
  'by judge': true,
  'highest mean': true,
  'most alerts': true,
} as const;
type Order = keyof typeof ORDERS;
const ORDER_NAMES = namesOf(ORDERS);

function figuresOf(known: KnownFigures, { id }: RunReply): RunFigures | null {
  const figures = known.get(id) ?? null;
  return figures === 'failed' ? null : figures;
}

/** Runs whose figures are not known are last. */
function inOrder(runs: readonly RunReply[], order: Order, known: KnownFigures): readonly RunReply[] {
  const descending = (value: (figures: RunFigures) => number | null | undefined) => {
    const of = (run: RunReply): number => {
      const figures = figuresOf(known, run);
      return (figures === null ? null : value(figures)) ?? Number.NEGATIVE_INFINITY;
    };
    return runs.toSorted((one, other) => {
      const [a, b] = [of(one), of(other)];
      return a === b ? 0 : b - a;
    });
  };
  switch (order) {
    case 'newest first':
      return runs;
    case 'last recorded':
      return runs.toSorted((one, other) => Date.parse(other.active_at) - Date.parse(one.active_at));
    case 'by name':
      return runs.toSorted((one, other) => NATURAL.compare(one.title ?? one.id, other.title ?? other.id));
    case 'by judge': {
      const judge = (run: RunReply): string => figuresOf(known, run)?.judge || '\uffff';
      return runs.toSorted((one, other) => NATURAL.compare(judge(one), judge(other)));
    }
    case 'highest mean':
      return descending(({ mean }) => mean);
    case 'most alerts':
      return descending((figures) => activeRules(figures)?.length);
  }
}

export function stepsText({ first_step, last_step }: Pick<RunReply, 'first_step' | 'last_step'>): string {
  if (first_step === null || last_step === null) return 'none';
  // Not the number alone, which reads as a count.
  return first_step === last_step ? `step ${first_step}` : `${first_step} to ${last_step}`;
}
