/** The places of rows in a run, if they do not name their own, and the name of a run of a file. */
import { isJsonObject, type JsonObject } from '../../json.ts';

/**
 * Gives each row its place in a run, called in the order of the rows: that of its own `run`; other rows with the same
 * question form a group.
 */
export function groupPlaces(): (fields: JsonObject) => JsonObject {
  const groups = new Map<string, { readonly group: number; samples: number }>();
  return (fields) => placeOf(fields, groups);
}

function placeOf(
  { run, question }: JsonObject,
  groups: Map<string, { readonly group: number; samples: number }>,
): JsonObject {
  if (isJsonObject(run)) return run;
  const prompt = JSON.stringify(question ?? null);
  const known = groups.get(prompt) ?? { group: groups.size, samples: 0 };
  groups.set(prompt, known);
  return { group: known.group, sample: known.samples++ };
}

/** A name of a run like that of the file: `my results.jsonl` is `my-results`. Empty for a name like `.jsonl`. */
export function runNameOf(file: string): string {
  return file.replace(/\..*$/u, '').replaceAll(/[^A-Za-z0-9_-]+/gu, '-');
}
