/**
 * A judge as the deployment runs it: the judge, and how to ask after its health. configured.ts says which ones there are.
 * A kind of model backend is added by writing its folder, its schema in settings.ts and its case in model-judge.ts.
 */
import type { Judge } from '../../src/judgments/judge.ts';

/** How a way to a model is, as far as can be told without a paid call. */
export type RouteHealth = {
  readonly name: string;
  /** It answers, as what it should be, and lets us in. */
  readonly reachable: boolean;
  /** Whether the configured model is served; `null` = nobody could say. */
  readonly model_present: boolean | null;
  /** Reason of the last failure that this isolate saw; holds no caller text. */
  readonly last_error: string | null;
};

export type BackendHealth = Omit<RouteHealth, 'name'> & {
  /** The backends behind the judge, in the order they are tried; empty where the judge is its own. */
  readonly routes: readonly RouteHealth[];
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
