/** Figures shown once the slider rests: rank correlation, component shifts, largest rank changes. */
import type { ReplayMover } from '../../../src/runs/replay-report.ts';
import { Fact } from '../display/fact.tsx';
import { columnText, countText, numberText, plural } from '../display/number-text.ts';
import { hrefOf } from '../navigation/route.ts';
import { NO_STEP } from '../runs/step-table.tsx';
import { unscoredWords } from '../words/unscored.ts';
import type { ReplayedRun } from './load-run.ts';
import type { SettledFigures } from './settled-pass.ts';

export function SettledView({ run, settled: { figures, movers } }: { run: ReplayedRun; settled: SettledFigures }) {
  const { tau, advantages, degenerate, gaps, recorded, unscored } = figures;
  return (
    <>
      <section class="card" aria-label="Differences">
        <header class="card-head">
          <h2>Differences</h2>
          <span class="muted">compared with the recorded rewards</span>
        </header>
        <dl class="facts is-alone" aria-live="polite">
          <Fact name="rank correlation within groups" text={tau.mean === null ? 'n/a' : numberText(tau.mean)} />
          <Fact name="lowest rank correlation" text={tau.least === null ? 'n/a' : numberText(tau.least)} />
          <Fact
            name="advantages that changed sign"
            text={`${countText(advantages.flipped)} of ${countText(advantages.compared)}`}
          />
          <Fact
            name="advantages that became 0 / stopped being 0"
            text={`${countText(advantages.silenced)} / ${countText(advantages.awakened)}`}
          />
          <Fact
            name="groups that became / stopped being degenerate"
            text={`${countText(degenerate.became)} / ${countText(degenerate.ceased)}`}
          />
        </dl>
        {Object.keys(gaps).length > 0 && (
          <p class="pad">
            Some rollouts have no reward under this recipe, because its inputs were not recorded:{' '}
            {Object.entries(gaps)
              .map(([name, count]) => `${name} (${countText(count)})`)
              .join(', ')}
            .
          </p>
        )}
        {Object.keys(unscored.after).length > 0 && (
          <p class="pad muted">
            Not scored:{' '}
            {Object.entries(unscored.after)
              .map(([reason, count]) => `${plural(count, 'rollout')}, ${unscoredWords(reason)}`)
              .join('; ')}
            .
          </p>
        )}
        {recorded.different > 0 && (
          <p class="pad">
            This version composes a different reward than the recorded one for {plural(recorded.different, 'rollout')}.
          </p>
        )}
        <Shifts components={figures.components} />
      </section>
      <section class="card" aria-label="Largest changes">
        <header class="card-head">
          <h2>Largest changes</h2>
          <span class="muted">by rank in the group; 1 is best</span>
        </header>
        <Movers run={run.id} movers={movers} />
      </section>
    </>
  );
}

function Shifts({ components }: { components: SettledFigures['figures']['components'] }) {
  const signed = (value: number | null): string =>
    value === null ? 'n/a' : `${value > 0 ? '+' : ''}${numberText(value)}`;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Component</th>
          <th scope="col" class="number">
            Value
          </th>
          <th scope="col" class="number">
            Contribution
          </th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(components).map(([name, { value, contribution }]) => (
          <tr key={name}>
            <th scope="row">{name.replaceAll('_', ' ')}</th>
            <td class="number">{signed(value)}</td>
            <td class="number">{signed(contribution)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Movers({ run, movers }: { run: string; movers: readonly ReplayMover[] }) {
  if (movers.length === 0) return <p class="muted pad">No rollout changes its rank in its group.</p>;
  return (
    <div class="scroll-x">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Group</th>
            <th scope="col">Sample</th>
            <th scope="col" class="number">
              Rank
            </th>
            <th scope="col" class="number">
              Reward
            </th>
          </tr>
        </thead>
        <tbody>
          {movers.map(({ step, group, sample, rank, reward }) => (
            <tr key={`${step} ${group} ${sample}`}>
              <td>
                <a href={hrefOf('runs', run, String(step ?? NO_STEP))}>{step ?? 'none'}</a>
              </td>
              <td class="place-id">{group}</td>
              <td class="place-id">{sample}</td>
              <td class="number">
                {numberText(rank.before, 1)} → {numberText(rank.after, 1)}{' '}
                <span class={`tone is-${rank.after < rank.before ? 'full' : 'none'}`} aria-hidden="true">
                  {rank.after < rank.before ? '▲' : '▼'}
                </span>
              </td>
              <td class="number">
                {columnText(reward.before)} → {columnText(reward.after)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
