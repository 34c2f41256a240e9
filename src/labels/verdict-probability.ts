/**
 * How probable a language model finds the highest level of a labelled question, from the log-probabilities of its reply.
 * The token in which the verdict begins decides: its alternatives are compared with the words of the levels, and the
 * probability of the highest level is divided by that of all levels, since a schema allows no other word there.
 */
import * as z from 'zod';
import { claimKey, statementKey } from '../judgments/kinds/citations/citations.ts';
import { criterionKey } from '../judgments/kinds/rubric/rubric.ts';
import type { LabelKind } from './labelled-row.ts';

/** Why a verdict has no probability: the reply has no log-probabilities, or they do not say one. */
export type MissingProbability = 'not_reported' | 'unreadable';

/** A log-probability above 0 is no probability. */
const alternativeSchema = z.object({ token: z.string(), logprob: z.number().max(0) });

/** A token of OpenAI's `logprobs.content`; vLLM and llama.cpp write the same. */
const tokenSchema = alternativeSchema.extend({ top_logprobs: z.array(alternativeSchema).nullish() });
type Token = z.infer<typeof tokenSchema>;

/** The key of a row's entry in a reply, the members that may hold its verdict, and the words of each level in a reply. */
type VerdictPlace = {
  readonly key: string;
  readonly members: readonly string[];
  readonly words: Readonly<Record<string, 'highest' | 'other'>>;
};

/** @param position index of the row's criterion in the call. */
function placeOf(kind: LabelKind, position: number): VerdictPlace {
  switch (kind) {
    case 'criterion':
      return {
        key: criterionKey(position),
        members: ['score', 'met'],
        words: { '2': 'highest', true: 'highest', '1': 'other', '0': 'other', false: 'other' },
      };
    case 'claim':
      return {
        key: claimKey(0),
        members: ['support'],
        words: { full: 'highest', partial: 'other', contradicted: 'other', none: 'other' },
      };
    case 'needs_citation':
      return { key: statementKey(0), members: ['needs_citation'], words: { true: 'highest', false: 'other' } };
  }
}

/**
 * The probability of the highest level (2, `full`, `true`), 0 to 1. `not_reported`: the server gave no
 * log-probabilities, or none of the verdict's alternatives. `unreadable`: they have another form, one is above 0, or no
 * token says a level where the verdict is. Takes time linear in the reply.
 *
 * @param tokens the tokens of the reply, as the server writes them.
 * @param position index of the row's criterion in the call.
 * @example
 * const probabilities = [{ token: 'true', logprob: -0.7 }, { token: 'false', logprob: -0.7 }];
 * const verdict = { token: 'true', logprob: -0.7, top_logprobs: probabilities };
 * const tokens = [{ token: '{"u1":{"reason":"r","needs_citation":', logprob: 0 }, verdict, { token: '}}', logprob: 0 }];
 * verdictProbability('needs_citation', tokens); // 0.5
 */
export function verdictProbability(
  kind: LabelKind,
  tokens: readonly unknown[],
  position = 0,
): number | MissingProbability {
  if (tokens.length === 0) return 'not_reported';
  const read = z.array(tokenSchema).safeParse(tokens);
  if (!read.success) return 'unreadable';
  const { key, members, words } = placeOf(kind, position);
  const text = read.data.map(({ token }) => token).join('');
  const value = startOfVerdict(text, key, members);
  const token = value === null ? null : tokenAt(read.data, value);
  if (token === null) return 'unreadable';
  // Servers list the chosen token among the alternatives, except where they list fewer than it takes to reach it.
  const listed = token.top_logprobs ?? [];
  const others = listed.filter((one) => one.token !== token.token);
  const sums = { highest: 0, other: 0 };
  let levels = 0;
  for (const { token: word, logprob } of [...others, token]) {
    const level = levelOf(word, words);
    if (level === null) continue;
    const probability = Math.exp(logprob);
    sums[level] += probability;
    // A server lists what a schema forbids with -9999.
    if (probability > 0) levels++;
  }
  const sum = sums.highest + sums.other;
  if (sum === 0) return 'unreadable';
  // Beside a verdict that is not listed, another that is not listed may be as probable.
  const isAlone = levels === 1 && others.length === listed.length;
  return others.length === 0 || isAlone ? 'not_reported' : sums.highest / sum;
}

const ENTRY = /\s*:\s*\{/y;
/** A JSON string, which may be cut, or the begin or end of an object. */
const MARK = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]/gs;
const VALUE = /\s*:\s*"?/y;

/** Where the value of the entry's verdict begins, behind a quotation mark; `null` = the entry has none. */
function startOfVerdict(text: string, key: string, members: readonly string[]): number | null {
  const start = startOfEntry(text, `"${key}"`);
  if (start === null) return null;
  let depth = 1;
  MARK.lastIndex = start;
  for (let mark = MARK.exec(text); mark !== null && depth > 0; mark = MARK.exec(text)) {
    const [found] = mark;
    if (found === '{') depth++;
    else if (found === '}') depth--;
    else if (members.includes(found.slice(1, -1))) {
      VALUE.lastIndex = MARK.lastIndex;
      const value = VALUE.exec(text);
      if (value !== null) return VALUE.lastIndex;
    }
  }
  return null;
}

/** Behind the brace of the last entry of that name, since a model that thinks may write a draft before. */
function startOfEntry(text: string, name: string): number | null {
  for (let at = text.lastIndexOf(name); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(name, at - 1)) {
    ENTRY.lastIndex = at + name.length;
    if (ENTRY.test(text)) return ENTRY.lastIndex;
  }
  return null;
}

/** The token that has the character at an offset of the text. */
function tokenAt(tokens: readonly Token[], offset: number): Token | null {
  let end = 0;
  for (const token of tokens) {
    end += token.token.length;
    if (end > offset) return token;
  }
  return null;
}

/** The level whose word a token begins or is; `null` = none, or more than one. */
function levelOf(token: string, words: VerdictPlace['words']): 'highest' | 'other' | null {
  // A token may have the white space, the quotation mark and the colon before the word, and what follows it.
  const word = token.replace(/^[\s":]+/, '').replace(/[\s",}]+$/, '');
  if (word === '') return null;
  const levels = Object.keys(words).flatMap((one) => (one.startsWith(word) ? [words[one] ?? null] : []));
  const [level = null, ...others] = levels;
  return others.every((other) => other === level) ? level : null;
}
