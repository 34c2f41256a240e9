/**
 * Which desk owns a judgment. The first digits of a key select its desk, so a judgment has one owner. The judgments of
 * a judge with fewer slots than there are desks have as many owners as it has slots: each owner has at least one slot,
 * and together they have no more than all.
 */

/** Number of desks without the setting DESKS. */
export const DEFAULT_DESKS = 4;

/** Hex digits of a key that select its desk. */
const PREFIX_DIGITS = 8;

export type DeskLayout = {
  readonly desks: number;
  /** Number of owners by model, for models whose judge has fewer slots than there are desks. */
  readonly few: Readonly<Record<string, number>>;
};

type LaidOut = { readonly judge: { readonly model: string }; readonly slots: number };

/** Judges of one model may share judgments, so the one with the fewest slots decides for all. */
export function layoutOf(desks: number, judges: readonly LaidOut[]): DeskLayout {
  const few = new Map<string, number>();
  for (const { judge, slots } of judges) {
    if (slots < desks) few.set(judge.model, Math.min(slots, few.get(judge.model) ?? desks));
  }
  // Sorted, so that equal layouts have equal JSON.
  return { desks, few: Object.fromEntries([...few].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The number of desks that own the judgments of a model: those from 0 on. */
export function ownersOf({ desks, few }: DeskLayout, model: string): number {
  return Object.hasOwn(few, model) ? (few[model] ?? desks) : desks;
}

export function ownerOf(layout: DeskLayout, key: string, model: string): number {
  return among(ownersOf(layout, model), key);
}

/** The desks that may own a key whose model is unknown. */
export function possibleOwners({ desks, few }: DeskLayout, key: string): ReadonlySet<number> {
  return new Set([desks, ...Object.values(few)].map((owners) => among(owners, key)));
}

function among(owners: number, key: string): number {
  return Number.parseInt(key.slice(0, PREFIX_DIGITS), 16) % owners;
}
