/** `citeward batch status` and `citeward batch list`. */
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import type { Flags } from '../../arguments/flags.ts';
import { LIST_COLUMNS, listRow, statusColumns, statusRows, troubles } from '../../batch/status-text.ts';
import { batchIdOf, reachBatches, WORKER_FLAGS } from '../../batch/worker.ts';
import { type Command, EXIT_OK, UsageError } from '../../command.ts';
import { Screen } from '../../output/screen.ts';
import { type Column, Table, type TableRow } from '../../output/table.ts';
import { runErrorOf } from '../../remote/failures.ts';

export const statusCommand: Command = {
  name: 'batch status',
  summary: 'How a batch stands: counts, rate, time left, what went wrong.',
  usage: ['batch status ID --url URL [flags]'],
  flags: [{ name: 'json', kind: 'switch', help: 'The batch as the Worker describes it, as JSON.' }, ...WORKER_FLAGS],
  details: ['Exit code: 0 there is such a batch, however it stands; 1 there is none; 2 wrong command line.'],
  async run(flags) {
    const id = batchIdOf(flags, 'status');
    const screen = new Screen(flags.isOn('no-color'));
    const client = await reachBatches(flags, screen);
    const reply = await client.batches.retrieve(id);
    if (!reply.ok) throw runErrorOf(reply.failure);
    const batch = reply.body;
    if (flags.isOn('json')) await screen.result(JSON.stringify(batch));
    else {
      await printTable(screen, statusColumns(batch), statusRows(batch));
      for (const trouble of troubles(batch)) await screen.result(screen.resultStyle('red', trouble));
    }
    return EXIT_OK;
  },
};

const DEFAULT_LISTED = 20;
const MAX_LISTED = 10_000;
/** Of one request. */
const PAGE = 100;

export const listCommand: Command = {
  name: 'batch list',
  summary: 'The batches of a Worker, the newest first.',
  usage: ['batch list --url URL [flags]'],
  flags: [
    { name: 'limit', kind: 'text', value: 'N', help: `At most so many (default ${DEFAULT_LISTED}).` },
    { name: 'json', kind: 'switch', help: 'One batch a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: ['Exit code: 0 listed, 1 the Worker refused or went away, 2 wrong command line.'],
  run: list,
};

async function list(flags: Flags): Promise<number> {
  if (flags.positionals.length > 0) throw new UsageError('citeward batch list takes no batch', 'See batch status.');
  const limit = flags.count('limit', { min: 1, max: MAX_LISTED }) ?? DEFAULT_LISTED;
  const screen = new Screen(flags.isOn('no-color'));
  const client = await reachBatches(flags, screen);
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
