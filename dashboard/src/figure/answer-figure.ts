/**
 * Draws a marked answer as an SVG for a paper: text as text in lines, the marks of the page, and a note for each claim
 * that has a finding or is not supported. The file loads nothing and runs nothing.
 */
import type { Verification } from '../../../src/citations/verify.ts';
import { isLexicalJudge } from '../../../src/lexical/support-model.ts';
import type { Span } from '../../../src/text/span.ts';
import { answerSegments, isFlag } from '../playground/answer-segments.ts';
import { type ClaimStatus, lackingIn, SUPPORT_NAMES, SUPPORTS, type Support } from '../playground/claim-status.ts';
import { FINDING_WORDS } from '../words/findings.ts';
import { type Line, layOut, type Measure, type PlacedRun, type Run } from './line-layout.ts';

export type FigureAnswer = {
  readonly title: string;
  readonly question: string;
  readonly response: string;
  readonly verification: Verification;
  readonly states: readonly ClaimStatus[];
  /** The models of the judges. */
  readonly judges: readonly string[];
};

type Tone = 'full' | 'partial' | 'none' | 'invented' | 'unknown';
type ColourName = 'card' | 'ink' | 'muted' | 'line-strong' | Tone | `${Tone}-wash`;
/** The CSS colour of a variable of base.css. */
export type Palette = (name: ColourName) => string;

/** Fonts of the same widths are on every system, so that lines end where they were measured. */
const FAMILY = 'Arial, Helvetica, "Liberation Sans", sans-serif';
const FONTS = {
  body: { size: 15, weight: 'normal' },
  strong: { size: 15, weight: 'bold' },
  note: { size: 12, weight: 'normal' },
  noteStrong: { size: 12, weight: 'bold' },
  raised: { size: 10, weight: 'normal' },
} as const;
export type FontName = keyof typeof FONTS;

/** The CSS font of a text of a figure, for the canvas that measures it. */
export function cssFontOf(font: FontName): string {
  const { size, weight } = FONTS[font];
  return `${weight} ${size}px ${FAMILY}`;
}

const WIDTH = 720;
const EDGE = 24;
const LINE = 26;
const NOTE_LINE = 18;
/** A superscript is raised by this much. */
const RAISE = 5;

/** How a run is drawn. */
type Style = {
  readonly font: FontName;
  readonly colour: ColourName;
  readonly claim: number | null;
  readonly isUncited: boolean;
  readonly isFlagged: boolean;
};

type Paragraph = { readonly styles: Style[]; readonly runs: Run[] };

/** @param measure the width of a text in pixels. @returns a whole SVG document. */
export function answerFigure(
  answer: FigureAnswer,
  palette: Palette,
  measure: (text: string, font: FontName) => number,
): string {
  const { title, question, states } = answer;
  const drawn: string[] = [];
  let y = EDGE;
  const draw = ({ styles, runs }: Paragraph, lineHeight: number): void => {
    const widthOf: Measure = (text, style) => measure(text, styles[style]?.font ?? 'body');
    const lines = layOut(runs, WIDTH - 2 * EDGE, widthOf);
    const directions = directionsOf(lines);
    for (const [at, { runs: line }] of lines.entries()) {
      y += lineHeight;
      const isRightToLeft = directions[at] === 'rtl';
      drawn.push(
        ...lineOf(isRightToLeft ? mirrored(line) : line, styles, y - lineHeight * 0.3, states, palette, isRightToLeft),
      );
    }
  };
  if (question.trim() !== '') {
    draw(plain([[question, 'strong', 'ink']]), LINE - 4);
    y += 8;
  }
  draw(answerParagraph(answer), LINE);
  y += 14;
  drawn.push(`<path d="M${EDGE} ${y}h${WIDTH - 2 * EDGE}" stroke="${palette('line-strong')}" stroke-width="0.5"/>`);
  y += 4;
  let x = EDGE;
  y += NOTE_LINE;
  for (const [support, words] of legendOf(answer)) {
    const width = 24 + measure(words, 'note') + 18;
    if (x > EDGE && x + width > WIDTH - EDGE) {
      x = EDGE;
      y += NOTE_LINE;
    }
    drawn.push(...markOf(x, 18, y - 3, 12, support, palette));
    drawn.push(
      `<text x="${round(x + 24)}" y="${round(y - 4)}" ${fontOf('note')} fill="${palette('ink')}">${escaped(words)}</text>`,
    );
    x += width;
  }
  for (const note of notesOf(answer)) {
    y += 4;
    draw(note, NOTE_LINE);
  }
  const height = Math.ceil(y + EDGE);
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escaped(FAMILY)}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="${palette('card')}"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** A letter of a script that is written from right to left, or any other one. */
const STRONG = /(\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko})|\p{L}/u;

