/** What an answer does, compared with its row: right, attributed, citations, copies, and its shape. */
import { splitSentences } from '../../src/text/sentences.ts';
import { MAX_SOURCES } from './prompts.ts';
import { ABSTENTION, type Row } from './rows.ts';
import type { CitationStyle } from './style.ts';
import { textOf, tokensOf } from './words.ts';

export type AnswerFigures = {
  /** The answer has each asked fact, or abstains where the sources tell none. */
  readonly right: boolean;
  /** Right, and each citation names one id: a source that tells an asked fact. An abstention cites nothing. */
  readonly attributed: boolean;
  /** Citations: marks in a row are one. */
  readonly citations: number;
  /** Marks of all citations, repeated ones included. */
  readonly ids: number;
  /** Citations that name one id, and those of them whose source tells an asked fact. */
  readonly single: number;
  readonly singleRight: number;
  /** A whole sentence of a source is in the answer. */
  readonly copies: boolean;
  readonly words: number;
  readonly shape: string;
};

/** As many tokens in a row that a source contains are a copy in the shape of an answer, beside those of a fact. */
const COPY_TOKENS = 4;

/** Reads an answer. Linear in its length times the number of sources. */
export function figuresOfAnswer(text: string, row: Row, style: CitationStyle): AnswerFigures {
  const tokens = tokensOf(text);
  const marks = new Map(Array.from({ length: MAX_SOURCES }, (_, n) => [style.mark(n), n]));
  const isMark = (token: string): boolean => marks.has(token);
  const told = new Set(row.facts.map(({ source }) => source));
  const citations: string[][] = [];
  tokens.forEach((token, n) => {
    if (!isMark(token)) return;
    const last = citations.at(-1);
    if (last !== undefined && isMark(tokens[n - 1] ?? '')) last.push(token);
    else citations.push([token]);
  });
  const single = citations.filter((ids) => ids.length === 1);
  const isRight = ([id = '']: readonly string[]): boolean => told.has(marks.get(id) ?? -1);
  const singleRight = single.filter(isRight).length;
  const prose = tokens.filter((token) => !isMark(token) && !token.startsWith('<'));
  const written = asWords(textOf(prose));
  const has = (words: string): boolean => written.includes(asWords(words));
  const abstains = has(ABSTENTION);
  const right = row.facts.length === 0 ? abstains : !abstains && row.facts.every(({ answer }) => has(answer));
  const isAttributed = row.facts.length === 0 ? citations.length === 0 : singleRight === citations.length;
  return {
    right,
    attributed: right && isAttributed && (row.facts.length === 0 || citations.length > 0),
    citations: citations.length,
    ids: citations.reduce((sum, ids) => sum + ids.length, 0),
    single: single.length,
    singleRight,
    copies: row.sources.some((source) => sentencesOf(source).some(has)),
    words: prose.filter((token) => /[\p{L}\p{N}]/u.test(token)).length,
    shape: shapeOf(tokens, row, marks, told),
  };
}

/** The words of a text without case and punctuation, with a space on both sides of each. */
function asWords(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `;
}

function sentencesOf(text: string): string[] {
  return splitSentences(text).map(({ start, end }) => text.slice(start, end));
}

/**
 * The answer without what differs from row to row: `It is {fact}. [right] [other]`. `{copy}` is text of a source that
 * tells no asked fact, `{right copy}` that of one that does.
 */
function shapeOf(
  tokens: readonly string[],
  row: Row,
  marks: ReadonlyMap<string, number>,
  told: ReadonlySet<number>,
): string {
  const shape: string[] = [];
  const sources = row.sources.map((text) => tokensOf(text));
  const facts = row.facts.map(({ answer }) => tokensOf(answer));
  const names = new Set(tokensOf(row.sources.join(' ')).filter((token) => /^\p{Lu}/u.test(token) && token !== 'The'));
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] ?? '';
    const copied = sources.map((source) => commonRun(tokens, at, source));
    const longest = Math.max(0, ...copied);
    const fact = facts.find((words) => words.every((word, n) => tokens[at + n] === word));
    if (longest >= COPY_TOKENS + (fact?.length ?? 0)) {
      shape.push(told.has(copied.indexOf(longest)) ? '{right copy}' : '{copy}');
      at += longest;
    } else if (fact !== undefined) {
      shape.push('{fact}');
      at += fact.length;
    } else {
      shape.push(classOf(token, marks, row, names));
      at++;
    }
  }
  return textOf(shape);
}

function classOf(
  token: string,
  marks: ReadonlyMap<string, number>,
  { sources, facts }: Row,
  names: ReadonlySet<string>,
): string {
  const cited = marks.get(token);
  if (cited !== undefined) {
    if (cited >= sources.length) return '[unknown]';
    return facts.some(({ source }) => source === cited) ? '[right]' : '[other]';
  }
  if (/^\d+$/u.test(token)) return '#';
  return names.has(token) ? '{name}' : token;
}

/** Length of the longest run from `at` that the source contains, one that ends a sentence included. */
function commonRun(tokens: readonly string[], at: number, source: readonly string[]): number {
  let longest = 0;
  for (let start = 0; start < source.length; start++) {
    let length = 0;
    while (at + length < tokens.length && tokens[at + length] === source[start + length]) length++;
    longest = Math.max(longest, length);
  }
  return longest;
}
