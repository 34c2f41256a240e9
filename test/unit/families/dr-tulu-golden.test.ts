/**
 * The corrected parser against rlresearch/dr-tulu, row by row. A row in DIFFERS must differ, each with its reason; any
 * other difference fails.
 */
import { describe, expect, it } from 'vitest';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import { rubricCriteria, rubricKey } from '../../../src/families/dr-tulu/exact/rubric-score.ts';
import { finalReward, responseFacts } from '../../../src/families/dr-tulu/terms/final-reward.ts';
import {
  type CitationJudge,
  citationTerm,
  formatTerm,
  rubricTerm,
  searchTurnsTerm,
  validIdRatio,
} from '../../../src/families/dr-tulu/terms/reward-terms.ts';
import {
  type CallForm,
  readCitedClaims,
  readQueries,
  readTranscript,
} from '../../../src/families/dr-tulu/terms/transcript.ts';
import type { CriterionScore } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { splitSentences } from '../../../src/text/sentences.ts';
import { type GoldenRow, goldenRows } from '../golden.ts';
import {
  agrees,
  type CitationReply,
  type CriterionReply,
  paymentOf,
  rubricSetOf,
  text,
  variantOf,
} from './dr-tulu-rows.ts';

const DIFFERS: Readonly<Record<string, string>> = {
  'dtf-s012': 'an element is found in any case',
  'dtf-s013': 'an element is found in any case',
  'dtf-s041': 'an element is found in any case',
  'dtf-s052': 'an element is found in any case',
  'dtc-s020': 'an element is found in any case',
  'dtf-s020': 'a tag mentioned while thinking opens no answer',
  'dtf-s021': 'a tag mentioned while thinking opens no answer',
  'dtf-s022': 'a byte-order mark at the edge is white space (ECMAScript), as is every other space there',
  'dtf-s032': 'a repeated id keeps all its texts, as the policy saw them all',
  'dtf-s033': 'a repeated id keeps all its texts, as the policy saw them all',
  'dtf-s034': 'a > inside quotes does not end a tag',
  'dtf-s035': 'id may be any attribute of the tag',
  'dtf-s036': 'an unclosed source ends where the next one opens',
  'dtf-s037': 'an unclosed source ends where the next one opens',
  'dtf-s038': 'nested sources are both sources, and no markup is left in the outer text',
  'dtf-s039': 'ids with inner spaces, mismatched quotes or spaces around = are read',
  'dtf-s040': 'ids with inner spaces, mismatched quotes or spaces around = are read',
  'dtf-s042': '<snippe> is no source element',
  'dtf-s046': 'a self-closing source is empty',
  'dtf-s047': '</snippets> closes <snippet> and the other way round',
  'dtf-s053': 'a call opened inside a call starts anew, and an unclosed one is no call',
  'dtf-s057': 'a call opened inside a call starts anew, and an unclosed one is no call',
  'dtf-s061': 'each call may close either way',
  'dtf-s069': 'a claim may hold <',
  'dtf-s070': 'a claim may hold <',
  'dtc-s014': 'a claim may hold <',
  'dtc-s015': 'a claim may hold <',
  'dtf-s072': 'the attribute may be called ids',
  'dtc-s019': 'the attribute may be called ids',
  'dtc-s006': 'all ids of a citation are kept',
  'dtc-s007': 'all ids of a citation are kept',
  'dtc-s008': 'all ids of a citation are kept',
  'dtc-s009': 'all ids of a citation are kept',
  'dtc-s010': 'ids may have spaces after the comma',
  'dtc-s011': 'ids may have spaces after the comma',
  'dtc-s012': 'ids may have spaces after the comma',
  'dtc-s013': 'a trailing comma adds no id',
  'dtc-s016': 'equal claims under different ids are two claims',
  'dtc-s017': 'equal claims under different ids are two claims',
  'dtc-s018': 'text that stands both cited and uncited is reported as both',
  'dtc-s021': 'an empty citation is an empty claim',
  'dtc-s022': 'nested citations are both claims, and no markup is left in the text',
  'dtc-s023': 'an unclosed citation leaves its text without the stray tag',
  'dtc-s024': 'mismatched quotes do not lose the claim',
  'dtc-s026': 'punctuation alone is no statement',
  'dtc-s068': 'punctuation alone is no statement',
  'dtc-s029': 'decimals stay whole, and sentences keep their closing mark',
  'dtc-s030': 'decimals stay whole, and sentences keep their closing mark',
  'dtc-s033': 'typographic quotes around an id are quotes',
  'dtc-s051': 'an invented id supports nothing',
  'dtc-s056': 'the claim with all its ids needs verdicts that the reference never asked for',
  'dtc-s057': 'the claim with all its ids needs verdicts that the reference never asked for',
  'dtc-s058': 'the claim with all its ids needs verdicts that the reference never asked for',
  'dtc-s059': 'the claim with all its ids needs verdicts that the reference never asked for',
  'dtc-s060': 'the claim with all its ids needs verdicts that the reference never asked for',
  'dtc-s061': 'both claims of equal text are judged',
  'dtc-s062': 'the first bracketed rating of a reply counts',
  'dtc-s063': 'a reply without a known rating is a judge failure, and a failure is never a number',
  'dtc-s064': 'a reply without a known rating is a judge failure, and a failure is never a number',
  'dtc-s065': 'a reply without a known rating is a judge failure, and a failure is never a number',
  'dtc-s066': 'a reply without a known rating is a judge failure, and a failure is never a number',
  'dtc-s069': 'a reply without a known rating is a judge failure, and a failure is never a number',
  'dtc-s067': 'only the answer is scored',
  'dtr-s018': 'a score outside the scale is a judge failure, and a failure is never a number',
  'dtr-s019': 'a score that is not 0, 1 or 2 as a number is a judge failure, and a failure is never a number',
  'dtr-s020': 'a reply without a score is a judge failure, and a failure is never a number',
  'dtr-s021': 'a reply that is more than one object is a judge failure, and a failure is never a number',
  'dtr-s022': 'a reply that is more than one object is a judge failure, and a failure is never a number',
  'dtr-s023': 'a reply that is no object is a judge failure, and a failure is never a number',
  'dtr-s033': 'one rating of 1 to 10 for the whole answer is no criterion score',
  'dtr-s036': 'only the answer is scored',
  'dtr-s038': 'search turns are paid without an answer too',
  'dtr-s039': 'search turns are paid without an answer too',
};

