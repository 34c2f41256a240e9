/** The rollouts of one step, group by group. */
import { useEffect, useState } from 'preact/hooks';
import type { RunRollout } from '../../../src/wire/runs.ts';
import { type CallFailure, callApi, runPath } from '../api/call.ts';
import { columnText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { hrefOf } from '../navigation/route.ts';
import { openDraft } from '../playground/draft.ts';
import { apiKey } from '../settings/api-key.ts';
import { useObservable } from '../settings/observable.ts';
import { unscoredWords } from '../words/unscored.ts';
import { NO_STEP } from './step-table.tsx';

type RolloutPage = { readonly rollouts: readonly RunRollout[]; readonly next: string | null };

const PAGE_ROLLOUTS = 200;

export function StepView({ run, step }: { run: string; step: string }) {
  const key = useObservable(apiKey);
  const [rows, setRows] = useState<RolloutPage | null>(null);
  const [failure, setFailure] = useState<CallFailure | null>(null);
  const load = async (before: RolloutPage | null): Promise<void> => {
    const after = before?.next == null ? '' : `&after=${encodeURIComponent(before.next)}`;
    const path = `${runPath(run)}/rollouts?step=${encodeURIComponent(step)}&limit=${PAGE_ROLLOUTS}${after}`;
    const reply = await callApi<RolloutPage>(path);
    setFailure(reply.ok ? null : reply.failure);
    if (reply.ok) setRows({ ...reply.value, rollouts: [...(before?.rollouts ?? []), ...reply.value.rollouts] });
  };
  useEffect(() => {
    setRows(null);
    load(null);
  }, [run, step, key]);
  return (
    <>
      <div class="page-head">
        <h1>{step === NO_STEP ? 'Rollouts without a step' : `Step ${step}`}</h1>
        <a href={hrefOf('runs', run)}>{run}</a>
      </div>
      {failure !== null && <ProblemNotice failure={failure} retry={() => load(rows)} />}
      {rows === null && failure === null && (
        <p class="muted" role="status">
          Loading the rollouts…
        </p>
      )}
      {rows !== null && (
        <section class="card" aria-label="Rollouts">
          <Rollouts run={run} rollouts={rows.rollouts} />
          {rows.next !== null && (
            <p class="pad">
              <button type="button" onClick={() => load(rows)}>
                Load more
              </button>
            </p>
          )}
        </section>
      )}
    </>
  );
}

function Rollouts({ run, rollouts }: { run: string; rollouts: readonly RunRollout[] }) {
  const names = [...new Set(rollouts.flatMap(({ components }) => Object.keys(components)))];
  const groups = Map.groupBy(rollouts, ({ group }) => group);
  return (
    <div class="scroll-both">
      <table class="list">
        <thead class="sticky-head">
          <tr>
            <th scope="col">Sample</th>
            <th scope="col" class="number">
              Reward
            </th>
            {names.map((name) => (
              <th key={name} scope="col" class="number">
                {name.replaceAll('_', ' ')}
              </th>
            ))}
            <th scope="col">Text</th>
          </tr>
        </thead>
        {[...groups].map(([group, samples]) => (
          <tbody key={group}>
            <tr class="group-row">
              <th scope="rowgroup" colSpan={names.length + 3}>
                {group} <span class="muted">{plural(samples.length, 'sample')}</span>
              </th>
            </tr>
            {samples.map((one) => (
              <Rollout key={`${one.sample} ${one.attempt}`} run={run} rollout={one} names={names} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Rollout({ run, rollout, names }: { run: string; rollout: RunRollout; names: readonly string[] }) {
  const { sample, attempt, reward, reason, components } = rollout;
  return (
    <tr>
      <th scope="row" class="row-name">
        {sample}
        {attempt > 0 && <span class="tag">attempt {attempt + 1}</span>}
      </th>
      <td class="number">
        {reward === null ? (
          <span class="muted">not scored{reason === null ? '' : `: ${unscoredWords(reason)}`}</span>
        ) : (
          <b>{columnText(reward)}</b>
        )}
      </td>
      {names.map((name) => {
        const value = components[name];
        return (
          <td key={name} class="number">
            {value == null ? 'n/a' : columnText(value)}
          </td>
        );
      })}
      <td>
        <ReadButton run={run} rollout={rollout} />
      </td>
    </tr>
  );
}

/** Loads the stored text of a rollout and opens it in the playground. */
function ReadButton({ run, rollout }: { run: string; rollout: RunRollout }) {
  const [label, setLabel] = useState<'Read' | 'Failed to load - Retry' | 'Not stored'>('Read');
  const { step, group, sample } = rollout;
  const open = async (): Promise<void> => {
    const place = new URLSearchParams({ step: String(step ?? NO_STEP), group, sample, detail: 'true', limit: '1' });
    const reply = await callApi<RolloutPage>(`${runPath(run)}/rollouts?${place}`);
    if (!reply.ok) return setLabel('Failed to load - Retry');
    const text = reply.value.rollouts[0]?.detail?.rollout ?? null;
    if (text === null || !openDraft(text, `${run}, step ${step ?? 'none'}, ${group}, sample ${sample}`)) {
      return setLabel('Not stored');
    }
    location.hash = hrefOf('playground', 'own');
  };
  return (
    <button
      type="button"
      class="quiet is-small"
      onClick={open}
      disabled={label === 'Not stored'}
      aria-label={`${label}: text of ${group}, sample ${sample}`}
    >
      {label}
    </button>
  );
}
