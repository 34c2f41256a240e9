/**
 * The ratings of a file: what each rater said of each row, and how disagreements were resolved. Values do not change;
 * each function returns new ones.
 */

import * as z from 'zod';
import { parsedJson } from '../../../src/json.ts';
import {
  type AgreementTable,
  exactAgreement,
  PairCounter,
  pairsIn,
  weightedKappa,
} from '../../../src/judgments/rater-agreement.ts';
import { randomOf } from '../../../src/labels/cluster-bootstrap.ts';
import {
  LABEL_KINDS,
  type LabelKind,
  type LabelQuestion,
  LEVELS,
  labelledRowFields,
} from '../../../src/labels/labelled-row.ts';

/** Levels by the index of the row. */
type Levels = ReadonlyMap<number, number>;

export type Ratings = {
  readonly byRater: ReadonlyMap<string, Levels>;
  /** The levels that the raters agreed on after they saw each other's label. */
  readonly resolved: Levels;
};

export function noRatings(): Ratings {
  return { byRater: new Map(), resolved: new Map() };
}

export function rated({ byRater, resolved }: Ratings, rater: string, row: number, level: number): Ratings {
  return { byRater: new Map(byRater).set(rater, new Map(byRater.get(rater)).set(row, level)), resolved };
}

export function resolvedAs({ byRater, resolved }: Ratings, row: number, level: number): Ratings {
  return { byRater, resolved: new Map(resolved).set(row, level) };
}

/** The ratings of both; those of `second` win. */
export function mergedRatings(first: Ratings, second: Ratings): Ratings {
  const byRater = new Map(first.byRater);
  for (const [rater, levels] of second.byRater) byRater.set(rater, new Map([...(byRater.get(rater) ?? []), ...levels]));
  return { byRater, resolved: new Map([...first.resolved, ...second.resolved]) };
}

export function levelOfRater({ byRater }: Ratings, rater: string, row: number): number | undefined {
  return byRater.get(rater)?.get(row);
}

/**
 * The order in which a rater sees the rows: random, so that the rows of a pair do not follow each other, and the same
 * whenever the rater continues.
 */
export function orderFor(rater: string, digest: string, rows: number): readonly number[] {
  const order = Array.from({ length: rows }, (_, row) => row);
  let seed = 0;
  for (const character of `${digest} ${rater}`) seed = (Math.imul(seed, 31) + (character.codePointAt(0) ?? 0)) | 0;
  const random = randomOf(seed);
  // Fisher and Yates.
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [order[last], order[other]];
    if (one === undefined || two === undefined) continue;
    order[last] = two;
    order[other] = one;
  }
  return order;
}

/** How far two raters, or a rater and a judge, agree on the rows of one kind that both labelled. */
export type KindAgreement = {
  readonly kind: LabelKind;
  readonly rows: number;
  readonly same: number | null;
  /** Quadratic-weighted; with two levels the unweighted one. */
  readonly kappa: number | null;
  readonly table: AgreementTable;
};

/** The level of a row, given by its index; undefined = not labelled. */
export type LevelOf = (row: number) => number | null | undefined;

export function agreementOf(rows: readonly LabelQuestion[], first: LevelOf, second: LevelOf): KindAgreement[] {
  return LABEL_KINDS.flatMap((kind) => {
    const pairs = new PairCounter(LEVELS[kind].length);
    for (const [row, { asked }] of rows.entries()) {
      const [one, other] = [first(row), second(row)];
      if (asked.kind === kind && one != null && other != null) pairs.add(one, other);
    }
    const { table } = pairs;
    if (pairsIn(table) === 0) return [];
    return [{ kind, rows: pairsIn(table), same: exactAgreement(table), kappa: weightedKappa(table), table }];
  });
}

/** Indexes of the rows that both labelled, and differently. */
export function disagreements(rows: number, first: LevelOf, second: LevelOf): number[] {
  return Array.from({ length: rows }, (_, row) => row).filter((row) => {
    const [one, other] = [first(row), second(row)];
    return one != null && other != null && one !== other;
  });
}

/**
 * The level of a row in the export: the resolved one, else the one that all its raters gave; `null` = not rated, or a
 * disagreement that is not resolved.
 */
export function finalLevel({ byRater, resolved }: Ratings, row: number): number | null {
  const known = resolved.get(row);
  if (known !== undefined) return known;
  const given = [...byRater.values()].flatMap((levels) => levels.get(row) ?? []);
  const [first] = given;
  return first !== undefined && given.every((level) => level === first) ? first : null;
}

/** The labelled rows as JSON lines, each with what every rater said. Rows without a final level are left out. */
export function exportedLines(rows: readonly LabelQuestion[], ratings: Ratings): string[] {
  return rows.flatMap((row, position) => {
    const level = finalLevel(ratings, position);
    if (level === null) return [];
    const said = [...ratings.byRater].flatMap(([rater, levels]) => {
      const label = LEVELS[row.asked.kind][levels.get(position) ?? -1];
      return label === undefined ? [] : [{ rater, label }];
    });
    return [JSON.stringify(labelledRowFields({ ...row, level, ratings: said }))];
  });
}

const levelsSchema = z.array(z.tuple([z.int().min(0), z.int().min(0).max(2)]));
const keptSchema = z.object({
  raters: z.array(z.tuple([z.string(), levelsSchema])),
  resolved: levelsSchema,
});

/** The text under which progress is kept in the browser: levels by row, no content of the file. */
export function ratingsText({ byRater, resolved }: Ratings): string {
  const raters = [...byRater].map(([rater, levels]) => [rater, [...levels]]);
  return JSON.stringify({ raters, resolved: [...resolved] });
}

/** Reads `ratingsText`; text that it did not write gives no ratings. */
export function readRatings(text: string): Ratings {
  const kept = keptSchema.safeParse(parsedJson(text));
  if (!kept.success) return noRatings();
  const { raters, resolved } = kept.data;
  return { byRater: new Map(raters.map(([rater, levels]) => [rater, new Map(levels)])), resolved: new Map(resolved) };
}
