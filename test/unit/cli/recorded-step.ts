/** A step of a run, as the Worker describes it. */
import type { RunStep } from '../../../src/runs/summary.ts';

export const STEP: RunStep = {
  step: 300,
  groups: 2,
  rollouts: 16,
  scored: 15,
  reward: { mean: 6.5, min: 0, max: 9, std: null },
  components: { rubric: { rollouts: 15, mean: 0.75 }, citation: { rollouts: 0, mean: null } },
  spread: { groups: 2, mean_std: 0.5 },
  degenerate: { groups: 0, share: 0, reasons: {} },
  unscored: { judge_timeout: 1 },
  judge_failures: 1,
  judgments: { had: 32, cached: 8, hit_rate: 0.25 },
  inferred: 0,
  claims: { rollouts: 15, mean: 4.5 },
  citations: { rollouts: 0, mean: null },
  lengths: { chars: { rollouts: 16, mean: 900 }, tokens: { rollouts: 0, mean: null } },
  findings: { rollouts: 16, reasons: { citation_id_unknown: 4 }, shares: { citation_id_unknown: 0.125 } },
  criteria: { positive_1: { rollouts: 15, pass_rate: 0.6 } },
};
