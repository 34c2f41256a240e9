/** A row of training data as a probe reads it: the prompt with its sources and criteria, and samples of a policy. */
import type { BuiltInTypes } from '../families/registry.ts';
import type { Family } from '../family/family.ts';
import { sourcesOfRollout } from '../family/requirements.ts';
import type { Rollout, RolloutSources } from '../family/rollout.ts';

/** The fields that all samples of a row share. */
export type Prompt = Omit<Rollout, 'response'>;

export type ProbeRow = {
  /** The caller's id of the row; `null` = it has none. */
  readonly id: string | number | null;
  readonly prompt: Prompt;
  /** What a policy answered, with what the caller knows of it; empty = nothing is known. */
  readonly samples: readonly PolicySample[];
};

/** `outcome`: whether the sample is right, or how good it is, by a measure of the caller; `null` = not known. */
export type PolicySample = { readonly rollout: Rollout; readonly outcome: number | null };

/** The sources of a row. Rows whose samples are conversations have them in the tool results of the first sample. */
export function originOfRow({ prompt, samples }: ProbeRow): RolloutSources | null {
  const [first] = samples;
  return (
    sourcesOfRollout({ ...prompt, response: '' }) ?? (first === undefined ? null : sourcesOfRollout(first.rollout))
  );
}

/** The texts of the row's own positive criteria. */
export function ownCriteria({ rubric }: Family<BuiltInTypes>, { prompt }: ProbeRow): readonly string[] {
  const criteria = rubric?.criteriaOf({ ...prompt, response: '' }) ?? [];
  const positive = criteria.flatMap(({ weight, description }) => (weight > 0 ? [description] : []));
  return [...positive, ...(prompt.entity_rubrics ?? [])];
}
