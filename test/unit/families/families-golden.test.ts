/**
 * Runs the golden rows of the public implementations through the whole scoring pipeline: recipe, plan, judgments,
 * facts, compose. The rows' recorded judge replies answer our judgment requests.
 */

import { describe, expect, it } from 'vitest';
import { composeGroup } from '../../../src/families/composers.ts';
import { LONG_TRACE_RECIPES } from '../../../src/families/long-trace/composer.ts';
import type { LongTraceFacts } from '../../../src/families/long-trace/facts.ts';
import type { LongTraceRecipe } from '../../../src/families/long-trace/recipe.ts';
import type { Support } from '../../../src/judgments/kinds/citations/citations.ts';
import type { Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { criterionKey } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { GOLDEN_TOLERANCE, type GoldenRow, goldenRows } from '../golden.ts';
import { type Answer, replyOf, scoreAlone } from '../scoring/scoring-line.ts';
import { type CitationReply, type CriterionReply, rubricSetOf, text, textOrNull } from './dr-tulu-rows.ts';

function numbers(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'number')) throw new TypeError('expected numbers');
  return value;
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new TypeError('expected an object');
  return { ...value };
}

describe('dr-tulu, exact: the final reward', () => {
  const rows = goldenRows('dr-tulu-rubrics.jsonl').filter(({ fn }) => fn.startsWith('compute_weighted'));
  it.each(rows.map((row) => [`${row.id} ${row.note}`, row] as const))('%s', async (_name, row) => {
    const { query, rubrics } = rubricSetOf(row.input);
    const form = textOrNull(row.input['mcp_parser_name']) ?? 'search';
    const shares =
      row.input['no_citation_reward'] === true
        ? { rubric_weight: 0.6, citation_weight: 0, search_turns_weight: 0.2 }
        : {};
    const scored = await scoreAlone(
      { question: query, response: text(row.input['response']), rubrics },
      { base: 'dr-tulu-exact', call_form: form, verification_reward: 1, ...shares },
      { judge: judgeOf(row) },
    );
    const reply = replyOf('dr-tulu', scored);
    expect(Math.abs((reply.reward ?? Number.NaN) - Number(record(row.output)['reward']))).toBeLessThan(
      GOLDEN_TOLERANCE,
    );
    const logged = record(record(row.output)['log_values']);
    for (const [part, name] of [
      ['rubric', 'rubric_reward'],
      ['citation', 'citation_reward'],
      ['format', 'format_reward'],
      ['search_turns', 'num_search_turns_reward'],
    ] as const) {
      if (part === 'citation' && shares.citation_weight === 0) continue;
      expect(reply.components[part].value, part).toBeCloseTo(Number(logged[name] ?? 0), 9);
    }
  });
});

const RATINGS: Readonly<Record<string, Support>> = {
  'fully supported': 1,
  'partially supported': 0.5,
  'no support': 0,
};

/** The row's recorded replies as verdicts. */
function judgeOf(row: GoldenRow): Answer {
  const criteria = row.input['rubric_judge'] as CriterionReply[];
  const claims = row.input['citation_judge'] as CitationReply[];
  const word = (kind: string, claim: string): string => {
    const reply = claims.find((one) => one.kind === kind && one.claim === claim)?.reply;
    const found = /\[\[(.*?)\]\]/.exec(reply ?? '')?.[1];
    if (found === undefined) throw new Error(`no ${kind} for ${claim}`);
    return found.toLowerCase();
  };
  return (request): Verdicts => {
    switch (request.kind) {
      case 'rubric':
        return {
          kind: 'rubric',
          criteria: request.criteria.map(({ description }, position) => {
            const reply = criteria.find(({ criterion }) => criterion === description)?.reply ?? '';
            const { score } = JSON.parse(reply) as { score: 0 | 1 | 2 };
            return { key: criterionKey(position), score };
          }),
        };
      case 'citations':
        return {
          kind: 'citations',
          claims: request.claims.map(({ claim, text: said, sources }) => ({
            claim,
            support: RATINGS[word('recall', said)] ?? 0,
            relevant: sources.map(() => word('precision', said) === 'relevant'),
            quote: 'absent',
          })),
          statements: request.statements.map(({ statement, text: said }) => ({
            statement,
            needs_citation: word('needs_citation', said) === 'yes',
          })),
        };
      default:
        throw new Error(`dr-tulu asks no ${request.kind}`);
    }
  };
}

