/** Changes to the criteria of a prompt that are not saved yet. */
import type { PromptRubricsReply } from '../../../src/wire/rubrics.ts';
import type { ShownCriterion } from './prompt-history.ts';

/** A criterion as a person writes it. */
export type CriterionText = {
  readonly polarity: 'positive' | 'negative';
  readonly title: string;
  readonly description: string;
  readonly weight: number;
};

export type Draft = {
  readonly retire: ReadonlySet<string>;
  readonly restore: ReadonlySet<string>;
  /** New forms by the id of the criterion that they replace. */
  readonly changed: ReadonlyMap<string, CriterionText>;
  readonly added: readonly CriterionText[];
};

export const NO_CHANGES: Draft = { retire: new Set(), restore: new Set(), changed: new Map(), added: [] };

export function changeCount({ retire, restore, changed, added }: Draft): number {
  return retire.size + restore.size + changed.size + added.length;
}

/** A set with the id, or without it if it was there. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

export function textOfCriterion({ polarity, title, description, weight }: ShownCriterion): CriterionText {
  return { polarity, title: title ?? '', description, weight };
}

/** The body of the edit. @param set the set that the person saw. */
export function editRequest(draft: Draft, criteria: readonly ShownCriterion[], set: string, step: number) {
  const byId = new Map(criteria.map((one) => [one.id, one]));
  // A new weight alone leaves the criterion the same one, with its statistics.
  const replaced = [...draft.changed].flatMap(([id, text]) => {
    const old = byId.get(id);
    return old !== undefined && isSameText(textOfCriterion(old), text) ? [] : [id];
  });
  const add = [...draft.changed.values(), ...draft.added].map(({ title, ...rest }) =>
    title === '' ? rest : { ...rest, title },
  );
  return { set, step, retire: [...draft.retire, ...replaced], restore: [...draft.restore], add };
}

export function isSameText(one: CriterionText, other: CriterionText): boolean {
  return one.polarity === other.polarity && one.title === other.title && one.description === other.description;
}

/** The changes that still apply to other criteria than those that the person saw. */
export function stillApplying(draft: Draft, { set, inactive }: PromptRubricsReply): Draft {
  const inSet = new Set(set.entries.map(({ id }) => id));
  const gone = new Set(inactive.map(({ id }) => id));
  return {
    retire: new Set([...draft.retire].filter((id) => inSet.has(id))),
    restore: new Set([...draft.restore].filter((id) => gone.has(id))),
    changed: new Map([...draft.changed].filter(([id]) => inSet.has(id))),
    added: draft.added,
  };
}
