/**
 * The exact port of CaRR's reward server and group step, row by row. Left out: the rows that play the trainer's HTTP
 * client (`generate_and_rm`, `remote_rm`), and car-s107, in which the reference crashes on a `null` reward.
 */
import { expect, it } from 'vitest';
import { citedAddresses, evidenceText } from '../../../src/families/carr/exact/evidence.ts';
import { carrGroupRewards } from '../../../src/families/carr/exact/group.ts';
import { exactLabels, fillExactly } from '../../../src/families/carr/exact/labels.ts';
import {
  CarrError,
  type CarrMessage,
  openedPage,
  searchResults,
  seenPages,
} from '../../../src/families/carr/exact/pages.ts';
import { exactNames, exactVerdicts, fencedJson } from '../../../src/families/carr/exact/replies.ts';
import {
  type CarrRequest,
  evaluateWith,
  exactOutcome,
  exactReward,
  exactRubric,
  type RecordedCalls,
  RecordedJudge,
} from '../../../src/families/carr/exact/rewards.ts';
import { type PythonJson, PythonNumber, readPythonJson } from '../../../src/tools/python-json.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

type Rubric = { response: string; history: CarrMessage[]; rubrics: string[]; judge: RecordedCalls };

type Inputs = {
  extract_entity_ids: { text: string };
  extract_json_block: { model_output: string };
  check_identified_entities: { all_entity_values: unknown; all_entity_ids: string[] };
  check_rubric_judgement: { judge_rubric_results: unknown; rubric_idx_map: Record<string, number> };
  fill_rubric_with_entity_value: { rubric: string; all_entity_values: Record<string, string | null> };
  extract_search_results: { text: string; query: string };
  extract_open_results: { text: string };
  extract_citation_content: { response: string; history: CarrMessage[]; max_citation_num?: number };
  get_outcome_reward: { judge: RecordedCalls };
  get_rubric_reward: Rubric;
  get_reward: Rubric & { rubric_reward_ratio: number };
  evaluate: { request: CarrRequest; judge?: RecordedCalls };
  generate_and_rm_group: {
    outcome_rewards: number[];
    rubric_rewards: number[];
    server_rewards?: number[];
    normalize: boolean;
    rubric_only_positive: boolean;
    rubric_only_negative: boolean;
    rubric_reward_ratio: number;
    use_rubric_reward_nobfs?: boolean;
    ill_formed?: boolean[];
    aborted?: boolean[];
    is_supported?: boolean[][];
  };
};

const pythonJson = (value: unknown): PythonJson => readPythonJson(JSON.stringify(value)) ?? null;

function plainJson(value: PythonJson): unknown {
  if (value instanceof PythonNumber) return Number(value.printed);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, plainJson(one)]));
  return value;
}

/** Runs with a recorded judge, and adds the number of calls. */
function counted<T extends object>(calls: RecordedCalls, run: (judge: RecordedJudge) => T) {
  const judge = new RecordedJudge(calls);
  return { ...run(judge), calls: judge.counts };
}

