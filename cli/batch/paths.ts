/** Where the results of a batch go, and that nothing is overwritten unasked. */
import { existsSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import type { Flags } from '../arguments/flags.ts';
import { type FlagDescription, UsageError } from '../command.ts';

export const RESULT_FLAGS: readonly FlagDescription[] = [
  { name: 'output', kind: 'text', value: 'FILE', help: 'Where the results go (default ID.jsonl).' },
  { name: 'errors', kind: 'text', value: 'FILE', help: 'Where failed lines go (default: as --output, .errors.jsonl).' },
  { name: 'force', kind: 'switch', help: 'Replace files that are there.' },
];

export type ResultPaths = { readonly output: string; readonly errors: string };

/** @param fallback the output where no flag says it. @throws UsageError if both are the same. */
export function resultPaths(flags: Flags, fallback: string): ResultPaths {
  const output = flags.text('output') ?? fallback;
  const errors = flags.text('errors') ?? errorsBeside(output);
  if (resolve(output) === resolve(errors)) throw new UsageError('--output and --errors are the same file');
  return { output, errors };
}

/** `scores.jsonl` has its failed lines in `scores.errors.jsonl`. */
function errorsBeside(output: string): string {
  const { ext } = parse(output);
  const stem = ext === '' ? output : output.slice(0, -ext.length);
  return `${stem}.errors${ext === '' ? '.jsonl' : ext}`;
}

/** @throws UsageError if one is there. Both are looked at, as old errors beside new results would mislead. */
export function requireFree({ output, errors }: ResultPaths, hint: string): void {
  for (const path of [output, errors]) {
    if (existsSync(path)) throw new UsageError(`${path} is there already`, hint);
  }
}