/** The direction of each line: that of the first letter since a line break, as a browser has it for a text. */
function directionsOf(lines: readonly Line[]): readonly ('ltr' | 'rtl')[] {
  let direction: 'ltr' | 'rtl' | null = null;
  return lines.map(({ runs, isBegun }) => {
    if (isBegun) direction = null;
    const letter = direction === null ? STRONG.exec(runs.map(({ text }) => text).join('')) : null;
    if (letter !== null) direction = letter[1] === undefined ? 'ltr' : 'rtl';
    return direction ?? 'ltr';
  });
}

/** The line from the right edge on. */
function mirrored(line: readonly PlacedRun[]): PlacedRun[] {
  return line.map((run) => ({ ...run, x: WIDTH - 2 * EDGE - run.x - run.width }));
}

function plain(texts: readonly (readonly [text: string, font: FontName, colour: ColourName])[]): Paragraph {
  const styles = texts.map(([, font, colour]) => ({ font, colour, claim: null, isUncited: false, isFlagged: false }));
  return { styles, runs: texts.map(([text], style) => ({ text, style })) };
}

/** The answer as the page shows it: without the markup of citations, each claim followed by its number and ids. */
function answerParagraph({ response, verification, states }: FigureAnswer): Paragraph {
  const styles: Style[] = [];
  const runs: Run[] = [];
  const add = (text: string, style: Style, isAttached = false): void => {
    styles.push(style);
    runs.push({ text, style: styles.length - 1, isAttached });
  };
  for (const { claim, pieces } of answerSegments(response, verification, lackingIn(states))) {
    let isShown = false;
    for (const { start, end, kind, flag } of pieces) {
      const isHidden = verification.answer !== null && (kind === 'markup' || kind === 'outside');
      if (isHidden) continue;
      isShown = true;
      const isUncited = kind === 'statement';
      add(response.slice(start, end), { font: 'body', colour: 'ink', claim, isUncited, isFlagged: flag !== null });
    }
    const cited = claim === null ? undefined : verification.claims[claim];
    if (cited === undefined || !isShown) continue;
    const shared = { font: 'raised', claim: null, isUncited: false, isFlagged: false } as const;
    add(`\u2009${cited.index + 1}`, { ...shared, colour: 'ink' }, true);
    const ids = cited.ids.map(({ id }) => id).join(', ');
    if (ids !== '') add(`\u2009[${ids}]`, { ...shared, colour: 'muted' }, true);
  }
  return { styles, runs };
}

/** Claims that are not supported or have findings, then what is found about the whole answer. */
function notesOf({ response, verification, states, judges }: FigureAnswer): Paragraph[] {
  const { claims, findings } = verification;
  const byClaim = Map.groupBy(findings, ({ claim }) => claim ?? null);
  const notes = claims.flatMap(({ index }, at) => {
    const state = states[at];
    const found = byClaim.get(index) ?? [];
    if (state === undefined || (state.support === 'full' && found.length === 0)) return [];
    const said = found.map((finding) => {
      const { title } = FINDING_WORDS[finding.reason];
      return isFlag(finding) ? `${title}: “${excerptOf(response, finding.span)}”` : title;
    });
    const words = [`${state.text.charAt(0).toUpperCase()}${state.text.slice(1)}`, ...new Set(said)].join('. ');
    return [
      plain([
        [`${index + 1}  `, 'noteStrong', toneOf(state.support)],
        [`${words}.`, 'note', 'ink'],
      ]),
    ];
  });
  if (judges.length > 0 && states.some(({ by }) => by === 'judge')) {
    const standIn = judges.some(isLexicalJudge) ? ', which compares words and is no model' : '';
    notes.unshift(plain([[`Support as judged by ${judges.join(', ')}${standIn}.`, 'note', 'muted']]));
  }
  const whole = new Set((byClaim.get(null) ?? []).map(({ reason }) => FINDING_WORDS[reason]));
  for (const { title, meaning } of whole) {
    notes.push(
      plain([
        [`${title}. `, 'noteStrong', 'ink'],
        [meaning, 'note', 'ink'],
      ]),
    );
  }
  return notes;
}

const EXCERPT_CHARS = 60;

function excerptOf(response: string, { start, end }: Span): string {
  const text = response.slice(start, end).replace(/\s+/gu, ' ').trim();
  return text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text;
}

