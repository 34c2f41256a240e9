/** `citeward judgments export|import`: stored judgments as a file, from one deployment into another. */
import type { CommandSyntax } from '../../shared/command.ts';

export const judgmentsSyntax: CommandSyntax = {
  usage: ['judgments export KEYS.txt --url URL > FILE.jsonl', 'judgments import FILE.jsonl --url URL'],
  flags: [
    { name: 'url', kind: 'text', value: 'URL', help: 'The Worker.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
  ],
  details: [
    'KEYS.txt holds one key a line, as citeward score --json names them:',
    "  citeward score FILE --url URL --json | jq -r '.judgments[].key | values' > KEYS.txt",
    'A file of judgments holds digests and verdicts, no text. An import takes what a trusted issuer',
    'signed, and never overwrites. Export needs the scope score, import the scope admin.',
    'Exit code: 0 all there, 1 judgments missing or lines refused, 2 wrong command line.',
  ],
};
