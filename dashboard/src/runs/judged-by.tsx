/** Says on pages of runs that the built-in judge made the rewards. */
import { isLexicalJudge } from '../../../src/lexical/index.ts';
import { runPath } from '../api/call.ts';
import { useApi } from '../api/use-api.ts';
import { StandInBadge } from '../display/stand-in-badge.tsx';
import type { DetailedRollout } from './load-rollout.ts';

/** Rollouts whose reports are read: a group of the usual size. */
const LOOKED_AT = 8;

/**
 * The badge, if the built-in judge judged one of the first rollouts: a panel, a fallback or a change of judge can mix
 * judges. Reports name the judge, and an imported run has none.
 * @param step limits the search to a step; `none` = the rollouts without one.
 */
export function JudgedBy({ run, step }: { run: string; step?: string }) {
  const { loaded } = useApi<Judged>(judgesPath(run, step));
  return loaded.state === 'loaded' && judgesIn(loaded.value).some(isLexicalJudge) ? <StandInBadge /> : null;
}

/** What `judgesPath` answers. */
export type Judged = { readonly rollouts: readonly DetailedRollout[] };

export function judgesPath(run: string, step?: string): string {
  const of = step === undefined ? '' : `&step=${encodeURIComponent(step)}`;
  return `${runPath(run)}/rollouts?limit=${LOOKED_AT}&detail=true${of}`;
}

/** The models that judged the rollouts, each once; none for an imported run, which has no reports. */
export function judgesIn({ rollouts }: Judged): string[] {
  const judgments = rollouts.flatMap(({ detail }) => detail?.report?.judgments ?? []);
  return [...new Set(judgments.map(({ model }) => model).filter((model) => model !== null))];
}
