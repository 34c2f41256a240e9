/** `citeward batch submit`: check a file, send it, and make a batch of it. */

import type { BatchInput } from '../../../clients/typescript/batches.ts';
import type { Client } from '../../../clients/typescript/client.ts';
import { MAX_WHOLE_FILE_BYTES, UPLOAD_PART_BYTES } from '../../../clients/typescript/files.ts';
import { problemsOfIssues } from '../../../src/input-problem.ts';
import { MAX_FILE_BYTES } from '../../../src/limits.ts';
import { batchRequestSchema } from '../../../src/wire/batches/batch.ts';
import type { Flags } from '../../arguments/flags.ts';
import { checkedInput, INPUT_DETAILS, INPUT_FLAGS } from '../../batch/checked-input.ts';
import { fetchPaths, fetchResults } from '../../batch/fetch-results.ts';
import { RESULT_FLAGS } from '../../batch/paths.ts';
import { fileText, uploadFile } from '../../batch/upload.ts';
import { exitCodeOf, waitForBatch } from '../../batch/wait-for.ts';
import { nextCommand, reachBatches, urlOf, WORKER_FLAGS } from '../../batch/worker.ts';
import { withWorkspace } from '../../batch/workspace.ts';
import { type Command, EXIT_OK, RunError, UsageError } from '../../command.ts';
import { openInput } from '../../input/open-input.ts';
import { sizeText } from '../../output/progress.ts';
import { Screen } from '../../output/screen.ts';
import { runErrorOf } from '../../remote/failures.ts';
import { readAsked } from '../../score/asked.ts';

const MEGABYTE = 1_000_000;
const MAX_PART_MB = UPLOAD_PART_BYTES / MEGABYTE;

export const submitCommand: Command = {
  name: 'batch submit',
  summary: 'Check a file of requests and have a Worker score it.',
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
      help: `Send a larger file in parts of this size (default: from ${MAX_WHOLE_FILE_BYTES / MEGABYTE} MB on, in parts of ${MAX_PART_MB}).`,
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
  run,
};

type Wishes = Omit<BatchInput, 'input_file_id' | 'endpoint'>;

async function run(flags: Flags): Promise<number> {
  const wishes = readWishes(flags);
  const partMb = flags.count('part-size', { min: 1, max: MAX_PART_MB });
  const part_bytes = partMb === null ? null : partMb * MEGABYTE;
  const asked = await readAsked(flags);
  const dry = flags.isOn('dry-run');
  if (!dry) urlOf(flags);
  if (flags.isOn('fetch') && flags.text('output') !== null) fetchPaths('', flags);
  const screen = new Screen(flags.isOn('no-color'));
  const input = await openInput(flags.positionals, 'batch submit');
  const submitted = await withWorkspace(async (directory) => {
    const file = await checkedInput(flags, input, asked, directory, screen);
    if (file.bytes > MAX_FILE_BYTES) {
      throw new RunError(`${sizeText(file.bytes)} are more than a batch may have: ${sizeText(MAX_FILE_BYTES)}`);
    }
    screen.message(fileText(file, part_bytes), 'dim');
    if (dry) return null;
    const client = await reachBatches(flags, screen);
    const sent = await uploadFile(client, file, part_bytes, screen);
    if (!sent.ok) throw runErrorOf(sent.failure);
    return { client, id: await create(client, { ...wishes, endpoint: file.endpoint, input_file_id: sent.body.id }) };
  });
  if (submitted === null) return EXIT_OK;
  const { client, id } = submitted;
  await screen.result(id);
  if (!flags.isOn('wait') && !flags.isOn('fetch')) {
    screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
    return EXIT_OK;
  }
  const batch = await waitForBatch(client, id, flags, screen);
  // What is wrong with its input has been said.
  if (batch.status === 'failed') return exitCodeOf(batch);
  if (flags.isOn('fetch')) return fetchResults(client, batch, fetchPaths(id, flags), screen);
  screen.message(`Next: ${nextCommand('fetch', id, flags)}`, 'dim');
  return exitCodeOf(batch);
}

const FLAG_OF_FIELD: Readonly<Record<string, string>> = {
  completion_window: 'window',
  metadata: 'metadata',
  webhook: 'webhook',
};

/** What flags say of the batch itself, as the Worker would check it. @throws UsageError */
function readWishes(flags: Flags): Wishes {
  const webhook = flags.text('webhook');
  const pairs = flags.list('metadata').map((pair) => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
    throw new UsageError(`--metadata: expected key=value, got "${pair}"`);
  });
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw new UsageError('--metadata: a key is given twice');
  const wishes: Wishes = {
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

/** @returns the id. */
async function create(client: Client, batch: BatchInput): Promise<string> {
  const created = await client.batches.create(batch);
  if (created.ok) return created.body.id;
  const error = runErrorOf(created.failure);
  if (created.failure.kind !== 'unreachable') throw error;
  throw new RunError(
    `${error.message}; whether the batch was made is not known`,
    'citeward batch list shows it if so.',
  );
}
