/** Measures text in terminal columns and cuts it to fit. Foreign text goes through `plainLine` first. */

/** Made where text is not ASCII: loading its tables delays the start of a command. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

const PLAIN = /^[\x20-\x7E]*$/;

/** Width of a text without escape sequences, in columns. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  if (isWide(code)) return 2;
  return ZERO_WIDTH.test(String.fromCodePoint(code)) ? 0 : 1;
}

/** East Asian Wide and Fullwidth (Unicode 16), merged into the ranges that text uses. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2fb],
  [0x1f200, 0x1f251],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([first, last]) => code >= first && code <= last);
}

/** The text cut to `width` columns; a cut text ends with an ellipsis. */
export function fitText(text: string, width: number): string {
  // Only the beginning of a long text is measured.
  const head = text.length > 16 * width + 64 ? text.slice(0, 16 * width + 64) : text;
  if (head.length === text.length && textWidth(head) <= width) return head;
  if (width < 1) return '';
  if (PLAIN.test(head)) return `${head.slice(0, width - 1).trimEnd()}…`;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemesOf(head)) {
    const next = graphemeWidth(segment);
    if (used + next > width - 1) break;
    kept += segment;
    used += next;
  }
  return `${kept.trimEnd()}…`;
}
