/** The text of a rollout as a run keeps it, read back: the fields of a rollout as the library takes them. */
import * as z from 'zod';
import type { Rollout } from '../../src/family/rollout.ts';
import { responseFields, rolloutOf, sharedFields } from '../../src/family/rollout-schema.ts';

const storedRolloutSchema = z.strictObject({
  ...sharedFields,
  ...responseFields,
  history: z
    .array(
      z.strictObject({
        role: z.string(),
        content: z.string().exactOptional(),
        reasoning_content: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
});

/** @throws ZodError for a text of another form: nothing is judged that was not sent. */
export function readStoredRollout(stored: unknown): Rollout {
  const { history, ...fields } = storedRolloutSchema.parse(stored);
  return history === undefined ? rolloutOf(fields) : { ...rolloutOf(fields), history };
}
