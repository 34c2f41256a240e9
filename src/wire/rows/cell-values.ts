/** The values that CSV, pandas and numpy write into cells, and the JSON text of a value. */
import { parsedJson } from '../../json.ts';
import { pythonValue } from './python-values.ts';

/**
 * The value of a cell that holds JSON, or a list, tuple, dictionary or array as Python prints it; any other text stays
 * as it is.
 * @example cellValue("['a', 'b']") // ['a', 'b']
 */
export function cellValue(text: string): unknown {
  if (JSON_VALUE.test(text)) {
    const value = parsedJson(text);
    if (value !== undefined) return value;
  }
  if (!PYTHON_VALUE.test(text)) return text;
  const read = pythonValue(text);
  return read.ok ? read.value : text;
}

/**
 * Why a text is no value, though it begins and ends like a printed list of texts or records; `null` = it is a value, or
 * any text, such as `[1] The Aare is long.`
 */
export function cellProblem(text: string): string | null {
  if (!LIST_BEGINS.test(text) || !LIST_ENDS.test(text) || typeof cellValue(text) !== 'string') return null;
  const read = pythonValue(text);
  return read.ok ? null : `a printed list that is not read, because of ${read.error}`;
}

const JSON_VALUE = /^\s*([[{]|-?\d|true\s*$|false\s*$)/;
const PYTHON_VALUE = /^\s*(?:[[{(]|(?:(?:np|numpy)\.)?(?:array|list|tuple)\()/;
/** A list whose first member is a text, a record, a list, or an object with a text or a field. */
const LIST_BEGINS = /^\s*(?:[\w.]+\()?[[(]\s*(?:\w?['"]|\{\s*['"]|[[(]\s*['"]|[A-Za-z_][\w.]*\((?:\w+=|\w?['"]|[[{]))/;
const LIST_ENDS = /[\])]\s*$/;
