/** What the policy imitates before it learns from rewards: answers with the faults that a share of them has. */
import * as z from 'zod';
import type { Draws } from '../demo-run/draws.ts';
import { ABSTENTION, type Fact, type Row } from './rows.ts';
import { type CitationStyle, cited } from './style.ts';
import { textOf, tokensOf } from './words.ts';

const share = z.number().min(0).max(1);

/** Shares of the answers. What a policy can find depends on what it starts with. */
export const habitsSchema = z.strictObject({
  uncited: share.default(0.25).describe('Answers that cite nothing.'),
  wrong_source: share.default(0.35).describe('Citations of another source than the right one.'),
  several_sources: share.default(0.03).describe('Citations that name two or more sources.'),
  copies: share.default(0.4).describe("Facts in the words of their source, in place of 'It is …'."),
  off_question: share.default(0.1).describe('Answers that copy a sentence which was not asked.'),
  abstains: share.default(0.03).describe('Answers that say that the sources do not tell it, where they do.'),
  guesses: share.default(0.25).describe('Answers with a sentence of a source where no source tells what is asked.'),
  stumbles: share.default(0.05).describe('Answers of which one token is dropped, doubled or replaced.'),
});

export type Habits = z.infer<typeof habitsSchema>;

/** Short answers that are right, each with its source. */
export const NO_FAULTS: Habits = {
  uncited: 0,
  wrong_source: 0,
  several_sources: 0,
  copies: 0,
  off_question: 0,
  abstains: 0,
  guesses: 0,
  stumbles: 0,
};

/** An answer to imitate. */
export function target(row: Row, habits: Habits, style: CitationStyle, draws: Draws): string {
  const sentences = sentencesOf(row, habits, draws).map(({ text, source }, n) =>
    cited(style, text, citedSources(source, row, habits, draws.of('citation', n))),
  );
  const text = `<answer> ${sentences.join(' ')} </answer>`;
  return draws.share('stumbles') < habits.stumbles ? textOf(stumbled(tokensOf(text), row, draws.of('stumble'))) : text;
}

type Sentence = { readonly text: string; readonly source: number | null };

function sentencesOf(row: Row, habits: Habits, draws: Draws): Sentence[] {
  const abstains = row.facts.length === 0 ? 1 - habits.guesses : habits.abstains;
  if (draws.share('abstains') < abstains) return [{ text: ABSTENTION, source: null }];
  if (row.facts.length === 0 || draws.share('off question') < habits.off_question) {
    const source = draws.integer(0, row.sources.length - 1, 'off question source');
    const sentences = (row.sources[source] ?? '').split(/(?<=\.) /u);
    return [{ text: draws.pick(sentences, 'off question sentence'), source }];
  }
  const copies = draws.share('copies') < habits.copies;
  return row.facts.map((fact) => ({ text: copies ? fact.sentence : shortAnswer(fact), source: fact.source }));
}

function shortAnswer({ answer }: Fact): string {
  return `It is ${answer}.`;
}

/** The sources that a sentence cites. @param right the source that tells it; `null` = none does. */
function citedSources(right: number | null, row: Row, habits: Habits, draws: Draws): number[] {
  if (right === null || draws.share('uncited') < habits.uncited) return [];
  const others = row.sources.map((_, n) => n).filter((n) => n !== right);
  if (others.length === 0) return [right];
  if (draws.share('several') < habits.several_sources) {
    const also = draws.pick(others, 'also');
    return draws.share('which first') < 0.5 ? [right, also] : [also, right];
  }
  return [draws.share('wrong') < habits.wrong_source ? draws.pick(others, 'other') : right];
}

/** Drops, doubles or replaces one token. */
function stumbled(tokens: readonly string[], row: Row, draws: Draws): string[] {
  const at = draws.integer(0, tokens.length - 1, 'at');
  const token = tokens[at] ?? '';
  const words = [...tokensOf(row.sources.join(' ')), ...tokens];
  const changed = draws.pick([[], [token, token], [draws.pick(words, 'word')]], 'how');
  return tokens.toSpliced(at, 1, ...changed);
}
