/**
 * The place of a trainer's sample in a run: what the label says, what the trainer sends, and what has to be inferred.
 * A label may carry `run`, the id of a run as text or any of `id`, `step`, `group`, `sample` and `split`.
 */
import * as z from 'zod';
import { digestJson } from '../../digest.ts';
import { MAX_GROUP } from '../../limits.ts';
import { runIdSchema, stepSchema } from '../../runs/row.ts';
import { runPlaceIdSchema } from '../score.ts';

/** Rollouts of every split but this one go to a run of their own. */
const TRAINING = 'train';
/** Evaluation is recorded apart from training, in `NAME-eval`. */
const EVALUATION_SUFFIX = '-eval';

export const labelRunSchema = z
  .union([
    runIdSchema,
    z.strictObject({
      id: runIdSchema.exactOptional(),
      step: stepSchema.exactOptional(),
      group: runPlaceIdSchema.exactOptional(),
      sample: runPlaceIdSchema.exactOptional(),
      split: z
        .string()
        .min(1)
        .max(64)
        .exactOptional()
        .describe('Any name but train is evaluation, which is recorded in the run NAME-eval.'),
    }),
  ])
  .describe('The place of the sample in a run, as far as your code or your data set knows it.');

type LabelRun = z.infer<typeof labelRunSchema>;

export const groupSizeSchema = z.coerce
  .number()
  .pipe(z.int().min(1).max(MAX_GROUP))
  .meta({
    ...{ type: 'integer', minimum: 1, maximum: MAX_GROUP },
    description:
      'With run: samples of each prompt in a step. It tells the epochs of a prompt apart; required if the trainer ' +
      'sends no ids.',
  });

/** What is known of a sample's place before it is recorded. */
export type WantedPlace = {
  readonly run: string;
  readonly step: number | null;
  /** The id of the group, or of its prompt if the visits of the prompt have to be told apart. */
  readonly group: string;
  /** `null` = unknown; the sample gets a random id. */
  readonly sample: string | null;
  /**
   * Whether `group` names a prompt that the trainer visits once an epoch, with the same name each time. Its visits are
   * numbered by what the ledger holds.
   */
  readonly isVisited: boolean;
  readonly grouping: 'given' | 'inferred';
};

/** What a trainer tells beside the label. */
export type KnownPlace = {
  readonly split?: string;
  /** The number of the sample within its group. */
  readonly sample?: string | number;
  /** What all samples of the group share. */
  readonly prompt: unknown;
};

/** The place of a sample; `null` = neither the query nor the label names a run. */
export function wantedPlace(
  named: string | undefined,
  told: LabelRun | undefined,
  known: KnownPlace,
): WantedPlace | null {
  const label = typeof told === 'string' ? { id: told } : (told ?? {});
  const id = label.id ?? named;
  if (id === undefined) return null;
  const { step = null, group, split = known.split ?? TRAINING } = label;
  const sample = label.sample ?? known.sample;
  const isGiven = group !== undefined && (step !== null || label.sample !== undefined);
  return {
    run: split === TRAINING ? id : `${id}${EVALUATION_SUFFIX}`,
    step,
    group: group === undefined ? digestOf(known.prompt) : String(group),
    sample: sample === undefined ? null : String(sample),
    // Within a step a prompt is visited once, and a label that names group and sample is of this very rollout.
    isVisited: step === null && !isGiven,
    grouping: isGiven ? 'given' : 'inferred',
  };
}

function digestOf(prompt: unknown): string {
  return digestJson(withoutInfinities(prompt));
}

/**
 * Rows may hold numbers beyond the range of a double, which JSON.parse reads as infinite. They have no canonical form.
 */
function withoutInfinities(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(withoutInfinities);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutInfinities(member)]));
}

/** The latest visit of a prompt in the ledger. */
export type PromptVisit = {
  readonly number: number;
  /** Number of different samples. */
  readonly samples: number;
  /** Time of its latest recording, in milliseconds since 1970. */
  readonly recorded_at: number;
  /** What the visit has recorded under the sample's own id: nothing, this content, or other content. */
  readonly own: 'absent' | 'equal' | 'different';
  /** For a sample without an id: the unscored sample of the visit with the same content, which a retry scores. */
  readonly unscored: string | null;
};

/** After this time without a sample, the next sample of a prompt begins another visit. */
const VISIT_PAUSE_MS = 10 * 60 * 1000;

/**
 * The number of the visit to which a sample belongs: the latest one, or the next if the latest has all its samples, has
 * another sample with the same id, or paused for 10 minutes.
 *
 * @param groupSize samples of a prompt in a step; `null` = unknown, because the samples have ids.
 */
export function visitOf(latest: PromptVisit | null, groupSize: number | null, now: number): number {
  if (latest === null) return 0;
  // The trainer repeats a request whose reply was lost, or that had no reward.
  if (latest.own === 'equal' || latest.unscored !== null) return latest.number;
  const isFull = groupSize !== null && latest.samples >= groupSize;
  const isOver = now - latest.recorded_at > VISIT_PAUSE_MS;
  return isFull || isOver || latest.own === 'different' ? latest.number + 1 : latest.number;
}

const VISIT_DIGITS = 6;

/** The id of the group of one visit. The ids of a prompt are in the order of its visits. */
export function visitId(prompt: string, visit: number): string {
  return `${prompt}.${String(visit).padStart(VISIT_DIGITS, '0')}`;
}
