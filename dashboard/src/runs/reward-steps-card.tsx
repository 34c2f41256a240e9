/** How a recorded reward came about: its steps as a waterfall, and as the same table. */
import { useEffect, useState } from 'preact/hooks';
import type { RewardStep } from '../../../src/scoring/reward-steps.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { NumberHead } from '../display/number-head.tsx';
import { columnText } from '../display/number-text.ts';
import { draftOf } from '../playground/draft.ts';
import type { StepsOfReward } from '../recipe/steps-of-reward.ts';
import type { DetailedRollout, LoadedRollout } from './load-rollout.ts';

type RewardStepsCardProps = Pick<LoadedRollout, 'group' | 'recipes'> & { rollout: DetailedRollout };

export function RewardStepsCard({ rollout, group, recipes }: RewardStepsCardProps) {
  const [explained, setExplained] = useState<StepsOfReward | 'failed' | null>(null);
  useEffect(() => {
    setExplained(null);
    let isCurrent = true;
    import('../recipe/steps-of-reward.ts').then(
      ({ stepsOfReward }) => isCurrent && setExplained(stepsOfReward(rollout, group, recipes)),
      () => isCurrent && setExplained('failed'),
    );
    return () => {
      isCurrent = false;
    };
  }, [rollout, group, recipes]);
  if (explained === null) return null;
  return (
    <section class="card" aria-label="How the reward came about">
      <header class="card-head">
        <h2>How the reward came about</h2>
        <span class="muted">what is earned, then what rules of the recipe take away or add</span>
      </header>
      {explained === 'failed' ? (
        <p class="pad">Failed to load. The server is unreachable or has been updated: reload the page.</p>
      ) : (
        <StepsTable explained={explained} rollout={rollout} />
      )}
    </section>
  );
}

type Row = { readonly step: RewardStep; readonly before: number; readonly after: number };

type StepsTableProps = { explained: StepsOfReward; rollout: DetailedRollout };

function StepsTable({ explained: { steps, helpOf }, rollout }: StepsTableProps) {
  const report = rollout.detail?.report ?? null;
  const response = draftOf(rollout.detail?.rollout ?? null)?.response ?? null;
  let after = 0;
  const all = steps.map((step): Row => {
    const before = after;
    after += step.amount;
    return { step, before, after };
  });
  const least = Math.min(0, ...all.map((row) => row.after));
  const most = Math.max(0, ...all.map((row) => row.after));
  const at = (value: number): number => (most > least ? ((value - least) / (most - least)) * 100 : 0);
  const bar = (from: number, to: number) => ({
    left: `${at(Math.min(from, to))}%`,
    width: `${at(Math.max(from, to)) - at(Math.min(from, to))}%`,
  });
  const credits = creditsOf(report);
  return (
    <div class="scroll-x">
      <table class="bars steps">
        <NumberHead of="Step" columns={['Reward', 'Sum', ...(credits === null ? [] : ['Credit'])]} />
        <tbody>
          {all.map(({ step, before, after }) => {
            const place = placeOf(step, report, response);
            return (
              <tr key={keyOf(step)} class={step.amount === 0 ? 'is-weightless' : ''}>
                <th scope="row">
                  {place.target === null ? (
                    place.name
                  ) : (
                    <button type="button" class="place" onClick={() => show(place.target)}>
                      {place.name}
                    </button>
                  )}
                  <span class="muted step-text"> {step.of === 'rule' ? helpOf(step.name) : place.text}</span>
                  <span class="bar" aria-hidden="true">
                    <span class={step.amount < 0 ? 'is-negative' : ''} style={bar(before, after)} />
                  </span>
                </th>
                <td class="number">{signed(step.amount)}</td>
                <td class="number muted">{columnText(after)}</td>
                {credits !== null && <td class="number muted">{credits(step)}</td>}
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">
              Reward
              <span class="bar" aria-hidden="true">
                <span class={after < 0 ? 'is-negative' : ''} style={bar(0, after)} />
              </span>
            </th>
            <td class="number">
              <b>{columnText(after)}</b>
            </td>
            <td />
            {credits !== null && <td />}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

type Report = ScoreResponse | null;

function keyOf(step: RewardStep): string {
  return `${step.of} ${'index' in step ? step.index : 'name' in step ? step.name : ''}`;
}

/** `target`: the id of the element that the step is about; `null` = the page has none. */
type Place = { readonly name: string; readonly text: string; readonly target: string | null };

/** @param response `null` = the text is not stored, so the page shows no claim. */
function placeOf(step: RewardStep, report: Report, response: string | null): Place {
  switch (step.of) {
    case 'criterion': {
      const criterion = report !== null && 'criteria' in report ? report.criteria[step.index] : undefined;
      const name = criterion?.title ?? `Criterion ${step.index + 1}`;
      return {
        name,
        text: criterion?.description ?? '',
        target: criterion === undefined ? null : `criterion-${step.index}`,
      };
    }
    case 'claim': {
      const claim = claimsOf(report)[step.index];
      const name = `Claim ${(claim?.index ?? step.index) + 1}`;
      if (claim === undefined || response === null) return { name, text: '', target: null };
      return { name, text: response.slice(claim.span.start, claim.span.end), target: `claim-${claim.index}` };
    }
    case 'statement': {
      const piece = report !== null && 'statements' in report ? report.statements[step.index]?.pieces[0] : undefined;
      const name = `Uncited statement ${step.index + 1}`;
      if (piece === undefined || response === null) return { name, text: '', target: null };
      return { name, text: response.slice(piece.start, piece.end), target: `statement-${piece.start}` };
    }
    case 'component':
    case 'rule':
      return { name: step.name.replaceAll('_', ' '), text: '', target: null };
    case 'rounding':
      return { name: 'Rounding', text: '', target: null };
  }
}

/** The claims in the order of the facts: each repeated claim counts once. */
function claimsOf(report: Report) {
  return report !== null && 'claims' in report ? report.claims.filter(({ duplicate_of }) => duplicate_of === null) : [];
}

/** What the request's credit gives a claim or a statement; `null` = the request asked for none. */
function creditsOf(report: Report): ((step: RewardStep) => string) | null {
  const credit = report?.credit;
  if (credit == null || credit.by !== 'claims') return null;
  const shares = new Map(
    credit.entries.map((entry) => [`${entry.of} ${'index' in entry ? entry.index : ''}`, entry.share]),
  );
  return (step) => {
    if (step.of !== 'claim' && step.of !== 'statement') return '';
    const index = step.of === 'claim' ? claimsOf(report)[step.index]?.index : step.index;
    const share = shares.get(`${step.of} ${index}`);
    return share === undefined ? '' : signed(share);
  };
}

function signed(amount: number): string {
  return `${amount > 0 ? '+' : ''}${columnText(amount)}`;
}

/** Moves the focus to what a step is about, which also shows the sources of a claim. */
function show(id: string | null): void {
  const element = id === null ? null : document.getElementById(id);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: 'center' });
}
