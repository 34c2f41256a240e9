/** The input of `batch submit` and `batch run`: its flags, and its errors by line on standard error. */
/** Where the results of a batch go, and that nothing is overwritten unasked. */
/** Fetching the results of a batch that is over, on the command line. */
/** The Worker that a batch is at: finding it, naming batches there, and the commands that go on with one. */
/** `citeward batch submit`: check a file, send it, and make a batch of it. */
/** `citeward batch status` and `citeward batch list`. */
/** `citeward batch wait` and `citeward batch fetch`. */
/** `citeward batch cancel` and `citeward batch redrive`. */
/** `citeward batch run`: a batch in this process, for who has no Worker. The same checks, the same lines of results. */

import { existsSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import type { BatchInput } from '../../../clients/typescript/batches.ts';
import type { Client } from '../../../clients/typescript/client.ts';
import { MAX_WHOLE_FILE_BYTES, UPLOAD_PART_BYTES } from '../../../clients/typescript/files.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { BATCH_ENDPOINTS, batchRequestSchema } from '../../../src/wire/batches/batch.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription, Flags } from '../../shared/flags.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { connect } from '../../shared/worker.ts';

const INPUT_FLAGS: readonly FlagDescription[] = [
  {
    name: 'endpoint',
    kind: 'text',
    value: 'PATH',
    help: `One of ${BATCH_ENDPOINTS.join(', ')} (default: that of the first line, else /v1/score).`,
  },
  ...SCORING_FLAGS,
];

const INPUT_DETAILS: readonly string[] = [
  'FILE holds one request a line, as OpenAI has it: {"custom_id", "method": "POST", "url", "body"}; or',
  'plain rows, as citeward score takes them: their id, or line-N, is then the custom_id, and the flags',
  'for scoring apply. The whole file is checked before anything is done.',
];

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
function requireFree({ output, errors }: ResultPaths, hint: string): void {
  for (const path of [output, errors]) {
    if (existsSync(path)) throw new UsageError(`${path} is there already`, hint);
  }
}

/** Where they go. @throws UsageError if something is there, and --force is not. */
export function fetchPaths(id: string, flags: Flags): ResultPaths {
  const paths = resultPaths(flags, `${id}.jsonl`);
  if (!flags.isOn('force')) requireFree(paths, '--force replaces it; --output and --errors name other files.');
  return paths;
}

const WORKER_FLAGS: readonly FlagDescription[] = [
  { name: 'url', kind: 'text', value: 'URL', help: 'The Worker.' },
  { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
];

/** Finds the Worker. @throws UsageError where no --url says it, RunError if none answers there. */
export async function connectForBatches(flags: Flags, screen: Screen): Promise<Client> {
  const url = urlOf(flags);
  return connect(url, flags.text('key'), ({ why, wait_ms }) => {
    screen.message(`${why}; again in ${(wait_ms / 1000).toFixed(1)} s`, 'dim');
  });
}

export function urlOf(flags: Flags): string {
  const url = flags.text('url');
  if (url !== null) return url;
  throw new UsageError('batches are scored by a Worker: give its --url', 'Without one: citeward batch run');
}

/** The one batch that a command is about. */
export function batchIdOf(flags: Flags, command: string): string {
  const [id, ...more] = flags.positionals;
  if (id !== undefined && more.length === 0) return id;
  throw new UsageError(`expected one batch: citeward batch ${command} ID`, 'citeward batch list shows them.');
}

/** A command to be typed next. The key stays out of it. */
export function nextCommand(action: string, id: string, flags: Flags): string {
  return `citeward batch ${action} ${id} --url ${urlOf(flags)}`;
}

export const BYTES_PER_MB = 1_000_000;

export const MAX_PART_MB = UPLOAD_PART_BYTES / BYTES_PER_MB;

export const submitSyntax: CommandSyntax = {
  usage: ['batch submit FILE.jsonl --url URL [flags]', 'batch submit - --url URL [flags]    (from standard input)'],
  flags: [
    ...INPUT_FLAGS,
    { name: 'window', kind: 'text', value: '24h', help: 'When it has to be done, 1h to 168h (default 24h).' },
    { name: 'metadata', kind: 'list', value: 'KEY=VALUE', help: 'Kept with the batch; may be repeated.' },
    { name: 'webhook', kind: 'text', value: 'ID', help: 'A registered webhook that is told of the end.' },
    {
      name: 'part-size',
      kind: 'text',
      value: 'MB',
      help: `Send a larger file in parts of this size (default: from ${MAX_WHOLE_FILE_BYTES / BYTES_PER_MB} MB on, in parts of ${MAX_PART_MB}).`,
    },
    { name: 'dry-run', kind: 'switch', help: 'Check the file, say what would be sent, and stop.' },
    { name: 'wait', kind: 'switch', help: 'Then wait as citeward batch wait does.' },
    { name: 'fetch', kind: 'switch', help: 'Then wait, and fetch the results.' },
    ...RESULT_FLAGS,
    ...WORKER_FLAGS,
  ],
  details: [
    ...INPUT_DETAILS,
    'The id of the batch goes to standard output.',
    'Exit code: 0 submitted; 1 bad lines, or the Worker refused or went away; 2 wrong command line. With',
    '--wait or --fetch: that of citeward batch wait.',
  ],
};

type BatchSettings = Omit<BatchInput, 'input_file_id' | 'endpoint'>;

const FLAG_OF_FIELD: Readonly<Record<string, string>> = {
  completion_window: 'window',
  metadata: 'metadata',
  webhook: 'webhook',
};

/** What flags say of the batch itself, as the Worker would check it. @throws UsageError */
export function readBatchSettings(flags: Flags): BatchSettings {
  const webhook = flags.text('webhook');
  const pairs = flags.list('metadata').map((pair) => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
    throw new UsageError(`--metadata: expected key=value, got "${pair}"`);
  });
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw new UsageError('--metadata: a key is given twice');
  const wishes: BatchSettings = {
    completion_window: flags.text('window') ?? '24h',
    ...(pairs.length === 0 ? {} : { metadata: Object.fromEntries(pairs) }),
    ...(webhook === null ? {} : { webhook }),
  };
  const request = { ...wishes, input_file_id: 'file-', endpoint: '/v1/score' };
  const parsed = batchRequestSchema.safeParse(request);
  if (parsed.success) return wishes;
  const problems = problemsOfIssues(parsed.error.issues, request).map(({ path, message }) => {
    const [field = ''] = path;
    return `--${FLAG_OF_FIELD[field] ?? field}: ${message}`;
  });
  throw new UsageError(problems.join('\n'), 'See: citeward help batch submit');
}

