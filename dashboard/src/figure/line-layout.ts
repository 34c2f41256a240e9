/** Breaks runs of styled text into lines of one width, as a browser does with `white-space: pre-wrap`. Linear time. */

export type Run = {
  readonly text: string;
  /** What the caller knows the run by. */
  readonly style: number;
  /** Never broken, and kept on the line of the word before it: a superscript. */
  readonly isAttached?: boolean;
};

/** A run, or what of it is on one line. */
export type PlacedRun = { readonly text: string; readonly style: number; readonly x: number; readonly width: number };

export type Line = {
  readonly runs: readonly PlacedRun[];
  /** Whether it begins the text, or follows a line break of it; others go on with the line before. */
  readonly isBegun: boolean;
};

/** The width of a text in the style of a run, in pixels. */
export type Measure = (text: string, style: number) => number;

type Part = { readonly text: string; readonly style: number; readonly width: number };

const IDEOGRAPH = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`;
/** The end of a line, other white space, a character before which a line may break, or letters of a word. */
const TOKEN = new RegExp(String.raw`\r\n|[\n\r]|[^\S\n\r]+|[${IDEOGRAPH}]|[^\s${IDEOGRAPH}]+`, 'gu');
const BREAKS_BEFORE = new RegExp(`^[${IDEOGRAPH}]$`, 'u');

/** @returns the lines; an empty one where the text has an empty line, but none before the first and after the last. */
export function layOut(runs: readonly Run[], width: number, measure: Measure): Line[] {
  const lines: Line[] = [];
  let isBegun = true;
  let line: PlacedRun[] = [];
  let x = 0;
  let spaces: Part[] = [];
  /** The parts of a word, which may be in several styles. */
  let word: Part[] = [];

  const put = (part: Part): void => {
    const last = line.at(-1);
    const isSame = last !== undefined && last.style === part.style;
    if (isSame) line[line.length - 1] = { ...last, text: last.text + part.text, width: last.width + part.width };
    else line.push({ ...part, x });
    x += part.width;
  };
  const endLine = (isBreak: boolean): void => {
    if (line.length > 0 || lines.length > 0) lines.push({ runs: line, isBegun });
    isBegun = isBreak;
    line = [];
    x = 0;
    spaces = [];
  };
  const endWord = (): void => {
    if (word.length === 0) return;
    const needed = widthOf(word);
    if (line.length > 0 && x + widthOf(spaces) + needed > width) endLine(false);
    // Spaces at the edge of a line are not drawn; those that begin a paragraph are.
    spaces.forEach(put);
    spaces = [];
    for (const part of needed > width ? word.flatMap((long) => charactersOf(long, measure)) : word) {
      if (line.length > 0 && x + part.width > width) endLine(false);
      put(part);
    }
    word = [];
  };
  for (const { text, style, isAttached } of runs) {
    if (isAttached === true) {
      word.push({ text, style, width: measure(text, style) });
      continue;
    }
    for (const [token] of text.matchAll(TOKEN)) {
      if (/^[\n\r]/.test(token)) {
        endWord();
        endLine(true);
      } else if (/^\s/.test(token)) {
        endWord();
        spaces.push({ text: token, style, width: measure(token, style) });
      } else {
        if (BREAKS_BEFORE.test(token)) endWord();
        word.push({ text: token, style, width: measure(token, style) });
      }
    }
  }
  endWord();
  if (line.length > 0) lines.push({ runs: line, isBegun });
  while (lines.at(-1)?.runs.length === 0) lines.pop();
  return lines;
}

function widthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { width }) => sum + width, 0);
}

/** A word that is wider than a line breaks between any two characters. */
function charactersOf({ text, style }: Part, measure: Measure): Part[] {
  return [...text].map((character) => ({ text: character, style, width: measure(character, style) }));
}
