/** `citeward batch submit`: check a file, send it, and make a batch of it. */
/** Sending the input of a batch, with its progress. The file is read as it goes, never as a whole. */

import { openAsBlob } from 'node:fs';
import type { BatchInput } from '../../../clients/typescript/batches.ts';
import type { Client } from '../../../clients/typescript/client.ts';
import type { Reply } from '../../../clients/typescript/reply.ts';
import { MAX_FILE_BYTES } from '../../../src/limits.ts';
import type { FileReply } from '../../../src/wire/files.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { sizeText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import { readScoringOptions } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { fetchResults } from './fetch.ts';
import { type BatchFile, checkedInput, withWorkspace } from './input.ts';
import {
  BYTES_PER_MB,
  connectForBatches,
  fetchPaths,
  MAX_PART_MB,
  nextCommand,
  readBatchSettings,
  submitSyntax,
  urlOf,
} from './options.ts';
import { fileText, sentText } from './render.ts';
import { waitForBatch } from './wait.ts';
import { exitCodeOf } from './watch.ts';

export const submitCommand: Command = { ...submitSyntax, run };

async function run(flags: Flags): Promise<number> {
  const wishes = readBatchSettings(flags);
  const partMb = flags.count('part-size', { min: 1, max: MAX_PART_MB });
  const part_bytes = partMb === null ? null : partMb * BYTES_PER_MB;
  const asked = await readScoringOptions(flags);
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
    const client = await connectForBatches(flags, screen);
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

/** Sends the file, which is read as it goes. */
async function uploadFile(
  client: Client,
  { path, filename }: BatchFile,
  part_bytes: number | null,
  screen: Screen,
): Promise<Reply<FileReply>> {
  const line = new LiveLine(process.stderr, 0);
  screen.show(line);
  const content = await openAsBlob(path);
  try {
    return await client.files.upload(
      { content, filename },
      {
        ...(part_bytes === null ? {} : { whole_bytes: part_bytes, part_bytes }),
        onProgress: ({ sent_bytes, total_bytes }) => {
          line.update(() => sentText(sent_bytes, total_bytes, line.seconds));
        },
      },
    );
  } finally {
    line.clear();
  }
}
