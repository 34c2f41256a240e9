/**
 * Estimates how many advantages of a run have another sign because of the judge's errors. The labels behind the
 * recorded verdicts are drawn many times from what labelled rows tell about the judge, and each group is scored again
 * with the drawn labels as verdicts.
 *
 *     labelled rows -> P(verdict | label)      drawn                       \
 *     verdicts of the run -> share of labels   likeliest under the draw    -> P(label | verdict) -> labels -> advantages
 *
 * The errors of two verdicts are taken as independent given their labels.
 */
import type { Recipe } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import { MEASURED_KINDS, type MeasuredKind } from '../family/verdict-levels.ts';
import type { Estimate, RiskCheck } from '../runs/judge-check-schema.ts';
import { type PreparedGroup, prepareGroup, replayPrepared } from '../runs/replay-group.ts';
import type { RowsOfGroup } from '../runs/replay-lines.ts';
import type { LedgerRow } from '../runs/row.ts';
import { percentiles, randomOf } from './cluster-bootstrap.ts';
import {
  correctedRate,
  drawnConfusion,
  drawnIndex,
  drawnShares,
  effectiveTable,
  isShown,
  labelsBehind,
  type MeasuredError,
  type Random,
} from './judge-error.ts';
import { type LabelKind, LEVELS } from './labelled-row.ts';

/** The rows that measure each kind of verdict. */
export const LABELLED_AS: Readonly<Record<MeasuredKind, LabelKind>> = {
  positive: 'criterion',
  negative: 'criterion',
  static: 'criterion',
  support: 'claim',
  needs_citation: 'needs_citation',
};

/** What labelled rows of each kind tell about the judge. Absent: there were none. */
export type JudgeError = Readonly<Partial<Record<LabelKind, MeasuredError>>>;

/** The figures of the check, whose `rollouts` are the scored ones. `last_step`: `null` = the run has no steps. */
export type RunRisk = Omit<RiskCheck, 'rule' | 'judge' | 'step'> & {
  readonly groups: number;
  readonly last_step: number | null;
};

/** Why a run has no risk: `panel`: several judges voted. `family`: labelled rows measure none of its verdicts. */
export type RiskRefusal = { readonly reason: 'panel' | 'family'; readonly row: LedgerRow };

type Draw = {
  readonly random: Random;
  /** P(label | verdict). */
  readonly behind: ReadonlyMap<MeasuredKind, readonly (readonly number[])[]>;
  flipped: number;
  changed: number;
  readonly changedBy: Map<MeasuredKind, number>;
};

/**
 * Reads the groups twice, one at a time: counts the verdicts, then draws. Time: draws x rollouts x kinds.
 * @param recipes of the run, by digest. @param seed an integer; equal seeds give equal figures.
 */
