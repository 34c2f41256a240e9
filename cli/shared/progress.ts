/**
 * The progress line, on standard error and only on a terminal: what is done, the rate, and the time left if it is
 * known.
 */
import { countText, durationText, rateText } from './number-text.ts';
import type { Output } from './shell.ts';
import { textWidth } from './text-width.ts';

const REDRAW_MS = 100;

/** Shorter runs show no progress line, as it would only flash up. */
const FIRST_DRAW_MS = 500;

/** One line of the terminal that is redrawn in place. */
export class LiveLine {
  readonly #stream: Output;
  readonly #started = performance.now();
  readonly #firstDrawMs: number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #shown = false;
  #remark = '';

  /** @param firstDrawMs time without any drawing, from the construction on. */
  constructor(stream: Output, firstDrawMs = FIRST_DRAW_MS) {
    this.#stream = stream;
    this.#firstDrawMs = firstDrawMs;
  }

  /** Seconds since the construction. */
  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** False if the stream is no terminal; then nothing is drawn. */
  get isLive(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Redraws the line. @param text called only when the line is drawn, with the number of columns it may take. */
  update(text: (columns: number) => string): void {
    this.#remark = '';
    this.#draw(text);
  }

  /** Appends a remark to the line until the next update, such as the reason for a delay. */
  remark(remark: string, text: (columns: number) => string): void {
    this.#remark = remark;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
    this.#draw(text);
  }

  /** Erases the line, so that other output can be printed. */
  clear(): void {
    if (!this.#shown) return;
    this.#stream.write('\r\x1b[K');
    this.#shown = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }

  #draw(text: (columns: number) => string): void {
    const now = performance.now();
    const isTooSoon = now - this.#drawnAt < REDRAW_MS || now - this.#started < this.#firstDrawMs;
    if (!this.isLive || isTooSoon) return;
    const columns = this.#stream.columns ?? 0;
    const after = this.#remark === '' ? '' : `  ${this.#remark}`;
    const line = `${text(columns - textWidth(after) - 1)}${after}`;
    if (textWidth(line) < columns) {
      this.#stream.write(`\r\x1b[K${line}`);
      this.#shown = true;
    }
    this.#drawnAt = now;
  }
}

/** The progress line of a run over rows whose number is not known in advance. */
export class Progress {
  readonly #line: LiveLine;
  readonly #totalBytes: number | null;
  #rows = 0;
  #bytes = 0;

  /** @param totalBytes size of the input; `null` = unknown. */
  constructor(stream: Output, totalBytes: number | null) {
    this.#line = new LiveLine(stream);
    this.#totalBytes = totalBytes;
  }

  /** Adds finished rows. @param bytes size of the input up to the last finished row. */
  advance(rows: number, bytes: number): void {
    this.#rows = rows;
    this.#bytes = bytes;
    this.#line.update(() => this.#text());
  }

  /** Appends a remark to the line until the next update, such as the reason for a delay. */
  remark(text: string): void {
    this.#line.remark(text, () => this.#text());
  }

  /** Erases the line, so that other output can be printed. */
  clear(): void {
    this.#line.clear();
  }

  #text(): string {
    return progressText(this.#rows, this.#bytes, this.#totalBytes, this.#line.seconds);
  }
}

/** `1,234 rows  87 rows/s  42%  about 1 min 10 s left` */
export function progressText(rows: number, bytes: number, totalBytes: number | null, seconds: number): string {
  const parts = [`${countText(rows)} ${rows === 1 ? 'row' : 'rows'}`];
  if (seconds > 0 && rows > 0) parts.push(`${rateText(rows / seconds)} rows/s`);
  if (totalBytes !== null && totalBytes > 0 && bytes > 0 && bytes < totalBytes) {
    const share = bytes / totalBytes;
    parts.push(`${Math.floor(share * 100)}%`, `about ${durationText((seconds * (1 - share)) / share)} left`);
  }
  return parts.join('  ');
}

/** The progress of work whose size is known, counted in lines. */
export type Share = {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** `null` = not yet known. */
  readonly lines_per_second: number | null;
  readonly left_s: number | null;
};

const WIDEST_BAR = 30;

const NARROWEST_BAR = 8;

/** `[████████░░░░]  1,234 of 5,000 lines  24%  3 failed  87 lines/s  about 43.0 s left`, within `columns`. */
export function barText(share: Share, columns: number): string {
  const text = shareText(share);
  const width = Math.min(WIDEST_BAR, columns - textWidth(text) - 4);
  if (width < NARROWEST_BAR || share.total === 0) return text;
  const full = Math.floor((width * Math.min(share.done, share.total)) / share.total);
  return `[${'█'.repeat(full)}${'░'.repeat(width - full)}]  ${text}`;
}

/** `1,234 of 5,000 lines  24%  3 failed  87 lines/s  about 43.0 s left` */
export function shareText({ done, total, failed, lines_per_second, left_s }: Share): string {
  const parts = [`${countText(done)} of ${countText(total)} lines`];
  if (total > 0) parts.push(`${Math.floor((100 * done) / total)}%`);
  if (failed > 0) parts.push(`${countText(failed)} failed`);
  if (lines_per_second !== null) parts.push(`${rateText(lines_per_second)} lines/s`);
  if (left_s !== null && done < total) parts.push(`about ${durationText(left_s)} left`);
  return parts.join('  ');
}
