/** The progress line: on standard error, only where that is a terminal. What is done, the rate, and the time left where it is known. */

import { countText, durationText, rateText } from './number-text.ts';
import { textWidth } from './text-width.ts';

const REDRAW_MS = 100;

/** Runs shorter than this show none: a line that flashes up tells nothing. */
const FIRST_DRAW_MS = 500;

/** One line that is drawn over itself. */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #started = performance.now();
  readonly #firstDrawMs: number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #shown = false;
  #remark = '';

  /** @param firstDrawMs nothing is drawn before. */
  constructor(stream: NodeJS.WriteStream, firstDrawMs = FIRST_DRAW_MS) {
    this.#stream = stream;
    this.#firstDrawMs = firstDrawMs;
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** Whether it is drawn at all. */
  get isLive(): boolean {
    return this.#stream.isTTY;
  }

  /** @param text of at most so many columns; asked for only when it is drawn. */
  update(text: (columns: number) => string): void {
    this.#remark = '';
    this.#draw(text);
  }

  /** Says why nothing moves, until something does. */
  remark(remark: string, text: (columns: number) => string): void {
    this.#remark = remark;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
    this.#draw(text);
  }

  /** Makes room for other output. */
  clear(): void {
    if (!this.#shown) return;
    this.#stream.write('\r\x1b[K');
    this.#shown = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }

  #draw(text: (columns: number) => string): void {
    const now = performance.now();
    const isTooSoon = now - this.#drawnAt < REDRAW_MS || now - this.#started < this.#firstDrawMs;
    if (!this.#stream.isTTY || isTooSoon) return;
    const after = this.#remark === '' ? '' : `  ${this.#remark}`;
    const line = `${text(this.#stream.columns - textWidth(after) - 1)}${after}`;
    if (textWidth(line) < this.#stream.columns) {
      this.#stream.write(`\r\x1b[K${line}`);
      this.#shown = true;
    }
    this.#drawnAt = now;
  }
}

/** Of a run over rows, whose number is not known before its end. */
export class Progress {
  readonly #line: LiveLine;
  readonly #totalBytes: number | null;
  #rows = 0;
  #bytes = 0;

  /** @param totalBytes of the input, `null` = unknown. */
  constructor(stream: NodeJS.WriteStream, totalBytes: number | null) {
    this.#line = new LiveLine(stream);
    this.#totalBytes = totalBytes;
  }

  /** @param bytes of the input that are behind the finished rows. */
  advance(rows: number, bytes: number): void {
    this.#rows = rows;
    this.#bytes = bytes;
    this.#line.update(() => this.#text());
  }

  /** Says why nothing moves, until something does. */
  remark(text: string): void {
    this.#line.remark(text, () => this.#text());
  }

  /** Makes room for other output. */
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

/** What is known of work whose size is known. */
export type Share = {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** `null` = not known yet. */
  readonly lines_per_second: number | null;
  readonly left_s: number | null;
};

const WIDEST_BAR = 30;

const NARROWEST_BAR = 8;

/** `[████████░░░░]  1,234 of 5,000 lines  24%  3 failed  87 lines/s  about 43.0 s left`, the bar as wide as there is room. */
export function barText(share: Share, columns: number): string {
  const text = shareText(share);
  const width = Math.min(WIDEST_BAR, columns - textWidth(text) - 4);
  if (width < NARROWEST_BAR || share.total === 0) return text;
  const full = Math.floor((width * Math.min(share.done, share.total)) / share.total);
  return `[${'█'.repeat(full)}${'░'.repeat(width - full)}]  ${text}`;
}

/** The same in words. */
export function shareText({ done, total, failed, lines_per_second, left_s }: Share): string {
  const parts = [`${countText(done)} of ${countText(total)} lines`];
  if (total > 0) parts.push(`${Math.floor((100 * done) / total)}%`);
  if (failed > 0) parts.push(`${countText(failed)} failed`);
  if (lines_per_second !== null) parts.push(`${rateText(lines_per_second)} lines/s`);
  if (left_s !== null && done < total) parts.push(`about ${durationText(left_s)} left`);
  return parts.join('  ');
}
