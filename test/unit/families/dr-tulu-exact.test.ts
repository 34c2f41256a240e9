/**
 * The exact mode against rlresearch/dr-tulu, row by row and without exceptions: defects are part of what it reproduces.
 */
import { describe, expect, it } from 'vitest';
import {
  type CitationPlan,
  citationScore,
  idScore,
  planCitations,
} from '../../../src/families/dr-tulu/exact/citation-score.ts';
import { extractClaims } from '../../../src/families/dr-tulu/exact/claims.ts';
import {
  exactReward,
  formatReward,
  planExact,
  recordedAnswers,
} from '../../../src/families/dr-tulu/exact/final-reward.ts';
import { callFormOf, countQueries, extractQueries } from '../../../src/families/dr-tulu/exact/queries.ts';
import {
  type CitationPrompt,
  promptsFor,
  type RecordedReply,
  readClaimAnswer,
  readCriterionScore,
} from '../../../src/families/dr-tulu/exact/replies.ts';
import { rubricCriteria, rubricKey, rubricScore } from '../../../src/families/dr-tulu/exact/rubric-score.ts';
import { extractSources, extractTranscript } from '../../../src/families/dr-tulu/exact/transcript.ts';
import { searchTurnsTerm } from '../../../src/families/dr-tulu/terms/reward-terms.ts';
import { type GoldenRow, goldenRows } from '../golden.ts';
import {
  agrees,
  type CitationReply,
  type CriterionReply,
  type GroundTruth,
  paymentOf,
  rubricSetOf,
  text,
  textOrNull,
  variantOf,
} from './dr-tulu-rows.ts';

function citationReplies(replies: readonly CitationReply[]) {
  return (prompt: CitationPrompt, claim: string): RecordedReply => {
    const found = replies.find((reply) => reply.kind === prompt && reply.claim === claim);
    if (found === undefined) throw new Error(`no reply recorded: ${prompt} of ${claim}`);
    return found.reply;
  };
}

function criterionReplies(replies: readonly CriterionReply[]) {
  return (criterion: string): RecordedReply => {
    const found = replies.find((reply) => reply.criterion === criterion);
    if (found === undefined) throw new Error(`no reply recorded: ${criterion}`);
    return found.reply;
  };
}

/** The calls that the plan's questions make, in the order of the reference. */
function callsOf(plan: CitationPlan) {
  return plan.questions.flatMap((question) => promptsFor(question).map((kind) => ({ kind, claim: question.claim })));
}

function recordedCalls(replies: readonly CitationReply[]) {
  return replies.map(({ kind, claim }) => ({ kind, claim }));
}

function withForm(parserName: unknown, use: (form: ReturnType<typeof callFormOf>) => unknown): unknown {
  let form: ReturnType<typeof callFormOf>;
  try {
    form = callFormOf(textOrNull(parserName));
  } catch (error) {
    if (error instanceof RangeError) return { error: 'ValueError' };
    throw error;
  }
  return use(form);
}

function exact({ fn, input }: GoldenRow): unknown {
  const scope = input['use_full_response_as_answer'] === true ? 'whole_response' : 'block';
  switch (fn) {
    case 'extract_answer_context_citations': {
      const response = text(input['response']);
      const { context, answer, sources } = extractTranscript(response, scope);
      return { context, answer, citations: sources === null ? null : Object.fromEntries(sources) };
    }
    case 'extract_citations_from_context':
      return Object.fromEntries(extractSources(text(input['context'])));
    case 'extract_search_tool_calls':
      return withForm(input['mcp_parser_name'], (form) => extractQueries(text(input['context']), form));
    case 'compute_format_reward':
      return withForm(input['mcp_parser_name'], (form) => formatReward(text(input['response']), form, scope));
    case 'score_num_in_context_search_turns':
      return withForm(input['mcp_parser_name'], (form) => {
        const count = countQueries(textOrNull(input['context']), form);
        return [searchTurnsTerm(count, Number(input['upper_bound'])), count];
      });
    case 'extract_claims_and_corresponding_citation_ids':
      return Object.fromEntries(
        extractClaims(text(input['response']), {
          atLineBreaks: input['split_non_cited_parts_by_newlines'] === true,
          atSentenceEnds: input['split_non_cited_parts_by_sentences'] === true,
        }),
      );
    case 'score_citation_format':
      return idScore(
        new Map(Object.entries(input['claims'] as Record<string, string[]>)),
        new Map(Object.entries(input['citations'] as Record<string, string>)),
      );
    case 'score_in_context_citations': {
      const recorded = input['judge'] as CitationReply[];
      const sources = new Map(Object.entries(input['citations'] as Record<string, string>));
      const plan = planCitations(text(input['response']), sources);
      expect(callsOf(plan)).toEqual(recordedCalls(recorded));
      const replyTo = citationReplies(recorded);
      return citationScore(
        plan,
        plan.questions.map((question) => readClaimAnswer(question, (prompt) => replyTo(prompt, question.claim))),
      );
    }
    case 'create_rubric_key':
      return rubricKey(text(input['question']), input['rubric'] as GroundTruth['rubrics'][number]);
    case '_compute_rubric_scores_and_reward': {
      const criteria = rubricCriteria(rubricSetOf(input), variantOf(input));
      const replyTo = criterionReplies(input['judge'] as CriterionReply[]);
      return rubricScore(
        criteria,
        criteria.map(({ criterion }) => readCriterionScore(replyTo(criterion))),
      );
    }
    case 'compute_weighted_rubric_reward_with_citation_and_format_reward':
      return withForm(input['mcp_parser_name'], (form) => {
        const recorded = input['citation_judge'] as CitationReply[];
        const plan = planExact({
          response: text(input['response']),
          rubrics: rubricSetOf(input),
          variant: variantOf(input),
          form,
          citations: paymentOf(input).shares.citation > 0,
        });
        expect(callsOf(plan.citations)).toEqual(recordedCalls(recorded));
        const criterion = criterionReplies(input['rubric_judge'] as CriterionReply[]);
        const answers = recordedAnswers(plan, { criterion, claim: citationReplies(recorded) });
        return exactReward(plan, answers, paymentOf(input));
      });
    default:
      throw new Error(`no function ${fn}`);
  }
}

