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

/** ASCII units that begin a phrase: nearly every place of a text is dismissed by one look into this table. */
const BEGINS_PHRASE = new Uint8Array(128);
for (const unit of BY_FIRST_UNIT.keys()) if (unit < 128) BEGINS_PHRASE[unit] = 1;

/** Places in `text[start, end)` where a phrase begins a word. Linear: phrases are few and short. */
export function suspectedInjections(text: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  // Lower-casing can change lengths outside ASCII, so only ASCII is folded: offsets stay the caller's.
  let atWordStart = true;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    const folded = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    const letter = folded >= 0x61 && folded <= 0x7a;
    const possible = (atWordStart || !letter) && (folded >= 128 || BEGINS_PHRASE[folded] === 1);
    atWordStart = !letter;
    const phrases = possible ? BY_FIRST_UNIT.get(folded) : undefined;
    if (phrases === undefined) continue;
    const found = phrases.find((phrase) => startsWithFolded(text, i, end, phrase));
    if (found === undefined) continue;
    spans.push({ start: i, end: i + found.length });
    i += found.length - 1;
  }
  return spans;
}

function startsWithFolded(text: string, at: number, end: number, phrase: string): boolean {
  if (at + phrase.length > end) return false;
  for (let k = 0; k < phrase.length; k++) {
    const code = text.charCodeAt(at + k);
    const folded = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    if (folded !== phrase.charCodeAt(k)) return false;
  }
  return true;
}
