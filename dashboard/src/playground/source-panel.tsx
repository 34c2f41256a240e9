/** The sources: all of them in a list, or those of the claim that is looked at, with the passage that carries it. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Source } from '../../../src/citations/types.ts';
import type { Verification, VerifiedClaim } from '../../../src/citations/verify.ts';
import { numberText, plural } from '../display/number-text.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { type ClaimState, STANDING_NAMES } from './claim-states.ts';
import { sourceMarks } from './source-marks.ts';

type SourcePanelProps = {
  panel: RefObject<HTMLElement | null>;
  verification: Verification;
  sources: readonly Source[];
  states: readonly ClaimState[];
  active: number | null;
  onLeave: () => void;
};

export function SourcePanel({ panel, verification, sources, states, active, onLeave }: SourcePanelProps) {
  const claim = active === null ? undefined : verification.claims[active];
  const state = active === null ? undefined : states[active];
  return (
    <div class="card source-panel">
      <header class="card-head">
        <h2>{claim === undefined ? 'Sources' : `Claim ${claim.index + 1}`}</h2>
        {claim === undefined ? (
          <span class="muted">{plural(sources.length, 'source')}</span>
        ) : (
          <button type="button" class="quiet" onClick={onLeave}>
            All sources
          </button>
        )}
      </header>
      <section
        ref={panel}
        class="source-scroll"
        aria-label={claim === undefined ? 'All sources' : `Sources of claim ${claim.index + 1}`}
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onLeave();
        }}
      >
        {claim === undefined || state === undefined ? (
          <AllSources verification={verification} sources={sources} />
        ) : (
          <ClaimSources panel={panel} claim={claim} state={state} sources={sources} />
        )}
      </section>
    </div>
  );
}

function AllSources({ verification, sources }: { verification: Verification; sources: readonly Source[] }) {
  const uses = new Map<number, number>();
  for (const { ids } of verification.claims) {
    for (const { source } of ids) if (source !== null) uses.set(source, (uses.get(source) ?? 0) + 1);
  }
  if (sources.length === 0) return <p class="muted pad">The tool output holds no tagged source.</p>;
  return (
    <>
      <p class="muted pad hint">
        Point at a claim, or move to it with Tab, to see what it cites. Enter goes to the source.
      </p>
      <ul class="source-list">
        {sources.map(({ id, title, text }, index) => (
          <li key={id}>
            <details>
              <summary>
                <code class="chip">{id}</code>
                <span class="source-title">{title ?? text.slice(0, 80)}</span>
                <span class="muted uses">{uses.has(index) ? `${uses.get(index)}×` : 'not cited'}</span>
              </summary>
              <p class="source-text">{text}</p>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

type ClaimSourcesProps = {
  panel: RefObject<HTMLElement | null>;
  claim: VerifiedClaim;
  state: ClaimState;
  sources: readonly Source[];
};

function ClaimSources({ panel, claim, state, sources }: ClaimSourcesProps) {
  const first = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const scroller = panel.current;
    const mark = first.current;
    if (scroller === null || mark === null) {
      scroller?.scrollTo({ top: 0 });
      return;
    }
    // Of the panel alone: the page stays where it is.
    const offset = mark.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    const wanted = scroller.scrollTop + offset - scroller.clientHeight / 3;
    scroller.scrollTo({ top: offset > 0 && offset < scroller.clientHeight - 48 ? scroller.scrollTop : wanted });
  }, [claim.index, panel]);

  const { evidence } = claim;
  const reasons = claim.findings.map((reason) => FINDING_WORDS[reason].title);
  const marked = evidence?.verbatim[0]?.source ?? evidence?.window?.source;
  return (
    <div class="claim-sources">
      <blockquote class={`claim-quote is-${state.standing}`}>{claim.text === '' ? '(no text)' : claim.text}</blockquote>
      <p class="claim-verdict" aria-live="polite">
        <b class={`tone is-${state.standing}`}>{STANDING_NAMES[state.standing]}</b>
        <span class="muted">
          {state.by === 'words' && evidence !== undefined
            ? `by its words: probability ${numberText(evidence.support, 2)}, ${numberText(evidence.coverage, 2)} of it found`
            : state.text}
        </span>
      </p>
      {reasons.length > 0 && <p class="claim-reasons">{reasons.join(' · ')}</p>}
      {evidence?.negation_mismatch === true && <p class="claim-reasons">One denies what the other says, it seems</p>}
      {claim.ids.map(({ id, source }) => {
        const cited = source === null ? undefined : sources[source];
        if (source === null || cited === undefined) {
          return (
            <article key={id} class="source is-missing">
              <h3>
                <code class="chip chip-bad">{id}</code> No source has this id
              </h3>
            </article>
          );
        }
        const isFirst = source === marked;
        let placed = false;
        return (
          <article key={id} class="source">
            <h3>
              <code class="chip">{id}</code> {cited.title}
            </h3>
            {cited.url !== undefined && <p class="source-url">{cited.url}</p>}
            <p class="source-text">
              {sourceMarks(cited.text.length, source, evidence).map(({ start, end, mark }) => {
                const text = cited.text.slice(start, end);
                if (mark === 'none') return <span key={start}>{text}</span>;
                const here = isFirst && !placed;
                placed = true;
                return (
                  <mark key={start} class={`passage-${mark}`} {...(here ? { ref: first } : {})}>
                    {text}
                  </mark>
                );
              })}
            </p>
          </article>
        );
      })}
    </div>
  );
}