function callForm(name: unknown): CallForm | null {
  if (name === null || name === undefined) return 'search';
  return name === 'unified' || name === 'v20250824' ? name : null;
}

/** `[[Fully supported]]` and its like: the first bracketed word of a reply, or `null` where it is none of the words. */
function rating(reply: string | null | undefined, words: Readonly<Record<string, number>>): number | null {
  if (reply === null || reply === undefined) return null;
  const from = reply.indexOf('[[');
  const to = reply.indexOf(']]', from);
  if (from === -1 || to === -1) return null;
  return (
    words[
      reply
        .slice(from + 2, to)
        .trim()
        .toLowerCase()
    ] ?? null
  );
}

function judgeOf(replies: readonly CitationReply[]): CitationJudge {
  const find = (kind: string, claim: string) =>
    replies.find((reply) => reply.kind === kind && reply.claim === claim)?.reply;
  return {
    support: (claim) =>
      rating(find('recall', claim.text), { 'fully supported': 1, 'partially supported': 0.5, 'no support': 0 }),
    relevance: (claim) => rating(find('precision', claim.text), { relevant: 1, unrelevant: 0 }),
    needsCitation: (uncited) => {
      const needs = rating(find('needs_citation', uncited), { yes: 1, no: 0 });
      return needs === null ? null : needs === 1;
    },
  };
}

function uncitedParts(parts: readonly string[], input: Readonly<Record<string, unknown>>): readonly string[] {
  let split = parts;
  if (input['split_non_cited_parts_by_newlines'] === true) split = split.flatMap((part) => part.split(/\r?\n/u));
  if (input['split_non_cited_parts_by_sentences'] === true) {
    split = split.flatMap((part) => splitSentences(part).map(({ start, end }) => part.slice(start, end)));
  }
  return split.map((part) => part.trim()).filter((part) => part !== '');
}

