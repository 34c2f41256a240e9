/** The replay page: recomputes the rewards of a run under a changed recipe, in the browser. */

import '../recipe/zod-without-eval.ts';
import { useState } from 'preact/hooks';
import { useLoading } from '../api/use-api.ts';
import { countText } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf, type Query } from '../navigation/route.ts';
import { RunList } from '../runs/run-list.tsx';
import '../styles/replay.css';
import { type LoadedRun, loadReplayedRun, readRunFile } from './load-run.ts';
import { RefusedRun } from './refused-run.tsx';
import { ReplayDesk } from './replay-desk.tsx';

export function ReplayPage({ path: [run], query }: { path: readonly string[]; query: Query }) {
  return <main class="page">{run === undefined ? <ChooseRun /> : <StoredRun key={run} id={run} query={query} />}</main>;
}

function ChooseRun() {
  return (
    <>
      <div class="page-head">
        <h1>Replay</h1>
        <span class="muted">Choose a run to recompute its rewards under another recipe, without judge calls.</span>
      </div>
      <section class="card" aria-label="Runs to replay">
        <RunList leadsTo="replay" />
      </section>
      <RunFromFile />
    </>
  );
}

function StoredRun({ id, query }: { id: string; query: Query }) {
  const [progress, setProgress] = useState('');
  const loading = useLoading(
    (signal) => loadReplayedRun(id, signal, (rollouts) => setProgress(`${countText(rollouts)} rollouts`)),
    id,
  );
  return (
    <>
      <div class="page-head">
        <h1>Replay of {id}</h1>
        <a href={hrefOf('runs', id)}>Run</a>
        <a href={hrefOf('replay')}>All runs</a>
      </div>
      <WhenLoaded loading={loading} waiting={`Loading the rows… ${progress}`}>
        {(replayed) =>
          replayed.kind === 'refused' ? (
            <RefusedRun refused={replayed} />
          ) : (
            <ReplayDesk run={replayed.run} query={query} />
          )
        }
      </WhenLoaded>
    </>
  );
}

const NO_QUERY: Query = new Map();

/** Replays a run file of this machine; the file is not uploaded. */
function RunFromFile() {
  const [loaded, setLoaded] = useState<LoadedRun | null>(null);
  const [status, setStatus] = useState('');
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    setLoaded(null);
    setStatus('Reading…');
    const onProgress = (rollouts: number): void => setStatus(`${countText(rollouts)} rollouts read`);
    setLoaded(await readRunFile(file.stream(), file.name, onProgress));
    setStatus('');
  };
  return (
    <>
      <section class="card pad" aria-label="Run file">
        <label class="field">
          <span>Or open an exported run file; it is not uploaded</span>
          <input type="file" accept=".jsonl,.json" onChange={(event) => open(event.currentTarget.files?.[0])} />
        </label>
        <p class="muted" aria-live="polite">
          {status}
        </p>
      </section>
      {loaded?.kind === 'refused' && <RefusedRun refused={loaded} />}
      {loaded?.kind === 'run' && (
        <>
          <h2>Replay of {loaded.run.id}</h2>
          <ReplayDesk key={loaded.run.file} run={loaded.run} query={NO_QUERY} />
        </>
      )}
    </>
  );
}
