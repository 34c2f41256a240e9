/** Finds the latest visit of a prompt in a run, for trainers that send no ids of groups. */
import { type PromptVisit, visitId } from '../../src/wire/adapters/run-place.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';
import { NO_STEP } from './run-rows.ts';

/** The prompt and the sample that is to be recorded. */
export type VisitedPrompt = {
  readonly run: string;
  readonly prompt: string;
  /** The sample's own id; `null` = it has none. */
  readonly sample: string | null;
  /** Digest of the sample's content. */
  readonly content: string;
};

/** Reads the latest visit; `null` = the run has none of this prompt. Reads the rows of this prompt only. */
export async function latestVisit(db: D1Database, prompt: VisitedPrompt): Promise<PromptVisit | null> {
  const first = visitId(prompt.prompt, 0);
  // The ids of visits end in digits, and ":" is the character after "9".
  const end = `${prompt.prompt}.:`;
  const row = await stored('d1', 'run_visits', async () => {
    const ready = await database(db);
    return ready
      .prepare(
        `SELECT group_id, count(DISTINCT sample) AS samples, max(recorded_at) AS recorded_at,
           max(sample = ?5 AND content = ?6) AS equal, max(sample = ?5) AS there
         FROM rollouts WHERE run = ?1 AND step = ?2 AND group_id >= ?3 AND group_id < ?4
         GROUP BY group_id ORDER BY group_id DESC LIMIT 1`,
      )
      .bind(prompt.run, NO_STEP, first, end, prompt.sample ?? '', prompt.content)
      .first<{ group_id: string; samples: number; recorded_at: string; equal: number; there: number }>();
  });
  if (row === null) return null;
  const isThere = prompt.sample !== null && row.there === 1;
  return {
    number: Number(row.group_id.slice(prompt.prompt.length + 1)),
    samples: row.samples,
    recorded_at: Date.parse(row.recorded_at),
    own: !isThere ? 'absent' : row.equal === 1 ? 'equal' : 'different',
  };
}
