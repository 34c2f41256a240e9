/** The result of `POST /v1/score`: reward, components, details, judgments and recipe. */

import type { UnscoredReason } from '../../../src/family/score.ts';
import { isLexicalJudge } from '../../../src/lexical/support-model.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import type { CallFailure } from '../api/call.ts';
import { numberText, percentText, plural } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { StandInBadge } from '../display/stand-in-badge.tsx';
import { UNSCORED_WORDS } from '../words/unscored.ts';
import { ComponentBars } from './component-bars.tsx';

/** `of`: the request as text; identifies the request that a reply belongs to. */
export type Scored =
  | { readonly state: 'none' }
  | { readonly state: 'asking'; readonly of: string }
  | { readonly state: 'failed'; readonly of: string; readonly failure: CallFailure }
  | { readonly state: 'scored'; readonly of: string; readonly reply: ScoreResponse; readonly milliseconds: number };

type ScorePanelProps = { scored: Scored; isStale: boolean; onScore: () => void };

export function ScorePanel({ scored, isStale, onScore }: ScorePanelProps) {
  switch (scored.state) {
    case 'none':
      return (
        <div class="score-empty">
          <p>Not scored yet.</p>
          <p class="muted">
            Citations are verified in the browser as you type. Scoring calls the judge of this deployment and stores its
            judgments.
          </p>
          <button type="button" class="primary" onClick={onScore}>
            Score this rollout
          </button>
        </div>
      );
    case 'asking':
      return (
        <div class="score-empty" role="status">
          <p>Judging…</p>
        </div>
      );
    case 'failed':
      return <ProblemNotice failure={scored.failure} retry={onScore} />;
    case 'scored':
      return (
        <div class={isStale ? 'is-stale' : ''} aria-live="polite">
          {isStale && <p class="stale-note">The rollout was edited after this score.</p>}
          <ScoreReport reply={scored.reply} milliseconds={scored.milliseconds} />
        </div>
      );
  }
}

/** @param milliseconds how long the reply took; `null` = it was recorded earlier. */
export function ScoreReport({ reply, milliseconds }: { reply: ScoreResponse; milliseconds: number | null }) {
  const { reward, reason, components, recipe, judgments, decided_by } = reply;
  const details = Object.entries(reply.details);
  const failed = judgments.filter(({ failure }) => failure !== null);
  return (
    <>
      <RewardFigure reward={reward} reason={reason} range={recipe.reward_range} />
      {judgments.some(({ model }) => isLexicalJudge(model)) && <StandInBadge />}
      {decided_by !== null && decided_by !== 'components' && (
        <p class="decided">
          Decided by <b>{decided_by.replaceAll('_', ' ')}</b>, regardless of the components.
        </p>
      )}
      <ComponentBars components={components} />
      <dl class="facts">
        {details.map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>{detailText(value)}</dd>
          </div>
        ))}
      </dl>
      <details class="made-by">
        <summary>
          {judgments.length === 0 ? 'No judgment was needed' : `Judged by ${judgeNames(judgments)}`}
          <span class="muted">
            {' · '}
            {judgments.every(({ cached }) => cached) && judgments.length > 0 ? 'from the store · ' : ''}
            {milliseconds === null ? 'recorded' : `${numberText(milliseconds, 0)} ms`}
          </span>
        </summary>
        <ul class="judgments">
          {judgments.map(({ kind, key, model, cached, issuer, failure }) => (
            <li key={`${kind} ${key}`}>
              <b>{kind}</b> {model ?? 'no model'} · {cached ? 'from the store' : 'new'}
              {issuer !== null && <span> · signed</span>}
              {failure !== null && <span class="tone is-none"> · {failure.detail}</span>}
              <br />
              <code class="digest">{key ?? 'no key'}</code>
            </li>
          ))}
          <li>
            <b>recipe</b> {recipe.name ?? 'inline'}
            <br />
            <code class="digest">{recipe.digest}</code>
          </li>
        </ul>
      </details>
      {failed.length > 0 && reward !== null && (
        <p class="muted">{plural(failed.length, 'judgment')} failed, but the reward does not depend on it.</p>
      )}
    </>
  );
}

/** Numbers in [0, 1] are shown as percentages, `null` as n/a. */
function detailText(value: string | number | boolean | null): string {
  if (value === null) return 'n/a';
  if (typeof value === 'number') return value >= 0 && value <= 1 ? percentText(value) : numberText(value);
  return String(value);
}

function judgeNames(judgments: ScoreResponse['judgments']): string {
  return [...new Set(judgments.map(({ model }) => model ?? 'no judge'))].join(', ');
}

type RewardFigureProps = {
  reward: number | null;
  reason: UnscoredReason | null;
  range: readonly [number | null, number | null];
};

/** The number over its range, or the reason it is missing: an unscored rollout is never shown as 0. */
export function RewardFigure({ reward, reason, range: [least, most] }: RewardFigureProps) {
  if (reward === null) {
    return (
      <div class="reward is-unscored">
        <p class="reward-value">not scored</p>
        <p class="muted">{reason === null ? 'no reason given' : UNSCORED_WORDS[reason]}</p>
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
