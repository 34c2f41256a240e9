/** A batch in words: what `citeward batch status` prints, and a row of `citeward batch list`. */

import type { BatchReply } from '../../src/wire/batches/batch.ts';
import type { BatchError } from '../../src/wire/batches/request-line.ts';
import { countText, shareText } from '../output/progress.ts';
import type { Colour } from '../output/style.ts';
import type { Cell, Column, TableRow } from '../output/table.ts';
import { shareOf } from './progress.ts';
import { isStalled } from './watch.ts';

export function statusColumns({ id }: BatchReply): readonly Column[] {
  return [
    { title: 'batch', align: 'left', most: 12 },
    { title: id, align: 'left', most: 200 },
  ];
}

/** What is known of a batch, one thing a row. What went wrong may be long and is said by `troubles`. */
export function statusRows(batch: BatchReply): TableRow[] {
  const { status, endpoint, progress, metadata } = batch;
  const rows: (readonly [title: string, text: string, colour?: Colour | null])[] = [
    ['status', status, statusColour(batch)],
    ['endpoint', endpoint],
    ['lines', shareText(shareOf(batch))],
  ];
  const { total, done, waiting, dead } = progress.chunks;
  if (total > 0) {
    const parts = [`${countText(done)} of ${countText(total)} done`];
    if (waiting > 0) parts.push(`${countText(waiting)} waiting for another try`);
    if (dead > 0) parts.push(`${countText(dead)} dead`);
    rows.push(['chunks', parts.join(', ')]);
  }
  rows.push(['created', timeText(batch.created_at)]);
  const ended = batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at;
  if (ended !== null) rows.push(['ended', timeText(ended)]);
  else if (batch.expires_at !== null) rows.push(['expires', timeText(batch.expires_at)]);
  rows.push(['input', batch.input_file_id]);
  if (batch.output_file_id !== null) rows.push(['output', batch.output_file_id]);
  if (batch.error_file_id !== null) rows.push(['errors', batch.error_file_id]);
  for (const [name, value] of Object.entries(metadata ?? {})) rows.push(['metadata', `${name}=${value}`]);
  return rows.map(([title, text, colour]) => ({
    cells: [
      { text: title, colour: 'dim' },
      { text, colour: colour ?? null },
    ],
  }));
}

/** Dead letters, and what is wrong with the input, one a line. */
export function troubles({ dead_letters, errors }: BatchReply): string[] {
  const dead = dead_letters.map(({ first_line, requests, attempts, reason }) => {
    const lines = requests === 1 ? '1 line' : `${requests} lines`;
    return `dead letter: ${lines} from line ${first_line} on: ${reason}, after ${attempts} attempts`;
  });
  return [...dead, ...(errors?.data ?? []).map(errorText)];
}

export const LIST_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 48 },
  { title: 'status', align: 'left', most: 12 },
  { title: 'endpoint', align: 'left', most: 12 },
  { title: 'created, UTC', align: 'left', most: 16 },
  { title: 'done', align: 'right', most: 16 },
  { title: 'failed', align: 'right', most: 8 },
  { title: 'metadata', align: 'left', most: 200 },
];

export function listRow(batch: BatchReply): TableRow {
  const { total, completed, failed } = batch.request_counts;
  const pairs = Object.entries(batch.metadata ?? {}).map(([name, value]) => `${name}=${value}`);
  const failedCell: Cell = { text: countText(failed), ...(failed > 0 ? { colour: 'red' } : {}) };
  return {
    cells: [
      { text: batch.id },
      { text: batch.status, colour: statusColour(batch) },
      { text: batch.endpoint },
      { text: timeText(batch.created_at).slice(0, 'YYYY-MM-DD HH:MM'.length) },
      { text: `${countText(completed + failed)}/${countText(total)}` },
      failedCell,
      { text: pairs.join(' '), colour: 'dim' },
    ],
  };
}

function statusColour(batch: BatchReply): Colour | null {
  switch (batch.status) {
    case 'completed':
      return batch.request_counts.failed === 0 ? 'green' : 'yellow';
    case 'failed':
    case 'expired':
      return 'red';
    case 'cancelled':
    case 'cancelling':
      return 'yellow';
    case 'validating':
    case 'in_progress':
    case 'finalizing':
      return isStalled(batch) ? 'red' : null;
  }
}

/** `line 4: custom_id: expected …` */
export function errorText({ line, message }: Pick<BatchError, 'line' | 'message'>): string {
  return line === null ? message : `line ${line}: ${message}`;
}

/** `2026-11-21 21:45:03 UTC` */
function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
