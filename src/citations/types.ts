/** Types of a parsed response and its sources. Offsets are UTF-16 code units of the caller's strings. */

import type { EvidenceIndex } from '../lexical/index.ts';
import type { Span } from '../text/span.ts';

/** Every reason of a finding. */
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
  'citation_missing',
  'citation_forbidden',
  'id_in_prose',
  'source_duplicate_id',
  'source_empty',
  'ids_shotgun',
  'claim_covers_answer',
  'claim_verbatim',
  'number_not_in_source',
  'name_not_in_source',
  'quotation_invented',
  'quotation_misattributed',
  'quotation_stitched',
  'quotation_altered',
  'claim_states_nothing',
  'claim_abstains',
  'claim_repeats_question',
  'claim_without_content',
  'claims_contradict',
  'markup_only',
  'judge_injection_suspected',
  'citation_url_alias',
  'answer_oversized',
] as const;

/** Why a finding was reported. A finding changes a reward only if the recipe says so. */
export type FindingReason = (typeof FINDING_REASONS)[number];

/** Number of findings of each reason, from 1; reasons without a finding are absent. */
export type FindingCounts = Readonly<Partial<Record<FindingReason, number>>>;

/** A problem or remark, at a place in one of the caller's strings. */
export type Finding = {
  readonly reason: FindingReason;
  /** The string that `span` refers to. `sources` is the text of `sources[source]`. */
  readonly in: 'response' | 'tool_output' | 'sources';
  readonly span: Span;
  /** Index of the claim concerned, if there is one. */
  readonly claim?: number;
  /** Index of the source concerned, if there is one. */
  readonly source?: number;
};

/** A text that an answer may cite: what the policy saw under an id. */
export type Source = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
  /**
   * Range of the text in the tool output; `null` for listed sources. For a repeated id, the range of its first text.
   */
  readonly span: Span | null;
};

/** The sources of a rollout, in reading order. Each id occurs once. */
export type SourceSet = {
  readonly list: readonly Source[];
  /** Maps an id to the index of its source in `list`. */
  readonly byId: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
  readonly counts: FindingCounts;
  /** Holds the index of the sources once a claim was compared with them; all samples of a group share it. */
  readonly evidence: { index: EvidenceIndex | null };
};

/** One id in a citation. */
export type CitedId = {
  readonly id: string;
  readonly span: Span;
  /** Index in the source set; `null` if no source has this id (an invented citation). */
  readonly source: number | null;
};

/** A cited claim of the judged answer. */
export type Claim = {
  /** Index among the claims of the answer, which are in the order of their opening tags. */
  readonly index: number;
  /** The claim without citation markup, trimmed. Equals the response at `span` unless a citation is nested in it. */
  readonly text: string;
  readonly span: Span;
  /** The claim with its tags or markers. */
  readonly element: Span;
  /** Distinct ids, in the order written. */
  readonly ids: readonly CitedId[];
  /** Index of an earlier claim with equal text and ids, or `null`. Metrics ignore a duplicate. */
  readonly duplicate_of: number | null;
};

/** The text of one sentence outside claims, with at least four content tokens. */
export type UncitedStatement = {
  readonly index: number;
  /** The pieces, trimmed and joined by one space. */
  readonly text: string;
  /** Places of the pieces in the response, in order. A claim inside the sentence splits it into two pieces. */
  readonly pieces: readonly Span[];
};

/** A parsed response. `claims` and `statements` belong to the judged answer, and are empty if there is none. */
export type ParsedResponse = {
  /** Content of the judged answer; `null` if it is absent, unclosed, or without a letter or digit. */
  readonly answer: Span | null;
  readonly claims: readonly Claim[];
  readonly statements: readonly UncitedStatement[];
  /** Places of definitions of sources in the answer, which are neither claims nor statements, in order. */
  readonly references: readonly Span[];
  /** At most MAX_FINDINGS findings. */
  readonly findings: readonly Finding[];
  /** Counts of all findings. */
  readonly counts: FindingCounts;
  /** Text outside the judged answer block, which `answer_only` forbids. At most two spans, trimmed. */
  readonly outside: readonly Span[];
  /** The format bonus in either mode; 1 if the response is well formed. */
  readonly format: { readonly answer_only: 0 | 1; readonly full: 0 | 1 };
  /** Number of closed answer blocks outside `<think>`. */
  readonly answers: number;
};
