/**
 * Asks a labelled question in other ways that must not change its verdict: with other criteria in the same call, with a
 * padded answer, with the sources in reversed order.
 */
import type { JudgmentRequest } from '../judgments/kinds/registry.ts';
import type { RubricRequest } from '../judgments/kinds/rubric/rubric.ts';
import { STATIC_V3 } from '../judgments/kinds/rubric/static-criteria.ts';
import type { LabelQuestion } from './labelled-row.ts';

/**
 * The ways of asking. `alone`: the criterion in a call of its own (`judging: "per_criterion"`). `first_of_four`: before
 * the three static criteria, as a deployment with `judging: "joint"` asks. `last_of_four`: behind them. The difference
 * between the first two is the halo effect, between the last two the order effect. `first_of_batch`: before as many
 * static criteria as fill a call of `judging: "batched"`.
 */
export const WAYS = [
  'alone',
  'first_of_batch',
  'first_of_four',
  'last_of_four',
  'padded_answer',
  'sources_reversed',
] as const;
export type Way = (typeof WAYS)[number];

/** A question asked in one way; `position`: index of the row's criterion in the request. */
export type WayOfAsking = { readonly way: Way; readonly request: JudgmentRequest; readonly position: number };

/**
 * The way that is measured, and the others that apply to the row.
 * @param request the row's question alone (label-request.ts).
 * @param judging how the measured judge is asked about criteria. `batch`: criteria in a call of `batched`, 2 to 4, 2 if
 *   `null`.
 */
export function waysOfAsking(
  row: LabelQuestion,
  request: JudgmentRequest,
  { judging, batch }: { readonly judging: 'per_criterion' | 'joint' | 'batched'; readonly batch: number | null },
): { readonly measured: WayOfAsking; readonly others: readonly WayOfAsking[] } {
  const alone: WayOfAsking = { way: 'alone', request, position: 0 };
  if (request.kind !== 'rubric') return { measured: alone, others: sourcesReversed(alone) };
  const first: WayOfAsking = {
    way: 'first_of_four',
    request: { ...request, criteria: [...request.criteria, ...STATIC_CRITERIA] },
    position: 0,
  };
  const last: WayOfAsking = {
    way: 'last_of_four',
    request: { ...request, criteria: [...STATIC_CRITERIA, ...request.criteria] },
    position: STATIC_CRITERIA.length,
  };
  const inBatch: WayOfAsking = {
    way: 'first_of_batch',
    request: { ...request, criteria: [...request.criteria, ...STATIC_CRITERIA.slice(0, (batch ?? 2) - 1)] },
    position: 0,
  };
  const measured = { per_criterion: alone, joint: first, batched: inBatch }[judging];
  const others = [alone, first, last].filter((way) => way !== measured);
  return { measured, others: [...others, ...padded(measured, row), ...sourcesReversed(measured)] };
}

const STATIC_CRITERIA: RubricRequest['criteria'] = STATIC_V3.map(({ title, description }) => ({ title, description }));

/** Rows whose criterion is about padding: more padding rightly changes their verdict. */
const PADDING_EDIT = 'padding';

/** Sentences that state nothing. */
const PADDING = [
  'There are several sides to this, and each of them deserves attention in its own right.',
  'Taken together, these points give a good overview of the matter and help to see it in a wider context.',
  'It is always worthwhile to look at such a question with care and from more than one angle.',
  'In conclusion, the aspects above show how much there is to say here, and how they all belong together.',
].join(' ');

function padded({ request, position }: WayOfAsking, { edits }: LabelQuestion): WayOfAsking[] {
  if (request.kind !== 'rubric' || edits.includes(PADDING_EDIT)) return [];
  return [{ way: 'padded_answer', request: { ...request, answer: `${request.answer}\n\n${PADDING}` }, position }];
}

/** Empty if the request has fewer than two sources. */
function sourcesReversed({ request, position }: WayOfAsking): WayOfAsking[] {
  if ((request.kind !== 'rubric' && request.kind !== 'citations') || request.sources.length < 2) return [];
  const sources = request.sources.toReversed();
  if (request.kind === 'rubric') return [{ way: 'sources_reversed', request: { ...request, sources }, position }];
  const last = sources.length - 1;
  const claims = request.claims.map((claim) => ({ ...claim, sources: claim.sources.map((at) => last - at) }));
  return [{ way: 'sources_reversed', request: { ...request, sources, claims }, position }];
}
