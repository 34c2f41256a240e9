/** Writes the Markdown of generated pages: code spans, list items within 120 columns, tables. */
import { writeFileSync } from 'node:fs';

export const MAX_COLUMNS = 120;

/**
 * Matches a space where a line may break. After any other space the next line would begin like a list item, heading,
 * quotation, ruler or table.
 */
const BREAK = / (?!(?:[-+*]|#+|[-=]+|\d+[.)])(?: |$)|[>|])/u;

/** Writes a generated page; with `check` it writes nothing, and the exit code is 1 if the page differs. */
export function writeOrCheck(path: string, found: string, wanted: string, check: boolean, script: string): void {
  if (!check) {
    writeFileSync(path, wanted);
    console.log(`wrote ${path}`);
  } else if (found !== wanted) {
    console.error(`${path} differs from the sources: run node ${script}`);
    process.exitCode = 1;
  }
}

export function code(value: string | number | boolean): string {
  return `\`${value}\``;
}

export function bold(name: string): string {
  return `**${code(name)}**`;
}

/** A list item, wrapped at 120 columns. */
export function item(text: string, depth = 0): string {
  const indent = '  '.repeat(depth);
  return wrapped(text, `${indent}* `, `${indent}  `);
}

/** Breaks a text into lines of at most 120 columns. */
export function wrapped(text: string, first = '', others = ''): string {
  const lines: string[] = [];
  let line: string | null = null;
  for (const word of text.split(BREAK)) {
    if (line === null) line = `${first}${word}`;
    else if ([...line].length + 1 + [...word].length > MAX_COLUMNS) {
      lines.push(line);
      line = `${others}${word}`;
    } else line += ` ${word}`;
  }
  return [...lines, line ?? ''].join('\n');
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** Escapes text for Markdown, except code spans. */
export function escaped(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[*<[\\]/gu, '\\$&')))
    .join('`');
}
