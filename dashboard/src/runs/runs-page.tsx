/** The runs page: all runs, one run, one step of a run, or one rollout of a step. */
import type { Query } from '../navigation/route.ts';
import { RolloutView } from './rollout-view.tsx';
import { RunList } from './run-list.tsx';
import { RunView } from './run-view.tsx';
import { StepView } from './step-view.tsx';

export function RunsPage({ path, query }: { path: readonly string[]; query: Query }) {
  return (
    <main class="page">
      <Shown path={path} query={query} />
    </main>
  );
}

function Shown({ path: [run, step, group, sample], query }: { path: readonly string[]; query: Query }) {
  if (run === undefined) return <AllRuns />;
  if (step === undefined) return <RunView id={run} />;
  if (group === undefined || sample === undefined) return <StepView run={run} step={step} query={query} />;
  return <RolloutView place={{ run, step, group, sample }} query={query} />;
}

function AllRuns() {
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
        <span class="muted">Recorded training runs, with their rewards by step.</span>
      </div>
      <section class="card" aria-label="All runs">
        <RunList leadsTo="runs" />
      </section>
    </>
  );
}
