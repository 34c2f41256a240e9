/**
 * The answer with its claims: each one a link to its source, shown on hover and on focus, followed with Enter or a click.
 * The text is put in as text nodes and nothing else, whatever it holds.
 */
import type { Verification } from '../../../src/citations/verify.ts';
import { hrefOf } from '../navigation/route.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { answerSegments, type Piece, type Segment } from './answer-segments.ts';
import { type ClaimState, STANDING_NAMES, STANDINGS, type Standing } from './claim-states.ts';

type AnswerViewProps = {
  response: string;
  verification: Verification;
  states: readonly ClaimState[];
  active: number | null;
  withMarkup: boolean;
  onLook: (claim: number) => void;
  onFollow: (claim: number) => void;
};

export function AnswerView({ response, verification, states, active, withMarkup, onLook, onFollow }: AnswerViewProps) {
  const segments = answerSegments(response.length, verification);
  return (
    <div class={`reading${withMarkup ? ' with-markup' : ''}`}>
      {segments.map((segment) => {
        const key = segment.pieces[0]?.start;
        if (segment.claim === null) return <Plain key={key} response={response} segment={segment} />;
        const claim = verification.claims[segment.claim];
        const state = states[segment.claim];
        if (claim === undefined || state === undefined) return null;
        const number = segment.claim;
        return (
          <a
            key={key}
            id={`claim-${number}`}
            class={`claim is-${state.standing}${active === number ? ' is-active' : ''}`}
            href={hrefOf('playground')}
            aria-label={`Claim ${number + 1}, ${state.text}: ${claim.text}`}
            onMouseEnter={() => onLook(number)}
            onFocus={() => onLook(number)}
            onClick={(event) => {
              event.preventDefault();
              onFollow(number);
            }}
          >
            <Pieces response={response} pieces={segment.pieces} />
            <sup class="ids" aria-hidden="true">
              {claim.ids.map(({ id, source }) => (
                <span key={id} class={source === null ? 'id-invented' : ''}>
                  {id}
                </span>
              ))}
            </sup>
          </a>
        );
      })}
    </div>
  );
}

function Plain({ response, segment }: { response: string; segment: Segment }) {
  return <Pieces response={response} pieces={segment.pieces} />;
}

function Pieces({ response, pieces }: { response: string; pieces: readonly Piece[] }) {
  return pieces.map(({ start, end, kind, flag }) => {
    const text = response.slice(start, end);
    const words = flag === null ? null : FINDING_WORDS[flag].title;
    return (
      <span key={start} class={`piece-${kind}`}>
        {words === null ? (
          text
        ) : (
          <mark class="flagged" title={words}>
            {text}
          </mark>
        )}
      </span>
    );
  });
}

/** What the marks mean, of those that occur. */
export function Legend({ states, uncited }: { states: readonly ClaimState[]; uncited: number }) {
  const counts = new Map<Standing, number>();
  for (const { standing } of states) counts.set(standing, (counts.get(standing) ?? 0) + 1);
  return (
    <ul class="legend">
      {STANDINGS.filter((standing) => counts.has(standing)).map((standing) => (
        <li key={standing}>
          <span class={`swatch is-${standing}`} aria-hidden="true" />
          {STANDING_NAMES[standing]} <b>{counts.get(standing)}</b>
        </li>
      ))}
      {uncited > 0 && (
        <li>
          <span class="swatch is-uncited" aria-hidden="true" />
          Uncited statement <b>{uncited}</b>
        </li>
      )}
    </ul>
  );
}
