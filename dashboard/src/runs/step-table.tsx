/** The steps of a run as a table: the values of the charts, with links to the rollouts. */
import type { RunStep } from '../../../src/runs/summary.ts';
import { columnText, countText, percentText } from '../display/number-text.ts';
import { unscoredWords } from '../words/unscored.ts';
import { stepHref, stepText } from './place.ts';
import { componentNames, hasPersistentRewards } from './step-columns.ts';

export function StepTable({ run, steps }: { run: string; steps: readonly RunStep[] }) {
  const names = componentNames(steps);
  const evolves = hasPersistentRewards(steps);
  const before = ['Rollouts', 'Groups', 'Reward', ...(evolves ? ['Persistent criteria alone'] : []), 'Std'];
  const columns = [...before, ...names, 'Spread', 'Degenerate', 'Not scored', 'Cached'];
  const decimal = (value: number | null | undefined): string => (value == null ? 'n/a' : columnText(value));
  const share = (value: number | null): string => (value === null ? 'n/a' : percentText(value));
  return (
    <div class="scroll-both">
      <table class="list">
        <thead class="sticky-head">
          <tr>
            <th scope="col">Step</th>
            {columns.map((name) => (
              <th key={name} scope="col" class="number">
                {name.replaceAll('_', ' ')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.step}>
              <th scope="row" class="row-name">
                <a class="list-link" href={stepHref(run, stepText(step.step))}>
                  {step.step ?? 'none'}
                </a>
              </th>
              <td class="number">{countText(step.rollouts)}</td>
              <td class="number">{countText(step.groups)}</td>
              <td class="number">
                <b>{decimal(step.reward.mean)}</b>
              </td>
              {evolves && <td class="number">{decimal(step.persistent_reward?.mean)}</td>}
              <td class="number">{decimal(step.reward.std)}</td>
              {names.map((name) => (
                <td key={name} class="number">
                  {decimal(step.components[name]?.mean)}
                </td>
              ))}
              <td class="number">{decimal(step.spread.mean_std)}</td>
              <td class="number">{share(step.degenerate.share)}</td>
              <td class="number">
                {countText(step.rollouts - step.scored)}
                {Object.keys(step.unscored).length > 0 && <small class="reasons">{reasonsText(step.unscored)}</small>}
              </td>
              <td class="number">{share(step.judgments.hit_rate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function reasonsText(reasons: Readonly<Record<string, number>>): string {
  return Object.entries(reasons)
    .map(([reason, count]) => `${count}: ${unscoredWords(reason)}`)
    .join('; ');
}
