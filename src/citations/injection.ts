/**
 * Finds text that addresses the judge, as a hint for people who review responses. It is not the defence: judge prompts
 * delimit untrusted text, which cannot escape its delimiters. The list only shows where a response tries.
 */
import type { Span } from '../text/span.ts';

/** Phrases that address a grader, and role marks of common chat templates. Lower case. */
const PHRASES: readonly string[] = [
  'ignore all previous',
  'ignore previous',
  'ignore the previous',
  'ignore the above',
  'ignore all instructions',
  'ignore your instructions',
  'disregard all previous',
  'disregard previous',
  'disregard the above',
  'disregard the rubric',
  'ignore the rubric',
  'ignore the criteria',
  'override your instructions',
  'note to the judge',
  'note to the grader',
  'note to judge',
  'note to grader',
  'attention judge',
  'attention grader',
  'dear judge',
  'dear grader',
  'as the judge',
  'the judge must',
  'the judge should',
  'the grader must',
  'the grader should',
  'give this answer full',
  'give this answer the full',
  'give full marks',
  'give full credit',
  'award full',
  'full marks',
  'maximum score',
  'highest score',
  'highest possible score',
  'perfect score',
  'score of 2',
  'score this answer',
  'rate this answer',
  'mark every criterion',
  'all criteria are met',
  'all criteria as met',
  'system prompt',
  'you are the judge',
  'you are a judge',
  '<|im_start|>',
  '<|im_end|>',
  '<|system|>',
  '<|user|>',
  '<|assistant|>',
  '<|eot_id|>',
  '<|start_header_id|>',
  // Of gpt-oss: a server without its parser leaves them in the text.
  '<|start|>',
  '<|channel|>',
  '<|constrain|>',
  '<|message|>',
  '<|call|>',
  '<|return|>',
  '<|end|>',
  '[inst]',
  '[/inst]',
  '<<sys>>',
  '"needs_citation":',
  '"support":',
  'ignoriere alle',
  'ignorez les instructions',
  'ignora las instrucciones',
  '忽略之前',
  '忽略以上',
];

/** Phrases by their first two units, keyed by `first * 65536 + second`. */
const BY_FIRST_UNITS = new Map<number, readonly string[]>();
for (const phrase of PHRASES) {
  const key = phrase.charCodeAt(0) * 65_536 + phrase.charCodeAt(1);
  BY_FIRST_UNITS.set(key, [...(BY_FIRST_UNITS.get(key) ?? []), phrase]);
}

/** Pairs of ASCII units, in either case, that begin a phrase. One look-up dismisses nearly every place of a text. */
const BEGINS_PHRASE = new Uint8Array(128 * 128);
for (const phrase of PHRASES) {
  if (phrase.charCodeAt(0) > 127) continue;
  for (const first of bothCases(phrase.charAt(0))) {
    for (const second of bothCases(phrase.charAt(1))) BEGINS_PHRASE[first * 128 + second] = 1;
  }
}

function bothCases(unit: string): readonly number[] {
  return [unit.charCodeAt(0), unit.toUpperCase().charCodeAt(0)];
}

const IS_LETTER = new Uint8Array(128);
for (let unit = 0x61; unit <= 0x7a; unit++)
  for (const code of bothCases(String.fromCharCode(unit))) IS_LETTER[code] = 1;

/** Code, else a comment of HTML with its text, each to its end or to that of the answer. */
const CODE_OR_COMMENT = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)|`[^`\n]*`|<!--([\s\S]*?)(?:-->|$)/gu;
/** Converters of documents leave shorter ones: `<!-- image -->`. */
const MIN_COMMENT_WORDS = 5;

/** Closed comments of several words outside code: readers of the page do not see them, the judge does. */
function comments(text: string, start: number, end: number): Span[] {
  const at = text.indexOf('<!--', start);
  if (at === -1 || at >= end) return [];
  return [...text.slice(start, end).matchAll(CODE_OR_COMMENT)].flatMap(({ 0: found, 2: comment, index }) => {
    const words = comment?.trim().split(/\s+/u) ?? [];
    return words.length >= MIN_COMMENT_WORDS && found.endsWith('-->')
      ? [{ start: start + index, end: start + index + found.length }]
      : [];
  });
}

/**
 * Returns the places in `text[start, end)` where a phrase begins at the start of a word, and comments of HTML of several
 * words. Takes linear time.
 */
export function suspectedInjections(text: string, start: number, end: number): Span[] {
  const spans = comments(text, start, end);
  // Only ASCII is folded, because lower-casing other text can change its length and so the offsets.
  let inWord = 0;
  let next = text.charCodeAt(start);
  // Every phrase has two units or more, so the last unit begins none.
  for (let i = start; i < end - 1; i++) {
    const code = next;
    next = text.charCodeAt(i + 1);
    let begins = 1;
    if (code < 128) {
      // One branch for both conditions: the processor would mispredict a branch at the borders of words.
      const letter = IS_LETTER[code] ?? 0;
      begins = next < 128 ? (BEGINS_PHRASE[code * 128 + next] ?? 0) & ~(inWord & letter) : 0;
      inWord = letter;
    } else inWord = 0;
    if (begins === 0) continue;
    const length = phraseLengthAt(text, i, end);
    if (length === 0) continue;
    spans.push({ start: i, end: i + length });
    i += length - 1;
    next = text.charCodeAt(i + 1);
  }
  return spans;
}

/**
 * Returns the length of the phrase at a place, or 0. This is a function of its own because a closure inside the loop of
 * `suspectedInjections` makes it ten times slower.
 */
function phraseLengthAt(text: string, at: number, end: number): number {
  const phrases = BY_FIRST_UNITS.get(foldUnit(text.charCodeAt(at)) * 65_536 + foldUnit(text.charCodeAt(at + 1)));
  if (phrases === undefined) return 0;
  for (let n = 0; n < phrases.length; n++) {
    const phrase = phrases[n];
    if (phrase !== undefined && startsWithFolded(text, at, end, phrase)) return phrase.length;
  }
  return 0;
}

function startsWithFolded(text: string, at: number, end: number, phrase: string): boolean {
  if (at + phrase.length > end) return false;
  for (let k = 0; k < phrase.length; k++) {
    if (foldUnit(text.charCodeAt(at + k)) !== phrase.charCodeAt(k)) return false;
  }
  return true;
}

function foldUnit(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
