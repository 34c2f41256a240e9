/** Shows the candidates of `citeward refine` while they stream, and prints the rewards and the summary. */
import type { CertainEvent, FinishedCandidate } from '../../../src/generation/candidate.ts';
import { supportVerdict } from '../../../src/lexical/index.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { RefineRequest } from '../../../src/wire/refine.ts';
import type { RefineReply } from '../../../src/wire/refine-reply.ts';
import { countOf, countText, durationText } from '../../shared/number-text.ts';
import { LiveLine } from '../../shared/progress.ts';
import { remarksOfFindings, remarksText } from '../../shared/remarks.ts';
import type { Labels } from '../../shared/rows.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import { RowsSummary, recipeText } from '../../shared/summary.ts';
import { fitText, textWidth } from '../../shared/text-width.ts';

/** The events of a candidate that CandidatesView shows. */
export type CandidateEvent =
  | { readonly type: 'delta'; readonly candidate: number; readonly text: string }
  | (Pick<Extract<CertainEvent, { type: 'claim' }>, 'type' | 'text' | 'element' | 'ids' | 'evidence'> & {
      readonly candidate: number;
    })
  | ({ readonly type: 'candidate'; readonly candidate: number } & Pick<
      FinishedCandidate,
      'finish_reason' | 'aborted' | 'verification'
    >);

const FINDINGS_WIDTH = 60;

const INDENT = '  ';

type Line = { readonly text: string; readonly colour: Colour | null };

/** One candidate while it streams. */
type Draft = {
  response: string;
  /** Characters of the response that are already in lines. */
  shown: number;
  /** Lines that wait until it is this candidate's turn to be printed. */
  readonly waiting: Line[];
  isOver: boolean;
};

/**
 * Prints the candidates of one row in the order of their indices. Each claim gets a line as soon as it is complete, in
 * the colour of its check; on a terminal the unfinished claim is redrawn below. Lines of later candidates are buffered.
 */
export class CandidatesView {
  readonly #screen: Screen;
  readonly #live: LiveLine;
  readonly #request: RefineRequest;
  readonly #drafts: readonly Draft[];
  /** Index of the candidate that is printed. */
  #turn = 0;

  constructor(request: RefineRequest, screen: Screen) {
    this.#request = request;
    this.#screen = screen;
    this.#live = new LiveLine(screen.errors, 0);
    screen.show(this.#live);
    this.#drafts = Array.from({ length: request.n }, () => ({ response: '', shown: 0, waiting: [], isOver: false }));
  }

  async begin(): Promise<void> {
    await this.#print({ text: fitText(plainLine(this.#request.question), this.#screen.width), colour: 'bold' });
    await this.#beginTurn();
  }

  async show(event: CandidateEvent): Promise<void> {
    const draft = this.#drafts[event.candidate];
    if (draft === undefined) throw new Error('CandidatesView: an event of an unknown candidate');
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

  /** Erases the redrawn line, so that other output can be printed. */
  end(): void {
    this.#live.clear();
  }

  /** Adds the text before `end` that is in no claim. */
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

type ClaimEvent = Extract<CandidateEvent, { type: 'claim' }>;

/** ✓ the cited text contains the words of the claim; ~ only some of them; ✗ the claim cites an invented id or none. */
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
  { finish_reason, aborted, verification }: Extract<CandidateEvent, { type: 'candidate' }>,
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

/** Removes tags. Linear, as a tag contains no other tag. */
function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/gu, ' ').replace(/ {2,}/gu, ' ');
}

/** The end of the unfinished text, within `columns`. */
function lastOf(text: string, columns: number): string {
  const room = Math.max(0, columns - INDENT.length - 2);
  const plain = plainLine(text.slice(-4 * room));
  let from = Math.max(0, plain.length - room);
  while (textWidth(plain.slice(from)) > room) from++;
  return `${INDENT}  ${plain.slice(from).toWellFormed()}`;
}

/** The lines below the candidates of a row: the cut of the tool output, and the rewards or the ranking. */
export function rowLines(line: number, { id }: Labels, { candidates, cut, group, model }: RefineReply): string[] {
  const lines: string[] = [];
  if (cut !== null) {
    const [kept, all] = [countText(cut.kept_chars), countText(cut.chars)];
    lines.push(`the policy saw ${kept} of ${all} characters of the tool output`);
  }
  const named = `${id ?? `line ${line}`} · ${model}`;
  if (group === undefined) {
    const order = candidates.map(({ index }) => index).join(', ');
    lines.push(candidates.length === 1 ? named : `${named} · best first: ${order}`);
    return lines;
  }
  const rewards = candidates.map(({ index, reward, reason, advantage }) => {
    const of = candidates.length === 1 ? '' : `candidate ${index}: `;
    if (typeof reward !== 'number') return `${of}unscored (${reason})`;
    const relative = candidates.length === 1 ? '' : ` (advantage ${signed(advantage ?? 0)})`;
    return `${of}reward ${reward.toFixed(2)}${relative}`;
  });
  lines.push(`${named} · ${rewards.join(', ')}`);
  return lines;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(2)}`;
}

export class RefineSummary extends RowsSummary<RefineReply, 'recipe' | 'judge'> {
  #rows = 0;
  #candidates = 0;
  #aborted = 0;
  #invented = 0;
  #cut = 0;

  constructor() {
    super(['aborted', 'judgment_skipped', 'nothing_to_score'], ['recipe', 'judge']);
  }

  protected addReply({ cut, recipe, candidates }: RefineReply): void {
    this.#rows++;
    if (cut !== null) this.#cut++;
    if (recipe !== undefined) this.addName('recipe', recipeText(recipe));
    for (const { aborted, verification, reward, reason, score } of candidates) {
      this.#candidates++;
      for (const { model } of score?.judgments ?? []) if (model !== null) this.addName('judge', model);
      if (aborted !== null) this.#aborted++;
      if ((verification.finding_counts.citation_id_unknown ?? 0) > 0) this.#invented++;
      if (reward !== undefined) this.addReward(reward, reason ?? null);
    }
  }

  text(seconds: number): string {
    const parts = [`${countOf(this.#rows, 'row')} refined`, countOf(this.#candidates, 'candidate'), ...this.meanText()];
    if (this.#invented > 0) parts.push(`${countText(this.#invented)} with invented ids`);
    if (this.#aborted > 0) parts.push(`${countText(this.#aborted)} stopped`);
    if (this.#cut > 0) parts.push(`tool output cut in ${countOf(this.#cut, 'row')}`);
    for (const [reason, count] of this.unscored) parts.push(`${countText(count)} ${reason}`);
    return [...parts, ...this.badLinesText(), durationText(seconds)].join(' · ');
  }
}
