/** The rollouts of one step: filtered, sorted, exported. */
import { useMemo, useState } from 'preact/hooks';
import { ADVANTAGE_PRESET_NAMES, type AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { countText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { saveBlob } from '../display/save-blob.ts';
import { hrefOf, type Query } from '../navigation/route.ts';
import { useReplayed } from '../recipe/use-replayed.ts';
import { JudgedBy } from './judged-by.tsx';
import { useKeptView } from './kept-view.ts';
import { stepTitle } from './place.ts';
import { ANSWERS_SHOWN } from './rollout-answer.tsx';
import { csvOf, jsonLinesOf } from './rollout-export.ts';
import { RolloutTable } from './rollout-table.tsx';
import {
  completeGroups,
  FILTER_NAMES,
  FILTERS,
  type Filter,
  filtered,
  matches,
  type ShownGroup,
  shownGroups,
  sorted,
} from './step-rollouts.ts';
import { useGrowingStep } from './use-growing-step.ts';

const NO_ROLLOUTS: readonly RunRollout[] = [];

/** @param query settings of a replay, under which the step is also shown; and the preset of the advantages. */
export function StepView({ run, step, query }: { run: string; step: string; query: Query }) {
  const { rollouts: loaded, recipes, more, state, failure, load } = useGrowingStep(run, step);
  const asked = ADVANTAGE_PRESET_NAMES.find((name) => name === query.get('advantages')) ?? 'mean';
  const [preset, setPreset] = useState<AdvantagePreset>(asked);
  const rollouts = useMemo(() => completeGroups(loaded, state === 'whole'), [loaded, state]);
  const replayed = useReplayed(state === 'loading' ? NO_ROLLOUTS : rollouts, recipes, query);
  const groups = useMemo(() => shownGroups(rollouts, preset, replayed), [rollouts, preset, replayed]);
  return (
    <>
      <div class="page-head">
        <h1>{stepTitle(step)}</h1>
        <a href={hrefOf('runs', run)}>{run}</a>
        <JudgedBy run={run} step={step} />
        <span class="muted" role="status">
          {state === 'loading' ? 'Loading… ' : ''}
          {plural(rollouts.length, 'rollout')} in {plural(groups.length, 'group')}
          {state === 'more' ? ' so far' : ''}
          {more > 0 && ` · ${countText(more)} more recorded`}
        </span>
        {state === 'more' && (
          <button type="button" onClick={load}>
            Load more
          </button>
        )}
      </div>
      {failure !== null && <ProblemNotice failure={failure} retry={load} />}
      {replayed.state === 'failed' && (
        <div class="notice notice-bad" role="alert">
          <p class="notice-title">Not replayed</p>
          <p>{replayed.problem}</p>
        </div>
      )}
      {replayed.state === 'replayed' && (
        <p class="note">
          Replayed with <b>{replayed.changes}</b>.{' '}
          <a href={hrefOf('runs', run, step)}>Show the recorded rewards only</a>
        </p>
      )}
      {rollouts.length > 0 && (
        <Rollouts
          name={`${run}-step-${step}`}
          groups={groups}
          hasReplayed={replayed.state === 'replayed'}
          query={query}
          preset={preset}
          onPreset={setPreset}
        />
      )}
      {rollouts.length === 0 && state === 'whole' && <p class="note">This step has no rollouts.</p>}
    </>
  );
}

type RolloutsProps = {
  /** Name of exported files, and of what a person chose to see. */
  name: string;
  groups: readonly ShownGroup[];
  hasReplayed: boolean;
  query: Query;
  preset: AdvantagePreset;
  onPreset: (preset: AdvantagePreset) => void;
};

function Rollouts({ name, groups, hasReplayed, query, preset, onPreset }: RolloutsProps) {
  const { filters, sort, answers, place, set } = useKeptView(name);
  const hasText = groups.some(({ question }) => question !== null);
  const all = useMemo(() => groups.flatMap(({ rollouts }) => rollouts), [groups]);
  const chosen = useMemo(() => filtered(groups, filters), [groups, filters]);
  const rollouts = useMemo(() => sorted(chosen, sort), [chosen, sort]);
  const toggle = (filter: Filter): void => {
    const next = new Set(filters);
    if (!next.delete(filter)) next.add(filter);
    set({ filters: next });
  };
  const save = (ending: 'csv' | 'jsonl', text: string): void =>
    saveBlob(
      `${name}.${ending}`,
      new Blob([text], { type: ending === 'csv' ? 'text/csv;charset=utf-8' : 'application/jsonl' }),
    );
  return (
    <>
      <div class="step-tools">
        <fieldset class="filters">
          <legend>Only</legend>
          {FILTER_NAMES.filter((filter) => filter !== 'flipped' || hasReplayed).map((filter) => (
            <button
              key={filter}
              type="button"
              class="filter"
              aria-pressed={filters.has(filter)}
              onClick={() => toggle(filter)}
            >
              {FILTERS[filter]} <b>{countText(all.filter((one) => matches(one, filter)).length)}</b>
            </button>
          ))}
        </fieldset>
        <label class="inline-field">
          <span>Sort</span>
          <select
            value={sort.by}
            onChange={(event) => {
              const by = event.currentTarget.value;
              set({ sort: { ...sort, by: by === 'reward' || by === 'advantage' ? by : 'group' } });
            }}
          >
            <option value="group">by group</option>
            <option value="reward">by reward</option>
            <option value="advantage">by advantage</option>
          </select>
        </label>
        {sort.by !== 'group' && (
          <button type="button" onClick={() => set({ sort: { ...sort, isDescending: !sort.isDescending } })}>
            {sort.isDescending ? 'Largest first' : 'Smallest first'}
          </button>
        )}
        {hasText && (
          <label class="inline-field">
            <span>Answers</span>
            <select
              value={answers}
              onChange={(event) => {
                const known = ANSWERS_SHOWN.find((one) => one === event.currentTarget.value);
                if (known !== undefined) set({ answers: known });
              }}
            >
              {ANSWERS_SHOWN.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        <label class="inline-field">
          <span>Advantages of</span>
          <select
            value={preset}
            onChange={(event) => {
              const known = ADVANTAGE_PRESET_NAMES.find((one) => one === event.currentTarget.value);
              if (known !== undefined) onPreset(known);
            }}
          >
            {ADVANTAGE_PRESET_NAMES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="button" onClick={() => save('csv', csvOf(rollouts))}>
            Save CSV
          </button>
          <button type="button" onClick={() => save('jsonl', jsonLinesOf(rollouts))}>
            Save JSONL
          </button>
        </div>
      </div>
      <section class="card" aria-label="Rollouts">
        {rollouts.length === 0 ? (
          <p class="muted pad">No rollout matches.</p>
        ) : (
          <RolloutTable
            key={`${sort.by} ${sort.isDescending} ${[...filters].join(' ')}`}
            groups={sort.by === 'group' ? chosen : null}
            rollouts={rollouts}
            hasReplayed={hasReplayed}
            answers={hasText ? answers : 'hidden'}
            query={query}
            place={place}
          />
        )}
      </section>
    </>
  );
}
