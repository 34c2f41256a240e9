/** What canaries and audits of a run's judge found: the latest of each in words, and all of them over the steps. */
import { useMemo } from 'preact/hooks';
import { CANARY_LIMITS, checkTexts, latestChecks } from '../../../src/runs/judge-check.ts';
import type { RecordedCheck } from '../../../src/wire/alerts-reply.ts';
import { type Chart, ChartList } from '../charts/chart-list.tsx';
import { LINE_LOOKS } from '../charts/line-chart.tsx';
import { numberText, percentText, plural } from '../display/number-text.ts';
import { Time } from '../display/time.tsx';

/** @param checks in the order of their steps. */
export function JudgeChecksCard({ checks }: { checks: readonly RecordedCheck[] }) {
  const latest = latestChecks(checks);
  const charts = useMemo(() => chartsOf(checks), [checks]);
  const alerts = latest.filter(({ alert }) => alert).length;
  return (
    <section aria-label="Checks of the judge">
      <div class="card">
        <header class="card-head">
          <h2>Checks of the judge</h2>
          <span class="muted">{alerts === 0 ? 'none is an alert' : `${plural(alerts, 'alert')} active`}</span>
        </header>
        <ul class="alerts">
          {latest.map((check) => (
            <li key={`${check.rule} ${check.judge}`} class={check.alert ? 'is-active' : ''}>
              <p>
                <b>{check.rule.replaceAll('_', ' ')}</b>{' '}
                <span class="muted">
                  {check.judge} at step {check.step}, <Time at={Date.parse(check.at)} />
                </span>
              </p>
              <p class="muted">{checkTexts(check).join(' · ')}</p>
            </li>
          ))}
        </ul>
      </div>
      <ChartList charts={charts} />
    </section>
  );
}

function chartsOf(checks: readonly RecordedCheck[]): Chart[] {
  const canaries = checks.flatMap((check) => (check.rule === 'canary_drift' ? [check] : []));
  const changed = canaries.map(({ judge, step, verdicts_changed: value }) => ({ judge, step, value }));
  const gaps = checks.flatMap((check) =>
    check.rule === 'audit_gap' ? check.steps.map(({ step, gap: value }) => ({ judge: check.judge, step, value })) : [],
  );
  const limit = percentText(CANARY_LIMITS.verdicts);
  return [
    ...chartOf(changed, {
      title: 'Verdicts changed',
      hint: `canaries judged again; more than ${limit} is an alert`,
      axis: 'share of verdicts',
      range: [0, 1],
      text: percentText,
    }),
    ...chartOf(gaps, {
      title: 'Gap to the audit',
      hint: 'recorded reward minus that of the second judge',
      axis: 'reward',
      text: numberText,
    }),
  ];
}

type Point = { readonly judge: string; readonly step: number; readonly value: number };

/** A line for each judge. @returns nothing for fewer than two steps, which make no line. */
function chartOf(points: readonly Point[], looks: Omit<Chart, 'steps' | 'lines'>): Chart[] {
  const steps = [...new Set(points.map(({ step }) => step))].sort((a, b) => a - b);
  if (steps.length < 2) return [];
  const judges = [...new Set(points.map(({ judge }) => judge))].slice(0, LINE_LOOKS);
  const lines = judges.map((name) => {
    const values = new Map(points.filter(({ judge }) => judge === name).map(({ step, value }) => [step, value]));
    return { name, values: steps.map((step) => values.get(step) ?? null) };
  });
  return [{ ...looks, steps, lines }];
}
