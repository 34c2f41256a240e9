/**
 * Reads the replies of the public server's judge. Source: THUDM/CaRR c97e7e89,
 * `deepsearch_rm_with_rubrics/launch_server.py`.
 */
import { stripPythonSpace } from '../../../text/python-text.ts';
import { isPythonObject, type PythonJson, readPythonJson } from '../../../tools/python-json.ts';

const FENCE = '```';
const JSON_FENCE = /```json/i;

/**
 * The value in the first block fenced as json, or an empty object without a closed block of valid JSON:
 * `extract_json_block`. Defect kept: three backticks inside a value end the block.
 */
export function fencedJson(reply: string): PythonJson {
  const open = JSON_FENCE.exec(reply);
  if (open === null) return new Map();
  const start = open.index + open[0].length;
  const end = reply.indexOf(FENCE, start);
  if (end === -1) return new Map();
  return readPythonJson(stripPythonSpace(reply.slice(start, end))) ?? new Map();
}

/**
 * The names of all labels, or `null` if the server asks again: `check_identified_entities`. Defects kept:
 * - a label too many, or a number as a name, refuses the whole reply;
 * - empty text and words such as `N/A` are names; without labels, a reply without a block passes.
 */
export function exactNames(reply: PythonJson, labels: readonly string[]): ReadonlyMap<string, string | null> | null {
  const values = entriesFor(reply, labels);
  if (values === null) return null;
  const names = new Map<string, string | null>();
  for (const [label, value] of values) {
    if (value !== null && (typeof value !== 'string' || isNoName(value))) return null;
    names.set(label, value);
  }
  return names;
}

function isNoName(name: string): boolean {
  const folded = stripPythonSpace(name).toLowerCase();
  return folded === 'null' || folded === 'none';
}

/** The verdicts of all statements, or `null` if the server asks again: `check_rubric_judgement`. */
export function exactVerdicts(reply: PythonJson, keys: readonly string[]): ReadonlyMap<string, boolean> | null {
  const values = entriesFor(reply, keys);
  if (values === null) return null;
  const verdicts = new Map<string, boolean>();
  for (const [key, value] of values) {
    if (typeof value !== 'boolean') return null;
    verdicts.set(key, value);
  }
  return verdicts;
}

/** The entries of an object with exactly these keys; `null` for anything else. */
function entriesFor(reply: PythonJson, keys: readonly string[]): ReadonlyMap<string, PythonJson> | null {
  if (typeof reply !== 'object' || reply === null || !('get' in reply) || !isPythonObject(reply)) return null;
  return reply.size === keys.length && keys.every((key) => reply.has(key)) ? reply : null;
}
