/**
 * The answer with its claims as links: hover or focus shows the sources of a claim, Enter or a click moves to them. All
 * caller text is rendered as text nodes, never as HTML.
 */
import type { Verification } from '../../../src/citations/verify.ts';
import type { Span } from '../../../src/text/span.ts';
import { hrefOf } from '../navigation/route.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { answerSegments, type Flag, type Piece, type Segment } from './answer-segments.ts';
import { type ClaimStatus, lackingIn, SUPPORT_NAMES, SUPPORTS, type Support } from './claim-status.ts';

type AnswerViewProps = {
  response: string;
  verification: Verification;
  states: readonly ClaimStatus[];
  active: number | null;
  withMarkup: boolean;
  onLook: (claim: number) => void;
  onFollow: (claim: number) => void;
};

export function AnswerView({ response, verification, states, active, withMarkup, onLook, onFollow }: AnswerViewProps) {
  const segments = answerSegments(response, verification, lackingIn(states));
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
            class={`claim is-${state.support}${active === number ? ' is-active' : ''}`}
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

type MarkedAnswerProps = Pick<AnswerViewProps, 'response' | 'verification' | 'states'> & {
  /** What the other answer of a comparison lacks. */
  differing?: readonly Span[];
};

/** The answer with its claims marked, to read in a list: nothing in it can be followed. */
export function MarkedAnswer({ response, verification, states, differing }: MarkedAnswerProps) {
  return answerSegments(response, verification, lackingIn(states), differing).map(({ claim, pieces }) => {
    const state = claim === null ? undefined : states[claim];
    const key = pieces[0]?.start;
    if (state === undefined) return <Pieces key={key} response={response} pieces={pieces} />;
    return (
      <span key={key} class={`claim is-${state.support}`} title={state.text}>
        <Pieces response={response} pieces={pieces} />
      </span>
    );
  });
}

function wordsOf(flag: Flag): string {
  return flag === 'words_not_in_source' ? 'The judge finds this in no cited source' : FINDING_WORDS[flag].title;
}

function Plain({ response, segment }: { response: string; segment: Segment }) {
  return <Pieces response={response} pieces={segment.pieces} isTarget />;
}

/** @param isTarget statements have an id and take the focus, so that a page can lead to them. */
function Pieces({ response, pieces, isTarget }: { response: string; pieces: readonly Piece[]; isTarget?: boolean }) {
  return pieces.map(({ start, end, kind, flag, isDifferent }) => {
    const text = response.slice(start, end);
    const words = flag === null ? null : wordsOf(flag);
    const target = isTarget === true && kind === 'statement' ? { id: `statement-${start}`, tabIndex: -1 } : {};
    return (
      <span key={start} class={`piece-${kind}${isDifferent ? ' is-different' : ''}`} {...target}>
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

/** Explains the marks that occur, with counts. */
export function Legend({ states, uncited }: { states: readonly ClaimStatus[]; uncited: number }) {
  const counts = new Map<Support, number>();
  for (const { support } of states) counts.set(support, (counts.get(support) ?? 0) + 1);
  return (
    <ul class="legend">
      {SUPPORTS.filter((support) => counts.has(support)).map((support) => (
        <li key={support}>
          <span class={`swatch is-${support}`} aria-hidden="true" />
          {SUPPORT_NAMES[support]} <b>{counts.get(support)}</b>
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
