/** The flags of `citeward view`. */
import type { CommandSyntax } from '../../shared/command.ts';
import { JUDGE_SERVER_FLAGS } from '../../shared/judge-server.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import { SETTINGS_FLAGS } from '../serve/options.ts';

/** A view shows rewards; it neither signs them nor prints offsets. */
const NOT_SHOWN: readonly string[] = ['receipt', 'offsets'];

export const viewSyntax: CommandSyntax = {
  usage: ['view FILE [flags]', 'view - [flags]          (rows from standard input)'],
  flags: [
    ...SCORING_FLAGS.filter(({ name }) => !NOT_SHOWN.includes(name)),
    MAP_FLAG,
    {
      name: 'rows',
      kind: 'text',
      value: 'FILE',
      help: 'With results of a batch: the rows that were scored, for answers.',
    },
    { name: 'port', kind: 'text', value: 'N', help: 'Port of the page (default: a free one).' },
    { name: 'no-open', kind: 'switch', help: 'Only print the address of the page; open no browser.' },
    { name: 'state', kind: 'text', value: 'DIR', help: 'Keep what is shown in DIR, as serve does (default: nothing).' },
    ...JUDGE_SERVER_FLAGS,
    ...SETTINGS_FLAGS,
  ],
  details: [
    'Scores the rows of a file, as score does, and shows them in the dashboard while they are scored. A file of',
    'runs export and the results of a batch are shown as they are. Rows are read out of inspect logs (.eval, .json),',
    'promptfoo results (.json, .jsonl), the completions that TRL keeps (.parquet) and data sets of ragas.',
    'The page is of this machine only, and ends with Ctrl-C.',
    'Rows with the same question form a group; a row with {"run": {"step": N}} is shown in step N, others in step 0.',
    'Judge: the built-in one, the model of --judge-url, or one of BACKENDS in --settings (docs/guides/backends.md).',
  ],
};
