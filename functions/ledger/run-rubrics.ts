/**
 * The evolving rubrics of the runs of a project for the rest of the Worker. The log of a prompt is in the shard of its
 * run that its digest selects (rubric-table.ts). Every method throws StorageError.
 */

import { RequestError } from '../../service/failures.ts';
import type { ObserveAnswer, PromptSummary, StoredPrompt } from '../../service/ledger-port.ts';
import {
  lifeOf,
  type PromptStart,
  type RunLife,
  type StartedPrompt,
  type StoredRun,
} from '../../service/ledger-port.ts';
import type { GroupObservation, HandEdit } from '../../src/rubrics/append.ts';
import { EVOLUTION_PRESETS } from '../../src/rubrics/evolution-rules.ts';
import { askShard, callShard, shardOf, shardsOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION as V } from './ledger-messages.ts';
import type { EditAnswer } from './rubric-messages.ts';
import { beginRun, forgetRun } from './run-list.ts';
import { runPrefix } from './run-objects.ts';
import { type LedgerStores, MAX_LIVES } from './run-recording.ts';

export class RunRubrics {
  readonly #stores: LedgerStores;

  constructor(stores: LedgerStores) {
    this.#stores = stores;
  }

  /** Starts a prompt, and its run if necessary, and opens a visit of it. Idempotent. */
  async start({ run, family, prompt, rules, own, visit, now }: PromptStart): Promise<StartedPrompt> {
    const { db, project, objects, shards } = this.#stores;
    const steps = visit === null ? [] : [visit.step];
    const activity = { project, run, family, store_text: false, steps, now };
    for (let attempt = 1; attempt <= MAX_LIVES; attempt++) {
      const begun = await beginRun(db, activity, shards);
      if (begun.status !== 'begun') return begun;
      const { life, fresh } = begun;
      const shard = shardOf(life, prompt);
      const opening = { v: V, prefix: runPrefix(life), shard, open: fresh };
      const call = { ...opening, prompt, rules, fallback: EVOLUTION_PRESETS.citeward, own, visit };
      const answer = await callShard(objects, life, shard, async (object) => await object.startPrompt(call));
      if (answer.ok) return { status: 'done', answer: answer.value, life };
      // This isolate remembered a run that was deleted meanwhile, or whose shard has not begun.
      forgetRun(db, project, run);
    }
    return { status: 'deleting' };
  }

  /** The log of a prompt; `null` = there is none. @throws RequestError if the run is deleted meanwhile. */
  read(life: RunLife, prompt: string): Promise<StoredPrompt | null> {
    return this.#ask<StoredPrompt | null>(life, prompt, null, async (object) => object.prompt(V, prompt));
  }

  /** Prompts in the order of their digests. @throws RequestError if the run is deleted meanwhile. */
  async list(run: StoredRun, after: string | null, limit: number): Promise<readonly PromptSummary[]> {
    const life = lifeOf(run);
    const pages = await Promise.all(
      shardsOf(life).map((shard) =>
        askShard<PromptSummary[]>(this.#stores.objects, life, shard, [], async (object) =>
          object.prompts(V, after ?? '', limit),
        ),
      ),
    );
    return pages
      .flat()
      .sort((one, other) => (one.prompt < other.prompt ? -1 : 1))
      .slice(0, limit);
  }

  /**
   * Records what a group showed; `null` = there is no such prompt. Idempotent by step and group.
   * @throws RequestError if the run is deleted meanwhile.
   */
  observe(
    life: RunLife,
    prompt: string,
    observation: GroupObservation,
    scoresNext = false,
  ): Promise<ObserveAnswer | null> {
    return this.#ask<ObserveAnswer | null>(life, prompt, null, async (object) =>
      object.observePrompt({ v: V, prompt, observation, scoresNext }),
    );
  }

  /** Edits a prompt; `null` = there is no such prompt. @throws RequestError if the run is deleted meanwhile. */
  edit(run: StoredRun, prompt: string, edit: HandEdit): Promise<EditAnswer | null> {
    return this.#ask<EditAnswer | null>(lifeOf(run), prompt, null, async (object) =>
      object.editPrompt({ v: V, prompt, edit }),
    );
  }

  /**
   * Lets all prompts go back to the end of a step. Idempotent.
   * @returns the number of prompts that changed. @throws RequestError if the run is deleted meanwhile.
   */
  async resume(run: StoredRun, step: number): Promise<number> {
    const life = lifeOf(run);
    const changed = await Promise.all(
      shardsOf(life).map((shard) =>
        askShard(this.#stores.objects, life, shard, 0, async (object) => object.resumePrompts(V, step)),
      ),
    );
    return changed.reduce((sum, count) => sum + count, 0);
  }

  #ask<T>(life: RunLife, prompt: string, empty: T, ask: Parameters<typeof askShard<T>>[4]): Promise<T> {
    return askShard(this.#stores.objects, life, shardOf(life, prompt), empty, ask);
  }
}

/** The place of a started prompt. @throws RequestError if the run is of another family, or is being deleted. */
export function startedPrompt(started: StartedPrompt): Extract<StartedPrompt, { status: 'done' }> {
  switch (started.status) {
    case 'done':
      return started;
    case 'deleting':
      throw new RequestError({ reason: 'ledger_failed', why: 'deleting' });
    case 'family_differs': {
      const message = `the run holds rewards of the family "${started.family}"`;
      throw new RequestError({ reason: 'input_invalid', problems: [{ path: ['family'], message }] });
    }
  }
}
