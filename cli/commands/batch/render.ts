/** Prints the status of a batch, the rows of `citeward batch list`, and the progress of uploads and batches. */
import { MAX_WHOLE_FILE_BYTES, UPLOAD_PART_BYTES } from '../../../clients/typescript/files.ts';
import type { BatchReply } from '../../../src/wire/batches/batch.ts';
import { countOf, countText, durationText, rateText, sizeText } from '../../shared/number-text.ts';
import { barText, LiveLine, type Share, shareText } from '../../shared/progress.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import type { Cell, Column, TableRow } from '../../shared/table.ts';
import { type BatchFile, errorText } from './input.ts';
import { isStalled } from './watch.ts';

export function statusColumns({ id }: BatchReply): readonly Column[] {
  return [
    { title: 'batch', align: 'left', most: 12 },
    { title: id, align: 'left', most: 200 },
  ];
}

/** The status of a batch, one field a row. Errors may be long; `problemsOf` returns them. */
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
    if (waiting > 0) parts.push(`${countText(waiting)} waiting for a retry`);
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

/** The dead letters and the errors of the input, one a line. */
export function problemsOf({ dead_letters, errors }: BatchReply): string[] {
  const dead = dead_letters.map(({ first_line, requests, attempts, reason }) => {
    const lines = `${countOf(requests, 'line')} from line ${first_line} on`;
    return `dead letter: ${lines}: ${reason}, after ${attempts} attempts`;
  });
  return [...dead, ...(errors?.data ?? []).map((error) => errorText(error))];
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

/** A row of `citeward batch list`. */
export function batchRow(batch: BatchReply): TableRow {
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

/** `2026-11-21 21:45:03 UTC` */
function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const SECONDS_BETWEEN_LINES = 10;

/** Shows the progress of a batch on standard error: a bar on a terminal, else a line every few seconds. */
export class BatchProgress {
  readonly #screen: Screen;
  readonly #line: LiveLine;
  #printed: { readonly at: number; readonly status: string | null; readonly text: string };
  #text: (columns: number) => string = () => '';
  #isLost = false;

  /** @param status a status that is known already and gets no line of its own. */
  constructor(screen: Screen, status: BatchReply['status'] | null = null) {
    this.#screen = screen;
    this.#printed = { at: 0, status, text: '' };
    this.#line = new LiveLine(screen.errors, 0);
    screen.show(this.#line);
  }

  show(batch: BatchReply): void {
    this.update(batch.status, shareOf(batch));
  }

  /** @param status printed before the numbers, unless it is `in_progress`. */
  update(status: string, share: Share): void {
    if (this.#isLost && !this.#line.isLive) this.#screen.message('the Worker answers again', 'dim');
    this.#isLost = false;
    const before = status === 'in_progress' ? '' : `${status}  `;
    this.#text = (columns) => (share.total === 0 ? status : `${before}${barText(share, columns - before.length)}`);
    if (this.#line.isLive) this.#line.update(this.#text);
    else this.#printSometimes(status, share.total === 0 ? '' : `  ${shareText(share)}`);
  }

  /** Appends a remark to the numbers until they change, such as the reason for a delay. */
  remark(text: string): void {
    this.#line.remark(text, this.#text);
  }

  /** Shows that the Worker does not answer. */
  connectionLost(why: string): void {
    const text = `${why}; retrying, the batch is not affected`;
    if (this.#line.isLive) this.#line.remark(text, this.#text);
    else if (!this.#isLost) this.#screen.message(text, 'yellow');
    this.#isLost = true;
  }

  end(): void {
    this.#line.clear();
  }

  #printSometimes(status: string, text: string): void {
    const { seconds } = this.#line;
    const { at, ...printed } = this.#printed;
    const isDue = seconds - at >= SECONDS_BETWEEN_LINES && text !== printed.text;
    if (status === printed.status && !isDue) return;
    this.#printed = { at: seconds, status, text };
    this.#screen.message(`${status}${text}`, 'dim');
  }
}

/** The progress of a batch in lines. */
export function shareOf({ request_counts, progress }: BatchReply): Share {
  const { total, completed, failed } = request_counts;
  const { lines_per_second, eta_s } = progress;
  return { done: completed + failed, total, failed, lines_per_second, left_s: eta_s };
}

/** `19 requests · 1 chunk · 83,412 bytes · /v1/score · in 3 parts` */
export function fileText({ requests, chunks, bytes, endpoint }: BatchFile, partBytes: number | null): string {
  const parts = [countOf(requests, 'request'), countOf(chunks, 'chunk'), sizeText(bytes), endpoint];
  if (bytes > (partBytes ?? MAX_WHOLE_FILE_BYTES)) {
    parts.push(`in ${Math.ceil(bytes / (partBytes ?? UPLOAD_PART_BYTES))} parts`);
  }
  return parts.join(' · ');
}

/** `sending  128 MB of 400 MB  32%  12 MB/s  about 22.7 s left` */
export function sentText(sent: number, total: number, seconds: number): string {
  const parts = [`sending  ${sizeText(sent)} of ${sizeText(total)}  ${Math.floor((100 * sent) / total)}%`];
  if (sent > 0 && sent < total) {
    parts.push(
      `${rateText(sent / BYTES_PER_MB / seconds)} MB/s`,
      `about ${durationText((seconds * (total - sent)) / sent)} left`,
    );
  }
  return parts.join('  ');
}

const BYTES_PER_MB = 1_000_000;

/** `batch_x: completed · 19 lines · 17 done · 2 failed · 4.0 s` */
export function endText({ id, status, request_counts, in_progress_at, ...times }: BatchReply): string {
  const { total, completed, failed } = request_counts;
  const parts = [`${id}: ${status}`];
  if (total > 0) parts.push(`${countText(total)} lines`, `${countText(completed)} done`);
  if (failed > 0) parts.push(`${countText(failed)} failed`);
  const end = times.completed_at ?? times.expired_at ?? times.cancelled_at;
  // Times are whole seconds, so a short batch has no duration.
  if (end !== null && in_progress_at !== null && end > in_progress_at) parts.push(durationText(end - in_progress_at));
  return parts.join(' · ');
}
