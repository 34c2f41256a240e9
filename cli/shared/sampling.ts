/** The fields of a generation request that flags set, and its `sampling` object. */
import { isJsonObject } from '../../src/json.ts';
import type { Fields } from './rows.ts';

/** The fields that are not `null`: those whose flag is given. */
export function givenFields(values: Fields): Fields {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/**
 * Combines the `sampling` of a row with the fields of the flags; a flag overrides the row. A value that is no object is
 * left for the schema to refuse.
 */
export function samplingOf(row: Fields, sampling: Fields): Fields {
  const own = row['sampling'];
  if (Object.keys(sampling).length === 0 || (own !== undefined && !isJsonObject(own))) return {};
  return { sampling: { ...own, ...sampling } };
}
