/** Which criteria scored which group, with pass rate and spread of each: as charts over steps, and as a table. */
import { useMemo, useState } from 'preact/hooks';
import { type Chart, ChartList } from '../charts/chart-list.tsx';
import { LINE_LOOKS } from '../charts/line-chart.tsx';
import { numberText, percentText } from '../display/number-text.ts';
import { hrefOf } from '../navigation/route.ts';
import { type Met, overSteps, type ShownCriterion, type Visit } from './prompt-history.ts';

type TimelineProps = { run: string; criteria: readonly ShownCriterion[]; visits: readonly Visit[] };

/** Groups that the table shows at once. */
const SHOWN_VISITS = 12;

export function TimelineCard({ run, criteria, visits }: TimelineProps) {
  // Counted from the end, so that new groups keep the view at the end.
  const [skipped, setSkipped] = useState(0);
  const charts = useMemo(() => chartsOf(criteria, visits), [criteria, visits]);
  const end = Math.max(0, visits.length - skipped);
  const shown = visits.slice(Math.max(0, end - SHOWN_VISITS), end);
  const known = criteria.filter(({ id }) => shown.some(({ met }) => met.has(id)));
  return (
    <>
      {charts.length > 0 && (
        <section aria-label="Charts">
          <ChartList charts={charts} />
        </section>
      )}
      <section class="card" aria-label="Timeline">
        <header class="card-head">
          <h2>Timeline</h2>
          <span class="muted">pass rate and standard deviation of each criterion in each group that was scored</span>
          {visits.length > SHOWN_VISITS && (
            <div class="actions">
              <button
                type="button"
                disabled={end <= SHOWN_VISITS}
                onClick={() => setSkipped(Math.min(skipped + SHOWN_VISITS, visits.length - SHOWN_VISITS))}
              >
                Earlier groups
              </button>
              <button
                type="button"
                disabled={skipped === 0}
                onClick={() => setSkipped(Math.max(0, skipped - SHOWN_VISITS))}
              >
                Later groups
              </button>
            </div>
          )}
        </header>
        {visits.length === 0 ? (
          <p class="muted pad">No group was scored under this rubric yet.</p>
        ) : (
          <VisitTable run={run} criteria={known} visits={shown} />
        )}
      </section>
    </>
  );
}

function VisitTable({ run, criteria, visits }: TimelineProps) {
  return (
    <div class="scroll-x">
      <table class="list timeline">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            {visits.map(({ n, step, group }) => (
              <th key={n} scope="col" class="number">
                <a href={hrefOf('runs', run, String(step))}>step {step}</a>
                <small class="visit-group" title={group}>
                  {group}
                </small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" class="row-name muted">
              Set
            </th>
            {visits.map(({ n, set }, position) => (
              <td key={n} class="number digest" title={set}>
                {set.slice(0, 6)}
                {position > 0 && set !== visits[position - 1]?.set && <small>changed</small>}
              </td>
            ))}
          </tr>
          {criteria.map(({ id, name, polarity, description }) => (
            <tr key={id}>
              <th scope="row" class="criterion-name" title={description}>
                {name}
                {polarity === 'negative' && <span class="tag">negative</span>}
              </th>
              {visits.map(({ n, met }) => (
                <MetCell key={n} met={met.get(id) ?? null} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MetCell({ met }: { met: Met | null }) {
  if (met === null) {
    return (
      <td class="number muted">
        <span class="visually-hidden">not in the set</span>
      </td>
    );
  }
  return (
    <td class="number is-in-set">
      {met.passRate === null ? 'no verdict' : <b>{percentText(met.passRate)}</b>}
      {met.std !== null && <small>± {numberText(met.std, 2)}</small>}
    </td>
  );
}

const SHARE = [0, 1] as const;
const SPREAD = [0, 0.5] as const;

/** @returns nothing for fewer than two steps, which make no line. */
function chartsOf(criteria: readonly ShownCriterion[], visits: readonly Visit[]): Chart[] {
  if (new Set(visits.map(({ step }) => step)).size < 2) return [];
  const judged = criteria
    .flatMap((criterion) => {
      const rates = visits.flatMap(({ met }) => met.get(criterion.id)?.passRate ?? []);
      return rates.length === 0 ? [] : [{ ...criterion, change: Math.max(...rates) - Math.min(...rates) }];
    })
    .sort((one, other) => other.change - one.change || Number(isEvolving(other)) - Number(isEvolving(one)))
    .slice(0, LINE_LOOKS);
  const [first] = judged;
  if (first === undefined) return [];
  const { steps } = overSteps(visits, first.id, () => null);
  const hint = judged.length < criteria.length ? 'of the criteria that changed most' : 'of each criterion';
  const lines = (read: (met: Met) => number | null) =>
    judged.map(({ id, name }) => ({ name, values: overSteps(visits, id, read).values }));
  return [
    {
      ...{ title: 'Pass rate', hint, axis: 'share', steps, range: SHARE, text: percentText },
      lines: lines(({ passRate }) => passRate),
    },
    {
      ...{ title: 'Spread within the group', hint: `standard deviation ${hint}`, axis: 'scores', steps },
      ...{ range: SPREAD, text: numberText },
      lines: lines(({ std }) => std),
    },
  ];
}

function isEvolving({ type }: ShownCriterion): boolean {
  return type === 'evolving';
}
