/** The answer with marked claims, a legend, and citation statistics. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Verification } from '../../../src/citations/verify.ts';
import { percentText } from '../display/number-text.ts';
import { AnswerView, Legend } from './answer-view.tsx';
import type { ClaimStatus } from './claim-status.ts';

type AnswerCardProps = {
  question: string;
  response: string;
  verification: Verification;
  states: readonly ClaimStatus[];
  active: number | null;
  onLook: (claim: number) => void;
  onFollow: (claim: number) => void;
  /** What the page offers for the answer, below it. */
  children?: ComponentChildren;
};

export function AnswerCard(props: AnswerCardProps) {
  const { question, response, verification, states, active, onLook, onFollow, children } = props;
  const [withMarkup, setWithMarkup] = useState(false);
  const { answer, statements, format, ratios } = verification;
  const judged = states.some(({ by }) => by === 'judge');
  const byWords = states.some(({ by }) => by === 'words');
  return (
    <section class="card answer" aria-label="Answer">
      <header class="card-head">
        <h2>Answer</h2>
        <label class="switch">
          <input
            type="checkbox"
            checked={withMarkup}
            onChange={(event) => setWithMarkup(event.currentTarget.checked)}
          />
          Markup
        </label>
      </header>
      {question !== '' && <p class="question">{question}</p>}
      {answer === null && (
        <p class="no-answer">
          No answer: the response has no closed answer block with text. The reward of such a rollout is 0.
        </p>
      )}
      <AnswerView
        response={response}
        verification={verification}
        states={states}
        active={active}
        withMarkup={withMarkup || answer === null}
        onLook={onLook}
        onFollow={onFollow}
      />
      <Legend states={states} uncited={statements.length} />
      <p class="muted basis">
        {judged
          ? 'Support according to the judge.'
          : byWords
            ? 'Support estimated from word overlap; score the rollout for a judgment.'
            : ''}
      </p>
      <dl class="facts">
        <Share name="format" value={format.full} text={format.full === 1 ? 'well formed' : 'broken'} />
        <Share name="cited" value={ratios.cited_share} />
        <Share name="known ids" value={ratios.known_id_share} />
        <Share name="sources used" value={ratios.source_use} />
        <Share name="copied" value={ratios.copied_share ?? null} />
      </dl>
      {children}
    </section>
  );
}

function Share({ name, value, text }: { name: string; value: number | null; text?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text ?? (value === null ? 'n/a' : percentText(value))}</dd>
    </div>
  );
}
