/** The figures of a training step: rewards and recall from the recorded facts, the rest from the written answers. */
import { compose, recipes } from '../../lib/recipes.ts';
import type { RunRollout } from '../../src/wire/runs.ts';
import type { TrainedStep } from './train.ts';

/** The recipe that the runs are replayed under: an answer that meets no criterion gets no credit for negative ones. */
const REFERENCE = { ...recipes['refiner-gpt54-instance-rubric'], negatives_require_positive: true };

/** Means over the answers of one step; `null` = undefined, because no answer has the figure. */
export type StepFigures = {
  readonly step: number;
  readonly reward: number | null;
  /** The reward under `REFERENCE`, from the same facts. */
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

/** @param recorded the rollouts of the run; those of other steps are left out. */
export function stepFigures({ step, groups }: TrainedStep, recorded: readonly RunRollout[]): StepFigures {
  const rows = recorded.filter((row) => row.step === step);
  const references = rows.flatMap(({ facts }) => (facts.family === 'refiner' ? [compose(facts, REFERENCE)] : []));
  const answers = groups.flatMap(({ samples }) => samples);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const sentences = sum(answers.map(({ cited, uncited }) => cited + uncited));
  return {
    step,
    reward: mean(rows.map(({ reward }) => reward)),
    reference: mean(references.map(({ reward }) => reward)),
    recall: mean(references.map(({ details }) => details.citation_recall)),
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
