/** Selects for the recipes and judges of this deployment. */

import type { RecipeDescription } from '../../../src/families/catalogue.ts';
import type { Readiness } from '../../../src/wire/health.ts';
import { useApi } from '../api/use-api.ts';

/** Shown until the list has loaded, so that the layout does not shift. */
export const DEFAULT_RECIPE = 'refiner-guarded';

type PickerProps = { value: string; onPick: (name: string) => void };

export function RecipePicker({ value, onPick }: PickerProps) {
  const { loaded } = useApi<{ readonly recipes: readonly RecipeDescription[] }>('/v1/recipes');
  const recipes = loaded.state === 'loaded' ? loaded.value.recipes : [];
  return (
    <label class="field">
      <span>Recipe</span>
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {recipes.length === 0 && <option value={value}>{value}</option>}
        {[...new Set(recipes.map(({ family }) => family))].map((family) => (
          <optgroup key={family} label={family}>
            {recipes
              .filter((recipe) => recipe.family === family)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

export function JudgePicker({ value, onPick }: PickerProps) {
  const { loaded } = useApi<Readiness>('/readyz');
  const readiness = loaded.state === 'loaded' ? loaded.value : null;
  const byDefault = readiness?.default_judge;
  return (
    <label class="field">
      <span>Judge</span>
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        <option value="">default{byDefault === undefined || byDefault === null ? '' : `: ${byDefault}`}</option>
        {readiness?.judges.map(({ name, model, reachable }) => (
          <option key={name} value={name}>
            {name} ({model}){reachable ? '' : ', not reachable'}
          </option>
        ))}
      </select>
    </label>
  );
}
