/**
 * `citeward batch fetch`: downloads the results of a batch. Each file is downloaded under a temporary name beside its
 * final name and renamed when it is complete; its lines are counted during the download.
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
import { chunksOf } from '../../shared/input.ts';
import { sizeText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import { LineFile } from './line-file.ts';
import { batchIdOf, connectForBatches, fetchPaths, fetchSyntax, nextCommand, type ResultPaths } from './options.ts';
import { problemsOf } from './render.ts';
import { BatchSummary, MAX_RESULT_LINE_BYTES, readResultLine } from './results.ts';
import { exitCodeOf, isOver } from './watch.ts';

export const fetchCommand: Command = { ...fetchSyntax, run: runFetch };

async function runFetch(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'fetch');
  const paths = fetchPaths(id, flags);
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.retrieve(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  if (!isOver(reply.body)) {
    const wait = nextCommand('wait', id, flags);
    throw new RunError(`${id} is ${reply.body.status}: there are no results yet`, `Wait for the end with: ${wait}`);
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
    for (const problem of problemsOf(batch)) screen.message(problem, 'red');
    screen.message(`${batch.id} failed: its input is invalid, so nothing was scored`, 'bold');
    return EXIT_INCOMPLETE;
  }
  const summary = new BatchSummary();
  const line = new LiveLine(screen.errors);
  screen.show(line);
  await downloadResults({ client, batch, paths, summary, line });
  if (batch.output_file_id !== null) screen.message(`results: ${paths.output}`);
  if (batch.error_file_id !== null) screen.message(`failed lines: ${paths.errors}`);
  screen.message(summary.text(null), 'bold');
  return exitCodeOf(batch);
}

type Download = {
  readonly client: Client;
  readonly batch: BatchReply;
  readonly paths: ResultPaths;
  readonly summary: BatchSummary;
  readonly line: LiveLine;
};

/**
 * Downloads the result file and the error file, as far as they exist.
 * @throws RunError if one is incomplete; then none is kept.
 */
async function downloadResults({ client, batch, paths, summary, line }: Download): Promise<void> {
  const wanted = [
    { id: batch.output_file_id, path: paths.output },
    { id: batch.error_file_id, path: paths.errors },
  ];
  try {
    for (const { id, path } of wanted) {
      if (id !== null) await downloadFile(client, id, path, summary, line);
    }
    const { completed, failed } = batch.request_counts;
    if (summary.done !== completed || summary.failed !== failed) {
      throw new RunError(
        `the files hold ${summary.done} results and ${summary.failed} failed lines; ` +
          `the batch reports ${completed} and ${failed}`,
        'Run the command again.',
      );
    }
    for (const { id, path } of wanted) {
      // With --force, an old file is removed even if this batch has no such file.
      if (id === null) await rm(path, { force: true });
      else await rename(partOf(path), path);
    }
  } finally {
    for (const { path } of wanted) await rm(partOf(path), { force: true });
  }
}

/** The name of a file during its download. */
function partOf(path: string): string {
  return `${path}.partial`;
}

async function downloadFile(
  client: Client,
  id: string,
  path: string,
  summary: BatchSummary,
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
    if (result === null) throw new RunError(`${described.body.filename} has a line that this version cannot read`);
    summary.add(result);
  };
  try {
    const onLost = (error: unknown): never => {
      throw interrupted(reasonOf(error));
    };
    for await (const chunk of chunksOf(content.body, onLost)) {
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
  throw interrupted(`got ${file.bytes} of ${described.body.bytes} bytes`);
}

function receivedText({ filename, bytes }: FileReply, received: number): string {
  const share = bytes === 0 ? 100 : Math.floor((100 * received) / bytes);
  return `${filename}  ${sizeText(received)} of ${sizeText(bytes)}  ${share}%`;
}

function interrupted(why: string): RunError {
  return new RunError(`the download was interrupted: ${why}`, 'Run the command again.');
}
