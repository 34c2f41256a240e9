/** The criteria of a score: text, polarity, weight and verdict. */
import type { ScoreResponse } from '../../../src/wire/score.ts';
import { numberText } from '../display/number-text.ts';

type Criteria = Extract<ScoreResponse, { criteria: unknown }>['criteria'];

const VERDICTS = ['not met', 'partly met', 'met'] as const;

/** @param reasons why the judge gave each verdict, by the index of the criterion: text that no one has checked. */
export function CriteriaTable({ criteria, reasons }: { criteria: Criteria; reasons?: ReadonlyMap<number, string> }) {
  if (criteria.length === 0) return <p class="muted pad">No criteria were judged.</p>;
  return (
    <div class="scroll-x">
      <table class="criteria">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">Polarity</th>
            <th scope="col" class="number">
              Weight
            </th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {criteria.map((criterion, index) => {
            const { key, title, description, weight, score } = criterion;
            const negative = 'polarity' in criterion ? criterion.polarity === 'negative' : weight < 0;
            const reason = reasons?.get(index);
            const origin = 'origin' in criterion && criterion.origin === 'static' ? 'static' : null;
            return (
              <tr key={key} id={`criterion-${index}`} tabIndex={-1}>
                <td>
                  {title !== undefined && <b>{title} </b>}
                  {/* A run that keeps no text keeps the keys only. */}
                  {description ?? <code>{key}</code>}
                  {origin !== null && <span class="tag">{origin}</span>}
                  {reason !== undefined && <p class="reason muted">Judge: {reason}</p>}
                </td>
                <td>{negative ? 'negative' : 'positive'}</td>
                <td class="number">{numberText(weight)}</td>
                <td class="row-name">
                  {score === null ? (
                    <span class="muted">not judged</span>
                  ) : (
                    <span class={`tone is-${toneOf(score, negative)}`}>
                      {VERDICTS[levelOf(score)]} <span class="muted">{numberText(score)}/2</span>
                    </span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** `met 2/2`, or that there is none. */
export function verdictText(score: number | null): string {
  return score === null ? 'not judged' : `${VERDICTS[levelOf(score)]} ${numberText(score)}/2`;
}

/** The level of a verdict. The mean of several judges can be between the levels; it is partly met. */
function levelOf(score: number): 0 | 1 | 2 {
  if (score === 0) return 0;
  return score === 2 ? 2 : 1;
}

function toneOf(score: number, negative: boolean): 'full' | 'partial' | 'none' {
  const level = levelOf(score);
  if (level === 1) return 'partial';
  return (level === 2) !== negative ? 'full' : 'none';
}
