/** Cells of the list of runs: recipe, steps, mean reward over the steps, number of rollouts. Loaded once in view. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { callApi, runPath } from '../api/call.ts';
import { columnText, countText } from '../display/number-text.ts';
import { Sparkline } from './sparkline.tsx';

type Figures = {
  readonly recipe: string;
  readonly means: readonly (number | null)[];
  readonly mean: number | null;
  readonly rollouts: number;
};

/** @param steps the first and last step, which need not be loaded. */
export function RunCells({ id, steps }: { id: string; steps: string }) {
  const cell = useRef<HTMLTableCellElement>(null);
  const [figures, setFigures] = useState<Figures | 'failed' | null>(null);
  useEffect(() => {
    const target = cell.current;
    if (target === null) return;
    const aborter = new AbortController();
    const load = async (): Promise<void> => {
      const reply = await callApi<RunDetail>(`${runPath(id)}?limit=1000`, { signal: aborter.signal });
      setFigures(reply.ok ? figuresOf(reply.value) : 'failed');
    };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      load().catch((error: unknown) => {
        if (!aborter.signal.aborted) throw error;
      });
    });
    observer.observe(target);
    return () => {
      observer.disconnect();
      aborter.abort();
    };
  }, [id]);
  const known = figures === 'failed' ? null : figures;
  return (
    <>
      <td ref={cell}>{known?.recipe}</td>
      <td class="number">{steps}</td>
      <td class="spark-cell">
        {known === null && figures === null && <span class="muted">loading…</span>}
        {known !== null && known.mean !== null && (
          <>
            <Sparkline values={known.means} /> <b>{columnText(known.mean)}</b>
          </>
        )}
        {known !== null && known.mean === null && <span class="muted">none scored</span>}
        {figures === 'failed' && <span class="muted">failed to load</span>}
      </td>
      <td class="number">{known === null ? '' : countText(known.rollouts)}</td>
    </>
  );
}

/** Of the first 1,000 steps. The mean is over all of their scored rollouts. */
function figuresOf({ steps, rollouts, recipes }: RunDetail): Figures {
  let scored = 0;
  let sum = 0;
  for (const step of steps) {
    if (step.reward.mean === null) continue;
    scored += step.scored;
    sum += step.reward.mean * step.scored;
  }
  return {
    recipe: recipes.map(({ name }) => name ?? 'inline').join(', '),
    means: steps.map(({ reward }) => reward.mean),
    mean: scored === 0 ? null : sum / scored,
    rollouts,
  };
}
