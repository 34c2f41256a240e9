/**
 * Where the parameters of the named recipes come from: a model card, public code, or this project. `GET /v1/recipes`
 * serves the origins, and docs/reference/recipes.md is generated from them. Each family's origin.ts holds the data; its
 * type requires an origin for every parameter.
 */

/** Where one value comes from. */
export type Provenance =
  /** `card`: the model; `line`: a verbatim quote of its card. */
  | { readonly mark: 'card'; readonly card: string; readonly line: string }
  /** `commit`: hex. `note`: what the path alone does not show. */
  | {
      readonly mark: 'code';
      readonly repository: `${string}/${string}`;
      readonly commit: string;
      readonly path: string;
      readonly note: string | null;
    }
  /** `why`: the reason of our choice. */
  | { readonly mark: 'ours'; readonly why: string };

/** @returns a function that quotes a line of the model's card. */
export function cardOf(card: string): (line: string) => Provenance {
  return (line) => ({ mark: 'card', card, line });
}

/** @returns a function that points at a path of the repository at the commit. */
export function codeOf(
  repository: `${string}/${string}`,
  commit: string,
): (path: string, note?: string | null) => Provenance {
  return (path, note = null) => ({ mark: 'code', repository, commit, path, note });
}

export function ours(why: string): Provenance {
  return { mark: 'ours', why };
}

/** The source in one line of text, without the mark. */
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

/** Settings of a training run that no recipe contains, in the order of the tables and in the trainer's units. */
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
type TrainingFact = Provenance & { readonly value: string | number };

/**
 * One origin for every parameter of a recipe; a parameter that is an object has one for each of its members. An optional
 * parameter has one if the named recipe has the parameter.
 */
export type ParameterOrigins<R> = {
  readonly [P in keyof R as P extends 'family' ? never : object extends Pick<R, P> ? never : P]: R[P] extends object
    ? { readonly [M in keyof R[P]]: Provenance }
    : Provenance;
} & { readonly [P in keyof R as object extends Pick<R, P> ? P : never]?: Provenance };

/** What the documents say of a family's recipes. Bundles that only score leave it out. */
export type RecipeDocuments<R, Name extends string = string> = {
  /** Where each parameter of each named recipe comes from. */
  readonly origins: Readonly<Record<Name, RecipeOrigin<R>>>;
  /** The reward formula as lines of plain text, in the names of the recipe's fields, for docs and `GET /v1/recipes`. */
  readonly formula: readonly string[];
};

/** Where one named recipe comes from. */
export type RecipeOrigin<R> = {
  /** The model that was trained with it; `null` = a variant that no published model names. */
  readonly model: string | null;
  readonly summary: string;
  /** What the published run leaves unspecified, beside the parameters marked `ours`; `null` = no run was published. */
  readonly not_said: string | null;
  readonly training: { readonly [T in TrainingField]?: TrainingFact };
  readonly parameters: ParameterOrigins<R>;
};
