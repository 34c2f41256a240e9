import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { describeRecipes, type RecipeDescription } from '../../../src/families/catalogue.ts';
import { RECIPE_NAMES, RECIPES } from '../../../src/families/composers.ts';
import { familyOf } from '../../../src/families/registry.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import { recipesResponseSchema } from '../../../src/wire/recipes.ts';

const recipes = await describeRecipes();

/** The parts of a JSON schema that this test reads. */
const propertySchema = z.object({
  const: z.unknown().optional(),
  description: z.string().optional(),
  get properties() {
    return z.record(z.string(), propertySchema).optional();
  },
});

/** The recipe that the listed parameters make. */
function recipeOf({ family, parameters }: RecipeDescription): Record<string, unknown> {
  const recipe: Record<string, unknown> = { family };
  for (const { name, value } of parameters) {
    const [field = '', member] = name.split('.');
    if (member === undefined) recipe[field] = value;
    else recipe[field] = { ...z.record(z.string(), z.unknown()).parse(recipe[field] ?? {}), [member]: value };
  }
  return recipe;
}

function named(name: string): RecipeDescription {
  const recipe = recipes.find((each) => each.name === name);
  if (recipe === undefined) throw new Error(`no recipe ${name}`);
  return recipe;
}

/** The names of what has the mark. */
function withMark(name: string, mark: string, part: 'parameters' | 'training'): string[] {
  return named(name)[part].flatMap((fact: { name: string; mark: string }) => (fact.mark === mark ? [fact.name] : []));
}

describe('describeRecipes', () => {
  it('lists every recipe that a request can name', () => {
    expect(recipes.map(({ name }) => name)).toEqual(RECIPE_NAMES);
  });

  it.each(recipes)('gives $name with all its parameters, so that the digest can be had from them', async (recipe) => {
    const parameters = recipeOf(recipe);
    expect(parameters).toEqual(RECIPES[recipe.name]);
    const byName = await resolveRecipe(recipe.name);
    const byParameters = await resolveRecipe(parameters);
    if (!byName.ok || !byParameters.ok) throw new Error('a listed recipe does not resolve');
    expect(recipe.digest).toBe(byName.value.digest);
    expect(recipe.digest).toBe(byParameters.value.digest);
    expect(recipe.reward_range).toEqual(byName.value.reward_range);
    expect(recipe.family).toBe(byName.value.recipe.family);
  });

  it.each(recipes)('gives the kind of every parameter of $name', ({ name: recipe, family, parameters }) => {
    const kinds = Object.fromEntries(parameters.map(({ name, kind }) => [name.split('.')[0], kind]));
    const { fields, schema } = familyOf({ family }).recipe;
    const given = Object.entries(fields).filter(
      ([name]) => name in RECIPES[recipe] || !(schema.shape[name] instanceof z.ZodExactOptional),
    );
    expect(kinds).toEqual(Object.fromEntries(given));
    expect(Object.keys(schema.shape).sort()).toEqual(['family', ...Object.keys(fields)].sort());
  });

  it.each(recipes)('describes the parameters of $name as the schema does', ({ family, parameters }) => {
    const { oneOf } = z.object({ oneOf: z.array(propertySchema) }).parse(z.toJSONSchema(recipeSchema));
    const fields = oneOf.find((branch) => branch.properties?.['family']?.const === family)?.properties;
    for (const { name, description } of parameters) {
      const [field = '', member = ''] = name.split('.');
      const described = fields?.[field];
      expect(described, name).toBeDefined();
      expect(description, name).toBe(described?.properties?.[member]?.description ?? described?.description ?? null);
    }
  });

  it('is the reply that the API documents', () => {
    const reply: unknown = JSON.parse(JSON.stringify({ recipes }));
    expect(recipesResponseSchema.parse(reply)).toEqual(reply);
    expect(recipesResponseSchema.safeParse({ recipes: [{ ...recipes[0], extra: 1 }] }).success).toBe(false);
  });

  it('names every number of a recipe in the formula of its family, but for limits of what is measured', () => {
    for (const { name, formula, parameters } of recipes) {
      const text = formula.join('\n');
      for (const parameter of parameters) {
        if (typeof parameter.value !== 'number' || parameter.kind === 'measure') continue;
        // The members of finding_penalty are reasons of findings.
        const [field, member = field] = parameter.name.split('.');
        expect(text, `${name} ${parameter.name}`).toContain(field === 'finding_penalty' ? field : member);
      }
    }
  });
});

describe('the marks', () => {
  it('say of each published model what its card gives', () => {
    expect(withMark('refiner-gpt54-instance-rubric', 'card', 'parameters').sort()).toEqual([
      'citation_weight',
      'gate_judge_score_with_format_bonus',
      'instance_rubrics_only',
      'judge_static',
      'judging',
      'non_stop_penalty.enabled',
      'verification_reward',
    ]);
    expect(withMark('refiner-rl-balanced', 'card', 'parameters').sort()).toEqual([
      'citation_weight',
      'mode',
      'verification_reward',
    ]);
    expect(withMark('longtrace-rl', 'card', 'parameters')).toEqual(['eta']);
    expect(withMark('grpo-tcr', 'card', 'parameters').sort()).toEqual([
      'overlong_penalty.buffer_tokens',
      'overlong_penalty.enabled',
      'overlong_penalty.factor',
      'overlong_penalty.max_response_tokens',
      'tool_call_credit.enabled',
    ]);
  });

  it('give no variant the facts of a run that is not its own', () => {
    expect(withMark('refiner-gpt54-instance-only', 'card', 'parameters')).toEqual(['instance_rubrics_only']);
    for (const { name, model, training } of recipes) {
      if (model === null)
        expect(
          training.filter(({ mark }) => mark === 'card'),
          name,
        ).toEqual([]);
    }
  });

  it('carry the group size of every run', () => {
    const sizes = recipes.flatMap(({ name, model, training }) =>
      model === null ? [] : [[name, training.find((fact) => fact.name === 'group_size')?.value]],
    );
    expect(Object.fromEntries(sizes)).toEqual({
      'refiner-gpt54-instance-rubric': 8,
      'refiner-rl-balanced': undefined,
      'longtrace-rl': 8,
      'grpo-tcr': 8,
      'dr-tulu-exact': 8,
    });
  });

  it('quote in every source', () => {
    for (const { parameters, training } of recipes) {
      for (const { name, mark, source } of [...parameters, ...training]) {
        if (mark === 'card') expect(source, name).toMatch(/^\S+: ".+"$/u);
        else if (mark === 'code') expect(source, name).toMatch(/^[\w.-]+\/[\w.-]+ [0-9a-f]{8,40} \S+/u);
        else expect(source.length, name).toBeGreaterThan(10);
      }
    }
  });
});
