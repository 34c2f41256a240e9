/** Two recorded answers side by side: what differs in reward, verdicts and findings, and in their words. */
import { useMemo, useState } from 'preact/hooks';
import { wordDifference } from '../../../src/text/word-difference.ts';
import type { Reply } from '../api/call.ts';
import { useLoading } from '../api/use-api.ts';
import { columnText } from '../display/number-text.ts';
import { WhenLoaded } from '../display/when-loaded.tsx';
import { MarkedAnswer } from '../playground/answer-view.tsx';
import { SUPPORT_NAMES, SUPPORTS } from '../playground/claim-status.ts';
import { verdictText } from '../playground/criteria-table.tsx';
import { draftOf } from '../playground/draft.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { type DetailedRollout, loadDetail } from './load-rollout.ts';
import type { RolloutPlace } from './place.ts';
import { verifiedRollout } from './rollout-text.tsx';

/** `reward`: that of a replay; absent = as recorded. */
export type PairSide = { readonly title: string; readonly place: RolloutPlace; readonly reward?: number | null };

export function AnswerPair({ sides }: { sides: readonly [PairSide, PairSide] }) {
  const places = sides.map(({ place }) => place);
  const loading = useLoading((signal) => loadPair(sides[0].place, sides[1].place, signal), JSON.stringify(places));
  return (
    <WhenLoaded loading={loading} waiting="Loading both answers…">
      {([one, other]) =>
        one === null || other === null ? (
          <p class="muted">The run does not have both rollouts.</p>
        ) : (
          <Pair sides={sides} rollouts={[one, other]} />
        )
      }
    </WhenLoaded>
  );
}

type LoadedPair = readonly [DetailedRollout | null, DetailedRollout | null];

async function loadPair(one: RolloutPlace, other: RolloutPlace, signal: AbortSignal): Promise<Reply<LoadedPair>> {
  const [left, right] = await Promise.all([loadDetail(one, signal), loadDetail(other, signal)]);
  if (!left.ok) return left;
  return right.ok ? { ...right, value: [left.value, right.value] } : right;
}

type SampleOf = Pick<DetailedRollout, 'sample' | 'reward'>;

