/** The flags of `citeward verify`. */
import { CITATION_POLICIES } from '../../../src/citations/citation-policy.ts';
import { ANSWER_FORMATS } from '../../../src/citations/formats/names.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import type { Flags } from '../../shared/flags.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { givenFields } from '../../shared/sampling.ts';
import { OFFSETS_FLAG, readOffsets } from '../../shared/scoring-flags.ts';
import { ROW_WORKER_FLAGS } from '../../shared/worker.ts';

const ANSWERS = ['first', 'last', 'whole'] as const;
const MODES = ['answer_only', 'full'] as const;

export type VerifyMode = (typeof MODES)[number];

export const verifySyntax: CommandSyntax = {
  json: 'a row: `VerifyResponse`, with `line` and `id`',
  usage: ['verify FILE.jsonl [flags]', 'verify - [flags]         (rows from standard input)'],
  flags: [
    {
      name: 'evidence',
      kind: 'text',
      value: 'lexical|none',
      help: 'lexical (default): compare words, numbers and names with the sources.',
    },
    {
      ...{ name: 'grammar', kind: 'text', value: 'NAME', values: GRAMMAR_NAMES },
      help: `Citation syntax: ${GRAMMAR_NAMES.join(', ')}.`,
    },
    {
      name: 'answer-format',
      kind: 'text',
      value: 'NAME',
      help: `Format of cited_answer: ${ANSWER_FORMATS.join(', ')}.`,
    },
    { name: 'answer', kind: 'text', value: ANSWERS.join('|'), help: 'Which text is the answer.' },
    { name: 'mode', kind: 'text', value: MODES.join('|'), help: 'Whether text outside the answer is a finding.' },
    {
      name: 'citations',
      kind: 'text',
      value: CITATION_POLICIES.join('|'),
      help: 'Whether a missing citation, or each one, is a finding.',
    },
    OFFSETS_FLAG,
    { name: 'json', kind: 'switch', help: 'Print one JSON result a line, with its line and id, instead of the table.' },
    MAP_FLAG,
    ...ROW_WORKER_FLAGS,
  ],
  details: [
    'A row holds the fields of POST /v1/verify, and optionally id and note. Flags win over the row.',
    'Fields that only scoring reads (rubrics, reasoning, recipe, …) are ignored.',
    'Lexical evidence compares words: it is a hint for people and filters, not a verdict.',
    'Exit code: 0 all rows done, 1 some lines invalid, 2 wrong command line.',
  ],
};

/** The fields that flags set in every row. @throws UsageError */
export function readVerifyFields(flags: Flags): Readonly<Record<string, unknown>> {
  return givenFields({
    grammar: flags.choice('grammar', GRAMMAR_NAMES),
    answer_format: flags.choice('answer-format', ANSWER_FORMATS),
    answer: flags.choice('answer', ANSWERS),
    mode: flags.choice('mode', MODES),
    citations: flags.choice('citations', CITATION_POLICIES),
    offsets: readOffsets(flags),
  });
}

/** The mode under which the table shows the format. @throws UsageError */
export function readMode(flags: Flags): VerifyMode {
  return flags.choice('mode', MODES) ?? 'full';
}
