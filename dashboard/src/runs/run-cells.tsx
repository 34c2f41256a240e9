/** Cells of the list of runs: recipe, judge, steps, mean reward over the steps, rollouts, active alerts. */
import { useEffect, useRef } from 'preact/hooks';
import { columnText, countText } from '../display/number-text.ts';
import { activeRules, type RunFigures } from './run-figures.ts';
import { Sparkline } from './sparkline.tsx';

type RunCellsProps = {
  /** The first and last step, which need not be loaded. */
  readonly steps: string;
  /** `null` = not loaded yet. */
  readonly figures: RunFigures | 'failed' | null;
  /** Called once, when the row comes into view. */
  readonly onSeen: () => void;
};

export function RunCells({ steps, figures, onSeen }: RunCellsProps) {
  const cell = useRef<HTMLTableCellElement>(null);
  useEffect(() => {
    const target = cell.current;
    if (target === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      onSeen();
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  const known = figures === 'failed' ? null : figures;
  const rules = activeRules(known);
  const pending = figures === null && <span class="muted">loading…</span>;
  return (
    <>
      <td ref={cell}>
        {pending}
        {known?.recipe}
      </td>
      <td>
        {pending}
        {known?.judge === '' ? <span class="muted">none named</span> : known?.judge}
      </td>
      <td class="number">{steps}</td>
      <td class="spark-cell">
        {pending}
        {known !== null && known.mean !== null && (
          <>
            <Sparkline values={known.means} /> <b>{columnText(known.mean)}</b>
          </>
        )}
        {known !== null && known.mean === null && <span class="muted">none scored</span>}
        {figures === 'failed' && <span class="muted">failed to load</span>}
      </td>
      <td class="number">
        {pending}
        {known !== null && countText(known.rollouts)}
      </td>
      <td>
        {pending}
        {known?.alerts === 'too_large' && <span class="muted">not watched: a group is too large</span>}
        {known?.alerts === 'failed' && <span class="muted">failed to load</span>}
        {rules?.length === 0 && <span class="muted">none</span>}
        <span class="chips">
          {rules?.map((rule) => (
            <span key={rule} class="finding-chip is-warning">
              {rule.replaceAll('_', ' ')}
            </span>
          ))}
        </span>
      </td>
    </>
  );
}
