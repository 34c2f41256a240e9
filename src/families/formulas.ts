/**
 * What each family composes, in lines of plain text, with the names of its recipe fields. `GET /v1/recipes` and
 * docs/recipes.md show them; the code that computes them stands in src/rewards.
 */
import type { Family } from './recipes.ts';

export const FORMULAS = {
  refiner: [
    'no answer: reward = 0, scored',
    "s'       = s for a positive criterion, 1 - s for a negative one; s = verdict (0, 1, 2) / 2",
    "rubric   = sum(weight * s') / sum(weight), static criteria times static_weight, left out if instance_rubrics_only;",
    "           with negatives_require_positive the negatives' part times the positives' mean",
    'citation = answer_f1: 2 * recall * precision / (recall + precision); claim_f1: mean F1 of the statements',
    'recall   = mean support of the statements; precision = share of the citations that are relevant',
    "rubric'  = rubric * format (0 or 1) if gate_judge_score_with_format_bonus, else rubric",
    "base     = (1 - citation_weight) * rubric' + citation_weight * citation    if mix is convex",
    "         = rubric' + citation_weight * citation                            if mix is additive",
    'reward   = verification_reward * base',
    '         = non_stop_penalty.value if enabled and finish_reason is not "stop", whatever came before',
  ],
  'long-trace': [
    'punish_ill_formed: a truncated or ill-formed response has reward = 0 and is not judged',
    'o      = 1 if the final answer is judged right, else 0',
    'u      = share of the gold entities found in the text; chunks: F-beta (beta 2) of the last <useful_chunks> block',
    '         normalise_in_group: divided by the largest u of the scored group, wrong answers included, if above 0',
    'reward = positive_only: 0 if o = 0, else (1 - eta) * o + eta * u',
    '         negative_only: o if o > 0, else eta * u',
    '         plain:         (1 - eta) * o + eta * u',
    '         chunks:        o + eta * u + (1 - eta) * o * u',
  ],
  'tool-call': [
    's       = mathematics: 1 if the last \\boxed{} is the reference (symbolic: or equal to it), else -1',
    '          code: share of the tests passed, -1 without a program that parses',
    "s'      = min(ceiling, s + (num_turns - 2) / 2 * per_round) if s < 0, else s        tool_call_credit",
    'penalty = min(-(response_tokens - (max_response_tokens - buffer_tokens)) / buffer_tokens * factor, 0)',
    '                                                                                    overlong_penalty',
    "reward  = s' + penalty",
  ],
  'dr-tulu': [
    'rubric       = sum(s * w) / max(sum of the positive w, 1), s = verdict (0, 1, 2) / 2; w may be negative, unclamped',
    'citation     = 0.6 * mean F1 of the claims + 0.4 * share of the distinct cited ids that exist',
    'format       = 0.5 if there is an answer + 0.3 if a citation + 0.2 if a tool call',
    'search_turns = min(search queries / search_turns_bound, 1)',
    'no answer: rubric = citation = 0; format is still paid, and search turns too (compat exact: lost)',
    'base         = rubric_weight * rubric + citation_weight * citation + format_weight * format',
    '               + search_turns_weight * search_turns',
    'reward       = verification_reward * base',
    '             = non_stop_penalty.value if enabled and finish_reason is not "stop", whatever came before',
  ],
} as const satisfies Record<Family, readonly string[]>;
