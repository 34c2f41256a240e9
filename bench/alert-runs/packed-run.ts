/**
 * Stores what the alerts read of a run in a small file: facts and counts, each different one once, and for each rollout
 * the numbers of its facts, its counts and its answer. A file holds no text, no ids of rows and no hashes of answers.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as z from 'zod';
import type { FindingReason } from '../../src/citations/types.ts';
import { BUILT_IN, type Facts, type Recipe } from '../../src/families/composers.ts';
import { factsSchema } from '../../src/families/schemas.ts';
import { EMPTY_CLAIMS, EMPTY_UNLESS_MET } from '../../src/runs/alert-figures.ts';
import type { WatchedRow } from '../../src/runs/alerts.ts';
import type { AnswerCounts, RolloutCounts } from '../../src/runs/rollout-counts.ts';

const countSchema = z.int().min(0);

/**
 * `[words, copied, shared, best, sources, cited]`, in later versions with `[claims, ids, repeated, place, hedges]`, place
 * counted from 1 (0 = none); null = no answer, [] = unknown.
 */
const wordsSchema = z.union([
  z.array(countSchema).length(11),
  z.array(countSchema).length(6),
  z.array(countSchema).length(0),
  z.null(),
]);

const packedSchema = z.strictObject({
  v: z.literal(1),
  recipe: z.looseObject({ family: z.string() }),
  facts: z.array(z.unknown()),
  /**
   * Words of the answer, claims that state nothing (null = unknown), the trainer's outcome (null = unknown), and claims
   * that state nothing unless the row asks for them (absent: 0, or a run of an earlier version).
   */
  counts: z.array(
    z.union([
      z.tuple([wordsSchema, countSchema.nullable(), z.number().nullable()]),
      z.tuple([wordsSchema, countSchema.nullable(), z.number().nullable(), countSchema]),
    ]),
  ),
  /** Of each step the sizes of its groups, then for each rollout: facts, counts, and its answer among those of the step. */
  steps: z.array(
    z.strictObject({
      step: countSchema,
      groups: z.array(countSchema),
      rollouts: z.array(z.tuple([countSchema, countSchema, countSchema])),
    }),
  ),
});

/** The digest of the recipe in rows of a packed run, which has one recipe. */
export const PACKED_RECIPE = 'packed';

export type PackedRun = { readonly recipe: Recipe; readonly groups: readonly (readonly WatchedRow[])[] };

/**
 * Reads a file. `values`: its recipe, which the caller resolves. `read`: the run under it.
 * @throws ZodError for a file of another form.
 */
export function readPackedRun(path: string): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly read: (recipe: Recipe) => PackedRun;
} {
  const packed = packedSchema.parse(JSON.parse(brotliDecompressSync(readFileSync(path)).toString()));
  return { values: packed.recipe, read: (recipe) => unpacked(packed, recipe) };
}

/**
 * A digest of what the answers of a run are: their word counts, outcomes and repetitions by step. Two files with the
 * same one are the same run, although their recipes, or the judgments of their criteria, can differ.
 */
export function answersDigest(path: string): string {
  const { counts, steps } = packedSchema.parse(JSON.parse(brotliDecompressSync(readFileSync(path)).toString()));
  const answers = steps.map(({ step, rollouts }) => [
    step,
    rollouts.map(([, counted, answer]) => [counts[counted]?.[0], counts[counted]?.[2], answer]),
  ]);
  return createHash('sha256').update(JSON.stringify(answers)).digest('hex');
}

function unpacked(packed: z.infer<typeof packedSchema>, recipe: Recipe): PackedRun {
  const facts = packed.facts.map((one) => factsSchema.parse(one));
  const groups = packed.steps.flatMap(({ step, groups: sizes, rollouts }) => {
    let from = 0;
    return sizes.map((size, group) => {
      const members = rollouts.slice(from, from + size);
      from += size;
      return rowsOf(members, { step, group: String(group) }, { recipe, facts, counts: packed.counts });
    });
  });
  return { recipe, groups };
}

type Dictionary = {
  readonly recipe: Recipe;
  readonly facts: readonly Facts[];
  readonly counts: z.infer<typeof packedSchema>['counts'];
};

