/** The samples of one group: reward, rank and advantage, recorded and, if the address has settings, replayed. */

import type { RunRollout } from '../../../src/wire/runs.ts';
import { Fact } from '../display/fact.tsx';
import { columnText } from '../display/number-text.ts';
import type { Query } from '../navigation/route.ts';
import type { Replayed } from '../recipe/use-replayed.ts';
import { unscoredWords } from '../words/unscored.ts';
import type { GroupStandings } from './group-standings.ts';
import { type RolloutPlace, rolloutHref } from './place.ts';

type GroupTableProps = {
  /** The sample that is shown. */
  place: RolloutPlace;
  query: Query;
  rows: readonly RunRollout[];
  standings: GroupStandings;
  replayed: Replayed;
};

export function GroupTable({ place, query, rows, standings, replayed }: GroupTableProps) {
  const { mean, std, degenerate } = standings;
  const scores = replayed.state === 'replayed' ? replayed : null;
  return (
    <>
      <dl class="facts is-alone">
        <Fact name="group mean" text={mean === null ? 'n/a' : columnText(mean)} />
        <Fact name="standard deviation" text={std === null ? 'n/a' : columnText(std)} />
        {degenerate !== null && <Fact name="no training signal" text={degenerate} />}
        {scores !== null && <Fact name="replayed with" text={scores.changes} />}
      </dl>
      {replayed.state === 'failed' && (
        <p class="pad field-problem" role="alert">
          Not replayed. {replayed.problem}
        </p>
      )}
      <div class="scroll-x">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Sample</th>
              <th scope="col" class="number">
                Rank
              </th>
              <th scope="col" class="number">
                Reward
              </th>
              <th scope="col" class="number">
                Advantage
              </th>
              {scores !== null && (
                <>
                  <th scope="col" class="number">
                    Replayed
                  </th>
                  <th scope="col" class="number">
                    Advantage
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ group, sample, reward, reason }, position) => {
              const isShown = sample === place.sample;
              const { advantage, rank } = standings.samples[position] ?? { advantage: null, rank: null };
              const other = scores?.scoreOf({ group, sample }) ?? null;
              return (
                <tr key={sample} class={isShown ? 'is-shown' : ''}>
                  <th scope="row" class="place-id">
                    {isShown ? (
                      <b aria-current="true">{sample}</b>
                    ) : (
                      <a href={rolloutHref({ ...place, sample }, query)}>{sample}</a>
                    )}
                  </th>
                  <td class="number">{rank ?? '–'}</td>
                  <td class="number">
                    {reward === null ? (
                      <span class="muted">not scored{reason === null ? '' : `: ${unscoredWords(reason)}`}</span>
                    ) : (
                      <b>{columnText(reward)}</b>
                    )}
                  </td>
                  <td class="number">{advantageText(advantage)}</td>
                  {scores !== null && (
                    <>
                      <td class="number">{other?.reward == null ? 'not scored' : columnText(other.reward)}</td>
                      <td class="number">
                        {other === null ? 'n/a' : advantageText(other.advantage)}
                        {other?.hasFlipped === true && <span class="tag">flipped</span>}
                      </td>
                    </>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** With its sign; `masked`: the trainer leaves the sample out. */
export function advantageText(advantage: number | null): string {
  if (advantage === null) return 'masked';
  return `${advantage > 0 ? '+' : ''}${columnText(advantage)}`;
}
