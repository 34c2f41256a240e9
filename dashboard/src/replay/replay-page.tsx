/** Replay: a run under a changed recipe, recomputed in this browser while its sliders move. */

import './no-compiling.ts';
import { useState } from 'preact/hooks';
import { useLoading } from '../api/loaded.ts';
import { countText } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf } from '../navigation/route.ts';
import { RunList } from '../runs/run-list.tsx';
import '../styles/replay.css';
import { loadReplayedRun } from './load-run.ts';
import { RefusedRun } from './refused-run.tsx';
import { ReplayDesk } from './replay-desk.tsx';
import { RunFromFile } from './run-from-file.tsx';

export function ReplayPage({ path: [run] }: { path: readonly string[] }) {
  return <main class="page">{run === undefined ? <ChooseRun /> : <LoadedRun key={run} id={run} />}</main>;
}

function ChooseRun() {
  return (
    <>
      <div class="page-head">
        <h1>Replay</h1>
        <span class="muted">Choose a run: its rewards are composed anew here, without a judge.</span>
      </div>
      <section class="card" aria-label="Runs to replay">
        <RunList leadsTo="replay" />
      </section>
      <RunFromFile />
    </>
  );
}

function LoadedRun({ id }: { id: string }) {
  const [progress, setProgress] = useState('');
  const loading = useLoading(
    (signal) => loadReplayedRun(id, signal, (rollouts) => setProgress(`${countText(rollouts)} rollouts`)),
    id,
  );
  return (
    <>
      <div class="page-head">
        <h1>Replay of {id}</h1>
        <a href={hrefOf('runs', id)}>The run</a>
        <a href={hrefOf('replay')}>All runs</a>
      </div>
      <WhenLoaded loading={loading} waiting={`Loading the rows… ${progress}`}>
        {(replayed) =>
          replayed.kind === 'refused' ? <RefusedRun refused={replayed} /> : <ReplayDesk run={replayed.run} />
        }
      </WhenLoaded>
    </>
  );
}