function rowsOf(
  rollouts: readonly (readonly [facts: number, counts: number, answer: number])[],
  place: { readonly step: number; readonly group: string },
  dictionary: Dictionary,
): WatchedRow[] {
  const facts = rollouts.map(([number]) => dictionary.facts[number]);
  const known = facts.flatMap((one) => one ?? []);
  const scores = BUILT_IN.composeGroup(known, dictionary.recipe);
  return rollouts.map(([, counted, answer], n): WatchedRow => {
    const [own, counts] = [known[n], dictionary.counts[counted]];
    if (own === undefined || counts === undefined) throw new RangeError('a packed run names facts that it lacks');
    return {
      ...place,
      sample: String(n),
      recipe: PACKED_RECIPE,
      facts: own,
      reward: scores[n]?.reward ?? null,
      counts: countsOf(counts, answer),
    };
  });
}

function countsOf([words, empty, outcome, unlessMet = 0]: Dictionary['counts'][number], answer: number): RolloutCounts {
  const [all = 0, copied = 0, shared = 0, best = 0, sources = 0, cited = 0, ...structure] = words ?? [];
  const [claims = 0, ids = 0, repeated = 0, place = 0, hedges = 0] = structure;
  const hash = answer.toString(16).padStart(12, '0');
  return {
    ...{ claims: null, citations: null, chars: null, tokens: null, criteria: null },
    findings: empty === null ? null : { claim_states_nothing: empty, claim_abstains: unlessMet },
    outcome,
    ...(words === null ? { answer: null } : {}),
    ...(words === null || words.length === 0
      ? {}
      : {
          answer: {
            ...{ words: all, copied, shared, best, sources, cited, hash },
            ...(structure.length === 0
              ? {}
              : {
                  structure: { claims, ids, repeated, place: place === 0 ? null : place - 1, hedges: hedges === 1 },
                }),
          },
        }),
  };
}

function structureOf({ structure }: AnswerCounts): number[] {
  if (structure === undefined) return [];
  const { claims, ids, repeated, place, hedges } = structure;
  return [claims, ids, repeated, place === null ? 0 : place + 1, Number(hedges)];
}

/** Writes a run. @param groups by step; all rows of one recipe. */
export function writePackedRun(path: string, recipe: Recipe, groups: readonly (readonly WatchedRow[])[]): number {
  const [facts, counts] = [new Numbers(), new Numbers()];
  const steps = new Map<number, { groups: number[]; rollouts: [number, number, number][]; answers: Numbers }>();
  for (const rows of groups) {
    const step = rows[0]?.step ?? null;
    if (step === null) continue;
    const packed = steps.get(step) ?? { groups: [], rollouts: [], answers: new Numbers() };
    steps.set(step, packed);
    packed.groups.push(rows.length);
    for (const { facts: own, counts: counted } of rows) {
      const { answer, findings = null, outcome = null } = counted ?? {};
      const words =
        answer == null
          ? (answer ?? (answer === null ? null : []))
          : [
              ...[answer.words, answer.copied, answer.shared, answer.best, answer.sources, answer.cited],
              ...structureOf(answer),
            ];
      const numberOf = (reasons: readonly FindingReason[]): number =>
        reasons.reduce((sum, reason) => sum + (findings?.[reason] ?? 0), 0);
      const unlessMet = numberOf(EMPTY_UNLESS_MET);
      packed.rollouts.push([
        facts.of(own),
        counts.of([
          ...[words, findings === null ? null : numberOf(EMPTY_CLAIMS), outcome],
          ...(unlessMet === 0 ? [] : [unlessMet]),
        ]),
        packed.answers.of(answer == null ? null : answer.hash),
      ]);
    }
  }
  const packed = {
    v: 1,
    recipe,
    facts: facts.values,
    counts: counts.values,
    steps: [...steps].map(([step, { groups: sizes, rollouts }]) => ({ step, groups: sizes, rollouts })),
  };
  const text = Buffer.from(JSON.stringify(packed));
  const bytes = brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
  writeFileSync(path, bytes);
  return bytes.byteLength;
}

/** Numbers values in the order of their first occurrence. */
class Numbers {
  readonly values: unknown[] = [];
  readonly #numbers = new Map<string, number>();

  of(value: unknown): number {
    const key = JSON.stringify(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.values.length);
    return this.values.push(value) - 1;
  }
}
