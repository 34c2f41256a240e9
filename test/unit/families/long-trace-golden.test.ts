/** The long-trace reward against THU-KEG/LongTraceRL, row by row, without an exception. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entityShare, heldBy, normalise } from '../../../src/families/long-trace/entity-share.ts';
import {
  chosenText,
  type EvaluateRequest,
  finalAnswer,
  readEvaluateRequest,
} from '../../../src/families/long-trace/messages.ts';
import {
  type LongTraceVariant,
  longTraceGroupRewards,
  longTraceReward,
  neededParts,
} from '../../../src/families/long-trace/reward.ts';
import { usefulChunksScore } from '../../../src/families/long-trace/useful-chunks.ts';
import type { TraceMessage } from '../../../src/family/rollout.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';
import { referenceOutcome } from './reference-outcome.ts';

type RubricInput = {
  dataset_name: string;
  rubrics: (string | number)[];
  rubric_use_reasoning_content: boolean;
  rubric_use_content: boolean;
};
type RewardInfo = RubricInput & { rubric_reward_ratio: number };

type Inputs = {
  normalize_string: { text: string };
  get_rubric_reward: RubricInput & { history: TraceMessage[] };
  get_reward: { history: TraceMessage[]; extra_info: RewardInfo; outcome: number };
  get_aa_lcr_reward: { response: string; judge_replies: string[] };
  evaluate: { request: EvaluateRequest & { extra_reward_info: RewardInfo }; outcome: number };
  generate_and_rm_group: {
    outcome_rewards: number[];
    rubric_rewards: number[];
    normalize: boolean;
    rubric_only_positive: boolean;
    rubric_only_negative: boolean;
    rubric_reward_ratio: number;
    dataset_name: string;
  };
};

const isChunkData = (name: string) => name === 'longrlvr';

function rubricScore(history: readonly TraceMessage[], input: RubricInput): number {
  const text = chosenText(history, {
    reasoning: input.rubric_use_reasoning_content,
    content: input.rubric_use_content,
  });
  return isChunkData(input.dataset_name)
    ? usefulChunksScore(input.rubrics.map(Number), text)
    : entityShare(input.rubrics.map(String), text);
}

function sampleReward(history: readonly TraceMessage[], info: RewardInfo, judged: number) {
  const eta = info.rubric_reward_ratio;
  const needed = neededParts(eta);
  const outcome = needed.outcome ? judged : 0;
  const rubric = needed.rubric ? rubricScore(history, info) : 0;
  const variant = isChunkData(info.dataset_name) ? 'chunks' : 'plain';
  return {
    outcome_reward: outcome,
    rubric_reward: rubric,
    reward: longTraceReward({ outcome, rubric }, variant, eta),
  };
}

function variantOf(input: Inputs['generate_and_rm_group']): LongTraceVariant {
  if (isChunkData(input.dataset_name)) return 'chunks';
  if (input.rubric_only_negative) return 'negative_only';
  return input.rubric_only_positive ? 'positive_only' : 'plain';
}

/** Our functions, put together as the reference's function of that name is. */
const OURS: { readonly [F in keyof Inputs]: (input: Inputs[F]) => unknown } = {
  normalize_string: ({ text }) => normalise(text),
  get_rubric_reward: (input) => rubricScore(input.history, input),
  get_reward: ({ history, extra_info, outcome }) => sampleReward(history, extra_info, outcome),
  get_aa_lcr_reward: ({ response, judge_replies }) => referenceOutcome(response, judge_replies),
  evaluate: ({ request, outcome }) => {
    const read = readEvaluateRequest(request);
    switch (read.status) {
      case 'error':
        return { error: read.http_status };
      case 'no_final_turn':
        return { outcome_reward: 0, rubric_reward: 0, reward: 0 };
      case 'ready': {
        const { response, history } = read;
        return { response, history, ...sampleReward(history, request.extra_reward_info, outcome) };
      }
    }
  },
  generate_and_rm_group: (input) =>
    longTraceGroupRewards(
      input.outcome_rewards.map((outcome, n) => ({ outcome, rubric: input.rubric_rewards[n] ?? Number.NaN })),
      { variant: variantOf(input), eta: input.rubric_reward_ratio, normalise: input.normalize },
    ),
};

