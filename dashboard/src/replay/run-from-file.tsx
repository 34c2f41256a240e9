/** Replay of a run out of a file on this machine: nothing of it leaves the browser. */
import { useState } from 'preact/hooks';
import { countText } from '../display/number-text.ts';
import { type LoadedRun, readRunFile } from './load-run.ts';
import { RefusedRun } from './refused-run.tsx';
import { ReplayDesk } from './replay-desk.tsx';

export function RunFromFile() {
  const [loaded, setLoaded] = useState<LoadedRun | null>(null);
  const [said, setSaid] = useState('');
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    setLoaded(null);
    setSaid('Reading…');
    const onProgress = (rollouts: number): void => setSaid(`${countText(rollouts)} rollouts read`);
    setLoaded(await readRunFile(file.stream(), file.name, onProgress));
    setSaid('');
  };
  return (
    <>
      <section class="card pad" aria-label="A file">
        <label class="field">
          <span>Or a run as a file, as its export gives it; it stays on this machine</span>
          <input type="file" accept=".jsonl,.json" onChange={(event) => open(event.currentTarget.files?.[0])} />
        </label>
        <p class="muted" aria-live="polite">
          {said}
        </p>
      </section>
      {loaded?.kind === 'refused' && <RefusedRun refused={loaded} />}
      {loaded?.kind === 'run' && (
        <>
          <h2>Replay of {loaded.run.id}</h2>
          <ReplayDesk key={loaded.run.file} run={loaded.run} />
        </>
      )}
    </>
  );
}
