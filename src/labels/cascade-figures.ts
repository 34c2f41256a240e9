/** What the tiers of a cascade decided on labelled claims, how often they were wrong, and how many calls they saved. */
import { isYes, type RowLabel, share } from './label-figures.ts';

/** A labelled claim with the level of its verdict and the tier that decided it; `null` = there is none. */
export type TieredRow = RowLabel & { readonly verdict: number | null; readonly tier: number | null };

type TierFigures = {
  readonly judge: string;
  /** Claims that the tier decided. */
  readonly decided: number;
  /** Share of them that the tier takes for supported where the label says otherwise, or the other way round. */
  readonly error: number | null;
  /** The same among the claims whose label is not supported, and among those whose label is. */
  readonly passes_no: number | null;
  readonly misses_yes: number | null;
};

export type CascadeFigures = {
  readonly tiers: readonly TierFigures[];
  /** Claims with a verdict about which the last judge was not asked, and all claims with one. */
  readonly saved: number;
  readonly claims: number;
};

/** @param judges of the tiers, in order. */
export function cascadeFigures(rows: readonly TieredRow[], judges: readonly string[]): CascadeFigures {
  const decided = rows.flatMap(({ kind, level, verdict, tier }) =>
    verdict === null || tier === null ? [] : [{ tier, label: isYes(kind, level), verdict: isYes(kind, verdict) }],
  );
  const tiers = judges.map((judge, position): TierFigures => {
    const own = decided.filter(({ tier }) => tier === position);
    const [no, yes] = [false, true].map((label) => own.filter((row) => row.label === label));
    const wrong = (part: typeof own = []): number => part.filter(({ label, verdict }) => label !== verdict).length;
    return {
      judge,
      decided: own.length,
      error: share(wrong(own), own.length),
      passes_no: share(wrong(no), no?.length ?? 0),
      misses_yes: share(wrong(yes), yes?.length ?? 0),
    };
  });
  const saved = decided.filter(({ tier }) => tier < judges.length - 1).length;
  return { tiers, saved, claims: decided.length };
}
