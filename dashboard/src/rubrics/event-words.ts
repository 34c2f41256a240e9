/** The events of a prompt's log in words. */
import { REJECTIONS } from '../../../src/rubrics/check-criteria.ts';
import type { LoggedEvent } from './prompt-history.ts';

type Entry = LoggedEvent['entry'];
type Reason = Extract<Entry, { event: 'retired' | 'capped' | 'restored' }>['reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  zero_std: ', because all its scores in the group were equal',
  low_std: ', because its scores hardly differed in the last groups',
  over_cap: ', because there were more active criteria than the cap, and others told the responses apart better',
  oldest: ', because there were more active criteria than the cap, and the oldest go',
  proposed_again: ', because it was proposed again',
  every_n_steps: ", because the rules restore the row's own criteria at this step",
  by_hand: ', by hand',
};

/** What an event did, without the criteria that it names. @param isByHand whether a person decided. */
export function eventWords(entry: Entry, isByHand: boolean): string {
  switch (entry.event) {
    case 'started':
      return entry.own.length === 0 ? 'Started without criteria' : "Started with the row's own criteria";
    case 'proposed':
      if (isByHand) return 'Given by hand';
      return entry.criteria.length === 0 ? 'Proposed nothing' : 'Proposed';
    case 'generation_failed':
      return `No proposal: ${entry.reason.replaceAll('_', ' ')}. The set stays as it was`;
    case 'scored':
      return `Scored under the set ${entry.set.slice(0, 8)}`;
    case 'activated':
      return 'Activated';
    case 'retired':
      return `Retired${REASONS[entry.reason]}`;
    case 'capped':
      return `Capped${REASONS[entry.reason]}`;
    case 'restored':
      return `Restored${REASONS[entry.reason]}`;
  }
}

/** What the generator wrote besides, each with the reason why it was left out. */
export function leftOutWords(entry: Entry): readonly string[] {
  if (entry.event !== 'proposed') return [];
  return (entry.rejected ?? []).map(
    ({ description, failed }) => `Left out “${description}”, because ${REJECTIONS[failed]}`,
  );
}

/** The criteria that an event names. */
export function eventIds(entry: Entry): readonly string[] {
  switch (entry.event) {
    case 'started':
      return entry.own.map(({ id }) => id);
    case 'proposed':
      return entry.criteria.map(({ id }) => id);
    case 'generation_failed':
    case 'scored':
      return [];
    case 'activated':
    case 'retired':
    case 'capped':
    case 'restored':
      return entry.ids;
  }
}
