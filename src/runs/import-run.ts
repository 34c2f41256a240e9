/**
 * Imports the rollouts of a run file. An import never overwrites: a rollout is put only if its place is free. Every
 * refused line is counted, and the first ones are listed with their reason. Importing the same file again resumes an
 * interrupted import.
 */
import * as z from 'zod';
import type { FamilyName, Recipe } from '../families/composers.ts';
import { resolveRecipe } from '../families/resolve.ts';
import type { StreamLine } from '../judgments/jsonl.ts';
import { MAX_REFUSED_LINES_LISTED } from '../limits.ts';
import { differingRows, type RowToCheck } from './reward-check.ts';
import { type RunFileRecipe, type RunFileRollout, readRunLine } from './run-file.ts';

type ImportedRecipe = { readonly digest: string; readonly name: string | null; readonly recipe: Recipe };

/** Rollouts that are stored in one step, with the recipes that they were scored under. */
export type RunChunk = {
  readonly family: FamilyName;
  readonly recipes: readonly ImportedRecipe[];
  readonly rollouts: readonly RunFileRollout[];
};

/**
 * Stores rollouts whose places are free. Returns one outcome per rollout, in order; `taken`: the attempt already holds
 * other content.
 */
type RunSink = (chunk: RunChunk) => Promise<readonly ('recorded' | 'unchanged' | 'taken')[]>;

type RunImportLimits = {
  readonly recipes: number;
  readonly lines: number;
  /**
   * Rollouts, and UTF-16 code units of their lines, after which the rollouts are stored together. A group is checked as a
   * whole, so it is only divided beyond `groupChars`.
   */
  readonly chunk: number;
  readonly chunkChars: number;
  readonly groupChars: number;
  readonly listed: number;
};

const countSchema = z.int().min(0);

const RUN_REFUSALS = [
  'line_too_long',
  'line_not_utf8',
  'line_not_json',
  'line_invalid',
  'too_many_lines',
  'too_many_recipes',
  'recipe_digest_wrong',
  'recipe_unknown',
  'family_differs',
  'reward_differs',
  'attempt_taken',
] as const;

type Refusal = (typeof RUN_REFUSALS)[number];

export const runImportReportSchema = z.strictObject({
  v: z.literal(1),
  imported: countSchema,
  already_there: countSchema.describe('Nothing is ever overwritten.'),
  refused: countSchema,
  refused_lines: z
    .array(z.strictObject({ line: z.int().min(1), reason: z.enum(RUN_REFUSALS), detail: z.string() }))
    .max(MAX_REFUSED_LINES_LISTED)
    .describe('The first refused lines; the count is exact.'),
  complete: z
    .boolean()
    .describe('Whether the file ended with the right count of its rollouts; false = cut off, or edited.'),
});

/** The reply to an import: rows that were new, rows that were there, and refused lines. */
export type RunImportReport = z.infer<typeof runImportReportSchema>;

const DETAILS: Readonly<Record<Refusal, string>> = {
  line_too_long: 'the line cannot be read',
  line_not_utf8: 'the line cannot be read',
  line_not_json: 'the line is not JSON',
  line_invalid: 'expected a line of a file of a run: run first, then recipe, rollout, end',
  too_many_lines: 'the file has too many lines; the rest was not read',
  too_many_recipes: 'the file has too many recipes',
  recipe_digest_wrong: 'the recipe does not have that digest',
  recipe_unknown: 'no recipe with this digest precedes the rollout',
  family_differs: 'recipe or facts are of another family than the run',
  reward_differs: 'its reward, a component or a count is not what its facts and recipe give',
  attempt_taken: 'other content is recorded there as that attempt',
};

export async function importRun(
  lines: AsyncIterable<StreamLine>,
  sink: RunSink,
  limits: RunImportLimits,
): Promise<RunImportReport> {
  const reader = new RunImport(sink, limits);
  let number = 0;
  for await (const line of lines) {
    number++;
    if (number > limits.lines) {
      reader.refuseUnread(number, 'too_many_lines');
      break;
    }
    if (line.ok && line.value.trim() === '') continue;
    if (line.ok) await reader.read(number, line.value);
    else reader.refuseUnread(number, line.error);
  }
  await reader.flush();
  return reader.report();
}

type WaitingRow = RowToCheck & { readonly line: number };

function groupKey({ step, group }: RunFileRollout): string {
  return JSON.stringify([step, group]);
}

class RunImport {
  readonly #sink: RunSink;
  readonly #limits: RunImportLimits;
  #family: FamilyName | null = null;
  readonly #recipes = new Map<string, ImportedRecipe>();
  #waiting: WaitingRow[] = [];
  #waitingChars = 0;
  /** The last group that was stored in parts. */
  #divided: string | null = null;
  readonly #places = new Set<string>();
  #read = 0;
  #complete = false;
  readonly #counts = { imported: 0, already_there: 0, refused: 0 };
  readonly #refused: { line: number; reason: Refusal; detail: string }[] = [];

