/** The flags of the `citeward batch` commands. */

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
import { LIMIT_FLAG } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import { MAP_FLAG } from '../../shared/row-files/open-rows.ts';
import { LOCAL_FLAGS } from '../../shared/row-host.ts';
import { SCORING_FLAGS } from '../../shared/scoring-flags.ts';
import type { Screen } from '../../shared/screen.ts';
import { connect, WORKER_FLAGS } from '../../shared/worker.ts';

const INPUT_FLAGS: readonly FlagDescription[] = [
  {
    name: 'endpoint',
    kind: 'text',
    value: 'PATH',
    help: `One of ${BATCH_ENDPOINTS.join(', ')} (default: that of the first line, else /v1/score).`,
  },
  MAP_FLAG,
  ...SCORING_FLAGS,
];

const INPUT_DETAILS: readonly string[] = [
  'FILE holds one request a line, as in the OpenAI Batch API: {"custom_id", "method": "POST", "url",',
  '"body"}; or plain rows, as for score, also as JSON, CSV, TSV or Parquet. The custom_id of a row is',
  'its id, else line-N, and the scoring flags apply to it. The whole file is checked first.',
];

export const RESULT_FLAGS: readonly FlagDescription[] = [
  { name: 'output', kind: 'text', value: 'FILE', help: 'File for the results (default BATCH.jsonl).' },
  {
    name: 'errors',
    kind: 'text',
    value: 'FILE',
    help: 'File for the failed lines (default: --output with .errors.jsonl).',
  },
  { name: 'force', kind: 'switch', help: 'Replace existing files.' },
];

const BYTES_PER_MB = 1_000_000;
const MAX_WHOLE_MB = MAX_WHOLE_FILE_BYTES / BYTES_PER_MB;
const MAX_PART_MB = UPLOAD_PART_BYTES / BYTES_PER_MB;

export const submitSyntax: CommandSyntax = {
  usage: ['batch submit FILE.jsonl --url URL [flags]', 'batch submit - --url URL [flags]    (from standard input)'],
  flags: [
    ...INPUT_FLAGS,
    { name: 'window', kind: 'text', value: '24h', help: 'Time limit of the batch, 1h to 168h (default 24h).' },
    { name: 'metadata', kind: 'list', value: 'KEY=VALUE', help: 'Stored with the batch; may be repeated.' },
    { name: 'webhook', kind: 'text', value: 'ID', help: 'A registered webhook that is called at the end.' },
    {
      name: 'part-size',
      kind: 'text',
      value: 'MB',
      help: `Upload in parts of this size (default: above ${MAX_WHOLE_MB} MB, parts of ${MAX_PART_MB} MB).`,
    },
    { name: 'dry-run', kind: 'switch', help: 'Check the file, print what would be sent, and stop.' },
    {
      name: 'wait',
      kind: 'switch',
      help: 'Wait for a Worker at --url, and after submitting for the batch, as batch wait does.',
    },
    { name: 'fetch', kind: 'switch', help: 'After submitting, wait for the batch and download its results.' },
    ...RESULT_FLAGS,
    // Its own --wait includes that for a Worker.
    ...WORKER_FLAGS.filter(({ name }) => name !== 'wait'),
  ],
  details: [
    ...INPUT_DETAILS,
    'Prints the id of the batch on standard output.',
    'Exit code: 0 submitted; 1 some lines invalid, or the Worker refused or stopped answering; 2 wrong',
    'command line. With --wait or --fetch: that of batch wait.',
  ],
};

export const statusSyntax: CommandSyntax = {
  json: 'one object: `Batch`',
  usage: ['batch status BATCH --url URL [flags]'],
  flags: [{ name: 'json', kind: 'switch', help: 'Print the batch as JSON.' }, ...WORKER_FLAGS],
  details: ['Exit code: 0 the batch exists, whatever its status; 1 it does not; 2 wrong command line.'],
};

export const listSyntax: CommandSyntax = {
  json: 'a batch: an entry of `BatchList`',
  usage: ['batch list --url URL [flags]'],
  flags: [LIMIT_FLAG, { name: 'json', kind: 'switch', help: 'Print one batch a line, as JSON.' }, ...WORKER_FLAGS],
  details: ['Exit code: 0 listed, 1 the Worker refused or stopped answering, 2 wrong command line.'],
};

export const waitSyntax: CommandSyntax = {
  usage: ['batch wait BATCH --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'Ctrl-C ends the waiting, not the batch; wait again at any time. If the Worker does not answer,',
    'the command keeps trying.',
    'Exit code: 0 completed without failed lines; 1 lines failed, or the batch failed, expired, was',
    'cancelled, or has only dead letters left; 2 wrong command line; 130 Ctrl-C.',
  ],
};

export const fetchSyntax: CommandSyntax = {
  usage: ['batch fetch BATCH --url URL [flags]'],
  flags: [...RESULT_FLAGS, ...WORKER_FLAGS],
  details: [
    'Results and failed lines go into one file each, in the order of the input. Without failed lines',
    'there is no second file. A file appears under its name when it is complete.',
    'Exit code: 0 completed without failed lines, 1 lines failed or nothing could be downloaded, 2 wrong',
    'command line.',
  ],
};

const CHANGE_EXIT_DETAILS = 'Exit code: 0 done, 1 the Worker refused or stopped answering, 2 wrong command line.';

