/** Synthetic ledger rows: of every family for property tests, and long reproducible runs for scale. */
import fc from 'fast-check';
import { digestJson, sha256 } from '../../../src/digest.ts';
import type { CarrFacts } from '../../../src/families/carr/facts.ts';
import type { Facts } from '../../../src/families/composers.ts';
import { compose, composeGroup, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import type { DrTuluFacts } from '../../../src/families/dr-tulu/facts.ts';
import type { LongTraceFacts } from '../../../src/families/long-trace/facts.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import type { ToolCallFacts } from '../../../src/families/tool-call/facts.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { writeRunLine } from '../../../src/runs/run-file.ts';
import { randomOf } from '../seeded-random.ts';

const LOST = { status: 'unscored', reason: 'judge_timeout' } as const;

function observed<T>(value: fc.Arbitrary<T>) {
  return fc.oneof(
    { weight: 6, arbitrary: value.map((one) => ({ status: 'scored' as const, observed: one })) },
    { weight: 1, arbitrary: fc.constant(LOST) },
  );
}

const score = fc.constantFrom(0 as const, 1 as const, 2 as const);
const support = fc.constantFrom(0 as const, 0.5 as const, 1 as const);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const uncited = fc.record({ cited: fc.constant(false as const), needs_citation: fc.boolean() });

export const refinerFacts: fc.Arbitrary<RefinerFacts> = fc.record({
  v: fc.constant(1 as const),
  family: fc.constant('refiner' as const),
  has_answer: fc.boolean(),
  format: fc.record({
    answer_only: fc.constantFrom(0 as const, 1 as const),
    full: fc.constantFrom(0 as const, 1 as const),
  }),
  finish_reason: fc.constantFrom('stop', 'length', null),
  rubric: observed(
    fc.array(
      fc.record({
        origin: fc.constantFrom('instance' as const, 'static' as const),
        polarity: fc.constantFrom('positive' as const, 'negative' as const),
        weight: fc.constantFrom(0, 0.5, 1, 3),
        score,
      }),
      { minLength: 1, maxLength: 6 },
    ),
  ),
  citation: observed(
    fc.array(
      fc.oneof(
        fc.record(
          {
            cited: fc.constant(true as const),
            support,
            relevant: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
            quote: fc.constantFrom('verified' as const, 'unverified' as const),
          },
          { requiredKeys: ['cited', 'support', 'relevant'] },
        ),
        uncited,
      ),
      { maxLength: 6 },
    ),
  ),
});

export const longTraceFacts: fc.Arbitrary<LongTraceFacts> = fc.record({
  v: fc.constant(1 as const),
  family: fc.constant('long-trace' as const),
  well_formed: fc.boolean(),
  finish_reason: fc.constantFrom('stop', 'length', null),
  outcome: observed(fc.constantFrom(0, 1)),
  entities: fc.option(
    fc
      .tuple(fc.nat(4), fc.nat(4), fc.nat(4))
      .map(([content, reasoning, both]) => ({ total: 4, content, reasoning, both })),
  ),
  chunks: fc.option(share),
});

const CARR_CRITERIA = [['E0'], ['E0', 'E1'], ['E1', 'E2']];

/** Supported criteria are filled, and a page was cited. */
const carrFacts: fc.Arbitrary<CarrFacts> = fc
  .record({
    has_answer: fc.boolean(),
    finish_reason: fc.constantFrom('stop', 'length', null),
    outcome: observed(fc.constantFrom(0 as const, 1 as const)),
    pages: fc.nat(2),
    names: observed(fc.subarray(['E0', 'E1', 'E2'])),
    support: observed(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean())),
  })
  .map(({ names: named, support, pages, ...facts }): CarrFacts => {
    const isFilled = (labels: readonly string[]) =>
      named.status === 'scored' && labels.every((label) => named.observed.includes(label));
    const supported =
      named.status === 'unscored'
        ? named
        : support.status === 'unscored'
          ? support
          : {
              ...support,
              observed: CARR_CRITERIA.map((own, n) => pages > 0 && isFilled(own) && support.observed[n] === true),
            };
    return { v: 1, family: 'carr', compat: 'corrected', ...facts, criteria: CARR_CRITERIA, pages, named, supported };
  });

export const toolCallFacts: fc.Arbitrary<ToolCallFacts> = fc.record({
  v: fc.constant(1 as const),
  family: fc.constant('tool-call' as const),
  outcome: fc.oneof(
    fc.record({ kind: fc.constant('math' as const), exact: fc.boolean(), equivalent: observed(fc.boolean()) }),
    fc.record({
      kind: fc.constant('code' as const),
      runnable: fc.boolean(),
      tests: observed(
        fc.array(fc.constantFrom('passed' as const, 'wrong_output' as const, 'compile_error' as const), {
          minLength: 1,
          maxLength: 4,
        }),
      ),
    }),
  ),
  num_turns: fc.nat(20),
  response_tokens: fc.nat(20_000),
});

