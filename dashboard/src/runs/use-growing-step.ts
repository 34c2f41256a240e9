/** The rollouts of a step, which are loaded again while the step is recorded. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { runPath } from '../api/call.ts';
import { useApi, usePolling } from '../api/use-api.ts';
import { NO_STEP, stepText } from './place.ts';
import { isActiveRun } from './use-live-run.ts';
import { type StepRollouts, useStepRollouts } from './use-step-rollouts.ts';

export type GrowingStep = Omit<StepRollouts, 'refresh'> & {
  readonly recipes: RunDetail['recipes'];
  /** Rollouts that are recorded and not loaded yet. */
  readonly more: number;
};

const NO_RECIPES: RunDetail['recipes'] = [];

/**
 * Loads the step again whenever it has grown by half, so that all loads together are a few times its length, and once
 * it no longer grows.
 */
export function useGrowingStep(run: string, step: string): GrowingStep {
  const { refresh, ...shown } = useStepRollouts(run, step);
  const { loaded, reload } = useApi<RunDetail>(
    `${runPath(run)}?limit=1${step === NO_STEP ? '' : `&from_step=${step}`}`,
  );
  const described = loaded.state === 'loaded' ? loaded.value : null;
  const recorded = described?.steps.find((one) => stepText(one.step) === step)?.rollouts ?? null;
  const more = shown.state === 'whole' && recorded !== null ? recorded - shown.rollouts.length : 0;
  const seen = useRef<number>(null);
  const refreshedAt = useRef<number>(null);
  useEffect(() => {
    const isSettled = seen.current === recorded;
    seen.current = recorded;
    if (more === 0 || recorded === refreshedAt.current) return;
    if (!isSettled && more < shown.rollouts.length / 2) return;
    if (refresh()) refreshedAt.current = recorded;
  }, [described]);
  usePolling(described !== null && isActiveRun(described), reload, described);
  // The recipes stay the same value while they have the same digests: a replay depends on them.
  const digests = described?.recipes.map(({ digest }) => digest).join();
  const recipes = useMemo(() => described?.recipes ?? NO_RECIPES, [digests]);
  return { ...shown, recipes, more: Math.max(0, more) };
}