export async function runRisk(
  groups: () => AsyncIterable<RowsOfGroup>,
  recipes: ReadonlyMap<string, Recipe>,
  error: JudgeError,
  { draws, seed }: { readonly draws: number; readonly seed: number },
): Promise<RunRisk | RiskRefusal> {
  const counts = new Map<MeasuredKind, number[]>();
  let last_step: number | null = null;
  for await (const rows of groups()) {
    for (const row of rows) {
      const { revised } = familyOf(row.facts).facts;
      if (revised === undefined) return { reason: 'family', row };
      if (row.facts.panel !== undefined) return { reason: 'panel', row };
      if (row.step !== null) last_step = Math.max(last_step ?? 0, row.step);
      revised(row.facts, (kind, level) => {
        const own = counts.get(kind) ?? LEVELS[LABELLED_AS[kind]].map(() => 0);
        counts.set(kind, own);
        own[level] = (own[level] ?? 0) + 1;
        return level;
      });
    }
  }
  const measured = MEASURED_KINDS.flatMap((kind) => {
    const [verdicts, own] = [counts.get(kind), error[LABELLED_AS[kind]]];
    return verdicts === undefined || own === undefined || !isShown(own)
      ? []
      : [{ kind, verdicts, table: effectiveTable(own) }];
  });
  const simulated = Array.from({ length: draws }, (_, draw): Draw => {
    const random = randomOf(seed * draws + draw);
    const behind = new Map(
      measured.map(({ kind, verdicts, table }) => [
        kind,
        labelsBehind(drawnConfusion(table, random), drawnShares(verdicts, random)),
      ]),
    );
    return { random, behind, flipped: 0, changed: 0, changedBy: new Map() };
  });
  let [groupCount, rollouts] = [0, 0];
  for await (const rows of groups()) {
    const prepared = prepareGroup(rows, recipes);
    groupCount++;
    rollouts += prepared.before.scores.filter(({ masked }) => !masked).length;
    for (const draw of simulated) drawGroup(prepared, recipes, draw, measured.length > 1);
  }
  const share = (countsOfDraws: readonly number[]): Estimate | null => {
    if (measured.length === 0 || rollouts === 0) return null;
    const shares = countsOfDraws.map((count) => count / rollouts);
    return percentiles(shares);
  };
  const changed = share(simulated.map((draw) => draw.changed));
  const random = randomOf(seed);
  return {
    groups: groupCount,
    rollouts,
    last_step,
    flipped: share(simulated.map((draw) => draw.flipped)),
    changed,
    kinds: MEASURED_KINDS.flatMap((kind): RiskCheck['kinds'] => {
      const verdicts = counts.get(kind);
      if (verdicts === undefined) return [];
      const own = error[LABELLED_AS[kind]] ?? { table: [], interval: null };
      const isDrawn = measured.some((one) => one.kind === kind);
      const alone = measured.length > 1 ? share(simulated.map((draw) => draw.changedBy.get(kind) ?? 0)) : changed;
      const total = verdicts.reduce((sum, count) => sum + count, 0);
      const yes = (verdicts.at(-1) ?? 0) / total;
      const corrected = correctedRate(own, verdicts, random);
      return [{ kind, verdicts: total, yes, corrected, changed: isDrawn ? alone : null }];
    }),
  };
}

/** Counts the signs that one draw of labels changes in a group, by all kinds together and by each alone. */
function drawGroup(prepared: PreparedGroup, recipes: ReadonlyMap<string, Recipe>, draw: Draw, byKind: boolean): void {
  const levels = prepared.rows.map(() => [] as number[]);
  const changed = new Set<MeasuredKind>();
  const replayed = (next: (at: number, kind: MeasuredKind, level: number) => number) => {
    const measured = prepared.rows.map(({ facts }, at) => {
      let isSame = true;
      const other = familyOf(facts).facts.revised?.(facts, (kind, level) => {
        const drawn = next(at, kind, level);
        if (drawn !== level) isSame = false;
        return drawn;
      });
      return isSame || other === undefined ? null : { facts: other };
    });
    const signs = { flipped: 0, changed: 0 };
    if (measured.every((one) => one === null)) return signs;
    for (const { sign } of replayPrepared(prepared, recipes, measured).samples) {
      if (sign === 'flipped') signs.flipped++;
      if (sign !== 'kept' && sign !== 'not_compared') signs.changed++;
    }
    return signs;
  };
  const all = replayed((at, kind, level) => {
    const behind = draw.behind.get(kind)?.[level];
    const drawn = behind === undefined ? level : drawnIndex(behind, draw.random);
    if (drawn !== level) changed.add(kind);
    levels[at]?.push(drawn);
    return drawn;
  });
  draw.flipped += all.flipped;
  draw.changed += all.changed;
  if (!byKind) return;
  for (const kind of changed) {
    const next = levels.map(() => 0);
    const alone =
      changed.size === 1
        ? all
        : replayed((at, own, level) => {
            const drawn = levels[at]?.[next[at] ?? 0] ?? level;
            next[at] = (next[at] ?? 0) + 1;
            return own === kind ? drawn : level;
          });
    draw.changedBy.set(kind, (draw.changedBy.get(kind) ?? 0) + alone.changed);
  }
}