export const drTuluFacts: fc.Arbitrary<DrTuluFacts> = fc.record({
  v: fc.constant(1 as const),
  family: fc.constant('dr-tulu' as const),
  compat: fc.constant('corrected' as const),
  has_answer: fc.boolean(),
  finish_reason: fc.constantFrom('stop', 'length', null),
  format: share,
  queries: fc.nat(5),
  rubric: observed(fc.array(fc.record({ weight: fc.constantFrom(-1, 1, 2), score }), { minLength: 1, maxLength: 5 })),
  citation: observed(
    fc.record({
      statements: fc.array(
        fc.oneof(fc.record({ cited: fc.constant(true as const), support, relevance: share }), uncited),
        { maxLength: 5 },
      ),
      valid_id_ratio: share,
    }),
  ),
});

/** Facts of every family, each with its recorded recipe. */
export const FAMILIES_OF_FACTS: readonly { readonly recipe: Recipe; readonly facts: fc.Arbitrary<Facts> }[] = [
  { recipe: RECIPES['refiner-gpt54-instance-rubric'], facts: refinerFacts },
  { recipe: RECIPES['longtrace-rl'], facts: longTraceFacts },
  { recipe: RECIPES['carr'], facts: carrFacts },
  { recipe: RECIPES['grpo-tcr'], facts: toolCallFacts },
  { recipe: RECIPES['dr-tulu'], facts: drTuluFacts },
];

const DIGEST = 'a'.repeat(64);

/** Rows of one group, with the rewards of the group under the recipe. */
export function rowsOf(
  facts: readonly Facts[],
  recipe: Recipe,
  place: { readonly step?: number | null; readonly group?: string; readonly recipe?: string } = {},
): LedgerRow[] {
  const scores = composeGroup(facts, recipe);
  return facts.map((one, position) => ({
    v: 1,
    run: 'run',
    step: place.step === undefined ? 0 : place.step,
    group: place.group ?? 'g0',
    sample: `s${position}`,
    attempt: 0,
    grouping: 'given',
    content: DIGEST,
    recipe: place.recipe ?? DIGEST,
    facts: one,
    judgments: [],
    reward: scores[position]?.reward ?? null,
    reason: scores[position]?.reason ?? null,
    recorded_at: '2026-11-21T00:00:00.000Z',
  }));
}

const GROUP = 8;

/** Yields the groups of a refiner run lazily, eight samples each; equal seeds give equal groups. */
export function* syntheticRun(rollouts: number, perStep = 256, seed = 1): Generator<LedgerRow[]> {
  const random = randomOf(seed);
  const pick = <T>(...of: readonly [T, ...T[]]): T => of[Math.floor(random() * of.length)] ?? of[0];
  const facts = (): RefinerFacts => ({
    v: 1,
    family: 'refiner',
    has_answer: random() > 0.02,
    format: { answer_only: pick(0, 1), full: pick(0, 1, 1) },
    finish_reason: 'stop',
    rubric:
      random() < 0.01
        ? LOST
        : {
            status: 'scored',
            observed: Array.from({ length: 8 }, (_, n) => ({
              origin: n < 5 ? 'instance' : 'static',
              polarity: n % 3 === 1 ? 'negative' : 'positive',
              weight: 1,
              score: pick(0, 1, 2),
            })),
          },
    citation: {
      status: 'scored',
      observed: Array.from({ length: 12 }, () =>
        random() < 0.8
          ? { cited: true, support: pick(0, 0.5, 1), relevant: [random() > 0.3, random() > 0.5], quote: 'verified' }
          : { cited: false, needs_citation: random() > 0.5 },
      ),
    },
  });
  for (let done = 0; done < rollouts; done += GROUP) {
    const members = Array.from({ length: Math.min(GROUP, rollouts - done) }, facts);
    const place = { step: Math.floor(done / perStep), group: `g${String(done).padStart(8, '0')}` };
    yield rowsOf(members, RECIPES['refiner-gpt54-instance-rubric'], place);
  }
}

/** The file of a refiner run, line by line, with a distinct content and two judgments for each rollout. */
export function* syntheticRunLines(shape: {
  readonly run: string;
  readonly rollouts: number;
  readonly perStep: number;
}): Generator<string> {
  const name = 'refiner-gpt54-instance-rubric';
  const recipe = digestJson(RECIPES[name]);
  yield writeRunLine({ kind: 'run', id: shape.run, family: 'refiner', created_at: '2026-11-22T00:00:00.000Z' });
  yield writeRunLine({ kind: 'recipe', digest: recipe, name, recipe: { ...RECIPES[name] } });
  let n = 0;
  for (const rows of syntheticRun(shape.rollouts, shape.perStep)) {
    for (const row of rows) {
      const digest = (of: string): string => sha256(`${of} ${n}`);
      const judgments = (['rubric', 'citations'] as const).map((kind) => {
        return { kind, key: digest(`key ${kind}`), verdicts: digest(`verdicts ${kind}`) };
      });
      const score = compose(row.facts, RECIPES[name]);
      const components = Object.fromEntries(Object.entries(score.components).map(([of, { value }]) => [of, value]));
      const rollout = { ...row, content: digest('content'), judgments, recipe, components, cached: 0 };
      yield writeRunLine({ kind: 'rollout', rollout });
      n++;
    }
  }
  yield writeRunLine({ kind: 'end', rollouts: n });
}