/** The marks that occur, with their counts. */
function legendOf({ states, verification }: FigureAnswer): [support: Mark, words: string][] {
  const counts = Map.groupBy(states, ({ support }) => support);
  const uncited = verification.statements.length;
  return [
    ...SUPPORTS.flatMap((support): [Mark, string][] => {
      const count = counts.get(support)?.length;
      return count === undefined ? [] : [[support, `${SUPPORT_NAMES[support]} ${count}`]];
    }),
    ...(uncited === 0 ? [] : [['uncited', `Uncited statement ${uncited}`] satisfies [Mark, string]]),
  ];
}

/** The marks and the texts of one line, whose letters stand on `y`. */
function lineOf(
  line: readonly PlacedRun[],
  styles: readonly Style[],
  y: number,
  states: readonly ClaimStatus[],
  palette: Palette,
  isRightToLeft: boolean,
): string[] {
  const texts: string[] = [];
  /** Runs of one claim are under one mark. */
  const marked: { readonly of: number | 'uncited'; from: number; to: number }[] = [];
  let before: number | 'uncited' | null = null;
  for (const { text, style, x, width } of line) {
    const drawn = styles[style];
    if (drawn === undefined) continue;
    const of = drawn.claim ?? (drawn.isUncited ? 'uncited' : null);
    const last = marked.at(-1);
    if (of !== null && of === before && last !== undefined) {
      last.from = Math.min(last.from, x);
      last.to = Math.max(last.to, x + width);
    } else if (of !== null) marked.push({ of, from: x, to: x + width });
    before = of;
    const at = round(EDGE + x);
    if (drawn.isFlagged) {
      const place = `x="${at}" y="${round(y - 14)}" width="${round(width)}" height="19"`;
      texts.push(`<rect ${place} rx="2" fill="none" stroke="${palette('none')}" stroke-width="1.2"/>`);
    }
    const raised = drawn.font === 'raised';
    const length = text.length > 1 && !raised ? ` textLength="${round(width)}"` : '';
    // A text that is written from right to left starts at its right end.
    const start = isRightToLeft ? `x="${round(EDGE + x + width)}" direction="rtl"` : `x="${at}"`;
    const place = `${start} y="${round(raised ? y - RAISE : y)}"${length} xml:space="preserve"`;
    texts.push(`<text ${place} ${fontOf(drawn.font)} fill="${palette(drawn.colour)}">${escaped(text)}</text>`);
  }
  const marks = marked.flatMap(({ of, from, to }) => {
    const mark = of === 'uncited' ? of : (states[of]?.support ?? 'unknown');
    return markOf(EDGE + from, to - from, y, 15, mark, palette);
  });
  return [...marks, ...texts];
}

type Mark = Support | 'uncited';

/** The wash behind a text of `size` pixels on the line `y`, and a stroke below, which tells without colour. */
function markOf(x: number, width: number, y: number, size: number, mark: Mark, palette: Palette): string[] {
  const stroke = (path: string, thickness: number, more = ''): string =>
    `<path d="${path}" fill="none" stroke="${palette(toneOf(mark))}" stroke-width="${thickness}"${more}/>`;
  const [from, base] = [round(x), round(y + 4)];
  const along = `M${from} ${base}h${round(width)}`;
  const dotted = stroke(along, 1.5, ' stroke-dasharray="0 3.5" stroke-linecap="round"');
  if (mark === 'uncited') return [dotted];
  const place = `x="${from}" y="${round(y - size)}" width="${round(width)}" height="${size + 6}"`;
  const wash = `<rect ${place} rx="2" fill="${palette(`${toneOf(mark)}-wash`)}"/>`;
  switch (mark) {
    case 'full':
      return [wash, stroke(along, 2)];
    case 'partial':
      return [wash, stroke(along, 2, ' stroke-dasharray="6 3"')];
    case 'none':
      return [wash, stroke(`M${from} ${base}${'q1.5 -2.5 3 0t3 0'.repeat(Math.max(1, Math.floor(width / 6)))}`, 1)];
    case 'invented':
      return [wash, stroke(`M${from} ${base - 1}h${round(width)}M${from} ${base + 2}h${round(width)}`, 1)];
    case 'duplicate':
    case 'unknown':
      return [wash, dotted];
  }
}

function toneOf(mark: Mark): Tone {
  return mark === 'duplicate' || mark === 'uncited' ? 'unknown' : mark;
}

function fontOf(font: FontName): string {
  const { size, weight } = FONTS[font];
  return `font-size="${size}"${weight === 'bold' ? ' font-weight="bold"' : ''}`;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** Characters that XML does not allow, also as references: control characters, lone surrogates, noncharacters. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(NOT_XML, '\u{FFFD}').replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
