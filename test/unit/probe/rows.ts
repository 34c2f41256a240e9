/** Rows of probes, and the built-in judge. */
import { memoryStore } from '../../../lib/memory-store.ts';
import { type RecipeInput, type ResolvedRecipe, resolveRecipe } from '../../../src/families/resolve.ts';
import { LEXICAL_JUDGE } from '../../../src/judgments/lexical-judge.ts';
import type { ObtainOptions } from '../../../src/judgments/obtain.ts';
import { planProbe } from '../../../src/probe/plan-probe.ts';
import type { ProbeRow } from '../../../src/probe/probe-row.ts';
import { measureProbe, type ProbedRow, type ProbeResult } from '../../../src/probe/probe-rows.ts';

const SOURCES = [
  {
    id: 'S1',
    text: 'The Velmar footbridge lies in a valley of orchards. Its railings were painted green by the children of the school.',
  },
  {
    id: 'S2',
    text: 'Records of the council mention a long delay. The Velmar footbridge was opened to walkers in the year 1904.',
  },
  { id: 'S3', text: 'The span of the Velmar footbridge is 112 metres long. A plaque near the entrance repeats it.' },
];

/** A row whose criterion one sentence of the second source meets. */
export function bridgeRow(more: Partial<ProbeRow['prompt']> = {}, samples: ProbeRow['samples'] = []): ProbeRow {
  return {
    id: 'bridge',
    prompt: {
      question: 'In which year was the Velmar footbridge opened to walkers?',
      sources: SOURCES,
      positive_rubrics: [{ description: 'States that the Velmar footbridge was opened to walkers in the year 1904' }],
      ...more,
    },
    samples,
  };
}

/** Another row, with its own sources. */
export const LIGHTHOUSE: ProbeRow = {
  id: 'lighthouse',
  prompt: {
    question: 'How tall is the tower of the Torwick lighthouse?',
    sources: [
      {
        id: 'S1',
        text: 'Fishermen of the bay tell many stories. The tower of the Torwick lighthouse is 41 metres tall.',
      },
      { id: 'S2', text: 'The light of the Torwick lighthouse reaches 19 nautical miles. It was lit by hand at first.' },
    ],
    positive_rubrics: [{ description: 'States that the tower of the Torwick lighthouse is 41 metres tall' }],
  },
  samples: [],
};

export async function recipeOf(input: RecipeInput): Promise<ResolvedRecipe> {
  const recipe = await resolveRecipe(input);
  if (!recipe.ok) throw new Error(JSON.stringify(recipe.error));
  return recipe.value;
}

export function lexicalOptions(): ObtainOptions {
  return {
    judge: { ok: true, judge: LEXICAL_JUDGE },
    store: memoryStore(),
    mode: 'use',
    replicate: 0,
    deadline_ms: 60_000,
    now: () => '2026-01-01T00:00:00.000Z',
    elapsed: () => 0,
  };
}

export async function probed(
  rows: readonly ProbeRow[],
  recipe: ResolvedRecipe,
  seed = 0,
): Promise<readonly ProbedRow[]> {
  const result = await probe(rows, recipe, lexicalOptions(), seed);
  if (result.status !== 'done') throw new Error(JSON.stringify(result));
  return result.rows;
}

export async function probe(
  rows: readonly ProbeRow[],
  recipe: ResolvedRecipe,
  options: ObtainOptions = lexicalOptions(),
  seed = 0,
): Promise<ProbeResult> {
  const plan = planProbe({ rows, recipe, seed });
  return plan.ok ? measureProbe(plan.value, options) : { status: 'invalid', problems: plan.error };
}
