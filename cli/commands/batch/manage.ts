/** `citeward batch status`, `list`, `cancel` and `redrive`. */

import { plainLine } from '../../../src/text/foreign-line.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf } from '../../shared/number-text.ts';
import { limitOf, printList } from '../../shared/paging.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { resultTable } from '../../shared/table.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import {
  batchIdOf,
  cancelSyntax,
  connectForBatches,
  listSyntax,
  nextCommand,
  redriveSyntax,
  statusSyntax,
} from './options.ts';
import { batchRow, LIST_COLUMNS, problemsOf, statusColumns, statusRows } from './render.ts';

export const statusCommand: Command = { ...statusSyntax, run: runStatus };
export const listCommand: Command = { ...listSyntax, run: runList };
export const cancelCommand: Command = { ...cancelSyntax, run: runCancel };
export const redriveCommand: Command = { ...redriveSyntax, run: runRedrive };

async function runStatus(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'status');
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.retrieve(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const batch = reply.body;
  if (flags.isOn('json')) await screen.result(JSON.stringify(batch));
  else {
    const table = resultTable(statusColumns(batch), screen);
    for (const row of statusRows(batch)) await table.add(row);
    await table.end();
    for (const problem of problemsOf(batch)) await screen.result(screen.resultStyle('red', plainLine(problem)));
  }
  return EXIT_OK;
}

async function runList(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) {
    throw new UsageError('batch list takes no batch', `To see one batch: ${CITEWARD} batch status BATCH --url URL`);
  }
  const limit = limitOf(flags);
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  await printList(screen, {
    limit,
    async fetchPage(count, after) {
      const page = await client.batches.list({ limit: count, ...(after === null ? {} : { after }) });
      if (!page.ok) throw runErrorOf(page.failure);
      const { data, has_more, last_id } = page.body;
      return { entries: data, next: has_more ? last_id : null };
    },
    columns: LIST_COLUMNS,
    rowOf: batchRow,
    json: flags.isOn('json'),
    empty: 'no batches',
  });
  return EXIT_OK;
}

async function runCancel(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'cancel');
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.cancel(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  screen.message(`${id} is ${reply.body.status}`, 'bold');
  screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
  return EXIT_OK;
}

async function runRedrive(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'redrive');
  const screen = new Screen(flags);
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.redrive(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { redriven } = reply.body;
  screen.message(redriven > 0 ? `retrying ${countOf(redriven, 'chunk')}` : 'no dead letters to retry', 'bold');
  if (redriven > 0) screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
  return EXIT_OK;
}
