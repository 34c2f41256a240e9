/** What goes wrong with the replay of a run, as problems. Its part of functions/http/errors.ts. */
import { MAX_RUN_GROUP } from '../../src/limits.ts';
import type { MissingMeasures } from '../../src/runs/replay-lines.ts';
import type { Wire } from './errors.ts';

export type ReplayFailure =
  /** The other recipe reads what nobody observed. `can_fill`: the text of the run is kept. */
  | { readonly reason: 'measurement_missing'; readonly missing: MissingMeasures; readonly can_fill: boolean }
  /** Something should be judged, and the text that it would be judged from was not kept. */
  | { readonly reason: 'text_not_kept'; readonly missing: MissingMeasures | null }
  /** It was deleted while it was read: what was sent so far is not the run. */
  | { readonly reason: 'run_gone' }
  | { readonly reason: 'run_group_too_large' };

export function wireOfReplayFailure(failure: ReplayFailure): Wire {
  const { reason } = failure;
  switch (reason) {
    case 'measurement_missing': {
      const way = failure.can_fill
        ? 'With "fill": true they are judged.'
        : 'The text of this run was not kept (store_text), so they cannot be judged here: score the rollouts again.';
      return {
        reason,
        status: 409,
        title: 'Measurements missing',
        detail: `The recipe reads what nobody observed: ${missingText(failure.missing)}. ${way}`,
        extra: { unobserved: { ...failure.missing.missing } },
      };
    }
    case 'text_not_kept':
      return {
        reason,
        status: 409,
        title: 'The text was not kept',
        detail:
          'The text of this run was not kept (store_text), so nothing can be judged from it' +
          `${failure.missing === null ? '' : `: ${missingText(failure.missing)}`}. Score the rollouts again.`,
        extra: failure.missing === null ? {} : { unobserved: { ...failure.missing.missing } },
      };
    case 'run_gone':
      return {
        reason,
        status: 409,
        title: 'The run was deleted',
        detail: 'The run was deleted while it was read: what was sent so far is not the whole of it.',
      };
    case 'run_group_too_large':
      return {
        reason,
        status: 409,
        title: 'Group too large',
        detail: `A group of the run has more than ${MAX_RUN_GROUP} rollouts, which cannot be normalised at once.`,
      };
  }
}

/** Names are fields of recipes and requests, as this API defines them. */
function missingText({ rollouts, open, missing }: MissingMeasures): string {
  const named = Object.entries(missing).map(([name, count]) => `${name} in ${count}`);
  return `${named.join(', ')} (${open} of ${rollouts} rollouts)`;
}
