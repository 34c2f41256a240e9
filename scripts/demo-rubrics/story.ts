/** Prints what a step did to the criteria of the prompt, and the set that it leaves. */
import type { Style } from '../../cli/shared/style.ts';
import { type Column, Table } from '../../cli/shared/table.ts';
import { REJECTIONS } from '../../src/rubrics/check-criteria.ts';
import type { EvolutionEvent } from '../../src/rubrics/evolution-log.ts';
import type { PromptRubricsReply } from '../../src/wire/rubrics.ts';

export type Paper = { readonly width: number; readonly style: Style; readonly write: (line: string) => void };

const INDENT = '   ';
const COLUMNS: readonly Column[] = [
  { title: 'criterion', align: 'left', most: 12 },
  { title: 'state', align: 'left', most: 10 },
  { title: 'groups', align: 'right', most: 6 },
  { title: 'mean', align: 'right', most: 6 },
  { title: 'std', align: 'right', most: 6 },
  { title: 'description', align: 'left', most: 56 },
];

type Reason = Extract<EvolutionEvent, { event: 'retired' | 'capped' | 'restored' }>['reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  zero_std: 'all scores of the group were equal',
  low_std: 'the last two groups hardly differ in it',
  over_cap: 'the set is full, and others tell the answers apart better',
  oldest: 'the set is full, and the oldest go',
  proposed_again: 'proposed again',
  every_n_steps: 'the rules bring it back at this step',
  by_hand: 'by hand',
};

/** One line for each event of a group that changed the criteria, or proposed some. */
export function printEvents(events: readonly EvolutionEvent[], names: ReadonlyMap<string, string>, paper: Paper): void {
  const named = (ids: readonly string[]): string => ids.map((id) => names.get(id) ?? id.slice(0, 8)).join(', ');
  for (const event of events) {
    switch (event.event) {
      case 'started':
      case 'scored':
        break;
      case 'proposed':
        paper.write(`   proposed   ${named(event.criteria.map(({ id }) => id))}`);
        for (const { title, description, failed } of event.rejected ?? []) {
          paper.write(paper.style('yellow', `   left out   ${title ?? description}: ${REJECTIONS[failed]}`));
        }
        break;
      case 'generation_failed':
        paper.write(paper.style('red', `   no proposal: ${event.reason}`));
        break;
      case 'activated':
        paper.write(paper.style('green', `   activated  ${named(event.ids)}: scores from the next group on`));
        break;
      case 'retired':
      case 'capped':
      case 'restored':
        paper.write(
          paper.style('yellow', `   ${event.event.padEnd(10)} ${named(event.ids)}: ${REASONS[event.reason]}`),
        );
        break;
    }
  }
}

/** The criteria at the end of a step. */
export async function printCriteria(rubrics: PromptRubricsReply, paper: Paper): Promise<void> {
  const table = new Table(COLUMNS, paper.width - INDENT.length, paper.style, async (line) =>
    paper.write(INDENT + line),
  );
  for (const state of ['persistent', 'active', 'inactive'] as const) {
    for (const { title, description, visits, statistics } of rubrics[state]) {
      const figures = [statistics?.mean ?? null, statistics?.std ?? null].map((one) => one?.toFixed(2) ?? '-');
      const cells = [title ?? '', state, String(visits), ...figures, description].map((text) => ({ text }));
      await table.add({ cells });
    }
  }
  await table.end();
}

/** The names of all criteria, by id. */
export function namesOf({ persistent, active, inactive }: PromptRubricsReply): ReadonlyMap<string, string> {
  return new Map(
    [...persistent, ...active, ...inactive].map(({ id, title, description }) => [id, title ?? description]),
  );
}
