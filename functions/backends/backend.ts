/**
 * A judge as the deployment runs it: the judge, and how to ask after its health. One file a backend; configured.ts
 * says which ones there are. A model backend is added by writing its file and listing it there.
 */
import type { Judge } from '../../src/judgments/judge.ts';

export type BackendHealth = {
  readonly reachable: boolean;
  /** Reason of the last failure that this isolate saw; holds no caller text. */
  readonly last_error: string | null;
};

export type Backend = {
  readonly judge: Judge;
  /** `caller`: pure CPU, judged in the isolate of the request. `desk`: a paid call that the JudgeDesk runs and counts. */
  readonly runs_in: 'caller' | 'desk';
  /** Calls that the backend takes at once, over the whole deployment; the desks share them. */
  readonly slots: number;
  /** Asks after the backend; never rejects. */
  readonly health: () => Promise<BackendHealth>;
};
