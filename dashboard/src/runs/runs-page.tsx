/** The runs page: all runs, one run, or one step of a run. */
import { RunList } from './run-list.tsx';
import { RunView } from './run-view.tsx';
import { StepView } from './step-view.tsx';

export function RunsPage({ path: [run, step] }: { path: readonly string[] }) {
  return (
    <main class="page">
      {run === undefined ? <AllRuns /> : step === undefined ? <RunView id={run} /> : <StepView run={run} step={step} />}
    </main>
  );
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
