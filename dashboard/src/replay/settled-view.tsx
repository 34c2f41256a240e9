/** Figures shown once the slider rests: rank correlation, component shifts, largest rank changes. */
import type { ReplayMover } from '../../../src/runs/replay-report.ts';
import { Fact } from '../display/fact.tsx';
import { NumberHead } from '../display/number-head.tsx';
import { columnText, countText, numberText, plural } from '../display/number-text.ts';
import type { Query } from '../navigation/route.ts';
import { rolloutHref, stepText } from '../runs/place.ts';
import { unscoredWords } from '../words/unscored.ts';
import type { ReplayedRun } from './load-run.ts';
import type { SettledFigures } from './settled-pass.ts';

type SettledViewProps = {
  run: ReplayedRun;
  settled: SettledFigures;
  /** Whether the figures are of an earlier setting: they follow when the slider rests. */
  isOlder: boolean;
  /** The settings of the replay, for links. */
  query: Query;
};

export function SettledView({ run, settled: { figures, movers }, isOlder, query }: SettledViewProps) {
  const { tau, advantages, degenerate, gaps, recorded, unscored } = figures;
  const age = isOlder ? ' is-older' : '';
  return (
    <>
      <section class={`card${age}`} aria-label="Differences" aria-busy={isOlder}>
        <header class="card-head">
          <h2>Differences</h2>
          <span class="muted">{isOlder ? OLDER : 'compared with the recorded rewards'}</span>
        </header>
        <dl class="facts is-alone" aria-live="polite">
          <Fact name="rank correlation within groups" text={tau.mean === null ? 'n/a' : numberText(tau.mean)} />
          <Fact name="lowest rank correlation" text={tau.least === null ? 'n/a' : numberText(tau.least)} />
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
      <section class={`card${age}`} aria-label="Largest changes" aria-busy={isOlder}>
        <header class="card-head">
          <h2>Largest changes</h2>
          <span class="muted">{isOlder ? OLDER : 'by rank in the group; 1 is best'}</span>
        </header>
        <Movers run={run} movers={movers} query={query} />
      </section>
    </>
  );
}

const OLDER = 'of an earlier setting; follows when the slider rests';

function Shifts({ components }: { components: SettledFigures['figures']['components'] }) {
  const signed = (value: number | null): string =>
    value === null ? 'n/a' : `${value > 0 ? '+' : ''}${numberText(value)}`;
  return (
    <table>
      <NumberHead of="Component" columns={['Mean', 'Value', 'Contribution']} />
      <tbody>
        {Object.entries(components).map(([name, { mean, value, contribution }]) => (
          <tr key={name}>
            <th scope="row">{name.replaceAll('_', ' ')}</th>
            <td class="number">{mean === null ? 'n/a' : numberText(mean)}</td>
            <td class="number">{signed(value)}</td>
            <td class="number">{signed(contribution)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type MoversProps = { run: ReplayedRun; movers: readonly ReplayMover[]; query: Query };

function Movers({ run, movers, query }: MoversProps) {
  if (movers.length === 0) return <p class="muted pad">No rollout changes its rank in its group.</p>;
  return (
    <div class="scroll-x">
      <table class="list">
        <NumberHead of="Rollout" columns={['Step', 'Rank', 'Reward']} />
        <tbody>
          {movers.map(({ step, group, sample, rank, reward }) => {
            const place = { run: run.id, step: stepText(step), group, sample };
            const words = `${group}, sample ${sample}`;
            return (
              <tr key={`${step} ${group} ${sample}`}>
                <th scope="row" class="place-id">
                  {/* A file may be of a run that this Worker does not have. */}
                  {run.file === null ? <a href={rolloutHref(place, query)}>{words}</a> : words}
                </th>
                <td class="number">{step ?? 'none'}</td>
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
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
