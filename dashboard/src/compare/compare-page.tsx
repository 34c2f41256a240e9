/**
 * Compares two runs, or one run under two recipes: `#/compare?a=RUN&b=RUN&citation_weight=0.5`, or under a named one:
 * `#/compare?a=RUN&b=RUN&recipe=refiner-rl-balanced`.
 */
import '../recipe/zod-without-eval.ts';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { RECIPE_NAMES, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import type { Result } from '../../../src/result.ts';
import type { RunReply } from '../../../src/wire/runs.ts';
import type { Reply } from '../api/call.ts';
import { useApi, useLoading } from '../api/use-api.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf, type Query, withQuery } from '../navigation/route.ts';
import { changedRecipes } from '../recipe/recipe-changes.ts';
import { composeFields } from '../recipe/recipe-fields.ts';
import { settingsOfQuery } from '../recipe/replay-link.ts';
import { type LoadedRun, loadReplayedRun, type ReplayedRun } from '../replay/load-run.ts';
import { RefusedRun } from '../replay/refused-run.tsx';
import { ChangesCard } from './changes-card.tsx';
import { CompareCharts } from './compare-charts.tsx';
import { computeSide, type Side, type SideRequest } from './compared-runs.ts';

/** The parameters that name the runs; the others are the settings of B. */
const RUNS: ReadonlySet<string> = new Set(['a', 'b']);

/** The parameter that names the recipe of B; further settings change that recipe. */
const RECIPE = 'recipe';

export function ComparePage({ query }: { query: Query }) {
  const a = query.get('a') ?? '';
  const b = query.get('b') ?? '';
  const settings = useMemo(() => new Map([...query].filter(([name]) => !RUNS.has(name))), [query]);
  return (
    <main class="page">
      <div class="page-head">
        <h1>Compare</h1>
        <span class="muted">Two runs, or one run under two recipes.</span>
      </div>
      <ChooseRuns a={a} b={b} settings={settings} />
      {a !== '' && b !== '' && <LoadedRuns key={JSON.stringify([a, b])} a={a} b={b} settings={settings} />}
    </main>
  );
}

type RunNames = { a: string; b: string; settings: Query };

function ChooseRuns({ a, b, settings }: RunNames) {
  const { loaded } = useApi<{ readonly runs: readonly RunReply[] }>('/v1/runs?limit=100');
  const runs = loaded.state === 'loaded' ? loaded.value.runs : [];
  const known = runs.map(({ id }) => id);
  const family = runs.find(({ id }) => id === b)?.family;
  const named = settings.get(RECIPE) ?? '';
  const choose = (side: 'a' | 'b', id: string): void => {
    location.hash = withQuery(hrefOf('compare'), new Map([['a', a], ['b', b], [side, id], ...settings]));
  };
  return (
    <section class="card pad compare-runs" aria-label="Runs to compare">
      {(['a', 'b'] as const).map((side) => {
        const id = side === 'a' ? a : b;
        return (
          <label key={side} class="field">
            <span>{side === 'a' ? 'A' : 'B'}</span>
            <select value={id} onChange={(event) => choose(side, event.currentTarget.value)}>
              {id === '' && <option value="">Choose a run…</option>}
              {[...new Set([...(id === '' ? [] : [id]), ...known])].map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        );
      })}
      {b !== '' && (
        <label class="field">
          <span>Recipe of B</span>
          <select
            value={named}
            onChange={(event) => {
              const recipe = event.currentTarget.value;
              const chosen = recipe === '' ? [] : [[RECIPE, recipe] as const];
              location.hash = withQuery(hrefOf('compare'), new Map([['a', a], ['b', b], ...chosen]));
            }}
          >
            <option value="">as recorded</option>
            {[...new Set([...(named === '' ? [] : [named]), ...namesOf(family)])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {b !== '' && (
        <p>
          {settings.size === 0 ? 'B has its recorded rewards.' : `B is replayed with ${settingsText(settings)}.`}{' '}
          <a href={withQuery(hrefOf('replay', b), settingsOfLinks(settings))}>Change its recipe in the replay</a>
        </p>
      )}
    </section>
  );
}

/** The named recipes of a family. */
function namesOf(family: string | undefined): string[] {
  return RECIPE_NAMES.filter((name) => RECIPES[name].family === family);
}

/** The settings of links to the replay and to rollouts, which know no named recipe. */
function settingsOfLinks(settings: Query): Query {
  return settings.has(RECIPE) ? new Map() : settings;
}

function settingsText(settings: Query): string {
  return [...settings].map(([name, value]) => `${name} ${value}`).join(', ');
}

type TwoRuns = { readonly a: LoadedRun; readonly b: LoadedRun };

function LoadedRuns({ a, b, settings }: RunNames) {
  const [progress, setProgress] = useState(0);
  const loading = useLoading((signal) => loadBoth(a, b, signal, setProgress), JSON.stringify([a, b]));
  return (
    <WhenLoaded loading={loading} waiting={`Loading the rollouts… ${progress === 0 ? '' : progress}`}>
      {(loaded) => {
        if (loaded.a.kind === 'refused') return <RefusedRun refused={loaded.a} />;
        if (loaded.b.kind === 'refused') return <RefusedRun refused={loaded.b} />;
        return <Compared a={loaded.a.run} b={loaded.b.run} settings={settings} />;
      }}
    </WhenLoaded>
  );
}

async function loadBoth(
  a: string,
  b: string,
  signal: AbortSignal,
  onProgress: (rollouts: number) => void,
): Promise<Reply<TwoRuns>> {
  const first = await loadReplayedRun(a, signal, onProgress);
  if (!first.ok) return first;
  const second = a === b ? first : await loadReplayedRun(b, signal, onProgress);
  if (!second.ok) return second;
  return { ...second, value: { a: first.value, b: second.value } };
}

function Compared({ a, b, settings }: { a: ReplayedRun; b: ReplayedRun; settings: Query }) {
  const asked = useMemo(() => requestsOf(a, b, settings), [a, b, settings]);
  const [sides, setSides] = useState<{ readonly of: typeof asked; readonly a: Side; readonly b: Side } | null>(null);
  useEffect(() => {
    if (!asked.ok) return;
    const aborter = new AbortController();
    const compute = async (): Promise<void> => {
      const one = await computeSide(asked.value.a, aborter.signal);
      const other = one === null ? null : await computeSide(asked.value.b, aborter.signal);
      if (one !== null && other !== null) setSides({ of: asked, a: one, b: other });
    };
    void compute();
    return () => aborter.abort();
  }, [asked]);
  if (!asked.ok) {
    return (
      <div class="notice notice-bad" role="alert">
        <p class="notice-title">B cannot be replayed with these settings</p>
        <p>{asked.error}</p>
      </div>
    );
  }
  if (sides === null || sides.of !== asked) {
    return (
      <p class="muted" role="status">
        Comparing…
      </p>
    );
  }
  return (
    <>
      <CompareCharts a={sides.a} b={sides.b} />
      <ChangesCard a={a.id} b={b.id} settings={settingsOfLinks(settings)} sides={sides} />
    </>
  );
}

type Requests = { readonly a: SideRequest; readonly b: SideRequest };

function requestsOf(a: ReplayedRun, b: ReplayedRun, query: Query): Result<Requests, string> {
  const [recipesOfA, recipesOfB] = [a, b].map(
    ({ recipes }) => new Map([...recipes].map(([digest, { recipe }]) => [digest, recipe])),
  );
  const [first] = recipesOfB?.values() ?? [];
  if (recipesOfA === undefined || recipesOfB === undefined || first === undefined) {
    return { ok: false, error: 'The run has no recipe.' };
  }
  const name = query.get(RECIPE);
  const named = name === undefined ? null : recipeOf(name);
  if (name !== undefined && named?.family !== first.family) {
    return { ok: false, error: `There is no recipe ${name} of the family ${first.family}.` };
  }
  const settings = new Map([...query].filter(([parameter]) => parameter !== RECIPE));
  const { changes, preset, unknown } = settingsOfQuery(settings, composeFields(named ?? first));
  if (unknown.length > 0) return { ok: false, error: `Its recipe has no such setting: ${unknown.join(', ')}.` };
  const base =
    named === null ? b.recipes : new Map([...b.recipes.keys()].map((of) => [of, { name: null, recipe: named }]));
  const changed = changedRecipes(base, changes);
  if (!changed.ok) {
    return { ok: false, error: [...changed.error].map(([path, message]) => `${path}: ${message}`).join('; ') };
  }
  const isRecorded = named === null && changes.size === 0;
  return {
    ok: true,
    value: {
      a: { groups: a.groups, before: recipesOfA, after: null, preset },
      b: { groups: b.groups, before: recipesOfB, after: isRecorded ? null : changed.value, preset },
    },
  };
}

function recipeOf(name: string): Recipe | null {
  const known = RECIPE_NAMES.find((one) => one === name);
  return known === undefined ? null : RECIPES[known];
}
