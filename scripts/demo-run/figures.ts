/** The figures of a training step: rewards and recall from the recorded facts, the rest from the written answers. */
import { BUILT_IN, compose, type Recipe } from '../../src/families/composers.ts';
import { resolveRecipe } from '../../src/families/resolve.ts';
import type { RunRollout } from '../../src/wire/runs.ts';
import type { DemoRun } from './runs.ts';
import type { TrainedStep } from './train.ts';

/** Means over the answers of one step; `null` = undefined, because no answer has the figure. */
export type StepFigures = {
  readonly step: number;
  readonly reward: number | null;
  /** The reward of the same facts under the reference recipe of docs/guides/alerts.md. */
  readonly reference: number | null;
  /** Over answers with a citation component. */
  readonly recall: number | null;
  /** Sentences with a citation, and sentences without one, per answer. */
  readonly cited: number | null;
  readonly uncited: number | null;
  readonly inventedIds: number | null;
  /** Share of the sentences of a step that are copied word for word. */
  readonly copied: number | null;
  /** Length of an answer in UTF-16 code units. */
  readonly characters: number | null;
};

/** The figures of the steps. @param recorded the rollouts of the run. */
export async function figuresOf(
  run: DemoRun,
  steps: readonly TrainedStep[],
  recorded: readonly RunRollout[],
): Promise<StepFigures[]> {
  const reference = await referenceOf(run);
  const byStep = Map.groupBy(recorded, ({ step }) => step);
  return steps.map((step) => stepFigures(step, byStep.get(step.step) ?? [], reference));
}

async function referenceOf({ recipe }: DemoRun): Promise<Recipe> {
  const read = await resolveRecipe(recipe);
  if (!read.ok) throw new Error(`the recipe of a demo run: ${JSON.stringify(read.error)}`);
  const reference = BUILT_IN.of(read.value.recipe).monitor?.reference?.(read.value.recipe);
  if (reference === undefined) throw new Error('the family of the demo runs has no reference recipe');
  return reference;
}

function stepFigures({ step, groups }: TrainedStep, rows: readonly RunRollout[], reference: Recipe): StepFigures {
  const scores = rows.map(({ facts }) => compose(facts, reference));
  const answers = groups.flatMap(({ samples }) => samples);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const sentences = sum(answers.map(({ cited, uncited }) => cited + uncited));
  return {
    step,
    reward: mean(rows.map(({ reward }) => reward)),
    reference: mean(scores.map(({ reward }) => reward)),
    recall: mean(scores.map((score) => ('citation_recall' in score.details ? score.details.citation_recall : null))),
    cited: mean(answers.map(({ cited }) => cited)),
    uncited: mean(answers.map(({ uncited }) => uncited)),
    inventedIds: mean(answers.map(({ inventedIds }) => inventedIds)),
    copied: sentences === 0 ? null : sum(answers.map(({ copied }) => copied)) / sentences,
    characters: mean(answers.map(({ text }) => text.length)),
  };
}

/** The mean without `null`; `null` if nothing is left. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length;
}
