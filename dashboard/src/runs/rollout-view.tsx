/** One recorded rollout: its reward, its advantage in its group, its criteria, its text with marked claims. */
import { useEffect, useState } from 'preact/hooks';
import { ADVANTAGE_PRESET_NAMES, type AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import { useLoading } from '../api/use-api.ts';
import { Fact } from '../display/fact.tsx';
import { columnText } from '../display/number-text.ts';
import { Time } from '../display/time.tsx';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { hrefOf, type Query } from '../navigation/route.ts';
import { CriteriaTable } from '../playground/criteria-table.tsx';
import { RewardFigure, ScoreReport } from '../playground/score-panel.tsx';
import { useReplayed } from '../recipe/use-replayed.ts';
import { AnswerPair } from './answer-pair.tsx';
import { FindingChips } from './finding-chips.tsx';
import { groupStandings } from './group-standings.ts';
import { GroupTable } from './group-table.tsx';
import { OtherReasons, reasonsAbout } from './judge-reasons.tsx';
import { type DetailedRollout, type LoadedRollout, loadRollout } from './load-rollout.ts';
import { type RolloutPlace, rolloutHref, stepHref, stepTitle } from './place.ts';
import { RewardStepsCard } from './reward-steps-card.tsx';
import { RolloutText } from './rollout-text.tsx';

/** @param query settings of a replay, under which the page also shows the group; and the preset of the advantages. */
export function RolloutView({ place, query }: { place: RolloutPlace; query: Query }) {
  const { run, step, group, sample } = place;
  const loading = useLoading((signal) => loadRollout(place, signal), JSON.stringify(place));
  return (
    <>
      <div class="page-head">
        <h1>
          Sample {sample} <span class="muted">of group {group}</span>
        </h1>
        <p class="trail">
          <a href={hrefOf('runs', run)}>{run}</a>
          <a href={stepHref(run, step, query)}>{stepTitle(step)}</a>
        </p>
      </div>
      <WhenLoaded loading={loading} waiting="Loading the rollout…">
        {(loaded) =>
          loaded.rollout === null ? (
            <div class="notice notice-bad" role="alert">
              <p class="notice-title">Rollout not found</p>
              <p>
                The run has no sample {sample} in the group {group} of this step.
              </p>
            </div>
          ) : (
            <Rollout place={place} query={query} loaded={loaded} rollout={loaded.rollout} />
          )
        }
      </WhenLoaded>
    </>
  );
}

type RolloutProps = { place: RolloutPlace; query: Query; loaded: LoadedRollout; rollout: DetailedRollout };

function Rollout({ place, query, loaded: { group, recipes }, rollout }: RolloutProps) {
  const report = rollout.detail?.report ?? null;
  return (
    <>
      <Neighbours place={place} query={query} samples={group.map(({ sample }) => sample)} />
      <div class="split">
        <section class="card" aria-label="Recorded reward">
          <header class="card-head">
            <h2>Recorded reward</h2>
            <span class="muted">
              {rollout.attempt > 0 && <>attempt {rollout.attempt + 1} · </>}
              <Time at={Date.parse(rollout.recorded_at)} />
            </span>
          </header>
          {report === null ? <ImportedReward rollout={rollout} /> : <ScoreReport reply={report} milliseconds={null} />}
          {report !== null && 'finding_counts' in report && (
            <div class="pad">
              <FindingChips counts={report.finding_counts} />
            </div>
          )}
        </section>
        <InGroup place={place} query={query} group={group} recipes={recipes} />
      </div>
      {group.length > 1 && <Beside place={place} samples={group.map(({ sample }) => sample)} />}
      <RolloutText rollout={rollout} />
      <RewardStepsCard rollout={rollout} group={group} recipes={recipes} />
      {report !== null && 'criteria' in report && (
        <section class="card" aria-label="Criteria">
          <header class="card-head">
            <h2>Criteria</h2>
            <span class="muted">with the recorded verdicts</span>
          </header>
          <CriteriaTable criteria={report.criteria} reasons={reasonsAbout(report.judgments, 'criteria')} />
        </section>
      )}
      {report !== null && <OtherReasons judgments={report.judgments} />}
    </>
  );
}

/** Another answer of the group beside this one, once the reader chooses it. */
function Beside({ place, samples }: { place: RolloutPlace; samples: readonly string[] }) {
  const [other, setOther] = useState('');
  return (
    <section class="card" aria-label="Side by side">
      <header class="card-head">
        <h2>Side by side</h2>
        <label class="inline-field">
          <span>with sample</span>
          <select value={other} onChange={(event) => setOther(event.currentTarget.value)}>
            <option value="">none</option>
            {samples
              .filter((sample) => sample !== place.sample)
              .map((sample) => (
                <option key={sample}>{sample}</option>
              ))}
          </select>
        </label>
      </header>
      {other !== '' && (
        <div class="pair">
          <AnswerPair
            sides={[
              { title: `Sample ${place.sample}`, place },
              { title: `Sample ${other}`, place: { ...place, sample: other } },
            ]}
          />
        </div>
      )}
    </section>
  );
}

/** An imported rollout has no report: its reward and the values of its components are all that is known. */
function ImportedReward({ rollout: { reward, reason, components } }: { rollout: DetailedRollout }) {
  return (
    <>
      <RewardFigure reward={reward} reason={reason} range={[null, null]} />
      <dl class="facts">
        {Object.entries(components).map(([name, value]) => (
          <Fact key={name} name={name.replaceAll('_', ' ')} text={value === null ? 'n/a' : columnText(value)} />
        ))}
      </dl>
    </>
  );
}

function Neighbours({ place, query, samples }: { place: RolloutPlace; query: Query; samples: readonly string[] }) {
  const at = samples.indexOf(place.sample);
  const before = samples[at - 1];
  const after = samples[at + 1];
  return (
    <div class="neighbours">
      {before === undefined ? (
        <span class="muted">First sample</span>
      ) : (
        <a class="button" rel="prev" href={rolloutHref({ ...place, sample: before }, query)}>
          ← Previous sample
        </a>
      )}
      <span class="muted">
        {at + 1} of {samples.length}
      </span>
      {after === undefined ? (
        <span class="muted">Last sample</span>
      ) : (
        <a class="button" rel="next" href={rolloutHref({ ...place, sample: after }, query)}>
          Next sample →
        </a>
      )}
    </div>
  );
}

type InGroupProps = Pick<LoadedRollout, 'group' | 'recipes'> & { place: RolloutPlace; query: Query };

function InGroup({ place, query, group, recipes }: InGroupProps) {
  const asked = ADVANTAGE_PRESET_NAMES.find((name) => name === query.get('advantages')) ?? 'mean';
  const [preset, setPreset] = useState<AdvantagePreset>(asked);
  useEffect(() => setPreset(asked), [asked]);
  const replayed = useReplayed(group, recipes, query);
  return (
    <section class="card" aria-label="In its group">
      <header class="card-head">
        <h2>In its group</h2>
        <label class="inline-field">
          <span>Advantages of</span>
          <select
            value={preset}
            onChange={(event) => {
              const chosen = ADVANTAGE_PRESET_NAMES.find((name) => name === event.currentTarget.value);
              if (chosen !== undefined) setPreset(chosen);
            }}
          >
            {ADVANTAGE_PRESET_NAMES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </header>
      <GroupTable
        place={place}
        query={query}
        rows={group}
        standings={groupStandings(group, preset)}
        replayed={replayed}
      />
    </section>
  );
}
