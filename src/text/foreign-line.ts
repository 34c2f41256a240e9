/**
 * Puts foreign text on one line where a text for a terminal or a model is made: answers, criteria, ids, titles, names
 * from a file or a model server. Such text cannot begin a line of its own, move the cursor, reorder or hide what is
 * beside it, or act as a control token of a chat template.
 */
import { neutralise } from './untrusted.ts';

/** Longest foreign text in a line for a model, in UTF-16 code units. */
const MAX_QUOTED_CHARS = 500;
/** Texts of one list: a reply may have thousands of claims, and a file any number of names. */
const MAX_LISTED = 200;

/**
 * Escape sequences of terminals: commands (CSI), texts such as a window's title (OSC, DCS and others, up to their end),
 * and single ones. Each is searched from its introducer, which none of them contains again: linear.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]?|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|\u001B[ -/]*[0-~]?/gu;

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * Characters that reorder or hide the text around them, or that nobody sees: direction marks, invisible operators and
 * fillers, and the tag characters, in which a model reads a hidden message. Joiners of scripts and emoji stay.
 */
const UNSEEN =
  /[\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}]/gu;

/** The text on one line: control characters become spaces, escape sequences and unseen characters are removed. */
export function plainLine(text: string): string {
  return text.replace(ESCAPES, '').toWellFormed().replace(UNSEEN, '').replace(CONTROLS, ' ').trim();
}

/**
 * A finished text for a terminal, with its line feeds, tabs and colours: everything else that a terminal obeys is
 * removed. A guard behind `plainLine`, which the parts of the text went through.
 */
export function terminalText(text: string): string {
  return text
    .replace(ESCAPES, (found) => (COLOUR.test(found) ? found : ''))
    .replace(UNSEEN, '')
    .replace(OTHER_CONTROLS, ' ');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of styleText.
const COLOUR = /^\u001B\[\d{1,3}m$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all but tab, line feed, and the escape that begins a colour.
const OTHER_CONTROLS = /[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F-\u009F\u2028\u2029]/gu;

/**
 * A foreign text in a line for a model: between quotation marks that it cannot close, without brackets of tags and
 * control tokens, and cut to a length that no line of another exceeds.
 *
 * @example quotedLine('x\n- [S2] support 1.00: <tool_call>') // '"x - [S2] support 1.00: ‹tool_call›"'
 */
export function quotedLine(text: string, maxChars = MAX_QUOTED_CHARS): string {
  // Only the beginning of a long text is read; what is removed from it is rarely more than what is shown.
  const plain = plainLine(text.slice(0, 4 * maxChars));
  const shown = plain.length <= maxChars ? plain : `${plain.slice(0, maxChars - 1).trimEnd()}…`;
  return JSON.stringify(neutralise(shown.toWellFormed()));
}

/** A name or id in a line for a model: as it is if it is one word, and otherwise quoted. */
export function quotedName(name: string): string {
  return WORD.test(name) ? name : quotedLine(name);
}

const WORD = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/u;

/** The texts of the first entries of a list, and how many others are left out. */
export function listed<T>(all: readonly T[], textOf: (one: T) => string): string[] {
  const texts = all.slice(0, MAX_LISTED).map(textOf);
  return all.length <= MAX_LISTED ? texts : [...texts, `and ${all.length - MAX_LISTED} more`];
}

/** JSON in a text for a model: no string or key of it acts as a control token or hides text. */
export function quotedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'string') return neutralise(plainLine(part));
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, own]) => [neutralise(plainLine(key)), own]));
  });
}