  constructor(sink: RunSink, limits: RunImportLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  async read(number: number, text: string): Promise<void> {
    const read = readRunLine(text);
    this.#complete = false;
    if (!read.ok) return this.refuse(number, read.error);
    const { value: line } = read;
    switch (line.kind) {
      case 'run':
        if (this.#family !== null) return this.refuse(number, 'line_invalid');
        this.#family = line.family;
        return;
      case 'recipe':
        return this.#addRecipe(number, line);
      case 'rollout':
        this.#read++;
        return this.#addRollout(number, line.rollout, text.length);
      case 'end':
        this.#complete = line.rollouts === this.#read;
    }
  }

  async #addRecipe(number: number, { digest, name, recipe }: RunFileRecipe): Promise<void> {
    const resolved = await resolveRecipe(recipe);
    if (!resolved.ok) return this.refuse(number, 'line_invalid');
    if (resolved.value.digest !== digest) return this.refuse(number, 'recipe_digest_wrong');
    if (resolved.value.recipe.family !== this.#family) return this.refuse(number, 'family_differs');
    if (this.#recipes.size === this.#limits.recipes) return this.refuse(number, 'too_many_recipes');
    this.#recipes.set(digest, { digest, name, recipe: resolved.value.recipe });
  }

  async #addRollout(number: number, rollout: RunFileRollout, chars: number): Promise<void> {
    if (this.#family === null) return this.refuse(number, 'line_invalid');
    const recipe = this.#recipes.get(rollout.recipe)?.recipe;
    if (recipe === undefined) return this.refuse(number, 'recipe_unknown');
    if (rollout.facts.family !== this.#family) return this.refuse(number, 'family_differs');
    const { step, group, sample, attempt } = rollout;
    const { chunk, chunkChars, groupChars } = this.#limits;
    const before = this.#waiting.at(-1)?.rollout;
    const isSameGroup = before !== undefined && before.step === step && before.group === group;
    const isTooLong = this.#waitingChars + chars > groupChars;
    if (isTooLong && isSameGroup) this.#divided = groupKey(rollout);
    const isFull = this.#waiting.length >= chunk || this.#waitingChars >= chunkChars;
    if (isTooLong || (isFull && !isSameGroup)) await this.flush();
    const place = JSON.stringify([step, group, sample, attempt]);
    // The file holds two different contents for one attempt at one place in the run and does not say which is right.
    if (this.#places.has(place)) return this.refuse(number, 'attempt_taken');
    this.#places.add(place);
    this.#waiting.push({ line: number, rollout, recipe });
    this.#waitingChars += chars;
  }

  async flush(): Promise<void> {
    if (this.#family === null || this.#waiting.length === 0) return;
    const waiting = this.#withoutDiffering();
    const used = new Set(waiting.map(({ rollout }) => rollout.recipe));
    const recipes = [...this.#recipes.values()].filter(({ digest }) => used.has(digest));
    const rollouts = waiting.map(({ rollout }) => rollout);
    const outcomes = rollouts.length === 0 ? [] : await this.#sink({ family: this.#family, recipes, rollouts });
    this.#waiting = [];
    this.#waitingChars = 0;
    this.#places.clear();
    waiting.forEach(({ line }, position) => {
      const outcome = outcomes[position];
      if (outcome === undefined) throw new Error('importRun: fewer outcomes than rollouts');
      if (outcome === 'recorded') this.#counts.imported++;
      else if (outcome === 'unchanged') this.#counts.already_there++;
      else this.refuse(line, 'attempt_taken');
    });
  }

  /** The waiting rollouts whose rewards are those of their facts; the others are refused. */
  #withoutDiffering(): WaitingRow[] {
    const groups = Map.groupBy(this.#waiting, ({ rollout }) => groupKey(rollout));
    const differing = new Set(
      [...groups].flatMap(([key, group]) =>
        [...differingRows(group, key !== this.#divided)].flatMap((position) => group[position] ?? []),
      ),
    );
    for (const { line } of differing) this.refuse(line, 'reward_differs');
    return this.#waiting.filter((row) => !differing.has(row));
  }

  /** Refuses a line of unknown kind; the file can no longer be complete. */
  refuseUnread(line: number, reason: Refusal): void {
    this.#complete = false;
    this.refuse(line, reason);
  }

  /** Counts and lists a refused line. @param line counts from 1. */
  refuse(line: number, reason: Refusal): void {
    this.#counts.refused++;
    if (this.#refused.length < this.#limits.listed) this.#refused.push({ line, reason, detail: DETAILS[reason] });
  }

  report(): RunImportReport {
    const refused_lines = this.#refused.toSorted((a, b) => a.line - b.line);
    return { v: 1, ...this.#counts, refused_lines, complete: this.#complete };
  }
}
