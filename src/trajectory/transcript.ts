/**
 * Writes a trajectory as one text: what the policy wrote and what the tools answered, in order. Recipes whose reference
 * code reads one text (dr-tulu, tool-call) read this text, so a rollout earns the same as text and as messages.
 *
 * A text cannot say who wrote what. Therefore markup that only the policy may write (an answer, a citation, a call)
 * loses its first character where a tool or a user wrote it, and markup of sources loses it where the policy wrote it.
 * The text keeps its length.
 */
import { isAsciiDigit, isAsciiLetter } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { TextBuilder } from './draft.ts';
import type { TracedText, Trajectory, TrajectoryCall } from './trajectory.ts';

/** How a transcript is written. */
export type TranscriptStyle = {
  /** The marks around the query of a call. */
  call(call: TrajectoryCall): { readonly open: string; readonly query: string; readonly close: string };
  /** The marks around the output of a tool. */
  readonly result: { readonly open: string; readonly close: string };
  /** Markup that counts only where the policy wrote it. Tag names in lower case. */
  readonly policyMarkup: Markup;
  /** Markup that counts only where a tool wrote it. */
  readonly sourceMarkup: Markup;
};

export type Markup = { readonly tags: readonly string[]; readonly texts: readonly string[] };

export type Transcript = TracedText & {
  /** The outputs of tools in the text, without the marks around them. */
  readonly outputs: readonly Span[];
};

/** Characters that replace the first one of markup: each has one code unit, like the character that it replaces. */
const NEUTRAL: Readonly<Record<string, string>> = { '<': '\u2039', '\\': '\u2216', '`': '\u02bc' };

/** Writes the transcript from the policy's first turn on. */
export function writeTranscript({ turns }: Trajectory, style: TranscriptStyle): Transcript {
  const text = new TextBuilder();
  const outputs: Span[] = [];
  const add = ({ text: given, pieces }: TracedText, markup: Markup): void =>
    text.addText({ text: withoutMarkup(given, markup), pieces });
  const apart = (): void => {
    if (!text.isEmpty()) text.addOwn('\n');
  };
  for (const turn of turns.slice(
    Math.max(
      0,
      turns.findIndex(({ by_policy }) => by_policy),
    ),
  )) {
    const { by_policy, thinking } = turn;
    const markup = by_policy ? style.sourceMarkup : style.policyMarkup;
    if (thinking !== null) {
      apart();
      text.addOwn('<think>');
      // Thinking that closes itself would end early.
      add(thinking, { tags: [...markup.tags, 'think'], texts: markup.texts });
      text.addOwn('</think>');
    }
    if (turn.text !== null && turn.text.text !== '') {
      apart();
      add(turn.text, markup);
    }
    for (const call of turn.calls) {
      const { open, query, close } = style.call(call);
      apart();
      text.addOwn(open + withoutMarkup(query, style.policyMarkup) + close);
    }
    for (const { output } of turn.results) {
      apart();
      text.addOwn(style.result.open);
      const start = text.length;
      add(output, style.policyMarkup);
      outputs.push({ start, end: text.length });
      text.addOwn(style.result.close);
    }
  }
  return { ...text.build(), outputs };
}

/** Whether a text has such markup. */
export function hasMarkup(text: string, markup: Markup): boolean {
  return withoutMarkup(text, markup) !== text;
}

/** Replaces the first character of each piece of markup. Linear for a constant number of names. */
function withoutMarkup(text: string, { tags, texts }: Markup): string {
  let result = text;
  for (const one of texts) result = result.replaceAll(one, [...one].map((unit) => NEUTRAL[unit] ?? unit).join(''));
  if (tags.length === 0) return result;
  let out = '';
  let from = 0;
  for (let at = result.indexOf('<'); at !== -1; at = result.indexOf('<', at + 1)) {
    if (!isTagOf(result, at, tags)) continue;
    out += `${result.slice(from, at)}${NEUTRAL['<'] ?? ''}`;
    from = at + 1;
  }
  return from === 0 ? result : out + result.slice(from);
}

function isTagOf(text: string, at: number, names: readonly string[]): boolean {
  const start = at + (text.charAt(at + 1) === '/' ? 2 : 1);
  return names.some((name) => {
    const end = start + name.length;
    return text.slice(start, end).toLowerCase() === name && !isNameUnit(text.charCodeAt(end));
  });
}

function isNameUnit(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code) || code === UNDERSCORE;
}

const UNDERSCORE = 0x5f;
