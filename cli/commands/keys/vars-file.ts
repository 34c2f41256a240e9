/**
 * Reads and replaces one variable of a file of variables (`.dev.vars`). The other lines stay unchanged. The value is
 * written in single quotes, so that no character of it is special.
 */
import { parseEnv } from 'node:util';

/** The value of a variable; `null` if the file does not set it. */
export function readVariable(text: string, name: string): string | null {
  return parseEnv(text)[name] ?? null;
}

/** True if a line of the text begins to set the variable. */
function setsVariable(line: string, name: string): boolean {
  const match = /^\s*(?:export\s+)?([\w.-]+)\s*=/.exec(line);
  return match?.[1] === name;
}

/**
 * The text with the variable set to `value`, on its old line or at the end. `null` if the variable is set more than
 * once or over several lines.
 */
export function withVariable(text: string, name: string, value: string): string | null {
  if (value.includes("'") || /[\r\n]/.test(value)) throw new RangeError('withVariable: the value cannot be quoted');
  const set = `${name}='${value}'`;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(newline);
  const places = lines.flatMap((line, position) => (setsVariable(line, name) ? [position] : []));
  const [place] = places;
  if (places.length > 1) return null;
  if (place === undefined) {
    const end = text === '' || text.endsWith(newline) ? '' : newline;
    return `${text}${end}${set}${newline}`;
  }
  // If the value continues on the next line, this line alone has another value.
  const isOneLine = readVariable(lines[place] ?? '', name) === readVariable(text, name);
  return isOneLine ? lines.with(place, set).join(newline) : null;
}
