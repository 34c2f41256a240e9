/** The progress line: on standard error, only where that is a terminal. Count, rate, and the time left where it is known. */
import { textWidth } from './text-width.ts';

const REDRAW_MS = 100;
/** Runs shorter than this show none: a line that flashes up tells nothing. */
const FIRST_DRAW_MS = 500;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #totalBytes: number | null;
  readonly #started = performance.now();
  #drawnAt = Number.NEGATIVE_INFINITY;
  #shown = false;
  #rows = 0;
  #bytes = 0;
  #remark = '';

  /** @param totalBytes of the input, `null` = unknown. */
  constructor(stream: NodeJS.WriteStream, totalBytes: number | null) {
    this.#stream = stream;
    this.#totalBytes = totalBytes;
  }

  /** @param bytes of the input that are behind the finished rows. */
  advance(rows: number, bytes: number): void {
    this.#rows = rows;
    this.#bytes = bytes;
    this.#remark = '';
    this.#draw();
  }

  /** Says why nothing moves, until something does. */
  remark(text: string): void {
    this.#remark = text;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
    this.#draw();
  }

  /** Makes room for other output. */
  clear(): void {
    if (!this.#shown) return;
    this.#stream.write('\r\x1b[K');
    this.#shown = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }

  #draw(): void {
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#drawnAt < REDRAW_MS || now - this.#started < FIRST_DRAW_MS) return;
    const seconds = (now - this.#started) / 1000;
    const text = progressText(this.#rows, this.#bytes, this.#totalBytes, seconds);
    const line = this.#remark === '' ? text : `${text}  ${this.#remark}`;
    if (textWidth(line) < this.#stream.columns) {
      this.#stream.write(`\r\x1b[K${line}`);
      this.#shown = true;
    }
    this.#drawnAt = now;
  }
}

/** `1,234 rows  87 rows/s  42%  about 1 min 10 s left` */
export function progressText(rows: number, bytes: number, totalBytes: number | null, seconds: number): string {
  const parts = [`${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}`];
  if (seconds > 0 && rows > 0) parts.push(`${rateText(rows / seconds)} rows/s`);
  if (totalBytes !== null && totalBytes > 0 && bytes > 0 && bytes < totalBytes) {
    const share = bytes / totalBytes;
    parts.push(`${Math.floor(share * 100)}%`, `about ${durationText((seconds * (1 - share)) / share)} left`);
  }
  return parts.join('  ');
}

function rateText(rate: number): string {
  return rate >= 10 ? Math.round(rate).toLocaleString('en-US') : rate.toFixed(1);
}

/** `0.42 s`, `8.1 s`, `1 min 10 s`, `2 h 5 min` */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
