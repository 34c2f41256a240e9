/**
 * `node bench/work-per-row.ts`: the work that a row costs, as a multiple of counting the words of the same text, with
 * its bound; test/slow/work-per-row.test.ts fails beyond it. A row is measured by its cheapest round, because other
 * programs only ever add time. `JSON.parse` is no measure here: it takes 18 or 28 µs for the same text, by process.
 */
import { createScorer, lexicalJudge, memoryStore, verifyCitations } from '../lib/index.ts';
import { typicalRollout } from './typical-rollout.ts';

const { question, response, tool_output, positive_rubrics } = typicalRollout();
const ROLLOUT = { question, response, tool_output, positive_rubrics: criteriaOf(positive_rubrics) };
const RECIPE = 'refiner-gpt54-instance-rubric';
const GROUP_SIZE = 8;

/** Lexical evidence of a tool output that was not read before: each call adds a word to each source. */
let calls = 0;
function unread(): string {
  calls++;
  return tool_output.replaceAll('</webpage>', ` ${calls}</webpage>`);
}

const scorer = createScorer({ judge: lexicalJudge, store: memoryStore() });
const group = Array.from({ length: GROUP_SIZE }, (_, n) => ({ ...ROLLOUT, response: `${response}${' '.repeat(n)}` }));

/** The rows of the examples have texts and objects, as requests may. */
function criteriaOf(rubrics: readonly (string | { readonly description: string })[]) {
  return rubrics.map((one) => (typeof one === 'string' ? { description: one } : one));
}

type Row = {
  readonly name: string;
  readonly run: () => unknown;
  readonly rollouts?: number;
  /** Most that it may cost in three of seven processes, in countings of words. */
  readonly bound: number;
};

const REFERENCE: Row = { name: 'counting words', run: () => countWords(tool_output), bound: 1 };
/** The bounds are 1.3 to 1.4 times the median of 23 processes on a busy machine of two cores, on 2026-11-28. */
const ROWS: readonly Row[] = [
  { name: 'verify', run: () => verifyCitations({ response, tool_output }, { evidence: 'none' }), bound: 0.065 },
  {
    name: 'verify, lexical',
    run: () => verifyCitations({ response, tool_output }, { evidence: 'lexical' }),
    bound: 0.48,
  },
  {
    name: 'verify, lexical, new sources',
    run: () => verifyCitations({ response, tool_output: unread() }, { evidence: 'lexical' }),
    bound: 0.68,
  },
  { name: 'score, stored judgments', run: () => scorer.score(ROLLOUT, RECIPE), bound: 1.2 },
  { name: 'group of 8, a rollout', run: () => scorer.group(group, RECIPE), rollouts: GROUP_SIZE, bound: 0.82 },
];

/** Reads a text as our scanners do: unit by unit, with hashes, a table, and strings for what is found. */
function countWords(text: string): number {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const lower = word.toLowerCase();
    counts.set(lower, (counts.get(lower) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).length;
}

const WARM_UP_MS = 400;
/** So short that a busy machine leaves some rounds alone. Its clock of processor time steps by 4 ms, and once said 0. */
const ROUND_MS = 20;
const ROUNDS = 40;

/** Returns the cheapest time of each row in µs, of rounds in turn. */
async function cheapest(rows: readonly Row[]): Promise<number[]> {
  const counts: number[] = [];
  for (const { run } of rows) {
    const started = performance.now();
    let done = 0;
    for (; performance.now() - started < WARM_UP_MS; done++) await run();
    counts.push(Math.max(1, Math.round((done / WARM_UP_MS) * ROUND_MS)));
  }
  const times = rows.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { run, rollouts = 1 }] of rows.entries()) {
      const count = counts[at] ?? 1;
      const started = performance.now();
      for (let n = 0; n < count; n++) await run();
      times[at] = Math.min(times[at] ?? 0, (1_000 * (performance.now() - started)) / count / rollouts);
    }
  }
  return times;
}

const [reference = Number.NaN, ...times] = await cheapest([REFERENCE, ...ROWS]);
const measured = ROWS.map(({ name, bound }, at) => {
  const us = times[at] ?? Number.NaN;
  return { name, us, ratio: us / reference, bound };
});
if (process.argv.includes('--json')) {
  console.log(JSON.stringify(measured));
} else {
  console.log(`${REFERENCE.name.padEnd(30)} ${reference.toFixed(0).padStart(6)} µs`);
  for (const { name, us, ratio, bound } of measured)
    console.log(
      `${name.padEnd(30)} ${us.toFixed(0).padStart(6)} µs ${ratio.toFixed(2).padStart(7)} x, at most ${bound}`,
    );
}
