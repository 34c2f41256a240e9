/**
 * Replays some groups under the settings of an address, for the pages of a step and of a rollout. They load this module
 * only for an address with settings, because it needs every recipe schema.
 */
import type { Result } from '../../../src/result.ts';
import './zod-without-eval.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import { type ReplayedSample, replayGroup } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import type { RunDetail } from '../../../src/wire/runs.ts';
import type { Query } from '../navigation/route.ts';
import { changedRecipes } from './recipe-changes.ts';
import { composeFields } from './recipe-fields.ts';
import { settingsOfQuery } from './replay-link.ts';

export type ReplayedSamples = {
  /** The changes in words: `citation_weight 0.5`; empty = the address changes nothing. */
  readonly changes: string;
  /** By `sampleKey`. */
  readonly samples: ReadonlyMap<string, ReplayedSample>;
};

/** @param groups the latest attempts of the samples of each group. */
export function replayedSamples(
  groups: readonly (readonly LedgerRow[])[],
  recipes: RunDetail['recipes'],
  query: Query,
): Result<ReplayedSamples, string> {
  const recorded = new Map(
    recipes.map(({ digest, name, recipe }) => [digest, { name, recipe: recipeSchema.parse(recipe) }]),
  );
  const [first] = recorded.values();
  if (first === undefined) return { ok: false, error: 'The run has no recipe.' };
  const { changes, preset, unknown } = settingsOfQuery(query, composeFields(first.recipe));
  if (unknown.length > 0) return { ok: false, error: `This recipe has no such setting: ${unknown.join(', ')}.` };
  const changed = changedRecipes(recorded, changes);
  if (!changed.ok) {
    return { ok: false, error: [...changed.error].map(([path, message]) => `${path}: ${message}`).join('; ') };
  }
  const before = new Map([...recorded].map(([digest, { recipe }]) => [digest, recipe]));
  const samples = groups.flatMap((rows) => replayGroup(rows, before, changed.value, preset).samples);
  return {
    ok: true,
    value: {
      changes: [...changes].map(([name, value]) => `${name} ${value}`).join(', '),
      samples: new Map(samples.map((sample) => [sampleKey(sample.row), sample])),
    },
  };
}

/** Identifies a sample within a step. */
export function sampleKey({ group, sample }: Pick<LedgerRow, 'group' | 'sample'>): string {
  return JSON.stringify([group, sample]);
}
