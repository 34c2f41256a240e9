/** `citeward advantages`: the advantages of whole training steps, from rows or from an exported run. */
import * as z from 'zod';
import { BUILT_IN, type Recipe } from '../../../src/families/composers.ts';
import { resolveRecipe } from '../../../src/families/resolve.ts';
import { pathText } from '../../../src/input-problem.ts';
import { parsedJson } from '../../../src/json.ts';
import { recipesAfter, requestedRecipes } from '../../../src/runs/plan-replay.ts';
import { gapsOf } from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { readLines } from '../../../src/text/lines.ts';
import { type StepRequest, stepAdvantages, stepRequestSchema } from '../../../src/wire/advantages.ts';
import { runPlaceIdSchema } from '../../../src/wire/score.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, RunError, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { openInput } from '../../shared/input.ts';
import { countOf } from '../../shared/number-text.ts';
import { readChanges } from '../../shared/recipe-flags.ts';
import { fieldProblems, problemTexts } from '../../shared/rows.ts';
import { groupsOfFile, recipesOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';
import { flagProblem } from '../../shared/worker-failures.ts';
import { advantagesSyntax, readRule } from './options.ts';

export const advantagesCommand: Command = { ...advantagesSyntax, run };

type Member = StepRequest['groups'][number]['members'][number];
type Sample = { readonly step: number | null; readonly group: string | number; readonly sample: string | number };
type PlacedMember = Sample & { readonly member: Member };

const MAX_LINE_BYTES = 1024 * 1024;

const memberSchema = stepRequestSchema.shape.groups.element.shape.members.element;
const rowSchema = z.looseObject({
  step: z.int().min(0).nullable().default(null),
  group: runPlaceIdSchema,
  sample: runPlaceIdSchema.exactOptional(),
});

async function run(flags: Flags): Promise<number> {
  const rule = readRule(flags);
  const file = flags.text('file');
  const changes = readChanges(flags.list('set'));
  const screen = new Screen(flags);
  if (file === null && Object.keys(changes).length > 0) throw new UsageError('--set needs --file');
  if (file !== null && flags.positionals.length > 0) throw new UsageError('--file names the run; expected no rows');
  const members = file === null ? membersOfRows(flags) : membersOfRun(file, changes);
  const counts = { steps: 0, groups: 0, samples: 0, silent: 0, masked: 0 };
  const finished = new Set<number | null>();
  for await (const step of stepsOf(members, finished)) {
    const groups = [...Map.groupBy(step, ({ group }) => String(group)).values()];
    const result = stepAdvantages({
      rule,
      groups: groups.map((group) => ({ members: group.map((one) => one.member) })),
    });
    const number = step[0]?.step ?? null;
    if (!result.ok) {
      const named = result.error.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; ');
      throw new RunError(`step ${number ?? 'none'}: ${named}`);
    }
    counts.steps++;
    for (const [n, group] of result.value.groups.entries()) {
      counts.groups++;
      if (group.degenerate !== null) counts.silent++;
      for (const [position, own] of group.advantages.entries()) {
        const place = groups[n]?.[position];
        if (place === undefined) throw new Error('advantages: a sample was lost');
        counts.samples++;
        if (own.masked) counts.masked++;
        const { step: at, group: name, sample } = place;
        await screen.result(JSON.stringify({ step: at, group: name, sample, ...own }));
      }
    }
  }
  const { steps, groups, samples, silent, masked } = counts;
  if (samples === 0) throw new RunError('the input has no rows', 'A row is one sample, as in examples/step.jsonl.');
  screen.message(
    `${countOf(samples, 'sample')} in ${countOf(groups, 'group')} of ${countOf(steps, 'step')} · ` +
      `${countOf(silent, 'group')} without signal · ${countOf(masked, 'sample')} masked`,
    'bold',
  );
  return EXIT_OK;
}

/** The members step by step. @throws RunError if a step comes again after another one. */
async function* stepsOf(
  members: AsyncIterable<PlacedMember>,
  finished: Set<number | null>,
): AsyncGenerator<readonly PlacedMember[]> {
  let open: PlacedMember[] = [];
  for await (const member of members) {
    const [first] = open;
    if (first !== undefined && first.step !== member.step) {
      finished.add(first.step);
      yield open;
      open = [];
    }
    if (finished.has(member.step)) throw new RunError(`step ${member.step ?? 'none'}: its rows are not consecutive`);
    open.push(member);
  }
  if (open.length > 0) yield open;
}

async function* membersOfRows(flags: Flags): AsyncGenerator<PlacedMember> {
  const input = await openInput(flags.positionals, flags.shell.stdin, 'advantages FILE.jsonl --rule trl-gdpo');
  const samples = new Map<string, number>();
  for await (const { number, content } of readLines(input.chunks, MAX_LINE_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.error === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const { step, group, sample, ...fields } = readRow(rowSchema, jsonOf(content.value, number), number);
    const place = `${step} ${group}`;
    const position = samples.get(place) ?? 0;
    samples.set(place, position + 1);
    yield { step, group, sample: sample ?? position, member: readRow(memberSchema, fields, number) };
  }
}

function jsonOf(text: string, line: number): unknown {
  const value = parsedJson(text);
  if (value === undefined) throw new RunError(`line ${line}: not JSON`);
  return value;
}

function readRow<S extends z.ZodType>(schema: S, value: unknown, line: number): z.output<S> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new RunError(problemTexts(line, fieldProblems(schema, read.error, value)).join('\n'));
}

/** Composes the contributions of a recorded run under its recipes, with the changed fields. */
async function* membersOfRun(file: string, changes: Readonly<Record<string, unknown>>): AsyncGenerator<PlacedMember> {
  const { recipes: before } = await recipesOfFile(file);
  const requested = await requestedRecipes(before, { set: { ...changes } }, resolveRecipe);
  if (!requested.ok) {
    throw new UsageError(requested.error.map((one) => flagProblem(pathText(one.path), one.message)).join('\n'));
  }
  const after = recipesAfter(requested.value);
  for await (const rows of groupsOfFile(file, undefined)) yield* composed(rows, before, after);
}

function composed(
  rows: readonly LedgerRow[],
  before: ReadonlyMap<string, Recipe>,
  after: ReadonlyMap<string, Recipe>,
): PlacedMember[] {
  const gaps = gapsOf(rows, before, after);
  const recipeOf = ({ recipe }: LedgerRow): Recipe => {
    const found = after.get(recipe);
    if (found === undefined) throw new RunError(`the run has no recipe with the digest ${recipe}`);
    return found;
  };
  const isOpen = (position: number): boolean => (gaps[position] ?? []).length > 0;
  const votes = BUILT_IN.groupVotes(
    rows.map((row, position) => ({ facts: isOpen(position) ? null : row.facts, recipe: recipeOf(row) })),
  );
  return rows.map((row, position): PlacedMember => {
    const { step, group, sample, facts } = row;
    const recipe = recipeOf(row);
    const components = isOpen(position) ? null : BUILT_IN.contributions(BUILT_IN.compose(facts, recipe, votes), recipe);
    // The tokens that a run records include tool output, and verl weighs by those of the policy: verl-gdpo is refused.
    return { step, group, sample, member: { components: components === null ? null : { ...components } } };
  });
}
