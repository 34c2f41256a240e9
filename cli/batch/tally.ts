/** Counting the results of a batch while they go by: what its summary says. */
import * as z from 'zod';
import { countText, durationText } from '../output/progress.ts';
import type { ResultLine } from './result-lines.ts';

/** What of a reply is a reward: of a score one, of a group one a sample, of a verification none. */
const rewardSchema = z.number().nullable();
const scoredSchema = z.looseObject({ reward: rewardSchema, reason: z.string().nullable() });
const groupSchema = z.looseObject({ rewards: z.array(rewardSchema), members: z.array(scoredSchema) });

export class BatchTally {
  #done = 0;
  #scored = 0;
  #sum = 0;
  readonly #unscored = new Map<string, number>();
  readonly #failed = new Map<string, number>();

  add({ response, error }: Pick<ResultLine, 'response' | 'error'>): void {
    if (error !== null || response === null) {
      count(this.#failed, error?.code ?? 'unknown');
      return;
    }
    this.#done++;
    const group = groupSchema.safeParse(response.body);
    const single = group.success ? null : scoredSchema.safeParse(response.body);
    const members = group.success ? group.data.members : single?.success === true ? [single.data] : [];
    for (const { reward, reason } of members) {
      if (reward === null) count(this.#unscored, reason ?? 'unknown');
      else {
        this.#scored++;
        this.#sum += reward;
      }
    }
  }

  /** Lines with a reply. */
  get done(): number {
    return this.#done;
  }

  /** Lines without one. */
  get failed(): number {
    return [...this.#failed.values()].reduce((sum, one) => sum + one, 0);
  }

  /** `19 lines · 17 done · mean reward 6.412 · failed: 2 input_invalid · 3.2 s` @param seconds `null` = not said. */
  summary(seconds: number | null): string {
    const lines = this.#done + this.failed;
    const parts = [`${countText(lines)} ${lines === 1 ? 'line' : 'lines'}`, `${countText(this.#done)} done`];
    if (this.#scored > 0) parts.push(`mean reward ${(this.#sum / this.#scored).toFixed(3)}`);
    if (this.#unscored.size > 0) parts.push(`unscored: ${reasonsText(this.#unscored)}`);
    if (this.#failed.size > 0) parts.push(`failed: ${reasonsText(this.#failed)}`);
    if (seconds !== null) parts.push(durationText(seconds));
    return parts.join(' · ');
  }
}

function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

/** The most frequent first. */
function reasonsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, times]) => `${countText(times)} ${reason}`).join(', ');
}
