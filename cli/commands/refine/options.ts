/** The flags of `citeward refine`. */
import { MAX_GENERATED_TOKENS, MAX_GROUP, MAX_SEED } from '../../../src/limits.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { LOCAL_FLAGS } from '../../shared/row-host.ts';
import type { Fields } from '../../shared/rows.ts';
import { givenFields, samplingOf } from '../../shared/sampling.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { ROW_WORKER_FLAGS } from '../../shared/worker.ts';

export const refineSyntax: CommandSyntax = {
  json: 'a row: `RefineResponse`, with `line` and `id`',
  usage: ['refine FILE.jsonl [flags]', 'refine - [flags]         (rows from standard input)'],
  flags: [
    { name: 'n', kind: 'text', value: 'N', help: `Candidates for each row, 1 to ${MAX_GROUP} (default 1).` },
    { name: 'temperature', kind: 'text', value: 'T', help: '0 to 2 (default 1); 0 is greedy.' },
    { name: 'top-p', kind: 'text', value: 'P', help: 'Above 0, at most 1 (default 1).' },
    { name: 'seed', kind: 'text', value: 'SEED', help: 'Candidate i gets SEED + i (default: random).' },
    { name: 'max-tokens', kind: 'text', value: 'N', help: 'For each candidate, thinking included (default 1024).' },
    { name: 'mode', kind: 'text', value: 'answer_only|full', help: 'full: the policy may think before its answer.' },
    { name: 'abort-invented', kind: 'switch', help: 'Stop a candidate as soon as it cites an id that no source has.' },
    { name: 'generator', kind: 'text', value: 'GENERATOR', help: 'The generator, by its name in the Worker.' },
    ...SCORING_FLAGS.filter(({ name }) => name !== 'receipt'),
    { name: 'json', kind: 'switch', help: 'Print one JSON result a line, with its line and id, when it is complete.' },
    MAP_FLAG,
    ...LOCAL_FLAGS,
    ...ROW_WORKER_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/refine, and optionally id and note. Flags win over the row.',
    'Fields about an existing response (response, finish_reason, …) are ignored.',
    'Candidates are scored if the row names a recipe, or with --recipe, --set, --judge or --judgments.',
    'Marks: ✓ the cited text contains the words of the claim, ~ only some of them, ✗ the id is invented.',
    'Without --url and --backends the built-in extractive refiner answers: it copies sentences.',
    'Exit code: 0 all rows done, 1 some lines invalid, failed or not scored, 2 wrong command line.',
  ],
};

/** The fields of the request that flags set. */
type RefineOptions = { readonly fields: Fields; readonly sampling: Fields };

/** @throws UsageError */
export function readRefineOptions(flags: Flags): RefineOptions {
  return {
    fields: givenFields({
      n: flags.count('n', { min: 1, max: MAX_GROUP }),
      mode: flags.choice('mode', ['answer_only', 'full']),
      generator: flags.text('generator'),
      on_invented_citation: flags.isOn('abort-invented') ? 'abort' : null,
    }),
    sampling: givenFields({
      temperature: flags.number('temperature', 'a number from 0 to 2', (value) => value <= 2),
      top_p: flags.number('top-p', 'a number above 0, at most 1', (value) => value > 0 && value <= 1),
      seed: flags.count('seed', { min: 0, max: MAX_SEED }),
      max_tokens: flags.count('max-tokens', { min: 1, max: MAX_GENERATED_TOKENS }),
    }),
  };
}

/**
 * Combines the fields of a row and of the flags; a flag overrides the row. Claims are compared with their sources
 * unless the row says otherwise.
 */
export function applyRefineOptions(row: Fields, { fields, sampling }: RefineOptions): Fields {
  return { evidence: 'lexical', ...row, ...fields, ...samplingOf(row, sampling) };
}

/** The fields that the flags set in every row. */
export function refineFieldsSet({ fields, sampling }: RefineOptions): readonly string[] {
  return [...Object.keys(fields), ...(Object.keys(sampling).length === 0 ? [] : ['sampling'])];
}
