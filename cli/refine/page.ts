/**
 * Candidates on the screen while they are written: each claim on a line of its own as soon as it has closed, in the colour
 * of what is certain of it, and what is still being written on a line that is drawn over itself (on a terminal only).
 * Candidates come in the order of their indices; those that write ahead of their turn are held until it comes.
 */
import { supportVerdict } from '../../src/lexical/index.ts';
import type { RefineRequest } from '../../src/wire/refine.ts';
import { LiveLine } from '../output/progress.ts';
import { remarksOfFindings, remarksText } from '../output/remarks.ts';
import type { Screen } from '../output/screen.ts';
import type { Colour } from '../output/style.ts';
import { fitText, plainLine, textWidth } from '../output/text-width.ts';
import type { PageEvent } from './service.ts';

const FINDINGS_WIDTH = 60;
const INDENT = '  ';

type Line = { readonly text: string; readonly colour: Colour | null };

/** One candidate so far. */
type Draft = {
  response: string;
  /** How much of the response is shown in lines. */
  shown: number;
  /** Lines that wait for their turn. */
  readonly waiting: Line[];
  isOver: boolean;
};

/** The candidates of one row. */
export class Page {
  readonly #screen: Screen;
  readonly #live: LiveLine;
  readonly #request: RefineRequest;
  readonly #drafts: readonly Draft[];
  /** The candidate whose turn it is. */
  #turn = 0;

  constructor(request: RefineRequest, screen: Screen) {
    this.#request = request;
    this.#screen = screen;
    this.#live = new LiveLine(process.stderr, 0);
    screen.show(this.#live);
    this.#drafts = Array.from({ length: request.n }, () => ({ response: '', shown: 0, waiting: [], isOver: false }));
  }

  async begin(): Promise<void> {
    await this.#print({ text: fitText(plainLine(this.#request.question), this.#screen.width), colour: 'bold' });
    await this.#beginTurn();
  }

  async tell(event: PageEvent): Promise<void> {
    const draft = this.#drafts[event.candidate];
    if (draft === undefined) throw new Error('Page: an event of a candidate that there is not');
    switch (event.type) {
      case 'delta':
        draft.response += event.text;
        break;
      case 'claim': {
        this.#uncited(draft, event.element.start);
        draft.shown = event.element.end;
        draft.waiting.push(claimLine(event));
        break;
      }
      case 'candidate':
        this.#uncited(draft, draft.response.length);
        draft.waiting.push(endLine(event, this.#request.mode));
        draft.isOver = true;
    }
    await this.#flush();
  }

  /** Makes room for other output. */
  end(): void {
    this.#live.clear();
  }

  /** Text that stands in no claim. */
  #uncited(draft: Draft, end: number): void {
    const text = plainLine(withoutTags(draft.response.slice(draft.shown, end)));
    draft.shown = end;
    if (text !== '') draft.waiting.push({ text: `${INDENT}  ${text}`, colour: 'dim' });
  }

  async #flush(): Promise<void> {
    for (;;) {
      const draft = this.#drafts[this.#turn];
      if (draft === undefined) return;
      for (const line of draft.waiting.splice(0)) await this.#print(line);
      if (!draft.isOver) {
        this.#live.update((columns) => lastOf(draft.response.slice(draft.shown), columns));
        return;
      }
      this.#turn++;
      await this.#beginTurn();
    }
  }

  async #beginTurn(): Promise<void> {
    if (this.#drafts.length === 1 || this.#turn >= this.#drafts.length) return;
    await this.#print({ text: `${INDENT}candidate ${this.#turn}`, colour: 'bold' });
  }

  #print({ text, colour }: Line): Promise<void> {
    return this.#screen.result(this.#screen.resultStyle(colour, text));
  }
}

type ClaimEvent = Extract<PageEvent, { type: 'claim' }>;

/** ✓ its words stand in what it cites; ~ not enough of them do; ✗ it cites nothing that exists. */
function claimLine({ text, ids, evidence }: ClaimEvent): Line {
  const isInvented = ids.some(({ source }) => source === null);
  const names = ids.map(({ id, source }) => (source === null ? `${id} invented` : id)).join(', ');
  const line = (mark: string, colour: Colour | null): Line => ({
    text: `${INDENT}${mark} ${plainLine(text)}  [${plainLine(names)}]`,
    colour,
  });
  if (isInvented || ids.length === 0) return line('✗', 'red');
  if (evidence === undefined) return line('-', null);
  return supportVerdict(evidence.support) === 'full' ? line('✓', 'green') : line('~', 'yellow');
}

function endLine(
  { finish_reason, aborted, verification }: Extract<PageEvent, { type: 'candidate' }>,
  mode: RefineRequest['mode'],
): Line {
  const isWellFormed = verification.format[mode] === 1;
  const { claims } = verification.ratios;
  const remarks = remarksText(remarksOfFindings(verification.finding_counts), FINDINGS_WIDTH);
  const parts = [
    aborted === null ? (finish_reason ?? '') : `stopped at the invented id ${plainLine(aborted.id)}`,
    isWellFormed ? 'well formed' : 'not well formed',
    `${claims} ${claims === 1 ? 'claim' : 'claims'}`,
    ...(remarks === '' ? [] : [remarks]),
  ];
  return { text: `${INDENT}= ${parts.join(' · ')}`, colour: isWellFormed && aborted === null ? 'dim' : 'yellow' };
}

/** Linear: a tag ends where the next one begins. */
function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/gu, ' ').replace(/ {2,}/gu, ' ');
}

/** The end of what is being written, within so many columns. */
function lastOf(text: string, columns: number): string {
  const room = Math.max(0, columns - INDENT.length - 2);
  const plain = plainLine(text.slice(-4 * room));
  let from = Math.max(0, plain.length - room);
  while (textWidth(plain.slice(from)) > room) from++;
  return `${INDENT}  ${plain.slice(from).toWellFormed()}`;
}
