/** One run: what it is, its curves, and its steps as a table. */

import { useMemo } from 'preact/hooks';
import type { PromptList } from '../../../src/wire/rubrics.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { runPath } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { Fact } from '../display/fact.tsx';
import { countText, plural } from '../display/number-text.ts';
import { clockText, Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf, withQuery } from '../navigation/route.ts';
import { unscoredWords } from '../words/unscored.ts';
import { RunAlerts } from './alerts-card.tsx';
import { DeleteRun } from './delete-run.tsx';
import { JudgedBy } from './judged-by.tsx';
import { RunCharts } from './run-charts.tsx';
import { stepsText } from './run-list.tsx';
import { hasPersistentRewards, numberedSteps } from './step-columns.ts';
import { StepTable } from './step-table.tsx';
import { TitleRun } from './title-run.tsx';
import { useLiveRun } from './use-live-run.ts';

export function RunView({ id }: { id: string }) {
  const { loading, isActive, changedAt, isBehind } = useLiveRun(id);
  const title = loading.loaded.state === 'loaded' ? loading.loaded.value.title : undefined;
  return (
    <>
      <div class="page-head">
        <h1>{id}</h1>
        {title !== undefined && <span class="run-title">{title}</span>}
        <a href={hrefOf('runs')}>All runs</a>
        <JudgedBy run={id} />
        <RubricsLink run={id} />
        {loading.loaded.state === 'loaded' && (
          <span class={`live${isActive ? ' is-active' : ''}`}>
            {isBehind ? 'Not updated: the server does not answer' : isActive ? 'Live' : 'Not active'}
            {changedAt !== null && `, last changed ${clockText(changedAt)}`}
          </span>
        )}
        <div class="actions">
          <button type="button" onClick={loading.reload}>
            Reload
          </button>
          <a class="button" href={withQuery(hrefOf('compare'), new Map([['a', id]]))}>
            Compare
          </a>
          <a class="button" href={hrefOf('replay', id)}>
            Replay this run
          </a>
          <TitleRun run={id} title={title} onChange={loading.reload} />
          <DeleteRun run={id} />
        </div>
      </div>
      <WhenLoaded loading={loading} waiting="Loading the steps…">
        {(run) => <Run run={run} />}
      </WhenLoaded>
    </>
  );
}

/** Leads to the prompts whose rubrics evolve; nothing where the run has none. */
function RubricsLink({ run }: { run: string }) {
  const { loaded } = useApi<PromptList>(`${runPath(run)}/rubrics?limit=1`);
  if (loaded.state !== 'loaded' || loaded.value.prompts.length === 0) return null;
  return <a href={hrefOf('runs', run, 'rubrics')}>Evolving rubrics</a>;
}

function Run({ run }: { run: RunDetail }) {
  const numbered = useMemo(() => numberedSteps(run.steps), [run.steps]);
  return (
    <>
      <section class="card" aria-label="Run">
        <RunFacts run={run} />
      </section>
      <RunAlerts run={run} />
      {hasPersistentRewards(numbered) && (
        <p class="note">
          The criteria of this run change, so whole rewards of different steps are not comparable; rewards by the
          persistent criteria alone are, as long as none of these is retired or changed.
        </p>
      )}
      {numbered.length > 0 ? (
        <section aria-label="Charts">
          <RunCharts steps={numbered} />
        </section>
      ) : (
        <p class="note">No rollout of this run has a step number, so there are no charts.</p>
      )}
      <section class="card" aria-label="Steps">
        <header class="card-head">
          <h2>Steps</h2>
          <span class="muted">select a step to see its rollouts</span>
        </header>
        <StepTable run={run.id} steps={run.steps} />
      </section>
    </>
  );
}

function RunFacts({ run }: { run: RunDetail }) {
  const unscored = new Map<string, number>();
  for (const step of run.steps) {
    for (const [reason, count] of Object.entries(step.unscored))
      unscored.set(reason, (unscored.get(reason) ?? 0) + count);
  }
  return (
    <dl class="facts is-alone">
      <Fact name="family" text={run.family} />
      <Fact name="steps" text={stepsText(run)} />
      <Fact name="rollouts" text={countText(run.rollouts)} />
      <div>
        <dt>recipe</dt>
        {run.recipes.map(({ digest, name }) => (
          <dd key={digest}>
            {name ?? 'inline'} <small>{digest.slice(0, 8)}</small>
          </dd>
        ))}
      </div>
      <div>
        <dt>last recorded</dt>
        <dd>
          <Time at={Date.parse(run.active_at)} />
        </dd>
      </div>
      <Fact name="text" text={run.store_text ? 'stored' : 'not stored'} />
      <div>
        <dt>not scored</dt>
        {unscored.size === 0 && <dd>none</dd>}
        {[...unscored].map(([reason, count]) => (
          <dd key={reason}>
            {plural(count, 'rollout')}: {unscoredWords(reason)}
          </dd>
        ))}
      </div>
    </dl>
  );
}
