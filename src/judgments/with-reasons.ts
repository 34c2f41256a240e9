/** Adds reasons to judgments that were obtained: keeps those of new judgments, and finds those of stored ones. */

import type { JudgmentPreimage } from './judgment.ts';
import { type JudgmentRequest, kindOf } from './kinds/registry.ts';
import type { EntriesCut } from './protocol/budget.ts';
import type { JudgmentReasons, ReasonStore } from './reasons.ts';

type Asked = {
  readonly request: JudgmentRequest;
  readonly preimage: JudgmentPreimage;
  readonly key: string;
  readonly positions: readonly number[] | null;
  readonly entries_cut: EntriesCut | null;
};

/** A judgment that was asked for. */
type Outcome = { readonly key: string | null; readonly outcome: { readonly ok: boolean } };

/** `made`: the reasons of a judgment that was made now. */
type Obtained<One extends Outcome> = { readonly obtained: One; readonly made?: readonly string[] };

/** Keeps the reasons of new judgments, finds those of stored ones, and adds both to what was obtained. */
export async function withReasons<One extends Outcome>(
  asked: readonly Asked[],
  steps: readonly Obtained<One>[],
  store: ReasonStore | undefined,
): Promise<(One & { readonly reasons?: JudgmentReasons })[]> {
  if (store === undefined) return steps.map(({ obtained }) => obtained);
  const found = new Map<string, readonly string[]>();
  for (const { obtained, made } of steps) {
    if (made !== undefined && obtained.key !== null) found.set(obtained.key, made);
  }
  const open = asked.flatMap(({ key }, n) => (steps[n]?.obtained.outcome.ok === true && !found.has(key) ? [key] : []));
  const [kept] = await Promise.all([
    open.length === 0 ? [] : store.get(open),
    found.size === 0 ? undefined : store.put(new Map(found)),
  ]);
  for (const [key, reasons] of kept) found.set(key, reasons);
  return steps.map(({ obtained }, n) => {
    const one = asked[n];
    if (one === undefined || !obtained.outcome.ok) return obtained;
    return { ...obtained, reasons: reasonsOf(one, found.get(one.key)) };
  });
}

function reasonsOf(
  { request, preimage, positions, entries_cut }: Asked,
  kept: readonly string[] | undefined,
): JudgmentReasons {
  const definition = kindOf(request.kind);
  const places = definition.answeredBy === 'reader' ? definition.reasonPlaces?.(request) : undefined;
  if (places === undefined || (kept === undefined && preimage.judge.sampling === null)) return { status: 'not_given' };
  if (kept === undefined || kept.length > places.length) return { status: 'not_kept' };
  const entries = kept.flatMap((reason, n) => {
    const place = places[n];
    if (place === undefined) return [];
    const index = positions === null ? place.index : positions[entries_cut?.judged[place.index] ?? place.index];
    return index === undefined ? [] : [{ of: place.of, index, reason }];
  });
  return { status: 'kept', entries, left_out: places.length - kept.length };
}
