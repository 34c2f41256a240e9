/**
 * Exports `replay` to users of the library: the rewards and advantages that recorded samples have under another recipe.
 */
import type { BaseFacts } from '../src/family/facts.ts';
import type { ScoringFamily } from '../src/family/family.ts';
import { FiguresOfGroups } from '../src/runs/figures.ts';
import type { RecipeValues } from '../src/runs/gaps.ts';
import { requestedRecipes } from '../src/runs/plan-replay.ts';
import { type ReplayedScore, type ReplayRow, replayGroup, type SignChange } from '../src/runs/replay-group.ts';
import type { ReplayFigures } from '../src/runs/replay-report.ts';
import type { AdvantageOptions } from '../src/scoring/advantage-presets.ts';
import { InputError } from './input-error.ts';
import { type KnownFamilies, type RecipeInput, withOwnFamilies } from './own-families.ts';

/**
 * Facts with the recipe and the reward that they were scored under: what `score` and `group` return, or a ledger row.
 */
export type ReplaySample = {
  readonly facts: BaseFacts;
  readonly recipe: RecipeValues;
  readonly reward: number | null;
  /** The training step of the sample. Default: none. */
  readonly step?: number;
};

/** The new recipe: `{ set }` changes fields of the recipe that each sample was scored under. */
export type ReplayRecipe<F extends ScoringFamily = never> =
  | RecipeInput<F>
  | { readonly set: Readonly<Record<string, unknown>> };

type ReplayedSample = {
  /** The score under the sample's recorded recipe; its `advantage` is computed within the sample's group. */
  readonly before: ReplayedScore;
  readonly after: ReplayedScore;
  /** The observations that the new recipe reads and the facts lack. If not empty, `after` is unscored. */
  readonly gaps: readonly string[];
  /** How the sign of the advantage differs between `before` and `after`. */
  readonly sign: SignChange;
};

/** What a replay returns: figures over all groups, and every sample before and after. */
export type Replay = {
  /**
   * Figures over all groups: mean rewards before and after, mean shift of the reward, sign changes of advantages, rank
   * correlation between the recorded and the replayed rewards, and counts of gaps.
   */
  readonly figures: ReplayFigures;
  /** The replayed groups, in the order of the argument; each lists its samples in their order. */
  readonly groups: readonly (readonly ReplayedSample[])[];
};

/**
 * Recomputes rewards and advantages under another recipe: no judge, no text, the same bits as scoring. A sample about
 * which the new recipe would ask something new stays unscored, and `figures.gaps` counts it; score with `measureAll` to
 * avoid it.
 *
 * @example
 * ```ts
 * import { createScorer, lexicalJudge, recipes, replay } from 'citeward';
 *
 * const recipe = recipes['refiner-guarded'];
 * const shared = {
 *   question: 'How long is the Aare?',
 *   tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
 *   positive_rubrics: [{ description: 'States the length' }],
 * };
 * const answers = ['It is 288 km long.', 'It is long.'];
 * const rollouts = answers.map((text) => ({ ...shared, response: `<answer><snippet id=S1>${text}</snippet></answer>` }));
 * const scorer = createScorer({ judge: lexicalJudge });
 * const { samples } = await scorer.group(rollouts, recipe, { measureAll: true });
 * const { figures } = await replay(
 *   [samples.map(({ facts, reward }) => ({ facts, reward, recipe }))],
 *   { set: { citation_weight: 0.2 } },
 *   { advantages: 'trl' },
 * );
 * console.log(figures.shift.mean);
 * ```
 * @param options.families families of your own that the samples were scored with.
 * @throws InputError for an unknown recipe, a wrong field, or a recipe of another family. TypeError for a family whose
 *   name is taken.
 */
export async function replay<const F extends ScoringFamily = never>(
  groups: Iterable<readonly ReplaySample[]>,
  recipe: ReplayRecipe<F>,
  options: { readonly advantages?: AdvantageOptions; readonly families?: readonly F[] } = {},
): Promise<Replay> {
  const known = withOwnFamilies(options.families ?? [], 'replay');
  const recipes = new RecordedRecipes(recipe, known);
  const figures = new FiguresOfGroups();
  const replayed: (readonly ReplayedSample[])[] = [];
  for (const group of groups) {
    const rows = await Promise.all(
      group.map(async (sample, position) =>
        rowOf(sample, await recipes.digestOf(sample.recipe), replayed.length, position),
      ),
    );
    const one = replayGroup(rows, recipes.before, recipes.after, options.advantages ?? 'mean', known.composers);
    figures.add(one);
    replayed.push(one.samples.map(({ before, after, gaps, sign }) => ({ before, after, gaps, sign })));
  }
  return { figures: figures.figures, groups: replayed };
}

/** The recipes that samples were scored under, each with the recipe that replaces it. */
class RecordedRecipes {
  readonly before = new Map<string, RecipeValues>();
  readonly after = new Map<string, RecipeValues>();
  readonly #asked: string | Readonly<Record<string, unknown>>;
  readonly #resolve: KnownFamilies['resolve'];
  readonly #digests = new Map<RecipeValues, Promise<string>>();

  constructor(asked: string | Readonly<Record<string, unknown>>, { resolve }: KnownFamilies) {
    this.#asked = asked;
    this.#resolve = resolve;
  }

  digestOf(recipe: RecipeValues): Promise<string> {
    const known = this.#digests.get(recipe) ?? this.#add(recipe);
    this.#digests.set(recipe, known);
    return known;
  }

  async #add(recipe: RecipeValues): Promise<string> {
    const resolution = await this.#resolve(recipe);
    if (!resolution.ok) throw new InputError(resolution.error);
    const { digest, recipe: recorded } = resolution.value;
    const requested = await requestedRecipes(new Map([[digest, recorded]]), this.#asked, this.#resolve);
    if (!requested.ok) throw new InputError(requested.error);
    const replacement = requested.value.after.get(digest);
    if (replacement === undefined) throw new Error('replay: a recipe was lost');
    this.before.set(digest, recorded);
    this.after.set(digest, replacement.recipe);
    return digest;
  }
}

/** Converts a sample to the row of a run, which is the input of replay. */
function rowOf({ facts, reward, step }: ReplaySample, recipe: string, group: number, sample: number): ReplayRow {
  return { step: step ?? null, group: String(group), sample: String(sample), recipe, facts, reward };
}
