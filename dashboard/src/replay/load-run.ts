/** A run with all that replay reads of it: its recipes, and its rows group by group. */
import type { LedgerRow } from '../../../src/ledger/row.ts';
import { type Recipe, recipeSchema } from '../../../src/recipes/families.ts';
import type { RunDetail, RunRollout } from '../../../src/schema/runs.ts';
import { callApi, type Reply } from '../api/call.ts';
import { pathOfRun } from '../runs/run-steps.ts';

export type ReplayedRun = {
  readonly id: string;
  /** By digest, in the order of the run; never empty. */
  readonly recipes: ReadonlyMap<string, { readonly name: string | null; readonly recipe: Recipe }>;
  /** Samples of one prompt and one step, each of its latest attempt. */
  readonly groups: readonly (readonly LedgerRow[])[];
  readonly rollouts: number;
};

type RolloutPage = { readonly rollouts: readonly RunRollout[]; readonly next: string | null };

const PAGE_ROLLOUTS = 200;

/**
 * @param onProgress told how many rollouts are here, and of how many.
 * @throws DOMException (AbortError) once `signal` fires.
 */
export async function loadReplayedRun(
  id: string,
  signal: AbortSignal,
  onProgress: (loaded: number, total: number) => void,
): Promise<Reply<ReplayedRun>> {
  const detail = await callApi<RunDetail>(`${pathOfRun(id)}?limit=1`, { signal });
  if (!detail.ok) return detail;
  const rows: LedgerRow[] = [];
  let next: string | null = null;
  do {
    const after: string = next === null ? '' : `&after=${encodeURIComponent(next)}`;
    const path = `${pathOfRun(id)}/rollouts?limit=${PAGE_ROLLOUTS}${after}`;
    const page: Reply<RolloutPage> = await callApi<RolloutPage>(path, { signal });
    if (!page.ok) return page;
    rows.push(...page.value.rollouts);
    onProgress(rows.length, detail.value.rollouts);
    next = page.value.next;
  } while (next !== null);
  const recipes = detail.value.recipes.map(
    ({ digest, name, recipe }) => [digest, { name, recipe: recipeSchema.parse(recipe) }] as const,
  );
  const value = { id, recipes: new Map(recipes), groups: groupsOf(rows), rollouts: rows.length };
  return { ...detail, value };
}

/** Rows come in the order of the ledger, so that a group stands together. */
export function groupsOf(rows: readonly LedgerRow[]): LedgerRow[][] {
  const groups: LedgerRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first?.step === row.step && first.group === row.group) last.push(row);
    else groups.push([row]);
  }
  return groups;
}
