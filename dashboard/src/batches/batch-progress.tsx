/** Status and progress of a batch. */
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { countText } from '../display/number-text.ts';

export const RUNNING: ReadonlySet<BatchReply['status']> = new Set([
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
]);

const TONES: Readonly<Record<BatchReply['status'], string>> = {
  validating: 'unknown',
  in_progress: 'running',
  finalizing: 'running',
  completed: 'full',
  failed: 'none',
  expired: 'none',
  cancelling: 'partial',
  cancelled: 'partial',
};

/** A completed batch with failed lines is not shown as a success. */
export function StatusTag({ batch: { status, request_counts } }: { batch: BatchReply }) {
  const { failed } = request_counts;
  const words = status.replaceAll('_', ' ');
  if (failed === 0) return <span class={`status is-${TONES[status]}`}>{words}</span>;
  const tone = status === 'completed' ? 'partial' : TONES[status];
  return (
    <span class={`status is-${tone}`}>
      {words}, {countText(failed)} failed
    </span>
  );
}

export function BatchProgress({ batch: { request_counts } }: { batch: BatchReply }) {
  const { total, completed, failed } = request_counts;
  const share = (count: number): string => (total === 0 ? '0%' : `${(count / total) * 100}%`);
  return (
    <div class="progress">
      <div class="progress-bar" aria-hidden="true">
        <span class="is-done" style={{ width: share(completed) }} />
        <span class="is-failed" style={{ width: share(failed) }} />
      </div>
      <p>
        {countText(completed)} of {countText(total)}
        {failed > 0 && <span class="tone is-none"> · {countText(failed)} failed</span>}
      </p>
    </div>
  );
}