export const cancelSyntax: CommandSyntax = {
  usage: ['batch cancel BATCH --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: ['Requests that were not made are in the error file, as batch_cancelled.', CHANGE_EXIT_DETAILS],
};

export const redriveSyntax: CommandSyntax = {
  usage: ['batch redrive BATCH --url URL [flags]'],
  flags: WORKER_FLAGS,
  details: [
    'A dead letter is a chunk of lines that failed several times, for a reason outside its lines;',
    'batch status names them. They keep the batch open until its time limit.',
    CHANGE_EXIT_DETAILS,
  ],
};

export const localRunSyntax: CommandSyntax = {
  usage: ['batch run FILE.jsonl --output SCORES.jsonl [flags]'],
  flags: [
    ...INPUT_FLAGS,
    ...RESULT_FLAGS,
    { name: 'resume', kind: 'switch', help: 'Continue after an interruption: skip lines that have a result.' },
    ...LOCAL_FLAGS,
  ],
  details: [
    ...INPUT_DETAILS,
    'Results are written line by line, in the order of the input. The built-in judge compares words and',
    'is no model; give one with --judge-url or --backends. --resume accepts only results of the same',
    'input and flags.',
    'Exit code: 0 every line has its result, 1 invalid or failed lines, 2 wrong command line, 130 Ctrl-C.',
  ],
};

/** Connects to the Worker of `--url`. @throws UsageError without `--url`, RunError if no Worker answers there. */
export function connectForBatches(flags: Flags, screen: Screen): Promise<Client> {
  return connect(flags, (text) => screen.message(text, 'dim'), missingUrl());
}

/** The address of the Worker. @throws UsageError without `--url`. */
export function urlOf(flags: Flags): string {
  const url = flags.text('url');
  if (url === null) throw missingUrl();
  return url;
}

function missingUrl(): UsageError {
  return new UsageError(
    'only a Worker has batches: give its --url',
    `Without a Worker: ${CITEWARD} batch run FILE.jsonl --output SCORES.jsonl`,
  );
}

/** The id of the batch on the command line. @throws UsageError if there is none, or more than one. */
export function batchIdOf(flags: Flags, command: string): string {
  const [id, ...more] = flags.positionals;
  if (id !== undefined && more.length === 0) return id;
  throw new UsageError(
    `expected one batch: ${CITEWARD} batch ${command} BATCH --url URL`,
    `To see the ids: ${CITEWARD} batch list --url URL`,
  );
}

/** The command to type next, without the key. */
export function nextCommand(action: string, id: string, flags: Flags): string {
  return `${CITEWARD} batch ${action} ${id} --url ${urlOf(flags)}`;
}

export type ResultPaths = { readonly output: string; readonly errors: string };

/**
 * The files for results and failed lines.
 * @param fallback the output without a flag.
 * @throws UsageError if both are the same.
 */
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

/** @throws UsageError if a file exists; both are checked, as old errors beside new results would mislead. */
function requireFree({ output, errors }: ResultPaths, hint: string): void {
  for (const path of [output, errors]) {
    if (existsSync(path)) throw new UsageError(`${path} exists already`, hint);
  }
}

/** The files of `batch fetch`. @throws UsageError if one exists, without `--force`. */
export function fetchPaths(id: string, flags: Flags): ResultPaths {
  const paths = resultPaths(flags, `${id}.jsonl`);
  if (!flags.isOn('force')) requireFree(paths, '--force replaces it; --output and --errors name other files.');
  return paths;
}

/** The files of `batch run`. @throws UsageError if one exists, without `--resume` or `--force`. */
export function localRunPaths(flags: Flags): ResultPaths {
  const output = flags.text('output');
  const [resume, force] = [flags.isOn('resume'), flags.isOn('force')];
  if (output === null) throw new UsageError('no file for the results', 'Give --output FILE');
  if (resume && force) {
    throw new UsageError('--resume continues and --force starts again', 'Give one of them, not both.');
  }
  const paths = resultPaths(flags, output);
  if (!resume && !force) requireFree(paths, '--resume continues it, --force replaces it.');
  return paths;
}

/** The size of upload parts in bytes; `null` = the default. @throws UsageError */
export function partBytesOf(flags: Flags): number | null {
  const megabytes = flags.count('part-size', { min: 1, max: MAX_PART_MB });
  return megabytes === null ? null : megabytes * BYTES_PER_MB;
}

type BatchSettings = Omit<BatchInput, 'input_file_id' | 'endpoint'>;

const FLAG_OF_FIELD: Readonly<Record<string, string>> = {
  completion_window: 'window',
  metadata: 'metadata',
  webhook: 'webhook',
};

/** Time limit, metadata and webhook of the batch, checked as the Worker checks them. @throws UsageError */
export function readBatchSettings(flags: Flags): BatchSettings {
  const webhook = flags.text('webhook');
  const pairs = flags.list('metadata').map((pair) => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
    throw new UsageError(`--metadata: expected key=value, got "${pair}"`);
  });
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw new UsageError('--metadata: a key is given twice');
  const settings: BatchSettings = {
    completion_window: flags.text('window') ?? '24h',
    ...(pairs.length === 0 ? {} : { metadata: Object.fromEntries(pairs) }),
    ...(webhook === null ? {} : { webhook }),
  };
  const request = { ...settings, input_file_id: 'file-', endpoint: '/v1/score' };
  const parsed = batchRequestSchema.safeParse(request);
  if (parsed.success) return settings;
  const problems = problemsOfIssues(parsed.error.issues, request).map(({ path, message }) => {
    const [field = ''] = path;
    return `--${FLAG_OF_FIELD[field] ?? field}: ${message}`;
  });
  throw new UsageError(problems.join('\n'), `See: ${CITEWARD} help batch submit`);
}
