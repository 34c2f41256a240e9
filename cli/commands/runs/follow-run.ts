/** Reads a run again and again, and asks only for what is new: one request a round while nothing is recorded. */
import type { Client } from '../../../clients/typescript/client.ts';
import { advanceRun, lastStepOf } from '../../../src/runs/advance-run.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import { PAGE_SIZE } from '../../shared/paging.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import type { LiveRun } from './live-view.ts';
import { runPages } from './run.ts';

const ANSWERS_SHOWN = 4;

export class FollowedRun {
  readonly #client: Client;
  readonly #id: string;
  readonly #from: number | null;
  /** The run with all its steps since `from`, and what was shown of it. */
  #known: { readonly detail: RunDetail; readonly shown: LiveRun } | null = null;

  /** @param from the first step; `null` = all, with the rollouts that have no step. */
  constructor(client: Client, id: string, from: number | null) {
    this.#client = client;
    this.#id = id;
    this.#from = from;
  }

  /** The run as it is now; the object of the last call if nothing has changed. @throws RunError if the Worker refuses. */
  async read(): Promise<LiveRun> {
    const detail = await this.#detail();
    if (this.#known?.detail === detail) return this.#known.shown;
    const { runs } = this.#client;
    const from = this.#from;
    const last = detail.steps.at(-1)?.step ?? 'none';
    const [watched, answers] = await Promise.all([
      runs.alerts(this.#id, from === null ? {} : { from_step: from }),
      runs.rollouts(this.#id, { step: last, detail: true, limit: ANSWERS_SHOWN }),
    ]);
    if (!watched.ok) throw runErrorOf(watched.failure);
    if (!answers.ok) throw runErrorOf(answers.failure);
    const { title, rollouts, steps } = detail;
    const shown: LiveRun = {
      id: this.#id,
      ...(title === undefined ? {} : { title }),
      rollouts,
      steps,
      alerts: watched.body.alerts,
      answers: answers.body.rollouts,
    };
    this.#known = { detail, shown };
    return shown;
  }

  async #detail(): Promise<RunDetail> {
    const known = this.#known?.detail;
    if (known === undefined) return this.#whole();
    const first = this.#from ?? 0;
    const query = { limit: PAGE_SIZE, from_step: lastStepOf(known, first) };
    const page = await this.#client.runs.retrieve(this.#id, query);
    if (!page.ok) throw runErrorOf(page.failure);
    return advanceRun(known, page.body, first) ?? this.#whole();
  }

  async #whole(): Promise<RunDetail> {
    const steps: RunDetail['steps'] = [];
    let last: RunDetail | null = null;
    for await (const page of runPages(this.#client.runs, this.#id, this.#from)) {
      last = page;
      steps.push(...page.steps);
    }
    if (last === null) throw new Error('a run has at least one page');
    return { ...last, steps };
  }
}
