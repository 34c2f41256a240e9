/**
 * Text that talks to the judge: a flag for people and dashboards, never a verdict. What keeps a judge safe is that
 * untrusted text cannot leave its delimiters (ARCHITECTURE.md rule 4); this list only says where somebody tried.
 */
import type { Span } from '../citations/types.ts';

/** Lower case. Phrases that address a grader, and role marks of common chat templates. */
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

const BY_FIRST_UNIT = new Map<number, string[]>();
for (const phrase of PHRASES) {
  const unit = phrase.charCodeAt(0);
  const same = BY_FIRST_UNIT.get(unit);
  if (same === undefined) BY_FIRST_UNIT.set(unit, [phrase]);
  else same.push(phrase);
}

/** Pairs of ASCII units that begin a phrase: nearly every place of a text is dismissed by one look into this table. */
const BEGINS_PHRASE = new Uint8Array(128 * 128);
for (const phrase of PHRASES) {
  const pair = phrase.charCodeAt(0) * 128 + phrase.charCodeAt(1);
  if (phrase.charCodeAt(0) < 128) BEGINS_PHRASE[pair] = 1;
}

/** Places in `text[start, end)` where a phrase begins a word. Linear: phrases are few and short. */
export function suspectedInjections(text: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  // Lower-casing can change lengths outside ASCII, so only ASCII is folded: offsets stay the caller's.
  let atWordStart = true;
  // No phrase is one unit long, so the last unit begins none.
  for (let i = start; i < end - 1; i++) {
    const folded = foldUnit(text.charCodeAt(i));
    const letter = folded >= 0x61 && folded <= 0x7a;
    const mayBegin = atWordStart || !letter;
    atWordStart = !letter;
    if (!mayBegin) continue;
    if (folded < 128) {
      const next = foldUnit(text.charCodeAt(i + 1));
      if (next >= 128 || BEGINS_PHRASE[folded * 128 + next] === 0) continue;
    }
    const length = phraseLengthAt(text, i, end, folded);
    if (length === 0) continue;
    spans.push({ start: i, end: i + length });
    i += length - 1;
  }
  return spans;
}

/** Length of the phrase that begins at a place, 0 if none does. Apart from the scan: a closure there costs it tenfold. */
function phraseLengthAt(text: string, at: number, end: number, first: number): number {
  for (const phrase of BY_FIRST_UNIT.get(first) ?? []) {
    if (startsWithFolded(text, at, end, phrase)) return phrase.length;
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
