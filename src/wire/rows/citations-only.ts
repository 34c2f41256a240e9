/** Rows without criteria, as other tools keep them, are paid for their citations alone. */
import { GRAMMAR_NAMES, type GrammarName } from '../../citations/grammars.ts';
import { parseResponse } from '../../citations/parse.ts';
import { sourcesOf } from '../../citations/sources.ts';
import type { JsonObject } from '../../json.ts';

/** Fields of which a recipe reads one to say what a good answer is. */
const SAYS_WHAT_IS_GOOD = [
  'recipe',
  'positive_rubrics',
  'negative_rubrics',
  'rubrics',
  'entities',
  'tests',
  'messages',
];

/** What a row without criteria is asked; its verdict is shown and not paid. */
export const ADDED_CRITERION = 'Answers the question';

/** The row with a recipe that pays citations alone, if it says nothing of what a good answer is; else `null`. */
export function citationsOnly(row: JsonObject): JsonObject | null {
  if (SAYS_WHAT_IS_GOOD.some((field) => row[field] !== undefined && row[field] !== null)) return null;
  const { reference: _reference, response: written, ...fields } = row;
  const response = inAnswerBlock(written);
  return {
    ...fields,
    ...(response === undefined ? {} : { response }),
    recipe: { base: 'refiner-gpt54-instance-only', citation_weight: 1, mode: 'full', grammar: grammarOf(response) },
    positive_rubrics: [ADDED_CRITERION],
  };
}

/** Most tools keep the answer alone, without the tags around it that a recipe looks for. */
function inAnswerBlock(response: unknown): unknown {
  return typeof response === 'string' && !response.includes('<answer>') ? `<answer>${response}</answer>` : response;
}

/** The first grammar in which an answer has a citation; `snippet` if there is none. */
export function grammarOf(response: unknown): GrammarName {
  if (typeof response !== 'string') return 'snippet';
  const sources = sourcesOf({ sources: [] });
  return GRAMMAR_NAMES.find((grammar) => parseResponse(response, sources, { grammar }).claims.length > 0) ?? 'snippet';
}
