/**
 * The settings of a replay, as a CLI command and in the address of a page: `#/replay/RUN?citation_weight=0.5&advantages=trl`. Each parameter
 * is a field of the recipe, except `advantages`, the preset.
 */
import { ADVANTAGE_PRESET_NAMES, type AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import type { Query } from '../navigation/route.ts';
import type { Changes, FieldValue, RecipeField } from './recipe-fields.ts';

export type ReplaySettings = { readonly changes: Changes; readonly preset: AdvantagePreset };

/** The preset of a page whose address names none. */
export const USUAL_PRESET: AdvantagePreset = 'mean';

const PRESET = 'advantages';

/** @returns the settings, and the parameters that no field of the recipe reads. */
export function settingsOfQuery(
  query: Query,
  fields: readonly RecipeField[],
): ReplaySettings & { readonly unknown: readonly string[] } {
  const changes = new Map<string, FieldValue>();
  const unknown: string[] = [];
  for (const [name, text] of query) {
    if (name === PRESET) {
      if (presetOf(text) === null) unknown.push(name);
      continue;
    }
    const field = fields.find((one) => one.name === name);
    const value = field === undefined ? null : valueOfText(field, text);
    if (value === null) unknown.push(name);
    else if (value !== field?.value) changes.set(name, value);
  }
  return { changes, preset: presetOf(query.get(PRESET) ?? '') ?? USUAL_PRESET, unknown };
}

/** The parameters of the settings; recorded values and the usual preset are left out. */
export function queryOfSettings({ changes, preset }: ReplaySettings): Query {
  const query = new Map([...changes].map(([name, value]) => [name, String(value)]));
  if (preset !== USUAL_PRESET) query.set(PRESET, preset);
  return query;
}

/** The CLI command that replays the run on the server, or the file, with the same settings. */
export function replayCommand(
  origin: string,
  { id, file }: { readonly id: string; readonly file: string | null },
  { changes, preset }: ReplaySettings,
): string {
  const flags = [...changes].map(([path, value]) => ` \\\n  --set ${path}=${value}`);
  if (preset !== USUAL_PRESET) flags.push(` \\\n  --advantages ${preset}`);
  const run = file === null ? `${id} --url ${origin}` : `--file '${file.replaceAll("'", `'\\''`)}'`;
  return `npx citeward replay ${run}${flags.join('')}`;
}

/** @returns null if no preset has this name. */
export function presetOf(name: string): AdvantagePreset | null {
  return ADVANTAGE_PRESET_NAMES.find((known) => known === name) ?? null;
}

/** Reads a value of the kind of the field; the recipe's schema checks its bounds. @returns null if it is another kind. */
function valueOfText(field: RecipeField, text: string): FieldValue | null {
  switch (field.kind) {
    case 'switch':
      return text === 'true' ? true : text === 'false' ? false : null;
    case 'choice':
      return field.options.includes(text) ? text : null;
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
  }
}
