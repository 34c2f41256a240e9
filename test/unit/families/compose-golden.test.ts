import { describe, expect, it } from 'vitest';
import { composeRefiner } from '../../../src/families/refiner/compose.ts';
import { REFINER_RECIPES } from '../../../src/families/refiner/composer.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from '../../../src/families/refiner/facts.ts';
import { type RefinerRecipe, refinerRecipeSchema } from '../../../src/families/refiner/recipe.ts';
import { GOLDEN_TOLERANCE, goldenRows } from '../golden.ts';

type GoldenInput = {
  facts: {
    has_answer: boolean;
    format: 0 | 1;
    finish_reason: string;
    criteria?: CriterionFact[];
    statements?: StatementFact[];
  };
  recipe: Partial<RefinerRecipe>;
};

type GoldenOutput = {
  status: string;
  base: number;
  reward: number;
  rubric?: number;
  rubric_positive?: number | null;
  rubric_negative?: number | null;
  citation?: { status: string; recall: number | null; precision: number | null; value: number | null };
};

function closeTo(actual: number | null, expected: number | null, what: string): void {
  if (expected === null || actual === null) expect(actual, what).toBe(expected);
  else expect(Math.abs(actual - expected), `${what}: ${actual} for ${expected}`).toBeLessThanOrEqual(GOLDEN_TOLERANCE);
}

describe('compose reproduces refiner.jsonl', () => {
  const rows = goldenRows('refiner.jsonl');
  it('has all rows', () => expect(rows.length).toBe(40));
  it.each(rows.map((row) => [row.id, row] as const))('%s', (_id, row) => {
    const input = row.input as GoldenInput;
    const output = row.output as GoldenOutput;
    const facts: RefinerFacts = {
      v: 1,
      family: 'refiner',
      has_answer: input.facts.has_answer,
      format: { answer_only: input.facts.format, full: input.facts.format },
      finish_reason: input.facts.finish_reason,
      rubric: { status: 'scored', observed: input.facts.criteria ?? [] },
      citation: { status: 'scored', observed: input.facts.statements ?? [] },
    };
    const recipe = refinerRecipeSchema.parse({ ...REFINER_RECIPES['refiner-gpt54-instance-rubric'], ...input.recipe });
    const score = composeRefiner(facts, recipe);
    expect(score.status).toBe(output.status);
    closeTo(score.base, output.base, 'base');
    closeTo(score.reward, output.reward, 'reward');
    if (output.rubric === undefined || output.citation === undefined) return;
    closeTo(score.components.rubric.value, output.rubric, 'rubric');
    closeTo(score.details.rubric_positive, output.rubric_positive ?? null, 'rubric_positive');
    closeTo(score.details.rubric_negative, output.rubric_negative ?? null, 'rubric_negative');
    expect(score.components.citation.status).toBe(output.citation.status);
    closeTo(score.components.citation.value, output.citation.value, 'citation');
    closeTo(score.details.citation_recall, output.citation.recall, 'recall');
    closeTo(score.details.citation_precision, output.citation.precision, 'precision');
  });
});
