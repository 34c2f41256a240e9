/** What `POST /v1/score` said of the rollout: the reward, its parts, and what made it. */

import type { ScoreResponse } from '../../../src/wire/score.ts';
import type { CallFailure } from '../api/call.ts';
import { ComponentBars } from '../display/component-bars.tsx';
import { numberText, percentText } from '../display/number-text.ts';
import { ProblemNotice } from '../display/problem-notice.tsx';
import { RewardFigure } from '../display/reward-figure.tsx';

/** `of`: the request as text, so that a reply is never shown as that of another one. */
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
            Citations are verified here as you type. A score asks the judge of this deployment, and stores its
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
          {isStale && <p class="stale-note">Edited since: this is the score of the text before.</p>}
          <Score reply={scored.reply} milliseconds={scored.milliseconds} />
        </div>
      );
  }
}

function Score({ reply, milliseconds }: { reply: ScoreResponse; milliseconds: number }) {
  const { reward, reason, components, recipe, judgments, decided_by } = reply;
  const details = Object.entries(reply.details);
  const failed = judgments.filter(({ failure }) => failure !== null);
  return (
    <>
      <RewardFigure reward={reward} reason={reason} range={recipe.reward_range} />
      {decided_by !== null && decided_by !== 'components' && (
        <p class="decided">
          Decided by <b>{decided_by.replaceAll('_', ' ')}</b>, whatever the components say.
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
            {numberText(milliseconds, 0)} ms
          </span>
        </summary>
        <ul class="judgments">
          {judgments.map(({ kind, key, model, cached, issuer, failure }) => (
            <li key={`${kind} ${key}`}>
              <b>{kind}</b> {model ?? 'no model'} · {cached ? 'stored' : 'judged now'}
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
        <p class="muted">{failed.length} judgment that was not needed could not be had.</p>
      )}
    </>
  );
}

/** Shares for the most part; `null` is said, not shown as a number. */
function detailText(value: string | number | boolean | null): string {
  if (value === null) return 'n/a';
  if (typeof value === 'number') return value >= 0 && value <= 1 ? percentText(value) : numberText(value);
  return String(value);
}

function judgeNames(judgments: ScoreResponse['judgments']): string {
  return [...new Set(judgments.map(({ model }) => model ?? 'no judge'))].join(', ');
}