const OURS: { readonly [F in keyof Inputs]: (input: Inputs[F]) => unknown } = {
  extract_entity_ids: ({ text }) => exactLabels(text),
  extract_json_block: ({ model_output }) => plainJson(fencedJson(model_output)),
  check_identified_entities: ({ all_entity_values, all_entity_ids }) =>
    exactNames(pythonJson(all_entity_values), all_entity_ids) !== null,
  check_rubric_judgement: ({ judge_rubric_results, rubric_idx_map }) =>
    exactVerdicts(pythonJson(judge_rubric_results), Object.keys(rubric_idx_map)) !== null,
  fill_rubric_with_entity_value: ({ rubric, all_entity_values }) =>
    fillExactly(rubric, new Map(Object.entries(all_entity_values))),
  extract_search_results: ({ text, query }) => searchResults(text, query),
  extract_open_results: ({ text }) => openedPage(text),
  extract_citation_content: ({ response, history, max_citation_num }) =>
    evidenceText(response, seenPages(history), max_citation_num),
  get_outcome_reward: ({ judge }) => counted(judge, exactOutcome),
  get_rubric_reward: ({ judge, ...input }) => counted(judge, (recorded) => exactRubric(input, recorded)),
  get_reward: ({ judge, ...input }) =>
    counted(judge, (recorded) => {
      const { rubric_scores: _scores, ...reward } = exactReward(input, recorded);
      return reward;
    }),
  evaluate: ({ request, judge = {} }) => counted(judge, (recorded) => evaluateWith(request, recorded)),
  generate_and_rm_group: ({ outcome_rewards, rubric_rewards, use_rubric_reward_nobfs, ...input }) => {
    const members = outcome_rewards.map((outcome_reward, n) => ({
      outcome_reward,
      rubric_reward: rubric_rewards[n] ?? Number.NaN,
      ...(input.server_rewards?.[n] === undefined ? {} : { reward: input.server_rewards[n] }),
      ...(input.is_supported?.[n] === undefined ? {} : { is_supported: input.is_supported[n] }),
      ill_formed: input.ill_formed?.[n] ?? false,
      aborted: input.aborted?.[n] ?? false,
    }));
    const rewards = carrGroupRewards(members, { ...input, nobfs: use_rubric_reward_nobfs ?? false });
    const requests = members.filter(({ ill_formed, aborted }) => !ill_formed && !aborted).length;
    return { rewards, requests };
  },
};

function ours({ fn, input }: GoldenRow): unknown {
  const run = new Map<string, (input: never) => unknown>(Object.entries(OURS)).get(fn);
  if (run === undefined) throw new Error(`no function ${fn}`);
  try {
    return run(input as never);
  } catch (error) {
    if (error instanceof CarrError) return { error: error.python };
    throw error;
  }
}

/** Equal, with the tolerance for numbers. */
function agrees(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'number' && typeof expected === 'number') {
    return Math.abs(actual - expected) <= GOLDEN_TOLERANCE;
  }
  if (typeof actual === 'object' && typeof expected === 'object' && actual !== null && expected !== null) {
    const [left, right] = [new Map(Object.entries(actual)), new Map(Object.entries(expected))];
    return (
      Array.isArray(actual) === Array.isArray(expected) &&
      left.size === right.size &&
      [...left].every(([name, value]) => right.has(name) && agrees(value, right.get(name)))
    );
  }
  return actual === expected;
}

const ROWS = goldenRows('carr.jsonl');
const HTTP_CLIENT = new Set(['generate_and_rm', 'remote_rm']);
const PORTED = ROWS.filter(({ id, fn }) => !HTTP_CLIENT.has(fn) && id !== 'car-s107');

it('has all rows', () => {
  expect(ROWS).toHaveLength(113);
  expect(PORTED).toHaveLength(107);
});

it.each(PORTED.map((row) => [row.id, row] as const))('%s', (_id, row) => {
  const actual = ours(row);
  if (!agrees(actual, row.output)) expect(actual, row.note).toEqual(row.output);
});

it('reads hostile texts in linear time', () => {
  const headers = (count: number) => '[1] Title: \n[1] URL Source: \n'.repeat(count);
  expectLinear((text) => searchResults(text, 'q'), headers(5_000), headers(5_000 * GROWTH));
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => `\n[${n}] Title: a`).join('');
  expectLinear((text) => searchResults(text, 'q'), numbers(5_000), numbers(5_000 * GROWTH));
  const links = (count: number) => '[1](http'.repeat(count);
  expectLinear(citedAddresses, links(5_000), links(5_000 * GROWTH));
});

it('does not grow a criterion without bound where names contain labels', () => {
  const labels = Array.from({ length: 60 }, (_, n) => `E${n}`);
  const names = new Map(labels.map((label, n) => [label, `<E${n + 1}><E${n + 1}>`]));
  const criterion = labels.map((label) => `<${label}>`).join(' ');
  expect(fillExactly(criterion, names).filled_rubric.length).toBeLessThan(1_000_000);
});
