/** The rollouts of two runs whose rewards differ most, with links to both. */
import { useMemo, useState } from 'preact/hooks';
import { Fact } from '../display/fact.tsx';
import { columnText, countText } from '../display/number-text.ts';
import type { Query } from '../navigation/route.ts';
import { AnswerPair } from '../runs/answer-pair.tsx';
import { rolloutHref, stepText } from '../runs/place.ts';
import { type RewardChange, rewardChanges, type Side } from './compared-runs.ts';

type ChangesCardProps = {
  /** Ids of the runs. */
  a: string;
  b: string;
  /** The settings under which B is replayed. */
  settings: Query;
  sides: { readonly a: Side; readonly b: Side };
};

const ORDERS = { size: 'Largest differences', gain: 'B higher', loss: 'B lower' } as const;
type Order = keyof typeof ORDERS;
const ORDER_NAMES: readonly Order[] = ['size', 'gain', 'loss'];

const ROWS_AT_ONCE = 50;
const COLUMNS = 6;

export function ChangesCard({ a, b, settings, sides }: ChangesCardProps) {
  const { changes, onlyA, onlyB, unscored } = useMemo(() => rewardChanges(sides.a, sides.b), [sides]);
  const [order, setOrder] = useState<Order>('size');
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const listed = useMemo(() => inOrder(changes, order), [changes, order]);
  const mean = changes.reduce((sum, { change }) => sum + change, 0) / changes.length;
  return (
    <section class="card" aria-label="Rollouts of both">
      <header class="card-head">
        <h2>Rollouts of both</h2>
        <label class="inline-field">
          <span>Show</span>
          <select
            value={order}
            onChange={(event) => setOrder(ORDER_NAMES.find((name) => name === event.currentTarget.value) ?? 'size')}
          >
            {ORDER_NAMES.map((name) => (
              <option key={name} value={name}>
                {ORDERS[name]}
              </option>
            ))}
          </select>
        </label>
      </header>
      <dl class="facts is-alone">
        <Fact name="compared" text={countText(changes.length)} />
        <Fact name="mean of B − A" text={changes.length === 0 ? 'n/a' : signedText(mean)} />
        <Fact name="B higher" text={countText(changes.filter(({ change }) => change > 0).length)} />
        <Fact name="B lower" text={countText(changes.filter(({ change }) => change < 0).length)} />
        <Fact name="equal" text={countText(changes.filter(({ change }) => change === 0).length)} />
        {unscored > 0 && <Fact name="not scored in one" text={countText(unscored)} />}
        {onlyA > 0 && <Fact name="only in A" text={countText(onlyA)} />}
        {onlyB > 0 && <Fact name="only in B" text={countText(onlyB)} />}
      </dl>
      {listed.length === 0 ? (
        <p class="muted pad">
          {changes.length === 0 ? 'No rollout has the same step, group and sample in both.' : 'No reward differs.'}
        </p>
      ) : (
        <div class="scroll-x">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Rollout</th>
                {['Step', 'A', 'B', 'B − A'].map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
                <th scope="col">Answers</th>
              </tr>
            </thead>
            <tbody>
              {listed.slice(0, most).map((one) => (
                <Change
                  key={JSON.stringify([one.step, one.group, one.sample])}
                  a={a}
                  b={b}
                  settings={settings}
                  one={one}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {listed.length > most && (
        <p class="pad">
          <button type="button" onClick={() => setMost(most + ROWS_AT_ONCE)}>
            Show more of {countText(listed.length)}
          </button>
        </p>
      )}
    </section>
  );
}

function Change({ a, b, settings, one }: Pick<ChangesCardProps, 'a' | 'b' | 'settings'> & { one: RewardChange }) {
  const { step, group, sample, change } = one;
  const place = { step: stepText(step), group, sample };
  const words = `${group}, sample ${sample}`;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <th scope="row" class="place-id">
          {words}
        </th>
        <td class="number">{step ?? 'none'}</td>
        <td class="number">
          <a href={rolloutHref({ run: a, ...place })} aria-label={`${columnText(one.a)}: ${words} of A`}>
            {columnText(one.a)}
          </a>
        </td>
        <td class="number">
          <a href={rolloutHref({ run: b, ...place }, settings)} aria-label={`${columnText(one.b)}: ${words} of B`}>
            {columnText(one.b)}
          </a>
        </td>
        <td class="number">
          <b>{signedText(change)}</b>
        </td>
        <td>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`Side by side: ${words}`}
            onClick={() => setOpen(!isOpen)}
          >
            Side by side
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr class="answer-row">
          <td colSpan={COLUMNS}>
            <div class="pair">
              <AnswerPair
                sides={[
                  { title: 'A', place: { run: a, ...place }, reward: one.a },
                  { title: 'B', place: { run: b, ...place }, reward: one.b },
                ]}
              />
            </div>
          </td>
        </tr>
      )}
    </>
  );
}

function inOrder(changes: readonly RewardChange[], order: Order): RewardChange[] {
  switch (order) {
    case 'size':
      return changes
        .filter(({ change }) => change !== 0)
        .sort((one, other) => Math.abs(other.change) - Math.abs(one.change));
    case 'gain':
      return changes.filter(({ change }) => change > 0).sort((one, other) => other.change - one.change);
    case 'loss':
      return changes.filter(({ change }) => change < 0).sort((one, other) => one.change - other.change);
  }
}

function signedText(value: number): string {
  const text = columnText(value);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}
