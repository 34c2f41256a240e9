/** A reward as a figure: the number over its range, or why there is none. It is never shown as zero for want of a number. */
import type { UnscoredReason } from '../../../src/family/score.ts';
import { UNSCORED_WORDS } from '../words/unscored.ts';
import { numberText } from './number-text.ts';

type RewardFigureProps = {
  reward: number | null;
  reason: UnscoredReason | null;
  range: readonly [number | null, number | null];
};

export function RewardFigure({ reward, reason, range: [least, most] }: RewardFigureProps) {
  if (reward === null) {
    return (
      <div class="reward is-unscored">
        <p class="reward-value">not scored</p>
        <p class="muted">{reason === null ? 'the reason was not given' : UNSCORED_WORDS[reason]}</p>
      </div>
    );
  }
  const from = least ?? Math.min(reward, 0);
  const to = most ?? Math.max(reward, 1);
  const share = to > from ? (reward - from) / (to - from) : 0;
  return (
    <div class="reward">
      <p class="reward-value">
        {numberText(reward)}
        <span class="reward-range">
          {most === null ? '' : ` of ${numberText(most)}`}
          {least !== null && least !== 0 ? `, at least ${numberText(least)}` : ''}
        </span>
      </p>
      <div class="meter" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </div>
    </div>
  );
}
