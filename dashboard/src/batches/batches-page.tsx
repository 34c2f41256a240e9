/** The batches page: the list of all batches, or one batch. */
import { useEffect, useState } from 'preact/hooks';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { type CallFailure, callApi } from '../api/call.ts';
import { useApi, usePolling } from '../api/use-api.ts';
import { EmptyState } from '../display/empty-state.tsx';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';
import { BatchProgress, RUNNING, StatusTag } from './batch-progress.tsx';
import '../styles/batches.css';
import { BatchView } from './batch-view.tsx';
import { ResultsCard, workerFile } from './results-card.tsx';

/** @param path the id of a batch; or `results`, the file of results and that of its requests: those of citeward view. */
export function BatchesPage({ path: [batch, output, input] }: { path: readonly string[] }) {
  return (
    <main class="page">
      {batch === undefined && <AllBatches />}
      {batch === 'results' && output !== undefined && <StoredResults output={output} input={input ?? null} />}
      {batch !== undefined && batch !== 'results' && <BatchView key={batch} id={batch} />}
    </main>
  );
}

/** Results that were uploaded as a file, without a batch of this Worker. */
function StoredResults({ output, input }: { output: string; input: string | null }) {
  return (
    <>
      <div class="page-head">
        <h1>Results of a batch</h1>
        <span class="muted">as they are in the file</span>
      </div>
      <ResultsCard output={workerFile(output)} input={input === null ? null : workerFile(input)} />
    </>
  );
}

function AllBatches() {
  return (
    <>
      <div class="page-head">
        <h1>Batches</h1>
        <span class="muted">Files of requests, scored in the background.</span>
      </div>
      <section class="card" aria-label="All batches">
        <BatchList />
      </section>
    </>
  );
}

type BatchPage = { readonly data: readonly BatchReply[]; readonly last_id: string | null; readonly has_more: boolean };

/** Newest first; polls while one of them is running. */
function BatchList() {
  const loading = useApi<BatchPage>('/v1/batches?limit=50');
  const { loaded, reload } = loading;
  const batches = loaded.state === 'loaded' ? loaded.value.data : [];
  usePolling(
    batches.some(({ status }) => RUNNING.has(status)),
    reload,
    loaded,
  );
  return (
    <WhenLoaded loading={loading}>
      {(page) => (page.data.length === 0 ? <NoBatches /> : <Batches first={page} />)}
    </WhenLoaded>
  );
}

function NoBatches() {
  const command = `npx citeward batch submit examples/rollouts.jsonl --url ${location.origin} --wait`;
  return (
    <EmptyState title="No batch yet" command={command}>
      A batch scores up to 50,000 requests from one file in the background. To submit the examples of a clone:
    </EmptyState>
  );
}

function Batches({ first }: { first: BatchPage }) {
  const [more, setMore] = useState<BatchPage | null>(null);
  const [failure, setFailure] = useState<CallFailure | null>(null);
  // Later pages belong to the first page that they were loaded after.
  useEffect(() => setMore(null), [first.last_id]);
  const { last_id, has_more } = more ?? first;
  const loadMore = async (): Promise<void> => {
    if (last_id === null) return;
    const reply = await callApi<BatchPage>(`/v1/batches?limit=50&after=${encodeURIComponent(last_id)}`);
    setFailure(reply.ok ? null : reply.failure);
    if (reply.ok) setMore({ ...reply.value, data: [...(more?.data ?? []), ...reply.value.data] });
  };
  return (
    <>
      <div class="scroll-x">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Batch</th>
              <th scope="col">Status</th>
              <th scope="col">Progress</th>
              <th scope="col">Endpoint</th>
              <th scope="col">Created</th>
            </tr>
          </thead>
          <tbody>
            {[...first.data, ...(more?.data ?? [])].map((batch) => (
              <tr key={batch.id}>
                <th scope="row" class="row-name">
                  <a class="list-link" href={hrefOf('batches', batch.id)}>
                    <code>{batch.id.slice(0, 14)}…</code>
                  </a>
                </th>
                <td>
                  <StatusTag batch={batch} />
                </td>
                <td>
                  <BatchProgress batch={batch} />
                </td>
                <td>
                  <code>{batch.endpoint}</code>
                </td>
                <td>
                  <Time at={batch.created_at * 1000} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {failure !== null && <ProblemNotice failure={failure} />}
      {has_more && (
        <p class="pad">
          <button type="button" onClick={loadMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
}
