/**
 * `npm run bench:replay`: replay of a run, relative to loops that only parse the same rows, or parse and validate them.
 * Rows are in memory as text; there are no judge calls.
 */
import { RECIPES, type Recipe } from '../src/families/composers.ts';
import { prepareGroup, replayPrepared } from '../src/runs/replay-group.ts';
import type { LedgerRow } from '../src/runs/row.ts';
import { readRunLine, writeRunLine } from '../src/runs/run-file.ts';
import { RunReplay } from '../src/runs/run-replay.ts';
import { SweepReplay } from '../src/runs/sweep.ts';
import { syntheticRun } from '../test/unit/runs/synthetic-rows.ts';
import { timeTogether } from './measure.ts';

const ROLLOUTS = 2_560;
const SWEEP_POINTS = 11;
const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];
const OTHER: Recipe = { ...RECIPE, citation_weight: 0.5 };

const groups: readonly (readonly string[])[] = [...syntheticRun(ROLLOUTS)].map((rows) =>
  rows.map((row) => writeRunLine({ kind: 'rollout', rollout: { ...row, components: {}, cached: 0 } })),
);
const parsed: readonly (readonly LedgerRow[])[] = groups.map((lines) => lines.map(checked));

function checked(text: string): LedgerRow {
  const read = readRunLine(text);
  if (!read.ok || read.value.kind !== 'rollout') throw new Error('not a ledger row');
  return read.value.rollout;
}

function readOnly(): number {
  let chars = 0;
  for (const lines of groups) {
    for (const text of lines) {
      const { rollout }: { rollout: LedgerRow } = JSON.parse(text);
      chars += rollout.sample.length;
    }
  }
  return chars;
}

function readAndCheck(): number {
  let chars = 0;
  for (const lines of groups) for (const text of lines) chars += checked(text).sample.length;
  return chars;
}

function replayOf(all: Iterable<readonly LedgerRow[]>): number {
  const replay = new RunReplay();
  for (const rows of all) replay.add(replayPrepared(prepareGroup(rows, RECIPE), OTHER));
  replay.endStep();
  return replay.figures.rollouts;
}

function* readGroups(): Generator<LedgerRow[]> {
  for (const lines of groups) yield lines.map(checked);
}

function sweep(): number {
  const swept = new SweepReplay(
    Array.from({ length: SWEEP_POINTS }, (_, n) => ({
      value: n / 10,
      after: { ...RECIPE, citation_weight: n / 10 },
    })),
  );
  for (const rows of parsed) swept.add([prepareGroup(rows, RECIPE)]);
  return swept.points.length;
}

const prepared = parsed.map((rows) => prepareGroup(rows, RECIPE));

/** The work of the dashboard per slider move: recompute prepared groups. */
function frame(): number {
  let flipped = 0;
  for (const one of prepared) {
    for (const { sign } of replayPrepared(one, OTHER).samples) if (sign === 'flipped') flipped++;
  }
  return flipped;
}

const timings = await timeTogether([
  { name: 'parse (JSON.parse)', run: readOnly },
  { name: 'parse and validate', run: readAndCheck },
  { name: 'parse, validate and replay', run: () => replayOf(readGroups()) },
  { name: 'replay of rows in memory', run: () => replayOf(parsed) },
  { name: `sweep of ${SWEEP_POINTS} values, rows in memory`, run: sweep },
  { name: 'one move of a slider', run: frame },
]);
const [base] = timings;
console.log(`${ROLLOUTS} rollouts in groups of 8, ${Math.round((groups[0]?.[0] ?? '').length / 100) / 10} KB per row`);
for (const { name, median_us, spread } of timings) {
  const ratio = median_us / (base?.median_us ?? Number.NaN);
  const rate = (ROLLOUTS / median_us) * 1e6;
  const each = (median_us / ROLLOUTS).toFixed(1);
  console.log(
    `${name.padEnd(40)} ${each.padStart(7)} us per rollout  ${Math.round(rate).toLocaleString('en-US').padStart(9)} rollouts/s  ${ratio.toFixed(2)}x  (noise ${(100 * spread).toFixed(0)}%)`,
  );
}