/** Two samples of one group, which the reader chooses; at first those with the highest and the lowest reward. */
export function GroupPair({ place, samples }: { place: Omit<RolloutPlace, 'sample'>; samples: readonly SampleOf[] }) {
  const [chosen, setChosen] = useState(() => {
    const byReward = extremesFirst(samples);
    return { one: byReward[0]?.sample ?? '', other: byReward.at(-1)?.sample ?? '' };
  });
  const sideOf = (sample: string): PairSide => ({ title: `Sample ${sample}`, place: { ...place, sample } });
  const choice = (side: 'one' | 'other', label: string) => (
    <label class="inline-field">
      <span>{label}</span>
      <select value={chosen[side]} onChange={(event) => setChosen({ ...chosen, [side]: event.currentTarget.value })}>
        {samples.map(({ sample }) => (
          <option key={sample}>{sample}</option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="pair">
      <div class="pair-choice">
        {choice('one', 'Left')}
        {choice('other', 'Right')}
      </div>
      <AnswerPair sides={[sideOf(chosen.one), sideOf(chosen.other)]} />
    </div>
  );
}

/** The scored samples, the highest reward first; all samples as they are if fewer than two are scored. */
function extremesFirst(samples: readonly SampleOf[]): readonly SampleOf[] {
  const scored = samples.flatMap(({ sample, reward }) => (reward === null ? [] : [{ sample, reward }]));
  return scored.length < 2 ? samples : scored.sort((one, other) => other.reward - one.reward);
}

type PairProps = { sides: readonly [PairSide, PairSide]; rollouts: readonly [DetailedRollout, DetailedRollout] };

function Pair({ sides, rollouts }: PairProps) {
  const read = useMemo(() => readPair(rollouts), [rollouts]);
  const rewards = sides.map(({ reward }, n) => (reward === undefined ? rollouts[n]?.reward : reward) ?? null);
  const rows = [
    { name: 'reward', cells: rewards.map((reward) => (reward === null ? 'not scored' : columnText(reward))) },
    // The recorded components do not explain a replayed reward.
    ...(sides.some(({ reward }) => reward !== undefined) ? [] : read.components),
    ...read.rows,
  ];
  return (
    <>
      <div class="scroll-x">
        <table class="list pair-table">
          <thead>
            <tr>
              <th scope="col">What differs</th>
              {sides.map(({ title }, n) => (
                <th key={n} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, cells }, n) => (
              <tr key={n}>
                <th scope="row">{name}</th>
                {cells.map((cell, n) => (
                  <td key={n}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="pair-texts">
        {read.answers.map((answer, n) => (
          <section key={n} aria-label={`Answer of ${sides[n]?.title}`}>
            <b>{sides[n]?.title}</b>
            {answer === null ? (
              <p class="muted">The text of this rollout is not stored, or is no answer.</p>
            ) : (
              <div class="reading">
                <MarkedAnswer {...answer} />
              </div>
            )}
          </section>
        ))}
      </div>
    </>
  );
}

type DifferenceRow = { readonly name: string; readonly cells: readonly [string, string] };

function readPair(rollouts: readonly [DetailedRollout, DetailedRollout]) {
  const read = rollouts.map((rollout) => {
    const draft = draftOf(rollout.detail?.rollout ?? null);
    const verified = draft === null ? null : verifiedRollout(rollout, draft);
    return draft === null || verified === null || !verified.verified.ok
      ? null
      : { response: draft.response, verification: verified.verified.verification, states: verified.states };
  });
  const [one, other] = read;
  const words = one == null || other == null ? null : wordDifference(one.response, other.response);
  const answers = [
    one == null ? null : { ...one, differing: words?.one ?? [] },
    other == null ? null : { ...other, differing: words?.other ?? [] },
  ];
  const supports = SUPPORTS.map((support) => ({
    name: `claims: ${SUPPORT_NAMES[support].toLowerCase()}`,
    values: read.map((answer) => answer?.states.filter((state) => state.support === support).length),
  })).map(({ name, values: [left, right] }) => rowOf(name, left, right));
  const differing = (rows: readonly DifferenceRow[]) => rows.filter(({ cells: [left, right] }) => left !== right);
  return {
    answers,
    components: differing(componentRows(rollouts)),
    rows: differing([...criterionRows(rollouts), ...supports, ...findingRows(rollouts)]),
  };
}

function componentRows([one, other]: PairProps['rollouts']): DifferenceRow[] {
  const names = [...new Set([...Object.keys(one.components), ...Object.keys(other.components)])];
  const text = (value: number | null | undefined): string => (value == null ? 'n/a' : columnText(value));
  return names.map((name) =>
    rowOf(name.replaceAll('_', ' '), text(one.components[name]), text(other.components[name])),
  );
}

/** Criteria with equal keys; a run that keeps no text keeps the keys only. */
function criterionRows([one, other]: PairProps['rollouts']): DifferenceRow[] {
  const left = criteriaOf(one);
  const right = new Map(criteriaOf(other).map(({ key, score }) => [key, score]));
  return left
    .filter(({ key }) => right.has(key))
    .map(({ key, title, description, score }) =>
      rowOf(title ?? description ?? key, verdictText(score), verdictText(right.get(key) ?? null)),
    );
}

function criteriaOf({ detail }: DetailedRollout) {
  const report = detail?.report ?? null;
  return report !== null && 'criteria' in report ? report.criteria : [];
}

function findingRows([one, other]: PairProps['rollouts']): DifferenceRow[] {
  const counts = [one, other].map(({ detail }) => {
    const report = detail?.report ?? null;
    return new Map<string, number>(
      report !== null && 'finding_counts' in report ? Object.entries(report.finding_counts) : [],
    );
  });
  const [left, right] = counts;
  return Object.entries(FINDING_WORDS).map(([reason, { title }]) =>
    rowOf(title, left?.get(reason) ?? 0, right?.get(reason) ?? 0),
  );
}

function rowOf(name: string, left: string | number | undefined, right: string | number | undefined): DifferenceRow {
  return { name, cells: [String(left ?? 'n/a'), String(right ?? 'n/a')] };
}
