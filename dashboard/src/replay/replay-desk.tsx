/** Replay workspace: recipe controls on the left, recomputed results on the right. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { prepareGroup } from '../../../src/runs/replay-group.ts';
import { ADVANTAGE_PRESET_NAMES, type AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import { numberText } from '../display/number-text.ts';
import { type LiveFigures, LivePass } from './live-pass.ts';
import { LiveView } from './live-view.tsx';
import type { ReplayedRun } from './load-run.ts';
import { plainReadMilliseconds } from './plain-read.ts';
import { type Changes, changedRecipes } from './recipe-changes.ts';
import { RecipeControls } from './recipe-controls.tsx';
import { RecipeExport } from './recipe-export.tsx';
import { composeFields, type FieldValue } from './recipe-fields.ts';
import { type SettledFigures, SettledPass } from './settled-pass.ts';
import { SettledView } from './settled-view.tsx';
import { type Done, Slices } from './slices.ts';

/** How long a slider must rest before the slower figures are computed. */
const REST_MS = 150;

export function ReplayDesk({ run }: { run: ReplayedRun }) {
  const [changes, setChanges] = useState<Changes>(new Map());
  const [preset, setPreset] = useState<AdvantagePreset>('mean');
  const before = useMemo(() => new Map([...run.recipes].map(([digest, { recipe }]) => [digest, recipe])), [run]);
  const [first] = before.values();
  const fields = useMemo(() => (first === undefined ? [] : composeFields(first)), [first]);
  const prepared = useMemo(() => run.groups.map((rows) => prepareGroup(rows, before, preset)), [run, before, preset]);
  const readMs = useMemo(() => plainReadMilliseconds(run.groups), [run]);
  const changed = useMemo(() => changedRecipes(run.recipes, changes), [run, changes]);
  const after = changed.ok ? changed.recipes : null;

  const [live, setLive] = useState<Done<LiveFigures> | null>(null);
  const [settled, setSettled] = useState<SettledFigures | null>(null);
  const lives = useSlices<LiveFigures>(setLive);
  const settling = useSlices<SettledFigures>(({ figures }) => setSettled(figures));

  useEffect(() => {
    if (after === null) return;
    lives.ask(() => new LivePass(prepared, run.rollouts, before, after, preset));
    const timer = setTimeout(() => settling.ask(() => new SettledPass(prepared, after)), REST_MS);
    return () => clearTimeout(timer);
  }, [prepared, after]);

  const change = (name: string, value: FieldValue): void => {
    const recorded = fields.find((field) => field.name === name)?.value;
    const next = new Map(changes);
    if (value === recorded) next.delete(name);
    else next.set(name, value);
    setChanges(next);
  };

  return (
    <div class="desk">
      <section class="card desk-recipe" aria-label="Recipe">
        <header class="card-head">
          <h2>Recipe</h2>
          <button type="button" class="quiet" onClick={() => setChanges(new Map())} disabled={changes.size === 0}>
            Reset
          </button>
        </header>
        {run.recipes.size > 1 && (
          <p class="note pad">
            The run has {run.recipes.size} recipes. The controls show the first; changes apply to all of them.
          </p>
        )}
        <RecipeControls fields={fields} changes={changes} onChange={change} />
        <label class="field pad">
          <span>Advantage preset</span>
          <select
            value={preset}
            onChange={(event) => {
              const chosen = ADVANTAGE_PRESET_NAMES.find((name) => name === event.currentTarget.value);
              if (chosen !== undefined) setPreset(chosen);
            }}
          >
            {ADVANTAGE_PRESET_NAMES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {!changed.ok && (
          <div class="notice notice-bad" role="alert">
            <p class="notice-title">Invalid recipe</p>
            {changed.problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </div>
        )}
      </section>
      <div class="desk-results">
        {live !== null && (
          <>
            <LiveView run={run} prepared={prepared} live={live.figures} />
            <p
              class="note recompute"
              data-recompute-ms={live.milliseconds.toFixed(3)}
              data-read-ms={readMs.toFixed(3)}
              data-rollouts={run.rollouts}
            >
              {recomputeText(run.rollouts, live.milliseconds, readMs)}
            </p>
          </>
        )}
        {settled !== null && <SettledView run={run} settled={settled} />}
        <RecipeExport run={run} changes={changes} changed={changed} />
      </div>
    </div>
  );
}

const FRAME_MS = 1000 / 60;

function recomputeText(rollouts: number, milliseconds: number, readMs: number): string {
  const frame = `${numberText((milliseconds / FRAME_MS) * 100, 0)} % of a frame`;
  const ratio = readMs > 0 ? `, ${numberText(milliseconds / readMs, 1)} times a plain read of the same rows` : '';
  return `Recomputed ${rollouts.toLocaleString('en')} rollouts in this browser in ${numberText(milliseconds, 1)} ms (${frame}${ratio}), without judge calls.`;
}

function useSlices<T>(onDone: (done: Done<T>) => void): Slices<T> {
  const latest = useRef(onDone);
  latest.current = onDone;
  const slices = useMemo(() => new Slices<T>((done) => latest.current(done)), []);
  useEffect(() => () => slices.end(), [slices]);
  return slices;
}