/** A reply that is one object, alone or in a Markdown fence, with 0, 1 or 2 as its score. */
function criterionScore(reply: string | null | undefined): CriterionScore | null {
  let body = (reply ?? '').trim();
  if (body.startsWith('```json') && body.endsWith('```')) body = body.slice('```json'.length, -'```'.length).trim();
  if (!body.startsWith('{')) return null;
  try {
    const { score }: { score?: unknown } = JSON.parse(body);
    return score === 0 || score === 1 || score === 2 ? score : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function rubricTermOf(input: GoldenRow['input'], replies: readonly CriterionReply[]): number | null {
  const criteria = rubricCriteria(rubricSetOf(input), variantOf(input));
  return rubricTerm(
    criteria.map(({ criterion, weight }) => ({
      weight,
      score: criterionScore(replies.find((reply) => reply.criterion === criterion)?.reply),
    })),
  );
}

/** The part of the reference's answer that we have too: the totals by rubric type and by key are its logs. */
function comparable({ fn, output }: GoldenRow): unknown {
  switch (fn) {
    case '_compute_rubric_scores_and_reward':
      return (output as { overall: number }).overall;
    case 'compute_weighted_rubric_reward_with_citation_and_format_reward': {
      const { reward, log_values: log } = output as { reward: number; log_values: Record<string, unknown> };
      return {
        reward,
        hasAnswer: log['format_correct_has_answer'] === 1,
        terms: {
          rubric: log['rubric_reward'],
          citation: log['citation_reward'],
          format: log['format_reward'],
          searchTurns: log['num_search_turns_reward'],
        },
      };
    }
    default:
      return output;
  }
}

/** Our answer in the shape of `comparable`. */
function ours({ fn, input }: GoldenRow): unknown {
  switch (fn) {
    case 'extract_answer_context_citations': {
      const response = text(input['response']);
      if (input['use_full_response_as_answer'] === true) return { context: null, answer: response, citations: null };
      const { context, answer, sources } = readTranscript(response);
      const citations = sources === null ? null : Object.fromEntries(sources.list.map(({ id, text }) => [id, text]));
      return { context, answer, citations };
    }
    case 'extract_citations_from_context':
      return Object.fromEntries(parseSources(text(input['context'])).list.map(({ id, text }) => [id, text]));
    case 'extract_search_tool_calls': {
      const form = callForm(input['mcp_parser_name']);
      return form === null ? { error: 'ValueError' } : readQueries(text(input['context']), form);
    }
    case 'compute_format_reward': {
      if (input['use_full_response_as_answer'] === true) return 1;
      const form = callForm(input['mcp_parser_name']);
      return form === null ? { error: 'ValueError' } : formatTerm(text(input['response']), form);
    }
    case 'score_num_in_context_search_turns': {
      const form = callForm(input['mcp_parser_name']);
      if (form === null) return { error: 'ValueError' };
      const queries = input['context'] === null ? 0 : readQueries(text(input['context']), form).length;
      return [searchTurnsTerm(queries, Number(input['upper_bound'])), queries];
    }
    case 'extract_claims_and_corresponding_citation_ids': {
      const { claims, uncited } = readCitedClaims(text(input['response']), sourcesFromList([]));
      const pairs = [
        ...uncitedParts(
          uncited.map((part) => part.text),
          input,
        ).map((part) => [part, []] as const),
        ...claims.map((claim) => [claim.text, claim.ids.map(({ id }) => id)] as const),
      ];
      return new Set(pairs.map(([part]) => part)).size === pairs.length ? Object.fromEntries(pairs) : pairs;
    }
    case 'score_citation_format': {
      const cited = Object.values(input['claims'] as Record<string, string[]>).flat();
      return validIdRatio(cited, new Set(Object.keys(input['citations'] as Record<string, string>)));
    }
    case 'score_in_context_citations': {
      const citations = Object.entries(input['citations'] as Record<string, string>);
      const sources = sourcesFromList(citations.map(([id, source]) => ({ id, text: source })));
      return citationTerm(text(input['response']), sources, judgeOf(input['judge'] as CitationReply[]));
    }
    case 'create_rubric_key':
      return rubricKey(text(input['question']), input['rubric'] as Parameters<typeof rubricKey>[1]);
    case '_compute_rubric_scores_and_reward':
      return rubricTermOf(input, input['judge'] as CriterionReply[]);
    case 'compute_weighted_rubric_reward_with_citation_and_format_reward': {
      const form = callForm(input['mcp_parser_name']);
      if (form === null) return { error: 'ValueError' };
      const response = text(input['response']);
      const facts = responseFacts(response, form);
      const { sources } = readTranscript(response);
      const payment = paymentOf(input);
      const citation =
        sources === null || payment.shares.citation === 0
          ? 0
          : citationTerm(response, sources, judgeOf(input['citation_judge'] as CitationReply[]));
      const rubric = rubricTermOf(input, input['rubric_judge'] as CriterionReply[]);
      return { ...finalReward(facts, { rubric, citation }, payment), hasAnswer: facts.hasAnswer };
    }
    default:
      throw new Error(`no function ${fn}`);
  }
}

const FILES = ['dr-tulu-format.jsonl', 'dr-tulu-citations.jsonl', 'dr-tulu-rubrics.jsonl'] as const;

describe.each(FILES)('%s', (file) => {
  it.each(goldenRows(file).map((row) => [row.id, row] as const))('%s', (id, row) => {
    const actual = ours(row);
    const expected = comparable(row);
    const reason = DIFFERS[id];
    if (reason === undefined) {
      if (!agrees(actual, expected)) expect(actual, row.note).toEqual(expected);
    } else {
      expect(agrees(actual, expected), `${id} is listed as differing (${reason}) but agrees`).toBe(false);
    }
  });
});

it('lists only rows that exist', () => {
  const ids = new Set(FILES.flatMap((file) => goldenRows(file)).map((row) => row.id));
  expect(Object.keys(DIFFERS).filter((id) => !ids.has(id))).toEqual([]);
});
