/** The flags of `citeward judgments`. */

import type { CommandSyntax } from '../../shared/command.ts';
import { CITEWARD } from '../../shared/program.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';

export const judgmentsSyntax: CommandSyntax = {
  usage: ['judgments export KEYS.txt --url URL > JUDGMENTS.jsonl', 'judgments import JUDGMENTS.jsonl --url URL'],
  flags: WORKER_FLAGS,
  details: [
    'KEYS.txt holds one key a line, as score --json names them:',
    `  ${CITEWARD} score FILE.jsonl --url URL --json | jq -r '.judgments[].key | values' > KEYS.txt`,
    'A file of judgments holds digests and verdicts, no text. An import accepts what a trusted issuer',
    'signed, and overwrites nothing. Export needs the scope score, import the scope admin.',
    'Exit code: 0 complete, 1 judgments missing or lines refused, 2 wrong command line.',
  ],
};
