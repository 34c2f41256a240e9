/** The sources: a list of all, or those of the active claim with the supporting passage marked. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Source } from '../../../src/citations/types.ts';
import type { LexicalEvidence, Verification, VerifiedClaim } from '../../../src/citations/verify.ts';
import type { Span } from '../../../src/text/span.ts';
import { numberText, plural } from '../display/number-text.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { type ClaimStatus, SUPPORT_NAMES } from './claim-status.ts';

type SourcePanelProps = {
  panel: RefObject<HTMLElement | null>;
  verification: Verification;
  sources: readonly Source[];
  states: readonly ClaimStatus[];
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
  if (sources.length === 0) return <p class="muted pad">The tool output contains no tagged sources.</p>;
  return (
    <>
      <p class="muted pad hint">
        Hover over a claim, or focus it with Tab, to see its sources. Press Enter to move to them.
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
  state: ClaimStatus;
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
    // Scrolls the panel only, not the page.
    const offset = mark.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    const wanted = scroller.scrollTop + offset - scroller.clientHeight / 3;
    scroller.scrollTo({ top: offset > 0 && offset < scroller.clientHeight - 48 ? scroller.scrollTop : wanted });
  }, [claim.index, panel]);

  const { evidence } = claim;
  const reasons = claim.findings.map((reason) => FINDING_WORDS[reason].title);
  const marked = evidence?.verbatim[0]?.source ?? evidence?.window?.source;
  return (
    <div class="claim-sources">
      <blockquote class={`claim-quote is-${state.support}`}>{claim.text === '' ? '(no text)' : claim.text}</blockquote>
      <p class="claim-verdict" aria-live="polite">
        <b class={`tone is-${state.support}`}>{SUPPORT_NAMES[state.support]}</b>
        <span class="muted">
          {state.by === 'words' && evidence !== undefined
            ? `estimated from word overlap: support probability ${numberText(evidence.support, 2)}, word coverage ${numberText(evidence.coverage, 2)}`
            : state.text}
        </span>
      </p>
      {reasons.length > 0 && <p class="claim-reasons">{reasons.join(' · ')}</p>}
      {evidence?.negation_mismatch === true && (
        <p class="claim-reasons">Claim and source seem to contradict each other: only one is negated</p>
      )}
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

type MarkedPiece = Span & { readonly mark: 'none' | 'closest' | 'copied' };

/** Splits a source text into marked and unmarked pieces, in order and without gaps. */
function sourceMarks(length: number, source: number, evidence: LexicalEvidence | undefined): MarkedPiece[] {
  const marks: MarkedPiece[] = (evidence?.verbatim ?? [])
    .filter((span) => span.source === source)
    .map(({ start, end }) => ({ start, end, mark: 'copied' }));
  const window = evidence?.window ?? null;
  // A copied passage takes precedence over the closest one.
  if (marks.length === 0 && window?.source === source) {
    marks.push({ start: window.start, end: window.end, mark: 'closest' });
  }
  marks.sort((a, b) => a.start - b.start);
  const pieces: MarkedPiece[] = [];
  let at = 0;
  for (const { start, end, mark } of marks) {
    if (end <= at) continue;
    if (start > at) pieces.push({ start: at, end: start, mark: 'none' });
    pieces.push({ start: Math.max(start, at), end, mark });
    at = end;
  }
  if (at < length) pieces.push({ start: at, end: length, mark: 'none' });
  return pieces;
}
