/** Reads a user's rows: JSON lines with a question, sources, and the facts that answer it. */
import * as z from 'zod';
import { UsageError } from '../../cli/shared/exit.ts';
import { MAX_PROMPT_TOKENS, MAX_SOURCES, promptTokens } from './prompts.ts';
import type { Row } from './rows.ts';
import { Vocabulary } from './words.ts';

/** Most different words of all rows: the policy has one embedding for each, and learns them by imitation. */
export const MAX_VOCABULARY = 4_000;

const textSchema = z.string().min(1);

const rowSchema = z.strictObject({
  question: textSchema,
  sources: z.array(textSchema).min(1).max(MAX_SOURCES),
  facts: z
    .array(
      z.strictObject({
        sentence: textSchema.describe('As its source tells it.'),
        answer: textSchema.describe('The words that make an answer right.'),
        source: z.int().min(0).describe('Position of its source, from 0.'),
      }),
    )
    .describe('What is asked; empty if the sources do not tell it.'),
  positive_rubrics: z.array(textSchema).default([]),
  negative_rubrics: z.array(textSchema).default([]),
});

/**
 * Reads the rows of a file. @param forWords for the small policy, whose words and prompts have limits.
 * @throws UsageError that names the line, the field and what was expected.
 */
export function readRowFile(text: string, file: string, forWords: boolean): Row[] {
  const rows = text
    .split('\n')
    .map((line, n) => ({ line, number: n + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => readRow(line, `${file}, line ${number}`, forWords));
  if (rows.length === 0) throw new UsageError(`${file}: no rows`);
  const { size } = new Vocabulary(
    rows.flatMap(({ question, sources, facts }) => [question, ...sources, ...facts.map(({ answer }) => answer)]),
  );
  if (forWords && size > MAX_VOCABULARY) {
    throw new UsageError(
      `${file}: the rows have ${size} different words, more than ${MAX_VOCABULARY}`,
      'The policy learns each word by imitation; take rows with fewer words, such as templates',
    );
  }
  return rows;
}

function readRow(line: string, where: string, forWords: boolean): Row {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new UsageError(`${where}: not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const read = rowSchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new UsageError(`${where}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { positive_rubrics, negative_rubrics, ...fields } = read.data;
  const row = { ...fields, positive: positive_rubrics, negative: negative_rubrics };
  const missing = row.facts.findIndex(({ source, sentence }) => !row.sources[source]?.includes(sentence));
  if (missing !== -1) throw new UsageError(`${where}: facts.${missing}.sentence: its source does not contain it`);
  const tokens = promptTokens(row);
  if (forWords && tokens > MAX_PROMPT_TOKENS) {
    throw new UsageError(`${where}: question and sources have ${tokens} tokens, more than ${MAX_PROMPT_TOKENS}`);
  }
  return row;
}
