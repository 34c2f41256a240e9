/**
 * The file format of a run, version 1, as JSON lines: the run, its recipes, its rollouts by step, group, sample and
 * attempt, and a last line with their count, which reveals a truncated file. The file holds no text and no reports.
 * Judgments travel in a file of their own (src/judgments/record-file.ts).
 */
import * as z from 'zod';
import { FAMILY_NAMES, type FamilyName } from '../families/composers.ts';
import { parsedJson } from '../json.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import type { Result } from '../result.ts';
import { type RolloutCounts, rolloutCountsSchema } from './rollout-counts.ts';
import { type LedgerRow, ledgerRowSchema, runIdSchema } from './row.ts';

const RUN_FILE_VERSION = 1;

export type RunFileRecipe = {
  readonly digest: string;
  /** `null` = an inline recipe. */
  readonly name: string | null;
  readonly recipe: Readonly<Record<string, unknown>>;
};

export type RunFileRollout = LedgerRow & {
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Number of judgments that came from the store. */
  readonly cached: number;
  /** Absent in files of earlier versions. */
  readonly counts?: RolloutCounts;
};

export type RunFileLine =
  | { readonly kind: 'run'; readonly id: string; readonly family: FamilyName; readonly created_at: string }
  | ({ readonly kind: 'recipe' } & RunFileRecipe)
  | { readonly kind: 'rollout'; readonly rollout: RunFileRollout }
  | { readonly kind: 'end'; readonly rollouts: number };

export const runFileLineSchema = z.union([
  z.strictObject({
    run: z.strictObject({
      v: z.literal(RUN_FILE_VERSION),
      id: runIdSchema,
      family: z.enum(FAMILY_NAMES),
      created_at: z.iso.datetime(),
    }),
  }),
  z.strictObject({
    recipe: z.strictObject({
      digest: sha256Schema,
      name: z.string().max(MAX_NAME_CHARS).nullable(),
      recipe: z.record(z.string(), z.unknown()),
    }),
  }),
  z.strictObject({
    rollout: ledgerRowSchema.extend({
      components: z.record(z.string().max(MAX_NAME_CHARS), z.number().nullable()),
      cached: z.int().min(0),
      counts: rolloutCountsSchema.exactOptional(),
    }),
  }),
  z.strictObject({ end: z.strictObject({ v: z.literal(RUN_FILE_VERSION), rollouts: z.int().min(0) }) }),
]);

/** Serializes one line, with its line feed. */
export function writeRunLine(line: RunFileLine): string {
  return `${JSON.stringify(lineValue(line))}\n`;
}

function lineValue(line: RunFileLine): unknown {
  switch (line.kind) {
    case 'run': {
      const { id, family, created_at } = line;
      return { run: { v: RUN_FILE_VERSION, id, family, created_at } };
    }
    case 'recipe': {
      const { digest, name, recipe } = line;
      return { recipe: { digest, name, recipe } };
    }
    case 'rollout':
      return { rollout: line.rollout };
    case 'end':
      return { end: { v: RUN_FILE_VERSION, rollouts: line.rollouts } };
  }
}

/** Parses and validates one line. */
export function readRunLine(text: string): Result<RunFileLine, 'line_not_json' | 'line_invalid'> {
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, error: 'line_not_json' };
  const parsed = runFileLineSchema.safeParse(value);
  if (!parsed.success) return { ok: false, error: 'line_invalid' };
  const { data } = parsed;
  if ('run' in data) {
    const { id, family, created_at } = data.run;
    return { ok: true, value: { kind: 'run', id, family, created_at } };
  }
  if ('recipe' in data) return { ok: true, value: { kind: 'recipe', ...data.recipe } };
  if ('rollout' in data) return { ok: true, value: { kind: 'rollout', rollout: data.rollout } };
  return { ok: true, value: { kind: 'end', rollouts: data.end.rollouts } };
}
