/** Findings as chips with their counts, faults first. The meaning of a chip is text for screen readers too. */
import type { FindingReason } from '../../../src/citations/types.ts';
import { FINDING_WORDS } from '../words/findings.ts';

const ORDER = { fault: 0, warning: 1, note: 2 } as const;

export function FindingChips({ counts }: { counts: Readonly<Partial<Record<FindingReason, number>>> }) {
  const found = FINDING_REASONS.flatMap((reason) => {
    const count = counts[reason] ?? 0;
    return count === 0 ? [] : [{ reason, count, ...FINDING_WORDS[reason] }];
  }).sort((one, other) => ORDER[one.weight] - ORDER[other.weight]);
  if (found.length === 0) return <span class="muted">no findings</span>;
  return (
    <ul class="chips">
      {found.map(({ reason, count, title, weight }) => (
        <li key={reason} class={`finding-chip is-${weight}`}>
          {title}
          {count > 1 && <b> {count}</b>}
        </li>
      ))}
    </ul>
  );
}

const FINDING_REASONS: readonly FindingReason[] = Object.keys(FINDING_WORDS).filter(isReason);

function isReason(name: string): name is FindingReason {
  return Object.hasOwn(FINDING_WORDS, name);
}
