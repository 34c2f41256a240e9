/** `citeward batch submit`: checks a file, uploads it and creates a batch of it. */

import { openAsBlob } from 'node:fs';
import type { BatchInput } from '../../../clients/typescript/batches.ts';
import type { Client } from '../../../clients/typescript/client.ts';
import type { Reply } from '../../../clients/typescript/reply.ts';
import { MAX_FILE_BYTES } from '../../../src/limits.ts';
import type { FileReply } from '../../../src/wire/files.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { sizeText } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { LiveLine } from '../../shared/progress.ts';
import { openRows } from '../../shared/row-files/open-rows.ts';
import { readScoringOptions } from '../../shared/scoring-flags.ts';
import { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { fetchResults } from './fetch.ts';
import { type BatchFile, checkedInput, withWorkspace } from './input.ts';
import {
  connectForBatches,
  fetchPaths,
  nextCommand,
  partBytesOf,
  readBatchSettings,
  submitSyntax,
  urlOf,
} from './options.ts';
import { fileText, sentText } from './render.ts';
import { waitForBatch } from './wait.ts';
import { exitCodeOf } from './watch.ts';

export const submitCommand: Command = { ...submitSyntax, run };

async function run(flags: Flags): Promise<number> {
  const settings = readBatchSettings(flags);
  const partBytes = partBytesOf(flags);
  const scoring = await readScoringOptions(flags);
  const dry = flags.isOn('dry-run');
  if (!dry) urlOf(flags);
  if (flags.isOn('fetch') && flags.text('output') !== null) fetchPaths('', flags);
  const screen = new Screen(flags);
  const input = await openRows(flags, 'batch submit examples/rollouts.jsonl --url URL');
  const submitted = await withWorkspace(async (directory) => {
    const file = await checkedInput(flags, input, scoring, directory, screen);
    if (file.bytes > MAX_FILE_BYTES) {
      throw new RunError(
        `the file has ${sizeText(file.bytes)}; a batch has at most ${sizeText(MAX_FILE_BYTES)}`,
        'Split it into several batches.',
      );
    }
    screen.message(fileText(file, partBytes), 'dim');
    if (dry) return null;
    const client = await connectForBatches(flags, screen);
    const sent = await uploadFile(client, file, partBytes, screen);
    if (!sent.ok) throw runErrorOf(sent.failure);
    return { client, id: await create(client, { ...settings, endpoint: file.endpoint, input_file_id: sent.body.id }) };
  });
  if (submitted === null) return EXIT_OK;
  const { client, id } = submitted;
  await screen.result(id);
  if (!flags.isOn('wait') && !flags.isOn('fetch')) {
    screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
    return EXIT_OK;
  }
  const batch = await waitForBatch(client, id, flags, screen);
  // waitForBatch has printed the problems of the input.
  if (batch.status === 'failed') return exitCodeOf(batch);
  if (flags.isOn('fetch')) return fetchResults(client, batch, fetchPaths(id, flags), screen);
  screen.message(`Next: ${nextCommand('fetch', id, flags)}`, 'dim');
  return exitCodeOf(batch);
}

/** Creates the batch. @returns its id. */
async function create(client: Client, batch: BatchInput): Promise<string> {
  const created = await client.batches.create(batch);
  if (created.ok) return created.body.id;
  const error = runErrorOf(created.failure);
  if (created.failure.kind !== 'unreachable') throw error;
  throw new RunError(
    `${error.message}; it is unknown whether the batch was created`,
    `To see whether it was: ${CITEWARD} batch list --url URL`,
  );
}

/** Uploads the file and shows the progress. The file is read in pieces, never as a whole. */
async function uploadFile(
  client: Client,
  { path, filename }: BatchFile,
  partBytes: number | null,
  screen: Screen,
): Promise<Reply<FileReply>> {
  const line = new LiveLine(screen.errors, 0);
  screen.show(line);
  const content = await openAsBlob(path);
  try {
    return await client.files.upload(
      { content, filename },
      {
        ...(partBytes === null ? {} : { whole_bytes: partBytes, part_bytes: partBytes }),
        onProgress: ({ sent_bytes, total_bytes }) => {
          line.update(() => sentText(sent_bytes, total_bytes, line.seconds));
        },
      },
    );
  } finally {
    line.clear();
  }
}