function ours({ fn, input }: GoldenRow): unknown {
  const run = new Map<string, (input: never) => unknown>(Object.entries(OURS)).get(fn);
  if (run === undefined) throw new Error(`no function ${fn}`);
  return run(input as never);
}

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

const ROWS = goldenRows('longtrace.jsonl');

it('has all rows', () => {
  expect(ROWS).toHaveLength(92);
});

it.each(ROWS.map((row) => [row.id, row] as const))('%s', (_id, row) => {
  const actual = ours(row);
  if (!agrees(actual, row.output)) expect(actual, row.note).toEqual(row.output);
});

describe('beyond the rows', () => {
  it('normalises every character as lower case and a split at everything else would', () => {
    const differing: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const text = `a${String.fromCodePoint(code)}Z`;
      const expected = (text.toLowerCase().match(/[a-z0-9_]+|[\u4e00-\u9fff]/gu) ?? []).join(' ');
      if (normalise(text) !== expected) differing.push(code.toString(16));
    }
    expect(differing).toEqual([]);
  });

  it('finds what a substring search for each entity would find', () => {
    const text = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', ' ', '北'), maxLength });
    fc.assert(
      fc.property(text(60), fc.array(text(6), { maxLength: 8 }), (haystack, needles) => {
        expect(heldBy(haystack, needles)).toEqual(needles.map((needle) => haystack.includes(needle)));
      }),
      { numRuns: 500 },
    );
  });

  it('finds entities in linear time', () => {
    // One substring search for each took 20 seconds, past the time limit of a test.
    const entities = Array.from({ length: 60 }, (_, n) => `${'a '.repeat(1000 + n)}b ${'a '.repeat(1000)}`);
    expect(entityShare([...entities, 'a'], 'a '.repeat(500_000))).toBeCloseTo(1 / 61, 12);
  });

  it('pays a partly right answer by its outcome alone where only wrong ones earn entities', () => {
    expect(longTraceReward({ outcome: 0.2, rubric: 1 }, 'negative_only', 0.3)).toBe(0.2);
  });

  it('refuses a request without label, reward info or turns as the server does', () => {
    const info = { question: 'q' };
    const requests: [EvaluateRequest, string][] = [
      [{ extra_reward_info: info, response: 'x' }, 'label_missing'],
      [{ label: 'x', response: 'x' }, 'extra_reward_info_missing'],
      [{ label: 'x', extra_reward_info: info }, 'history_and_response_missing'],
      [{ label: 'x', extra_reward_info: info, history: [] }, 'history_empty'],
    ];
    for (const [request, reason] of requests) {
      expect(readEvaluateRequest(request)).toEqual({ status: 'error', http_status: 500, reason });
    }
  });

  it('judges what follows the last </think>, and nothing where nothing follows', () => {
    expect(finalAnswer('<think>a</think> b </think> c ')).toBe('c');
    expect(finalAnswer(' no thinking ')).toBe(' no thinking ');
    expect(finalAnswer('<think>a</think>\u001c\n')).toBeNull();
  });

  it('never makes a reward of a non-finite number', () => {
    expect(() => longTraceReward({ outcome: Number.NaN, rubric: 0 }, 'positive_only', 0.3)).toThrow(RangeError);
    const infinite = { outcome: 1, rubric: Number.POSITIVE_INFINITY };
    expect(() => longTraceGroupRewards([infinite], { variant: 'plain', eta: 0.3, normalise: true })).toThrow(
      RangeError,
    );
  });

  it('does not guess what the server paid where recorded replies are missing', () => {
    expect(() => referenceOutcome('an answer', ['', 'unclear'])).toThrow(RangeError);
  });

  it('reads a chunk id of any length exactly', () => {
    const block = (id: string) => `<useful_chunks><CHUNK_${id}></useful_chunks>`;
    expect(usefulChunksScore([9007199254740992], block('9007199254740993'))).toBe(0);
    expect(usefulChunksScore([0], block('000'))).toBe(1);
  });
});
