/** `citeward batch wait` and `citeward batch fetch`. */
/** Fetching the results of a batch that is over, on the command line. */
/**
 * The files of a batch onto the disk. Each is written beside its place and moved there when it is whole, so that what stands
 * under a result's name is the result; its lines are counted on the way.
 */

import { rename, rm } from 'node:fs/promises';
import type { Client } from '../../../clients/typescript/client.ts';
import { reasonOf } from '../../../clients/typescript/transport.ts';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { LineSplitter } from '../../../src/wire/batches/byte-lines.ts';
import type { FileReply } from '../../../src/wire/files.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, RunError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { sizeText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { LineFile } from './line-file.ts';
import { batchIdOf, connectForBatches, fetchPaths, fetchSyntax, nextCommand, type ResultPaths } from './options.ts';
import { troubles } from './render.ts';
import { BatchSummary, MAX_RESULT_LINE_BYTES, readResultLine } from './results.ts';
import { exitCodeOf, isOver } from './watch.ts';

export const fetchCommand: Command = { ...fetchSyntax, run: runFetch };

async function runFetch(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'fetch');
  const paths = fetchPaths(id, flags);
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.retrieve(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  if (!isOver(reply.body)) {
    const wait = nextCommand('wait', id, flags);
    throw new RunError(`${id} is ${reply.body.status}: there are no results yet`, `Wait for it with: ${wait}`);
  }
  return fetchResults(client, reply.body, paths, screen);
}

export async function fetchResults(
  client: Client,
  batch: BatchReply,
  paths: ResultPaths,
  screen: Screen,
): Promise<number> {
  if (batch.status === 'failed') {
    for (const trouble of troubles(batch)) screen.message(trouble, 'red');
    screen.message(`${batch.id} failed: its input is wrong, and nothing was scored`, 'bold');
    return EXIT_INCOMPLETE;
  }
  const tally = new BatchSummary();
  const line = new LiveLine(process.stderr);
  screen.show(line);
  await downloadResults({ client, batch, paths, tally, line });
  if (batch.output_file_id !== null) screen.message(`results: ${paths.output}`);
  if (batch.error_file_id !== null) screen.message(`failed lines: ${paths.errors}`);
  screen.message(tally.summary(null), 'bold');
  return exitCodeOf(batch);
}

type Download = {
  readonly client: Client;
  readonly batch: BatchReply;
  readonly paths: ResultPaths;
  readonly tally: BatchSummary;
  readonly line: LiveLine;
};

/** Fetches both files, those that there are. @throws RunError if one cannot be had whole: then neither is there. */
async function downloadResults({ client, batch, paths, tally, line }: Download): Promise<void> {
  const wanted = [
    { id: batch.output_file_id, path: paths.output },
    { id: batch.error_file_id, path: paths.errors },
  ];
  try {
    for (const { id, path } of wanted) {
      if (id !== null) await downloadFile(client, id, path, tally, line);
    }
    const { completed, failed } = batch.request_counts;
    if (tally.done !== completed || tally.failed !== failed) {
      throw new RunError(
        `the files hold ${tally.done} results and ${tally.failed} failed lines, but the batch has ${completed} and ${failed}`,
      );
    }
    for (const { id, path } of wanted) {
      // With --force, what is there of another batch goes also where this one has nothing to put.
      if (id === null) await rm(path, { force: true });
      else await rename(partOf(path), path);
    }
  } finally {
    for (const { path } of wanted) await rm(partOf(path), { force: true });
  }
}

function partOf(path: string): string {
  return `${path}.partial`;
}

async function downloadFile(
  client: Client,
  id: string,
  path: string,
  tally: BatchSummary,
  line: LiveLine,
): Promise<void> {
  const described = await client.files.retrieve(id);
  if (!described.ok) throw runErrorOf(described.failure);
  const content = await client.files.content(id);
  if (!content.ok) throw runErrorOf(content.failure);
  const file = new LineFile(partOf(path), 'w');
  const splitter = new LineSplitter(MAX_RESULT_LINE_BYTES);
  const count = (bytes: Uint8Array | null): void => {
    const result = readResultLine(bytes);
    if (result === null) throw new RunError(`${described.body.filename} is not as this version expects`);
    tally.add(result);
  };
  try {
    for await (const chunk of chunksOf(content.body)) {
      await file.write(chunk);
      for (const { bytes } of splitter.push(chunk)) count(bytes);
      line.update(() => receivedText(described.body, file.bytes));
    }
    for (const { bytes } of splitter.finish()) count(bytes);
  } finally {
    await file.close();
    line.clear();
  }
  if (file.bytes === described.body.bytes) return;
  throw new RunError(`the download broke off: ${file.bytes} of ${described.body.bytes} bytes came`, 'Try again.');
}

function receivedText({ filename, bytes }: FileReply, received: number): string {
  const share = bytes === 0 ? 100 : Math.floor((100 * received) / bytes);
  return `${filename}  ${sizeText(received)} of ${sizeText(bytes)}  ${share}%`;
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new RunError(`the download broke off: ${reasonOf(error)}`, 'Try again.');
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Left early: the rest is not wanted.
    reader.cancel().catch(() => undefined);
  }
}
