/** The alerts of a run: what each says, its figures, and the rollouts that show it; and the checks of its judge. */
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import {
  alertTime,
  figureTexts,
  ownPayingText,
  remedyText,
  sharedPayingText,
  UNWATCHED_WORDS,
} from '../../../src/runs/alert-text.ts';
import type { Alert, Unwatched } from '../../../src/runs/alerts.ts';
import type { RunAlertsReply } from '../../../src/wire/alerts-reply.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { runPath } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { numberText, plural } from '../display/number-text.ts';
import { hrefOf } from '../navigation/route.ts';
import { JudgeChecksCard } from './judge-checks-card.tsx';
import { stepHref } from './place.ts';

/** Rollouts of the last steps that are watched at once; the Worker reads some thousand in a second. */
const WATCHED_ROLLOUTS = 50_000;

/** Shows nothing for a run without alerts, checks and rows that ask for nothing, and while they are computed. */
export function RunAlerts({ run }: { run: RunDetail }) {
  const { loaded, reload } = useApi<RunAlertsReply>(alertsPath(run));
  // The alerts that are shown stay until the new ones are computed.
  useEffect(reload, [run.active_at]);
  if (loaded.state !== 'loaded') return null;
  const { alerts, unwatched, judge_checks } = loaded.value;
  return (
    <>
      {unwatched.some(({ reason }) => reason === 'no_own_criteria') && (
        <div class="notice">
          <p>{sentence(UNWATCHED_WORDS.no_own_criteria)}</p>
        </div>
      )}
      {alerts.length > 0 && <AlertsCard run={run.id} alerts={alerts} unwatched={unwatched} />}
      {judge_checks.length > 0 && <JudgeChecksCard checks={judge_checks} />}
    </>
  );
}

type AlertsCardProps = {
  readonly run: string;
  readonly alerts: readonly Alert[];
  readonly unwatched: readonly Unwatched[];
};

function AlertsCard({ run, alerts, unwatched }: AlertsCardProps) {
  const active = alerts.filter((alert) => alert.active);
  const paying = sharedPayingText(alerts);
  return (
    <section class="card" aria-label="Alerts">
      <header class="card-head">
        <h2>Alerts</h2>
        <span class="muted">
          {active.length === 0 ? 'none is active' : `${plural(active.length, 'alert')} active`} · from recorded facts,
          no judge
        </span>
      </header>
      <ul class="alerts">
        {alerts.map((alert) => (
          <AlertItem key={alert.rule} run={run} alert={alert} sharedPaying={paying} />
        ))}
      </ul>
      {paying !== null && <p class="alerts-paying">{sentence(paying)}</p>}
      {unwatched.length > 0 && (
        <details class="alerts-unwatched">
          <summary>{plural(unwatched.length, 'rule')} not watched</summary>
          <ul>
            {unwatched.map(({ rule, reason }) => (
              <li key={rule}>
                {words(rule)}: {UNWATCHED_WORDS[reason]}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

type AlertItemProps = { readonly run: string; readonly alert: Alert; readonly sharedPaying: string | null };

function AlertItem({ run, alert, sharedPaying }: AlertItemProps) {
  const [paying, remedy] = [ownPayingText(alert, sharedPaying), remedyText(alert)];
  return (
    <li class={alert.active ? 'is-active' : ''}>
      <p>
        <b>{words(alert.rule)}</b> <span class="muted">{alertTime(alert)}</span>
      </p>
      <p>{sentence(alert.message)}</p>
      <p class="muted">{typeset(figureTexts(alert).join(' · '))}</p>
      {paying !== null && <p>{sentence(paying)}</p>}
      {remedy !== null && <p>{sentence(remedy)}</p>}
      {alert.rollouts.length > 0 && (
        <p>
          Shown by{' '}
          {alert.rollouts.map(({ step, group, sample, reward, reference }, position) => (
            <Fragment key={`${step} ${group} ${sample}`}>
              {position > 0 && ', '}
              <a href={hrefOf('runs', run, String(step), group, sample)}>
                group {group}, sample {sample}
              </a>
              {reward !== null &&
                ` (${numberText(reward)}${reference === null ? '' : `; ${numberText(reference)} by the reference`})`}
            </Fragment>
          ))}
          . <a href={stepHref(run, String(alert.until))}>All answers of step {alert.until}</a>
        </p>
      )}
    </li>
  );
}

export function alertsPath(run: RunDetail): string {
  const from = firstWatched(run);
  return `${runPath(run.id)}/alerts${from === null ? '' : `?from_step=${from}`}`;
}

/** The first step from which the last steps have at most the watched rollouts; `null` = all of them. */
function firstWatched({ steps }: RunDetail): number | null {
  let rollouts = 0;
  for (const { step, rollouts: own } of steps.toReversed()) {
    rollouts += own;
    if (rollouts > WATCHED_ROLLOUTS) return step;
  }
  return null;
}

function words(rule: string): string {
  return rule.replaceAll('_', ' ');
}

function sentence(text: string): string {
  return `${typeset(text.charAt(0).toUpperCase() + text.slice(1))}.`;
}

/** Arrows as one character, and no line break before a percent sign. */
function typeset(text: string): string {
  return text.replaceAll('->', '→').replaceAll(' %', '\u00a0%');
}
