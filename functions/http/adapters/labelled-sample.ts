/** A sample of a trainer whose row carries a label. */

import type { Family } from '../../../src/families/recipes.ts';
import type { InputProblem } from '../../../src/input-problem.ts';
import { labelledRollout, readLabel } from '../../../src/wire/adapters/request.ts';
import { RequestError } from '../../failures.ts';
import type { Sample } from './adapter-scoring.ts';

type Path = InputProblem['path'];

export type LabelledSample = {
  readonly label: { readonly value: unknown; readonly path: Path };
  readonly response: { readonly text: string; readonly path: Path };
  /** What the prompt asks, where the label does not say. */
  readonly question: string | undefined;
  readonly family: Family;
};

/** @throws RequestError where the label is not one. */
export function labelledSample({ label, response, question, family }: LabelledSample): Sample {
  const read = readLabel(label.value, family, label.path);
  if (!read.ok) throw new RequestError({ reason: 'input_invalid', problems: read.problems });
  return {
    rollout: labelledRollout(read.label, response.text, question),
    place: ([first, ...rest]) =>
      first === 'response'
        ? [...response.path, ...rest]
        : [...read.path, ...(first === undefined ? [] : [first]), ...rest],
  };
}
