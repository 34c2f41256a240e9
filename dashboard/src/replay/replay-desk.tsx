/** Replay workspace: recipe controls on the left, recomputed results on the right. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { prepareGroup } from '../../../src/runs/replay-group.ts';
import { ADVANTAGE_PRESET_NAMES } from '../../../src/scoring/advantage-presets.ts';
import { CopyButton } from '../display/copy-button.tsx';
import { numberText } from '../display/number-text.ts';
import { addressOf, hrefOf, type Query, replaceAddress, withQuery } from '../navigation/route.ts';
import { changedRecipes } from '../recipe/recipe-changes.ts';
import { type Changes, composeFields, type FieldValue } from '../recipe/recipe-fields.ts';
import { presetOf, queryOfSettings, type ReplaySettings, settingsOfQuery } from '../recipe/replay-link.ts';
import { LiveCharts } from './live-charts.tsx';
import { LiveFiguresCard } from './live-figures.tsx';
import { type LiveFigures, LivePass, type ReplayRequest, recordedFigures } from './live-pass.ts';
import type { ReplayedRun } from './load-run.ts';
import { plainReadMilliseconds } from './plain-read.ts';
import { RecipeControls } from './recipe-controls.tsx';
import { RecipeExport } from './recipe-export.tsx';
import { type SettledFigures, SettledPass } from './settled-pass.ts';
import { SettledView } from './settled-view.tsx';
import { type Done, Slices } from './slices.ts';

/** How long a slider must rest before the slower figures are computed. */
const REST_MS = 150;

type ValidChanges = { readonly changes: Changes; readonly recipes: ReplayRequest['after'] };

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

/** @param query the settings of the address; a new object for each navigation. */
export function ReplayDesk({ run, query }: { run: ReplayedRun; query: Query }) {
  const before = useMemo(() => new Map([...run.recipes].map(([digest, { recipe }]) => [digest, recipe])), [run]);
  const fields = useMemo(() => {
    const [first] = before.values();
    return first === undefined ? [] : composeFields(first);
  }, [before]);
  const asked = useMemo(() => settingsOfQuery(query, fields), [query, fields]);
  const [typed, setTyped] = useState<ReplaySettings>(asked);
  useEffect(() => setTyped(asked), [asked]);

  const { changes, preset } = typed;
  const prepared = useMemo(() => run.groups.map((rows) => prepareGroup(rows, before, preset)), [run, before, preset]);
  const recorded = useMemo(() => recordedFigures(prepared), [prepared]);
  const readMs = useMemo(() => plainReadMilliseconds(run.groups), [run]);
  const changed = useMemo(() => changedRecipes(run.recipes, changes), [run, changes]);
  // While a field is invalid, the last valid recipes stay in force.
  const valid = useRef<ValidChanges>({ changes: new Map(), recipes: before });
  if (changed.ok) valid.current = { changes, recipes: changed.value };
  const { changes: changesInForce, recipes: after } = valid.current;
  const problems = changed.ok ? NO_PROBLEMS : changed.error;
  /** Identifies what is shown: figures of another object are older. */
  const request = useMemo(() => ({ prepared, after }), [prepared, after]);

  const [live, setLive] = useState<Done<LiveFigures> | null>(null);
  const [settled, setSettled] = useState<SettledFigures | null>(null);
  const lives = useSlices<LiveFigures>(setLive);
  const settling = useSlices<SettledFigures>(({ figures }) => setSettled(figures));
  const settings = queryOfSettings({ changes: changesInForce, preset });
  const href = withQuery(hrefOf('replay', run.id), settings);
  const compareHref = withQuery(hrefOf('compare'), new Map([['a', run.id], ['b', run.id], ...settings]));

  // Before the browser draws: an effect after it would show the figures two frames later.
  useLayoutEffect(() => lives.ask(() => new LivePass(request, run.rollouts, before, preset)), [request]);
  useEffect(() => {
    const timer = setTimeout(() => settling.ask(() => new SettledPass(request)), REST_MS);
    return () => clearTimeout(timer);
  }, [request]);
  useEffect(() => {
    if (run.file !== null) return;
    // Browsers limit how often an address may change, so a moving slider does not change it.
    const timer = setTimeout(() => replaceAddress(href), REST_MS);
    return () => clearTimeout(timer);
  }, [href]);

  const change = (name: string, value: FieldValue): void => {
    const recordedValue = fields.find((field) => field.name === name)?.value;
    const next = new Map(changes);
    if (value === recordedValue) next.delete(name);
    else next.set(name, value);
    setTyped({ changes: next, preset });
  };
  const strayProblems = [...problems].filter(([path]) => !fields.some(({ name }) => name === path));

  return (
    <div class="desk">
      <section class="card desk-figures" aria-label="Figures">
        {live !== null && (
          <LiveFiguresCard
            run={run}
            recorded={recorded}
            live={live.figures}
            isOlder={live.figures.request !== request}
          />
        )}
      </section>
      <section class="card desk-recipe" aria-label="Recipe">
        <header class="card-head">
          <h2>Recipe</h2>
          <div class="actions">
            {run.file === null && (
              <>
                <a class="button quiet" href={compareHref}>
                  Compare
                </a>
                <CopyButton text={addressOf(href)} label="Copy link" />
              </>
            )}
            <button
              type="button"
              class="quiet"
              onClick={() => setTyped({ changes: new Map(), preset })}
              disabled={changes.size === 0}
            >
              Reset
            </button>
          </div>
        </header>
        {run.recipes.size > 1 && (
          <p class="note pad">
            The run has {run.recipes.size} recipes. The controls show the first; changes apply to all of them.
          </p>
        )}
        {asked.unknown.length > 0 && (
          <p class="pad" role="alert">
            Ignored in the address, because this recipe has no such setting: {asked.unknown.join(', ')}.
          </p>
        )}
        {strayProblems.map(([path, message]) => (
          <p key={path} class="pad field-problem" role="alert">
            {path}: {message}. The figures keep the last valid recipe.
          </p>
        ))}
        <RecipeControls
          fields={fields}
          changes={changes}
          inForce={changesInForce}
          problems={problems}
          onChange={change}
        />
        <label class="field pad">
          <span>Advantage preset</span>
          <select
            value={preset}
            onChange={(event) => {
              const chosen = presetOf(event.currentTarget.value);
              if (chosen !== null) setTyped({ changes, preset: chosen });
            }}
          >
            {ADVANTAGE_PRESET_NAMES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </section>
      <div class="desk-results">
        {live !== null && (
          <>
            <LiveCharts prepared={prepared} recorded={recorded} live={live.figures} />
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
        {settled !== null && (
          <SettledView run={run} settled={settled} isOlder={settled.request !== request} query={settings} />
        )}
        <RecipeExport run={run} settings={{ changes: changesInForce, preset }} recipes={after} />
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
