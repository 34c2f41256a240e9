/** `citeward batch status` and `citeward batch list`. */
/** `citeward batch cancel` and `citeward batch redrive`. */

import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { Screen } from '../../shared/screen.ts';
import { type Column, Table, type TableRow } from '../../shared/table.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';
import {
  batchIdOf,
  cancelSyntax,
  connectForBatches,
  DEFAULT_LISTED,
  listSyntax,
  MAX_LISTED,
  nextCommand,
  redriveSyntax,
  statusSyntax,
} from './options.ts';
import { LIST_COLUMNS, listRow, statusColumns, statusRows, troubles } from './render.ts';

export const statusCommand: Command = { ...statusSyntax, run: runStatus };

async function runStatus(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'status');
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.retrieve(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const batch = reply.body;
  if (flags.isOn('json')) await screen.result(JSON.stringify(batch));
  else {
    await printTable(screen, statusColumns(batch), statusRows(batch));
    for (const trouble of troubles(batch)) await screen.result(screen.resultStyle('red', trouble));
  }
  return EXIT_OK;
}

/** Of one request. */
const PAGE = 100;

export const listCommand: Command = { ...listSyntax, run: runList };

async function runList(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('citeward batch runList takes no batch', 'See batch status.');
  const limit = flags.count('limit', { min: 1, max: MAX_LISTED }) ?? DEFAULT_LISTED;
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const table = new Table(LIST_COLUMNS, screen.width, screen.resultStyle, (line) => screen.result(line));
  const show = (batch: BatchReply): Promise<void> =>
    flags.isOn('json') ? screen.result(JSON.stringify(batch)) : table.add(listRow(batch));
  let left = limit;
  let after: string | null = null;
  while (left > 0) {
    const page = await client.batches.list({ limit: Math.min(PAGE, left), ...(after === null ? {} : { after }) });
    if (!page.ok) throw runErrorOf(page.failure);
    const { data, has_more, last_id }: typeof page.body = page.body;
    for (const batch of data) await show(batch);
    left -= data.length;
    if (!has_more || last_id === null) break;
    after = last_id;
  }
  await table.end();
  if (left === limit) screen.message('no batches', 'dim');
  return EXIT_OK;
}

async function printTable(screen: Screen, columns: readonly Column[], rows: readonly TableRow[]): Promise<void> {
  const table = new Table(columns, screen.width, screen.resultStyle, (line) => screen.result(line));
  for (const row of rows) await table.add(row);
  await table.end();
}

export const cancelCommand: Command = { ...cancelSyntax, run: runCancel };

async function runCancel(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'cancel');
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.cancel(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  screen.message(`${id} is ${reply.body.status}`, 'bold');
  screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
  return EXIT_OK;
}

export const redriveCommand: Command = { ...redriveSyntax, run: runRedrive };

async function runRedrive(flags: Flags): Promise<number> {
  const id = batchIdOf(flags, 'redrive');
  const screen = new Screen(flags.isOn('no-color'));
  const client = await connectForBatches(flags, screen);
  const reply = await client.batches.redrive(id);
  if (!reply.ok) throw runErrorOf(reply.failure);
  const { redriven } = reply.body;
  screen.message(`${redriven} ${redriven === 1 ? 'chunk is' : 'chunks are'} tried anew`, 'bold');
  if (redriven > 0) screen.message(`Next: ${nextCommand('wait', id, flags)}`, 'dim');
  return EXIT_OK;
}
