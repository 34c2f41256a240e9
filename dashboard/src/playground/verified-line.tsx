/** What the verification finds, in a line that stays in view while the rollout is edited. */
import type { FindingReason } from '../../../src/citations/types.ts';
import { countText, plural } from '../display/number-text.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import type { ClaimStatus } from './claim-status.ts';
import type { DraftVerification } from './draft.ts';

export function VerifiedLine({
  verified,
  statuses,
}: {
  verified: DraftVerification;
  statuses: readonly ClaimStatus[];
}) {
  return (
    <p class="verified-line" role="status">
      {verified.ok ? outcome(verified, statuses) : 'Larger than the API accepts.'}
    </p>
  );
}

/** `3 claims, 2 supported · Invented source, Number in no cited source 2`. Notes are left out. */
function outcome({ verification }: Extract<DraftVerification, { ok: true }>, statuses: readonly ClaimStatus[]): string {
  const counts = new Map<FindingReason, number>();
  for (const { reason } of verification.findings) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const faults = [...counts]
    .filter(([reason]) => FINDING_WORDS[reason].weight !== 'note')
    .map(([reason, count]) => `${FINDING_WORDS[reason].title}${count > 1 ? ` ${countText(count)}` : ''}`);
  const supported = statuses.filter(({ support }) => support === 'full').length;
  const claims = `${plural(verification.claims.length, 'claim')}, ${countText(supported)} supported`;
  return `${claims} · ${faults.length === 0 ? 'no faults' : faults.join(', ')}`;
}