describe.each([
  ['dr-tulu-format.jsonl', 82],
  ['dr-tulu-citations.jsonl', 70],
  ['dr-tulu-rubrics.jsonl', 43],
] as const)('%s', (file, count) => {
  const rows = goldenRows(file);

  it.each(rows.map((row) => [row.id, row] as const))('%s', (_id, row) => {
    const actual = exact(row);
    if (!agrees(actual, row.output)) expect(actual, row.note).toEqual(row.output);
  });

  it('has all its rows', () => expect(rows).toHaveLength(count));
});

describe('answers of a platform, which may be missing', () => {
  const plan = planExact({
    response: '<search>q</search><snippet id=S1>text</snippet><answer>Well. <cite id=S1>A claim.</cite></answer>',
    rubrics: { query: 'q', rubrics: [{ description: 'd', weight: 1 }] },
    variant: 'rubrics',
    form: 'search',
    citations: true,
  });
  const answers = {
    criteria: [2],
    claims: plan.citations.questions.map(({ kind }) =>
      kind === 'cited'
        ? ({ kind: 'cited', support: 1, relevance: 1 } as const)
        : ({ kind: 'uncited', needsCitation: 0 } as const),
    ),
  };

  it('makes a number of whole answers', () => {
    expect(exactReward(plan, answers)?.reward).toBeCloseTo(0.5 + 0.2 + 0.2 + 0.1 / 3, 12);
  });

  it('makes none where a judge failed', () => {
    expect(exactReward(plan, { ...answers, criteria: [null] })).toBeNull();
    expect(exactReward(plan, { ...answers, claims: answers.claims.map(() => null) })).toBeNull();
  });

  it('refuses answers to other questions', () => {
    expect(() => exactReward(plan, { ...answers, criteria: [] })).toThrow(RangeError);
    expect(() => exactReward(plan, { ...answers, criteria: [Number.NaN] })).toThrow(RangeError);
    expect(() => exactReward(plan, { ...answers, claims: [] })).toThrow(RangeError);
    expect(() => exactReward(plan, { ...answers, claims: [...answers.claims].reverse() })).toThrow(RangeError);
  });
});

describe('a citation has one blank before id=, and none after it', () => {
  it.each(['<cite  id="S1">', '<cite\nid="S1">', '<cite\u00a0id="S1">', '<cite id= "S1">', '<cite id=" S1">'])(
    '%j begins none',
    (tag) => {
      const response = `${tag}A claim.</cite>`;
      expect([...extractClaims(response)]).toEqual([[response, []]]);
      expect(formatReward(response, 'search')).toBe(0);
    },
  );
});

describe('scores of a rubric reply that no row has', () => {
  it.each([
    ['{"score": " 1_0.5e-1\\u3000"}', 1.05],
    ['{"score": ".5"}', 0.5],
    ['{"score": "2."}', 2],
    ['{"score": "0x2"}', 0],
    ['{"score": ""}', 0],
    ['{"score": "1__0"}', 0],
    ['{"score": "+-1"}', 0],
    ['{"score": [2]}', 0],
    ['{"score": {"score": 2}}', 0],
    ['{"score": "inf"}', 0],
    ['{"score": 1e400}', 0],
    ['{"score": NaN}', 0],
    ['{"score": 2} } {', 2],
    ['}{', 0],
    [null, 0],
  ])('%s', (reply, score) => expect(readCriterionScore(reply)).toBe(score));
});
