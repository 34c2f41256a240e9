/** `citeward judge check`: how far a judge can be trusted. */
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import type { serverUnderCheck } from './judges.ts';

export const REPLICATES_RANGE = { min: 0, max: 20 } as const;

export const DEFAULT_REPLICATES = 1;

export const LIMIT_RANGE = { min: 1, max: 999_999_999 } as const;

/** As functions/backends/settings.ts has it for a deployment. */
const CONTEXT_RANGE = { min: 2_048, max: 16_777_216 } as const;

export const judgeSyntax: CommandSyntax = {
  usage: ['judge check FILE.jsonl [flags]', 'judge check - [flags]   (rows from standard input)'],
  flags: [
    { name: 'judge', kind: 'text', value: 'lexical', help: 'The built-in judge (the default without --url).' },
    {
      name: 'url',
      kind: 'text',
      value: 'BASE_URL',
      help: 'An OpenAI-compatible server, as in http://127.0.0.1:8000/v1.',
    },
    { name: 'model', kind: 'text', value: 'NAME', help: 'The model that judges, by the name the server has for it.' },
    { name: 'key', kind: 'text', value: 'KEY', help: "The server's key; better in the environment, as VLLM_API_KEY." },
    {
      name: 'context-tokens',
      kind: 'text',
      value: 'N',
      help: 'Prompt and reply together; asked of the server where not given.',
    },
    {
      name: 'replicates',
      kind: 'text',
      value: 'N',
      help: `How often each rollout is judged again (default ${DEFAULT_REPLICATES}).`,
    },
    { name: 'limit', kind: 'text', value: 'N', help: 'Read the first N rows only.' },
    { name: 'concurrency', kind: 'text', value: 'N', help: 'Rows in hand at a time (default 8 with --url, else 1).' },
    { name: 'json', kind: 'switch', help: 'The whole report as one JSON object, instead of the tables.' },
  ],
  details: [
    'Rows: those of citeward score, and labelled claims {set, id, claim, evidence, label}, also mixed.',
    'Rollouts: criteria judged jointly against one by one, in reversed order, and again.',
    'Claims: verdict against label. A question without a verdict counts as a failure and is in no other',
    'figure. docs/judge-check.md explains each line.',
    'Exit code: 0 all questions got verdicts, 1 some did not or lines were bad, 2 wrong command line.',
  ],
};

/** The server that is asked, or `null` for the built-in judge. @throws UsageError for flags that do not go together. */
export function serverFlags(flags: Flags): Parameters<typeof serverUnderCheck>[0] | null {
  const named = flags.choice('judge', ['lexical']);
  const url = flags.text('url');
  const model = flags.text('model');
  const key = flags.text('key');
  const context_tokens = flags.count('context-tokens', CONTEXT_RANGE);
  if (url === null) {
    const lost = (['model', 'key', 'context-tokens'] as const).find((name) => flags.text(name) !== null);
    if (lost !== undefined) throw new UsageError(`--${lost} is for a server: give its --url too`);
    return null;
  }
  if (named !== null) throw new UsageError('--judge lexical runs here: give it or --url, not both');
  if (model === null) throw new UsageError('--url needs --model: which model judges', `${url}/models lists them`);
  return { url, model, key: key ?? keyOfEnvironment(), context_tokens };
}

function keyOfEnvironment(): string | null {
  const key = process.env['VLLM_API_KEY'];
  return key === undefined || key === '' ? null : key;
}
