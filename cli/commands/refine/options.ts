/** `citeward refine`: questions and tool output in, cited answers out, verified while they are written. */
/** How candidates are to be made, as the flags of `citeward refine` say it. */

import { MAX_GENERATED_TOKENS, MAX_GROUP, MAX_SEED } from '../../../src/limits.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { REMOTE_FLAGS } from '../../shared/worker.ts';

const REFINE_FLAGS: readonly FlagDescription[] = [
  { name: 'n', kind: 'text', value: 'N', help: `Candidates of each row, 1 to ${MAX_GROUP} (default 1).` },
  { name: 'temperature', kind: 'text', value: 'T', help: '0 to 2 (default 1); 0 is greedy.' },
  { name: 'top-p', kind: 'text', value: 'P', help: 'Above 0, at most 1 (default 1).' },
  { name: 'seed', kind: 'text', value: 'SEED', help: 'Candidate i gets SEED + i. Without it, chance decides.' },
  { name: 'max-tokens', kind: 'text', value: 'N', help: 'Of each candidate, thinking included (default 1024).' },
  { name: 'mode', kind: 'text', value: 'answer_only|full', help: 'full: the policy may think before its answer.' },
  { name: 'abort-invented', kind: 'switch', help: 'Stop a candidate as soon as it cites an id that no source has.' },
  { name: 'generator', kind: 'text', value: 'NAME', help: 'The generator, by the name that the Worker has for it.' },
];

export const refineSyntax: CommandSyntax = {
  usage: ['refine FILE.jsonl [flags]', 'refine - [flags]         (rows from standard input)'],
  flags: [
    ...REFINE_FLAGS,
    ...SCORING_FLAGS.filter(({ name }) => name !== 'receipt'),
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, once it is whole.' },
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/refine, and if you like id and note. Flags win over a row.',
    'Fields about a response that is there already (response, finish_reason, …) are not read.',
    'Candidates are scored where the row or a flag says how (--recipe, --set, --judge, --judgments).',
    'Marks: ✓ its words stand in what it cites, ~ not enough of them do, ✗ it cites what does not exist.',
    'Without --url the built-in extractive refiner answers: it copies sentences and is no model.',
    'Exit code: 0 all rows done, 1 some lines bad, failed or not scored, 2 wrong command line.',
  ],
};

type Fields = Readonly<Record<string, unknown>>;

/** Fields of the request that the flags set. */
export type RefineOptions = { readonly fields: Fields; readonly sampling: Fields };

/** Reads REFINE_FLAGS. @throws UsageError */
export function readRefineOptions(flags: Flags): RefineOptions {
  const given = (values: Readonly<Record<string, unknown>>): Fields =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  return {
    fields: given({
      n: flags.count('n', { min: 1, max: MAX_GROUP }),
      mode: flags.choice('mode', ['answer_only', 'full']),
      generator: flags.text('generator'),
      on_invented_citation: flags.isOn('abort-invented') ? 'abort' : null,
    }),
    sampling: given({
      temperature: numberOf(flags, 'temperature', 'a number from 0 to 2', (value) => value >= 0 && value <= 2),
      top_p: numberOf(flags, 'top-p', 'a number above 0, at most 1', (value) => value > 0 && value <= 1),
      seed: flags.count('seed', { min: 0, max: MAX_SEED }),
      max_tokens: flags.count('max-tokens', { min: 1, max: MAX_GENERATED_TOKENS }),
    }),
  };
}

/** A row's fields with those of the flags, which win. Claims are compared with their sources unless the row says otherwise. */
export function applyRefineOptions(row: Fields, { fields, sampling }: RefineOptions): Fields {
  const all = { evidence: 'lexical', ...row, ...fields };
  if (Object.keys(sampling).length === 0) return all;
  const own = row['sampling'];
  const isObject = typeof own === 'object' && own !== null && !Array.isArray(own);
  // What is no object is refused as it is.
  return isObject || own === undefined ? { ...all, sampling: { ...own, ...sampling } } : all;
}

/** Fields that flags set for every row. */
export function refineFieldsSet({ fields, sampling }: RefineOptions): readonly string[] {
  return [...Object.keys(fields), ...(Object.keys(sampling).length === 0 ? [] : ['sampling'])];
}

function numberOf(flags: Flags, name: string, expected: string, isIn: (value: number) => boolean): number | null {
  const given = flags.text(name);
  if (given === null) return null;
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(given) ? Number(given) : Number.NaN;
  if (isIn(value)) return value;
  throw new UsageError(`--${name}: expected ${expected}, got "${given}"`);
}
