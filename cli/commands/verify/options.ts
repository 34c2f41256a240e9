/** `citeward verify`: rows in, what can be said of their citations without a judge out. */
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { REMOTE_FLAGS } from '../../shared/worker.ts';

export const verifySyntax: CommandSyntax = {
  usage: ['verify FILE.jsonl [flags]', 'verify - [flags]         (rows from standard input)'],
  flags: [
    { name: 'evidence', kind: 'text', value: 'none|lexical', help: 'lexical: compare claims with their sources.' },
    { name: 'grammar', kind: 'text', value: 'NAME', help: `How citations are marked: ${GRAMMAR_NAMES.join(', ')}.` },
    { name: 'answer', kind: 'text', value: 'first|last|whole', help: 'Which text is the answer.' },
    { name: 'mode', kind: 'text', value: 'answer_only|full', help: 'Whether text outside the answer is a finding.' },
    { name: 'json', kind: 'switch', help: 'One JSON result a line, with its line and id, instead of the table.' },
    ...REMOTE_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/verify, and if you like id and note. Flags win over a row.',
    'Fields that only scoring reads (rubrics, reasoning, recipe, …) may be there and are not read.',
    'Lexical evidence compares words: a flag for people and filters, not a verdict.',
    'Exit code: 0 all rows done, 1 some lines bad, 2 wrong command line.',
  ],
};

export function readOverrides(flags: Flags): Readonly<Record<string, string>> {
  const grammar = flags.choice('grammar', GRAMMAR_NAMES);
  const answer = flags.choice('answer', ['first', 'last', 'whole']);
  const mode = flags.choice('mode', ['answer_only', 'full']);
  return {
    ...(grammar === null ? {} : { grammar }),
    ...(answer === null ? {} : { answer }),
    ...(mode === null ? {} : { mode }),
  };
}