describe('long-trace: the rewards of a group, from facts', () => {
  const rows = goldenRows('longtrace.jsonl').filter(({ fn }) => fn === 'generate_and_rm_group');
  it.each(rows.map((row) => [`${row.id} ${row.note}`, row] as const))('%s', (_name, { input, output }) => {
    const recipe: LongTraceRecipe = {
      ...LONG_TRACE_RECIPES['longtrace-rl'],
      variant: variantOf(input),
      eta: Number(input['rubric_reward_ratio']),
      normalise_in_group: input['normalize'] === true,
    };
    const shares = numbers(input['rubric_rewards']);
    const members = numbers(input['outcome_rewards']).map((observed, n): LongTraceFacts => {
      const content = shares[n] ?? Number.NaN;
      return {
        v: 1,
        family: 'long-trace',
        well_formed: true,
        finish_reason: 'stop',
        outcome: { status: 'scored', observed },
        // A share of one entity: the row gives shares that no count could make.
        entities: { total: 1, content, reasoning: 0, both: content },
        chunks: content,
      };
    });
    const rewards = composeGroup(members, recipe).map(({ reward }) => reward ?? Number.NaN);
    expect(rewards).toHaveLength(numbers(output).length);
    numbers(output).forEach((expected, n) => {
      expect(Math.abs((rewards[n] ?? Number.NaN) - expected)).toBeLessThan(GOLDEN_TOLERANCE);
    });
  });
});

/** The reference looks at the data set first, then at the one-sided switches. */
function variantOf(input: GoldenRow['input']): LongTraceRecipe['variant'] {
  if (input['dataset_name'] === 'longrlvr') return 'chunks';
  if (input['rubric_only_negative'] === true) return 'negative_only';
  return input['rubric_only_positive'] === true ? 'positive_only' : 'plain';
}

describe('tool-call: mathematics with turns and length', () => {
  const rows = goldenRows('tcr.jsonl').filter(({ fn }) => fn === 'recipe.compute_score');
  it.each(rows.map((row) => [`${row.id} ${row.note}`, row] as const))('%s', async (_name, { input, output }) => {
    const { num_turns } = record(input['extra_info']);
    // The code counts a missing num_turns as 0; a route refuses it (families.test.ts).
    const turns = Math.trunc(Number(num_turns ?? 0));
    const scored = await scoreAlone(
      {
        response: text(input['solution_str']),
        reference: text(input['ground_truth']),
        num_turns: turns,
        response_tokens: 100,
      },
      'grpo-tcr',
    );
    expect(scored.reply.reward).toBeCloseTo(Number(record(output)['score']), 9);
  });

  const overlong = goldenRows('tcr.jsonl').filter(({ fn }) => fn === 'DAPORewardManager.overlong');
  it.each(overlong.map((row) => [`${row.id} ${row.note}`, row] as const))('%s', async (_name, { input, output }) => {
    const scored = await scoreAlone(
      { response: '\\boxed{1}', reference: '1', num_turns: 2, response_tokens: Number(input['response_length']) },
      {
        base: 'grpo-tcr',
        overlong_penalty: {
          enabled: input['enable'] === true,
          max_response_tokens: Number(input['max_resp_len']),
          buffer_tokens: Number(input['buffer_len']),
          factor: Number(input['penalty_factor']),
        },
      },
    );
    const { reward, overlong_reward } = record(output);
    const own = replyOf('tool-call', scored);
    if (input['enable'] === true) expect(own.components.overlong.value).toBeCloseTo(Number(overlong_reward), 9);
    expect((own.reward ?? Number.NaN) - 1).toBeCloseTo(Number(reward) - Number(input['score']), 9);
  });
});
