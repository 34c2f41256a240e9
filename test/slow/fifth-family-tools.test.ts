/**
 * A new recipe family is its folder and its entries in src/families/list.ts: in a copy of the repository with a fifth
 * one, the library, the replay, the dashboard's controls, the command line and the documents know it. Every project is
 * type-checked, and every door of the Worker tried, in test/slow/fifth-family.test.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { jsonLines } from '../e2e/processes.ts';
import type { CopiedSources } from '../house/copied-sources.ts';
import { copyWithFifthFamily, ROWS } from '../house/fifth-family.ts';

let copy: CopiedSources;

beforeAll(() => {
  copy = copyWithFifthFamily();
});

afterAll(() => copy?.remove());

describe('the library', () => {
  const score = z.looseObject({ reward: z.number().nullable(), details: z.looseObject({}) });
  const resultSchema = z.object({
    alone: z.array(score.extend({ judgments: z.array(z.looseObject({ kind: z.string() })) })),
    group: z.array(score),
    lost: z.array(score),
    missing: z.array(z.unknown()),
    deadlines: z.array(z.number()),
    recorded: z.array(z.looseObject({ statistics: z.looseObject({}), report: z.looseObject({}) })),
    replayed: z.array(z.object({ recorded: z.string(), before: z.number(), after: z.number() })),
    composed: z.array(z.number()),
    gaps: z.array(z.array(z.string())),
    controls: z.array(z.string()),
    live: z.array(z.number()),
  });
  let result: z.infer<typeof resultSchema>;

  beforeAll(() => {
    const ran = copy.run('node', ['test/house/library.ts']);
    expect(ran.code, ran.stderr).toBe(0);
    result = resultSchema.parse(JSON.parse(ran.stdout));
  });

  it('asks its second question only about right answers', () => {
    expect(result.alone.map(({ judgments }) => judgments.map(({ kind }) => kind))).toEqual([
      ['outcome', 'rubric'],
      ['outcome', 'rubric'],
      ['outcome'],
    ]);
    expect(result.alone[2]).toMatchObject({ reward: 0, details: { group_max: null, final: false } });
  });

  it('divides by the largest share of the group', () => {
    const [best, half, wrong] = result.group;
    expect(best).toMatchObject({ reward: 1, details: { final: true } });
    expect(half?.reward).toBeGreaterThan(0.5);
    expect(half?.reward).toBeLessThan(1);
    expect(wrong).toMatchObject({ reward: 0 });
  });

  it('names the member on whose lost vote a reward depends, and keeps the rewards that do not', () => {
    const [lost, half, wrong] = result.lost;
    expect(lost).toMatchObject({ reward: null, reason: 'judge_unreachable', failure: 'judge_unreachable' });
    const dependent = { reward: null, reason: 'group_vote_unknown', depends_on: [0], failure: 'judge_unreachable' };
    expect(half).toMatchObject(dependent);
    expect(wrong).toMatchObject({ reward: 0, status: 'scored', failure: null });
  });

  it('names the missing keys of the stage that it has reached', () => {
    expect(result.missing).toEqual([['outcome'], ['rubric']]);
  });

  it('has one deadline for both stages', () => {
    expect(result.deadlines).toEqual([1_000, 600]);
  });

  it('is recorded without its text, and replayed exactly', () => {
    for (const { report } of result.recorded) expect(JSON.stringify(report)).not.toContain('bridge');
    expect(result.recorded[0]).toMatchObject({ statistics: { lacking: 0, judgments: 2 } });
    expect(result.recorded[2]).toMatchObject({ statistics: { lacking: 1, judgments: 1 } });
    expect(result.replayed.map(({ recorded }) => recorded)).toEqual(['equal', 'equal', 'equal']);
    expect(result.replayed.map(({ before }) => before)).toEqual(result.group.map(({ reward }) => reward));
    expect(result.replayed.map(({ after }) => after)).toEqual(result.composed);
    expect(result.live).toEqual(result.composed);
    expect(result.gaps).toEqual([['recipe.ask_criteria'], ['recipe.ask_criteria'], []]);
  });

  it('has controls on the dashboard', () => {
    expect(result.controls).toEqual(['weight: number', 'divide_by_group_max: switch']);
  });
});

it('is a recipe of the command line', () => {
  const file = join(copy.path, 'rows.jsonl');
  writeFileSync(file, ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const json = copy.run('node', ['cli/main.ts', 'score', file, '--json']);
  expect(json.code, json.stderr).toBe(0);
  expect(jsonLines(json.stdout).map(({ family, status }) => [family, status])).toEqual(
    ROWS.map(() => ['two-step', 'scored']),
  );
  const table = copy.run('node', ['cli/main.ts', 'score', file]);
  expect(table.stdout).toMatch(/two_step_share \d\.\d\d · not yet divided by the maximum of its group/);
  expect(copy.run('node', ['cli/main.ts', 'help', 'score']).stdout).toMatch(/two-step/);
  const wrong = copy.run('node', ['cli/main.ts', 'score', file, '--recipe', 'two-stepp']);
  expect(wrong.code).toBe(2);
});

it('is in the OpenAPI document and the tables of recipes', () => {
  for (const [script, file, text] of [
    ['scripts/openapi.ts', 'dist/openapi.json', '"TwoStepRecipeChange"'],
    ['scripts/recipe-docs.ts', 'docs/reference/recipes.md', '| `ask_criteria` | measure | `true` ours |'],
  ] as const) {
    const made = copy.run('node', [script]);
    expect(made.code, made.stderr).toBe(0);
    expect(readFileSync(join(copy.path, file), 'utf8')).toContain(text);
  }
});
