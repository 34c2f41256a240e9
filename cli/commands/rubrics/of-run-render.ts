/** Formats the prompts of a run, their criteria and their log. */
import type { PromptList, PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import type { Column, TableRow } from '../../shared/table.ts';

/** Characters of a digest that are shown. */
const SHOWN = 12;

export const PROMPT_COLUMNS: readonly Column[] = [
  { title: 'prompt', align: 'left', most: SHOWN },
  { title: 'set', align: 'left', most: SHOWN },
  { title: 'persistent', align: 'right', most: 10 },
  { title: 'active', align: 'right', most: 6 },
  { title: 'inactive', align: 'right', most: 8 },
  { title: 'visits', align: 'right', most: 8 },
  { title: 'failed', align: 'right', most: 8 },
  { title: 'last step', align: 'right', most: 20 },
];

export function promptRow({
  prompt,
  set,
  persistent,
  active,
  inactive,
  visits,
  failed_generations: failed,
  last_step: last,
}: PromptList['prompts'][number]): TableRow {
  const counts = [persistent, active, inactive, visits].map((count) => ({ text: String(count) }));
  return {
    cells: [
      { text: prompt.slice(0, SHOWN) },
      { text: set.slice(0, SHOWN) },
      ...counts,
      { text: String(failed), colour: failed > 0 ? 'red' : null },
      { text: last === null ? '-' : String(last) },
    ],
  };
}

export const CRITERION_COLUMNS: readonly Column[] = [
  { title: 'criterion', align: 'left', most: SHOWN },
  { title: 'state', align: 'left', most: 10 },
  { title: 'polarity', align: 'left', most: 8 },
  { title: 'weight', align: 'right', most: 8 },
  { title: 'since', align: 'right', most: 10 },
  { title: 'scored', align: 'right', most: 8 },
  { title: 'mean', align: 'right', most: 6 },
  { title: 'std', align: 'right', most: 6 },
  { title: 'description', align: 'left', most: 200 },
];

type State = 'persistent' | 'active' | 'inactive';

export function criterionRow(
  state: State,
  {
    id,
    polarity,
    weight,
    since_step: since,
    visits,
    statistics,
    title,
    description,
  }: PromptRubricsReply[State][number],
): TableRow {
  const figures = [statistics?.mean ?? null, statistics?.std ?? null].map((value) => value?.toFixed(3) ?? '-');
  const text = title === null || title === '' ? description : `${title}: ${description}`;
  const texts = [id.slice(0, SHOWN), state, polarity, String(weight), since === null ? 'row' : String(since)];
  return { cells: [...texts, String(visits), ...figures, text].map((cell) => ({ text: cell })) };
}

/** `step 3 g1: retired 6a38c0ffee11, zero_std` */
export function eventText({ entry, superseded }: NonNullable<PromptRubricsReply['events']>[number]): string {
  // An edit by hand is of no group.
  const place = 'step' in entry ? `step ${entry.step} ${entry.group}`.trimEnd() : 'start';
  const ids = idsOf(entry).map((id) => id.slice(0, SHOWN));
  const what = [entry.event, ...(ids.length === 0 ? [] : [ids.join(' ')])].join(' ');
  const reason = 'reason' in entry ? `, ${entry.reason}` : '';
  return `${place}: ${what}${reason}${leftOutText(entry)}${superseded ? ' (superseded)' : ''}`;
}

/** `; left out: "Is short" (about_length)` */
function leftOutText(entry: Entry): string {
  if (entry.event !== 'proposed' || entry.rejected === undefined) return '';
  return `; left out: ${entry.rejected.map(({ description, failed }) => `"${description}" (${failed})`).join(', ')}`;
}

type Entry = NonNullable<PromptRubricsReply['events']>[number]['entry'];

function idsOf(entry: Entry): readonly string[] {
  switch (entry.event) {
    case 'started':
      return entry.own.map(({ id }) => id);
    case 'proposed':
      return entry.criteria.map(({ id }) => id);
    case 'scored':
      return entry.statistics.map(({ id }) => id);
    case 'generation_failed':
      return [];
    default:
      return entry.ids;
  }
}
