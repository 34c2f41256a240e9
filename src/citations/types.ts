/** What the citation parser finds in a response and its sources. Offsets are UTF-16 code units into the caller's string. */

import type { Span } from '../text/span.ts';

export const FINDING_REASONS = [
  'no_answer',
  'several_answers',
  'answer_unclosed',
  'text_outside_answer',
  'citation_unclosed',
  'citation_nested',
  'citation_stray_close',
  'citation_empty_claim',
  'citation_no_id',
  'citation_id_malformed',
  'citation_id_unknown',
  'citation_id_repeated',
  'citation_outside_answer',
  'source_duplicate_id',
  'source_empty',
  'ids_shotgun',
  'claim_covers_answer',
  'claim_verbatim',
  'number_not_in_source',
  'name_not_in_source',
  'markup_only',
  'judge_injection_suspected',
] as const;

/** Why something was reported (REWARDS.md section 2). Findings change a reward only where a recipe says so. */
export type FindingReason = (typeof FINDING_REASONS)[number];

/** How often each reason was found; reasons that were not found are absent. */
export type FindingCounts = Readonly<Partial<Record<FindingReason, number>>>;

/** One thing worth reporting, at a place in one of the caller's strings. */
export type Finding = {
  readonly reason: FindingReason;
  /** Which string `span` points into. `sources` = the text of `sources[source]`. */
  readonly in: 'response' | 'tool_output' | 'sources';
  readonly span: Span;
  /** Position of the claim concerned, where there is one. */
  readonly claim?: number;
  /** Position of the source concerned, where there is one. */
  readonly source?: number;
};

/** One piece of tool output that an answer may cite: what the policy saw under an id, after its own truncation. */
export type Source = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
  /** Where the text stands in `tool_output`; `null` for sources passed one by one. A repeated id keeps its first place. */
  readonly span: Span | null;
};

/** The sources of a rollout, in reading order, each id once. */
export type SourceSet = {
  /** The tool output that the spans point into; `null` for sources passed one by one. */
  readonly toolOutput: string | null;
  readonly list: readonly Source[];
  /** Id to position in `list`. */
  readonly byId: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
  readonly counts: FindingCounts;
};

/** One id inside a citation. */
export type CitedId = {
  readonly id: string;
  readonly span: Span;
  /** Position in the source set; `null` if no source has this id: an invented citation. */
  readonly source: number | null;
};

/** A cited claim inside the judged answer. */
export type Claim = {
  /** Position among the claims, in order of their opening tags. */
  readonly index: number;
  /** The claim without citation markup, edges trimmed. Equals the response at `span` unless a citation is nested in it. */
  readonly text: string;
  readonly span: Span;
  /** The whole element, tags included. For a marker grammar: claim and markers. */
  readonly element: Span;
  /** Distinct ids in the order written. */
  readonly ids: readonly CitedId[];
  /** An earlier claim with equal normalised text and the same ids: this one counts in no metric. */
  readonly duplicate_of: number | null;
};

/** What is left of one sentence outside claims, with at least four content tokens. */
export type UncitedStatement = {
  readonly index: number;
  /** The pieces joined by one space, edges trimmed. */
  readonly text: string;
  /** The pieces in the response, in order; a claim in mid-sentence splits a statement in two. */
  readonly pieces: readonly Span[];
};

/** The parsed response. `claims` and `statements` are those of the judged answer; empty when there is none. */
export type ParsedResponse = {
  /** Content of the judged answer block, or `null` = no answer (absent, unclosed, or without a letter or digit). */
  readonly answer: Span | null;
  readonly claims: readonly Claim[];
  readonly statements: readonly UncitedStatement[];
  /** Listed one by one up to MAX_FINDINGS. */
  readonly findings: readonly Finding[];
  /** All of them. */
  readonly counts: FindingCounts;
  /** Text outside the judged answer block: what `answer_only` forbids. At most two spans, edges trimmed. */
  readonly outside: readonly Span[];
  /** The format bonus of REWARDS.md section 2 for either mode; 1 = well formed. */
  readonly format: { readonly answer_only: 0 | 1; readonly full: 0 | 1 };
  /** Closed answer blocks outside `<think>`. */
  readonly answers: number;
};
