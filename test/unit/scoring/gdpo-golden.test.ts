/** GDPO advantages against the trainers' own lines, every row but those where an unscored component is trained on. */
import { expect, it } from 'vitest';
import { type GdpoOptions, gdpoAdvantages, type StepMember } from '../../../src/scoring/gdpo.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';

type Input = {
  readonly components: Readonly<Record<string, readonly (number | null)[]>>;
  readonly weights: Readonly<Record<string, number>> | null;
  readonly group_size?: number;
  readonly groups?: readonly number[];
  readonly response_tokens?: readonly number[];
  readonly norm_adv_by_std_in_grpo?: boolean;
  readonly use_leave_one_out_baseline?: boolean;
  readonly normalize_rewards?: boolean;
};

function memberAt({ components, response_tokens: tokens }: Input, position: number): StepMember {
  const values = Object.entries(components).map(([name, column]) => [name, column[position] ?? null] as const);
  const scored = values.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return {
    components: scored.length < values.length ? null : Object.fromEntries(scored),
    ...(tokens === undefined ? {} : { response_tokens: tokens[position] }),
  };
}

function optionsOf({ fn }: GoldenRow, input: Input): GdpoOptions {
  const weights = input.weights ?? {};
  switch (fn) {
    case 'trl.normalize_then_sum':
      return { preset: 'trl-gdpo', weights };
    case 'verl.gdpo':
      return { preset: 'verl-gdpo', weights, norm_adv_by_std_in_grpo: input.norm_adv_by_std_in_grpo };
    case 'nemo.gdpo': {
      const { use_leave_one_out_baseline, normalize_rewards } = input;
      return { preset: 'nemo-gdpo', weights, use_leave_one_out_baseline, normalize_rewards };
    }
    default:
      throw new Error(`no preset for ${fn}`);
  }
}

function ours(row: GoldenRow): (number | undefined)[] {
  const input = row.input as Input;
  const samples = Object.values(input.components)[0] ?? [];
  const keys = input.groups ?? samples.map((_, position) => Math.floor(position / (input.group_size ?? 1)));
  const groups = [...new Set(keys)].map((key) => keys.flatMap((other, position) => (other === key ? [position] : [])));
  const result = gdpoAdvantages(
    groups.map((positions) => positions.map((position) => memberAt(input, position))),
    optionsOf(row, input),
  );
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const advantages = samples.map((): number | undefined => undefined);
  for (const [n, positions] of groups.entries()) {
    for (const [rank, position] of positions.entries()) {
      advantages[position] = result.value.groups[n]?.members[rank]?.advantage;
    }
  }
  return advantages;
}

const ROWS = goldenRows('gdpo.jsonl');

/** Rows where a member lacks one component and is trained on with the others: it is unscored here. */
const PARTIAL = ['gdp-s010', 'gdp-s011', 'gdp-s028', 'gdp-s036'];

it('has all rows, and differs only in rows that are marked as a defect', () => {
  expect(ROWS).toHaveLength(40);
  for (const id of PARTIAL) expect(ROWS.find((row) => row.id === id)?.defect).toBe(true);
});

it.each(ROWS.filter(({ id }) => !PARTIAL.includes(id)).map((row) => [row.id, row] as const))('%s', (_id, row) => {
  const actual = ours(row);
  const expected = row.output;
  if (!Array.isArray(expected)) throw new Error('a row without advantages');
  expect(actual, row.note).toHaveLength(expected.length);
  const furthest = Math.max(...expected.map((value, n) => Math.abs(value - (actual[n] ?? Number.NaN))));
  expect(furthest, row.note).toBeLessThanOrEqual(GOLDEN_TOLERANCE);
});
