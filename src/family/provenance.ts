/**
 * Where the parameters of the named recipes come from: a model card, public code, or us. `GET /v1/recipes` serves it and
 * docs/recipes.md is made from it, so that there is one place to be wrong in. origin.ts holds the data, in
 * types that leave no parameter without an origin.
 */
import type { Family, RECIPES, Recipe, RecipeName } from '../families/recipes.ts';

/** Where one value comes from. */
export type Provenance =
  /** `line`: words of the card, as it has them; `card`: the model. */
  | { readonly mark: 'card'; readonly card: string; readonly line: string }
  /** `commit`: hex. `note`: what the place does not say by itself. */
  | {
      readonly mark: 'code';
      readonly repository: `${string}/${string}`;
      readonly commit: string;
      readonly path: string;
      readonly note: string | null;
    }
  /** `why`: the reason of our choice. */
  | { readonly mark: 'ours'; readonly why: string };

/** @returns What quotes a line of the model's card. */
export function cardOf(card: string): (line: string) => Provenance {
  return (line) => ({ mark: 'card', card, line });
}

/** @returns What names a place in the repository at the commit. */
export function codeOf(
  repository: `${string}/${string}`,
  commit: string,
): (path: string, note?: string | null) => Provenance {
  return (path, note = null) => ({ mark: 'code', repository, commit, path, note });
}

export function ours(why: string): Provenance {
  return { mark: 'ours', why };
}

/** The provenance in one line of text, without its mark. */
export function sourceText(provenance: Provenance): string {
  switch (provenance.mark) {
    case 'card':
      return `${provenance.card}: "${provenance.line}"`;
    case 'code': {
      const { repository, commit, path, note } = provenance;
      return `${repository} ${commit} ${path}${note === null ? '' : ` (${note})`}`;
    }
    case 'ours':
      return provenance.why;
  }
}

/** What a recipe does not decide but its training run did, in the order of the tables. Counted as its trainer counts. */
export const TRAINING_FIELDS = [
  'algorithm',
  'trainer',
  'base_model',
  'dataset',
  'judge',
  'steps',
  'epochs',
  'group_size',
  'prompts_per_step',
  'batch_size',
  'learning_rate',
  'kl',
  'clip_range',
  'loss_aggregation',
  'advantage_normalisation',
  'max_prompt_tokens',
  'max_response_tokens',
  'max_total_tokens',
  'pack_tokens',
  'max_turns',
  'tool_format',
  'temperature',
  'rollout_engine',
  'optimiser',
  'parallelism',
  'seed',
] as const;

export type TrainingField = (typeof TRAINING_FIELDS)[number];
export type TrainingFact = Provenance & { readonly value: string | number };

type RecipeOf<F extends Family> = Extract<Recipe, { family: F }>;

/** One origin for every parameter of the family; where the parameter is an object, one for each of its members. */
export type ParameterOrigins<F extends Family> = {
  readonly [P in Exclude<keyof RecipeOf<F>, 'family'>]: RecipeOf<F>[P] extends object
    ? { readonly [M in keyof RecipeOf<F>[P]]: Provenance }
    : Provenance;
};

export type RecipeOrigin<F extends Family> = {
  /** The model that was trained with it; `null` = a variant that no published model names. */
  readonly model: string | null;
  readonly summary: string;
  /** What was published of the run leaves this open, beside the parameters that are ours; `null` where there is no run. */
  readonly not_said: string | null;
  readonly training: { readonly [T in TrainingField]?: TrainingFact };
  readonly parameters: ParameterOrigins<F>;
};

/** The origins of every named recipe of a family. */
export type OriginsOf<F extends Family> = {
  readonly [N in RecipeName as (typeof RECIPES)[N]['family'] extends F ? N : never]: RecipeOrigin<F>;
};

/** The origins of every named recipe. */
export type RecipeOrigins = { readonly [N in RecipeName]: RecipeOrigin<(typeof RECIPES)[N]['family']> };
