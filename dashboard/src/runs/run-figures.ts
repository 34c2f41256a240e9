/** What the list of runs shows of a run beyond its row: recipe, judge, rewards, alerts. Loaded for the runs in view. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isLexicalJudge } from '../../../src/lexical/index.ts';
import type { RunAlertsReply } from '../../../src/wire/alerts-reply.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { callApi, type Reply, runPath } from '../api/call.ts';
import { alertsPath } from './alerts-card.tsx';
import { type Judged, judgesIn, judgesPath } from './judged-by.tsx';

export type RunFigures = {
  readonly recipe: string;
  /** The models that judged the first rollouts; `''` = none did, or the run was imported and does not say. */
  readonly judge: string;
  /** Mean rewards of the first 1,000 steps; `null` = none of a step is scored. */
  readonly means: readonly (number | null)[];
  /** Of all scored rollouts of these steps. */
  readonly mean: number | null;
  readonly rollouts: number;
  /** Rules whose alerts are active; `too_large` = a group has more rollouts than alerts can be computed for. */
  readonly alerts: readonly string[] | 'too_large' | 'failed';
};

export type KnownFigures = ReadonlyMap<string, RunFigures | 'failed'>;

export type ListedFigures = {
  readonly known: KnownFigures;
  /** Asks for the figures of runs; those that are asked for or known are not loaded again. */
  readonly want: (ids: readonly string[]) => void;
};

/** Runs that are loaded at once: each asks the Worker for its steps, a few reports, and its alerts. */
const LOADED_AT_ONCE = 4;

export function useRunFigures(): ListedFigures {
  const [known, setKnown] = useState<KnownFigures>(new Map());
  const work = useRef({
    asked: new Set<string>(),
    waiting: [] as string[],
    running: 0,
    aborter: new AbortController(),
  });
  useEffect(() => () => work.current.aborter.abort(), []);
  const next = (): void => {
    const { waiting, aborter } = work.current;
    while (work.current.running < LOADED_AT_ONCE) {
      const id = waiting.shift();
      if (id === undefined) return;
      work.current.running++;
      loadFigures(id, aborter.signal).then(
        (figures) => {
          work.current.running--;
          setKnown((before) => new Map(before).set(id, figures));
          next();
        },
        (error: unknown) => {
          if (!aborter.signal.aborted) throw error;
        },
      );
    }
  };
  const want = (ids: readonly string[]): void => {
    for (const id of ids) {
      if (work.current.asked.has(id)) continue;
      work.current.asked.add(id);
      work.current.waiting.push(id);
    }
    next();
  };
  return { known, want };
}

/** @throws DOMException (AbortError) when `signal` aborts. */
async function loadFigures(id: string, signal: AbortSignal): Promise<RunFigures | 'failed'> {
  const [detail, judged] = await Promise.all([
    callApi<RunDetail>(`${runPath(id)}?limit=1000`, { signal }),
    callApi<Judged>(judgesPath(id), { signal }),
  ]);
  if (!detail.ok || !judged.ok) return 'failed';
  const alerts = await callApi<RunAlertsReply>(alertsPath(detail.value), { signal });
  const { steps, rollouts, recipes } = detail.value;
  let scored = 0;
  let sum = 0;
  for (const step of steps) {
    if (step.reward.mean === null) continue;
    scored += step.scored;
    sum += step.reward.mean * step.scored;
  }
  return {
    recipe: recipes.map(({ name }) => name ?? 'inline').join(', '),
    judge: judgesIn(judged.value)
      .map((model) => (isLexicalJudge(model) ? 'lexical, not a model' : model))
      .join(', '),
    means: steps.map(({ reward }) => reward.mean),
    mean: scored === 0 ? null : sum / scored,
    rollouts,
    alerts: alertsIn(alerts),
  };
}

function alertsIn(reply: Reply<RunAlertsReply>): RunFigures['alerts'] {
  if (reply.ok) return reply.value.alerts.filter(({ active }) => active).map(({ rule }) => rule);
  const { failure } = reply;
  return failure.kind === 'problem' && failure.problem.reason === 'run_group_too_large' ? 'too_large' : 'failed';
}

/** The rules whose alerts are active; `null` = they are not known. */
export function activeRules(figures: RunFigures | null): readonly string[] | null {
  return figures === null || typeof figures.alerts === 'string' ? null : figures.alerts;
}
