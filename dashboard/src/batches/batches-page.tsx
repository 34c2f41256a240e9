/** Batches: the list, or one of them. */
import '../styles/batches.css';
import { BatchList } from './batch-list.tsx';
import { BatchView } from './batch-view.tsx';

export function BatchesPage({ path: [batch] }: { path: readonly string[] }) {
  return <main class="page">{batch === undefined ? <AllBatches /> : <BatchView key={batch} id={batch} />}</main>;
}

function AllBatches() {
  return (
    <>
      <div class="page-head">
        <h1>Batches</h1>
        <span class="muted">Many requests in one file.</span>
      </div>
      <section class="card" aria-label="All batches">
        <BatchList />
      </section>
    </>
  );
}
