/** All findings by reason, with links to their places. */
import type { Finding, FindingReason } from '../../../src/citations/types.ts';
import type { Verification } from '../../../src/citations/verify.ts';
import { FINDING_WORDS } from '../words/findings.ts';

type FindingsListProps = {
  verification: Verification;
  response: string;
  onFollow: (claim: number) => void;
};

/** At most this many places are listed per reason, beside the total count. */
const PLACES_SHOWN = 4;
const EXCERPT_CHARS = 90;

export function FindingsList({ verification, response, onFollow }: FindingsListProps) {
  const byReason = new Map<FindingReason, Finding[]>();
  for (const finding of verification.findings) {
    const same = byReason.get(finding.reason);
    if (same === undefined) byReason.set(finding.reason, [finding]);
    else same.push(finding);
  }
  if (byReason.size === 0) return <p class="muted pad">No findings.</p>;
  const order = { fault: 0, warning: 1, note: 2 } as const;
  const reasons = [...byReason].sort(
    ([a], [b]) => order[FINDING_WORDS[a].weight] - order[FINDING_WORDS[b].weight] || a.localeCompare(b),
  );
  return (
    <ul class="findings">
      {reasons.map(([reason, findings]) => {
        const { title, meaning, weight } = FINDING_WORDS[reason];
        const count = verification.finding_counts[reason] ?? findings.length;
        return (
          <li key={reason} class={`finding is-${weight}`}>
            <p class="finding-head">
              <b>{title}</b>
              {count > 1 && <span class="count">{count}</span>}
              <code class="reason">{reason}</code>
            </p>
            <p class="muted">{meaning}</p>
            <ul class="places">
              {findings.slice(0, PLACES_SHOWN).map((finding) => (
                <li key={`${finding.in} ${finding.span.start} ${finding.claim ?? ''}`}>
                  <Place finding={finding} response={response} onFollow={onFollow} />
                </li>
              ))}
              {count > PLACES_SHOWN && <li class="muted">and {count - PLACES_SHOWN} more</li>}
            </ul>
          </li>
        );
      })}
    </ul>
  );
}

type PlaceProps = { finding: Finding; response: string; onFollow: (claim: number) => void };

function Place({ finding, response, onFollow }: PlaceProps) {
  const { claim, span, source } = finding;
  if (finding.in !== 'response') return <span class="muted">source {source === undefined ? '' : source + 1}</span>;
  const text = response.slice(span.start, span.end).replace(/\s+/gu, ' ').trim();
  const excerpt = text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text;
  if (claim === undefined) return excerpt === '' ? null : <q>{excerpt}</q>;
  return (
    <button type="button" class="place" onClick={() => onFollow(claim)}>
      claim {claim + 1} <q>{excerpt}</q>
    </button>
  );
}
