/** How a batch gets on, for standard error: a bar on a terminal, a line now and then elsewhere. */
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import { barText, LiveLine, type Share, shareText } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';

const SECONDS_BETWEEN_LINES = 10;

export class BatchProgress {
  readonly #screen: Screen;
  readonly #line: LiveLine;
  #said: { readonly at: number; readonly status: string | null; readonly text: string };
  #text: (columns: number) => string = () => '';
  #inTrouble = false;

  /** @param status that is known, and so not worth a line of its own. */
  constructor(screen: Screen, status: BatchReply['status'] | null = null) {
    this.#screen = screen;
    this.#said = { at: 0, status, text: '' };
    this.#line = new LiveLine(process.stderr, 0);
    screen.show(this.#line);
  }

  show(batch: BatchReply): void {
    this.update(batch.status, shareOf(batch));
  }

  /** @param status said before the numbers; in progress, they speak for themselves. */
  update(status: string, share: Share): void {
    if (this.#inTrouble && !this.#line.isLive) this.#screen.message('it answers again', 'dim');
    this.#inTrouble = false;
    const before = status === 'in_progress' ? '' : `${status}  `;
    this.#text = (columns) => (share.total === 0 ? status : `${before}${barText(share, columns - before.length)}`);
    if (this.#line.isLive) this.#line.update(this.#text);
    else this.#sayNowAndThen(status, share.total === 0 ? '' : `  ${shareText(share)}`);
  }

  /** Nothing is known for now. */
  trouble(why: string): void {
    const said = `${why}; trying again, the batch is not touched`;
    if (this.#line.isLive) this.#line.remark(said, this.#text);
    else if (!this.#inTrouble) this.#screen.message(said, 'yellow');
    this.#inTrouble = true;
  }

  end(): void {
    this.#line.clear();
  }

  #sayNowAndThen(status: string, text: string): void {
    const { seconds } = this.#line;
    const isNews = status !== this.#said.status || text !== this.#said.text;
    const isTime = status !== this.#said.status || seconds - this.#said.at >= SECONDS_BETWEEN_LINES;
    if (!isNews || !isTime) return;
    this.#said = { at: seconds, status, text };
    this.#screen.message(`${status}${text}`, 'dim');
  }
}

export function shareOf({ request_counts, progress }: BatchReply): Share {
  const { total, completed, failed } = request_counts;
  const { lines_per_second, eta_s } = progress;
  return { done: completed + failed, total, failed, lines_per_second, left_s: eta_s };
}
