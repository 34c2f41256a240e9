/**
 * The rollout used by the benchmarks: the example `good-answer`, with about 25 KB of tool output and 13 cited claims.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const EXAMPLES = resolve(import.meta.dirname, '../examples/rollouts.jsonl');

export type TypicalRollout = {
  readonly question: string;
  readonly response: string;
  readonly tool_output: string;
  readonly positive_rubrics: readonly string[];
  readonly negative_rubrics: readonly string[];
};

/** What an example holds besides the fields of a request. */
type ExampleFields = { readonly id: string; readonly note: string };

export function typicalRollout(): TypicalRollout {
  const line = readFileSync(EXAMPLES, 'utf8')
    .split('\n')
    .find((text) => text.includes('"id": "good-answer"') || text.includes('"id":"good-answer"'));
  if (line === undefined) throw new Error('examples/rollouts.jsonl has no row good-answer');
  const { id: _id, note: _note, ...row }: TypicalRollout & ExampleFields = JSON.parse(line);
  return row;
}