export const statusSyntax: CommandSyntax = {
  usage: ['batch status ID --url URL [flags]'],
  flags: [{ name: 'json', kind: 'switch', help: 'The batch as the Worker describes it, as JSON.' }, ...WORKER_FLAGS],
  details: ['Exit code: 0 there is such a batch, however it stands; 1 there is none; 2 wrong command line.'],
};

export const DEFAULT_LISTED = 20;

export const MAX_LISTED = 10_000;

export const listSyntax: CommandSyntax = {
  usage: ['batch list --url URL [flags]'],
  flags: [
    { name: 'limit', kind: 'text', value: 'N', help: `At most so many (default ${DEFAULT_LISTED}).` },
    { name: 'json', kind: 'switch', help: 'One batch a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: ['Exit code: 0 listed, 1 the Worker refused or went away, 2 wrong command line.'],
};

export const waitSyntax: CommandSyntax = {
  usage: ['batch wait ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'Ctrl-C ends the waiting, not the batch: wait again whenever you like. A Worker that does not',
    'answer for a while is waited for.',
    'Exit code: 0 completed without failed lines; 1 lines failed, or the batch failed, expired, was',
    'cancelled, or stands still with dead letters only; 2 wrong command line; 130 Ctrl-C.',
  ],
};

export const fetchSyntax: CommandSyntax = {
  usage: ['batch fetch ID --url URL [flags]'],
  flags: [...RESULT_FLAGS, ...WORKER_FLAGS],
  details: [
    'Results and failed lines go into one file each, in the order of the input; a batch without failed',
    'lines has no second file. What is there under the name of a result is whole.',
    'Exit code: 0 completed without failed lines, 1 lines failed or nothing could be fetched, 2 wrong',
    'command line.',
  ],
};

const EXIT_DETAILS = 'Exit code: 0 done, 1 the Worker refused or went away, 2 wrong command line.';

export const cancelSyntax: CommandSyntax = {
  usage: ['batch cancel ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: ['Requests that were not made are lines of the error file: batch_cancelled.', EXIT_DETAILS],
};

export const redriveSyntax: CommandSyntax = {
  usage: ['batch redrive ID --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'Dead letters are chunks that failed again and again for no reason of their lines; batch status',
    'names them. They keep the batch open until its window ends.',
    EXIT_DETAILS,
  ],
};

export const localRunSyntax: CommandSyntax = {
  usage: ['batch run FILE.jsonl --output SCORES.jsonl [flags]'],
  flags: [
    ...INPUT_FLAGS,
    ...RESULT_FLAGS,
    { name: 'resume', kind: 'switch', help: 'Go on after an interruption: lines that have a result are left out.' },
  ],
  details: [
    ...INPUT_DETAILS,
    'Results are written line by line, in the order of the input. The built-in judge compares words and',
    'is no model. --resume takes up only what comes from the same input and flags.',
    'Exit code: 0 every line has its result, 1 bad or failed lines, 2 wrong command line, 130 Ctrl-C.',
  ],
};

export function readLocalPaths(flags: Flags): ResultPaths {
  const output = flags.text('output');
  if (output === null) throw new UsageError('where do the results go? Give --output FILE');
  if (flags.isOn('resume') && flags.isOn('force'))
    throw new UsageError('--resume goes on, --force begins anew: not both');
  const paths = resultPaths(flags, output);
  if (!flags.isOn('resume') && !flags.isOn('force')) {
    requireFree(paths, '--resume goes on with it, --force replaces it.');
  }
  return paths;
}
