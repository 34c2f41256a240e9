/**
 * What a judgment is: a question put to a judge about one rollout, and the verdicts that came back.
 * A model backend and the built-in lexical judge stand behind the same types. Judgments are immutable and
 * content-addressed (ARCHITECTURE.md rule 3): the key names everything that could change the verdicts.
 */

/** One criterion as a judge sees it. Polarity and weight are not shown: they change the reward, not the verdict. */
export type JudgedCriterion = {
  /** `c1`…`cn` by position in the concatenation of the row's own and the static criteria. */
  readonly key: string;
  readonly title?: string;
  readonly description: string;
};

/** A source as a judge sees it. */
export type JudgedSource = { readonly id: string; readonly title?: string; readonly text: string };

export type JudgedClaim = {
  /** Position among the parsed claims. */
  readonly claim: number;
  readonly text: string;
  /** Positions in `sources`, known ids only. */
  readonly sources: readonly number[];
};

export type JudgedStatement = { readonly statement: number; readonly text: string };

/** All criteria of one rollout in one call (REWARDS.md section 4). */
export type RubricRequest = {
  readonly kind: 'rubric';
  readonly question: string;
  readonly sources: readonly JudgedSource[];
  readonly criteria: readonly JudgedCriterion[];
  /** The judged text, citation tags kept. */
  readonly answer: string;
};

/** All claims and uncited statements of one rollout in one call (REWARDS.md section 3). */
export type CitationsRequest = {
  readonly kind: 'citations';
  readonly question: string;
  readonly sources: readonly JudgedSource[];
  readonly claims: readonly JudgedClaim[];
  readonly statements: readonly JudgedStatement[];
};

/** Whether a final answer says what the reference says (long-trace, REWARDS.md section 5.2). */
export type OutcomeRequest = {
  readonly kind: 'outcome';
  readonly question: string;
  readonly reference: string;
  /** The final answer: what stands behind the last `</think>`. */
  readonly answer: string;
};

/** One test of a program: what it prints for an input, or Python that runs behind it and must not raise. */
export type ProgramTest =
  | { readonly stdin: string; readonly stdout: string }
  /** Python, one or more lines. */
  | { readonly assert: string };

/** A program's tests, run in a sandbox (tool-call, REWARDS.md section 5.3). */
export type ExecutionRequest = {
  readonly kind: 'execution';
  readonly language: 'python';
  readonly program: string;
  /** At least one. */
  readonly tests: readonly ProgramTest[];
  /** For each test. */
  readonly time_limit_s: number;
  readonly memory_limit_mb: number;
};

/** Whether two mathematical answers (LaTeX or plain) are equal as expressions, computed in a sandbox. */
export type EquivalenceRequest = { readonly kind: 'equivalence'; readonly answer: string; readonly reference: string };

/** What a language model, or the lexical judge in its place, is asked. */
export type ReadingRequest = CitedRequest | OutcomeRequest;
/** What is asked of an answer that cites sources. */
export type CitedRequest = RubricRequest | CitationsRequest;
/** What a sandbox computes. */
export type SandboxRequest = ExecutionRequest | EquivalenceRequest;
export type JudgmentRequest = ReadingRequest | SandboxRequest;
export type JudgmentKind = JudgmentRequest['kind'];

/** Every kind of judgment. */
export const JUDGMENT_KINDS = [
  'rubric',
  'citations',
  'outcome',
  'execution',
  'equivalence',
] as const satisfies readonly JudgmentKind[];

/** Whether a request goes to the sandbox rather than to the judge. */
export function isSandboxRequest(request: JudgmentRequest): request is SandboxRequest {
  return request.kind === 'execution' || request.kind === 'equivalence';
}

/** How far a criterion is met: dr-tulu's scale, divided by 2 when composed. */
export type CriterionScore = 0 | 1 | 2;

/** How far the cited texts support a claim: none, partial, full. */
export type Support = 0 | 0.5 | 1;

export type RubricVerdicts = {
  readonly kind: 'rubric';
  /** In the order of the request, every key exactly once. */
  readonly criteria: readonly { readonly key: string; readonly score: CriterionScore }[];
};

/** Where the judge's quote stands: checked against the source by string match. The quote itself is not stored. */
export type Quote = { readonly source: number; readonly start: number; readonly end: number };

export type CitationVerdicts = {
  readonly kind: 'citations';
  /** In the order of the request, every claim exactly once. */
  readonly claims: readonly {
    readonly claim: number;
    readonly support: Support;
    /** One entry a cited source, in the order of the request. */
    readonly relevant: readonly boolean[];
    /** `unverified`: the judge quoted what no cited source contains. `absent`: it quoted nothing. */
    readonly quote: Quote | 'unverified' | 'absent';
  }[];
  readonly statements: readonly { readonly statement: number; readonly needs_citation: boolean }[];
};

export type OutcomeVerdicts = { readonly kind: 'outcome'; readonly correct: boolean };

/** What became of one test. All but `passed` are the program's failures; a sandbox that fails gives no verdicts. */
export const TEST_OUTCOMES = [
  'passed',
  'wrong_output',
  'compile_error',
  'runtime_error',
  'time_limit',
  'memory_limit',
] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

export type ExecutionVerdicts = {
  readonly kind: 'execution';
  /** In the order of the request, every test exactly once. */
  readonly tests: readonly TestOutcome[];
};

export type EquivalenceVerdicts = { readonly kind: 'equivalence'; readonly equivalent: boolean };

export type Verdicts = RubricVerdicts | CitationVerdicts | OutcomeVerdicts | ExecutionVerdicts | EquivalenceVerdicts;

/** Everything about a judge that can change its verdicts; part of every key. */
export type JudgeIdentity = {
  /** The model as its backend names it, or `citeward-lexical-N`. */
  readonly model: string;
  /** Hash of the prompt templates and reply schemas, or the lexical judge's own version. */
  readonly template: string;
  /** Sampling parameters exactly as sent; `null` where nothing is sampled. */
  readonly sampling: Readonly<Record<string, number | string | boolean>> | null;
};

export type TokenUsage = { readonly prompt_tokens: number; readonly completion_tokens: number };

/** What a key is the hash of: inputs appear as digests only, so that a record holds no text. */
export type JudgmentPreimage = {
  readonly v: 1;
  readonly kind: JudgmentKind;
  readonly judge: JudgeIdentity;
  /** Version of the sentence splitter and parser that cut the claims; `none` where nothing was cut. */
  readonly parser: string;
  /** Joins the key: another independent judgment of the same thing, for measuring judge variance. */
  readonly replicate: number;
  /** Input name to SHA-256 (hex) of its RFC 8785 JSON. */
  readonly inputs: Readonly<Record<string, string>>;
};

/** A judgment as it was made, before it is signed or left unsigned (issuer.ts). */
export type UnsignedJudgment = {
  readonly v: 2;
  /** SHA-256 (hex) of the RFC 8785 JSON of `preimage`. */
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly verdicts: Verdicts;
  readonly usage: TokenUsage | null;
  /** ISO 8601 time of the judgment. */
  readonly judged_at: string;
};

/** The stored record, version 2. Version 1 had no issuer and is read as one without. */
export type Judgment = UnsignedJudgment & {
  /** Who vouches for the verdicts; `null` where the deployment has no issuer key. */
  readonly issuer: RecordSignature | null;
};

export type RecordSignature = {
  /** RFC 7638 thumbprint of the Ed25519 public key, in hex. */
  readonly key_id: string;
  /** Base64url, over the RFC 8785 JSON of the record with `issuer: {key_id}`. */
  readonly signature: string;
};

export const JUDGE_FAILURE_REASONS = [
  'judge_unconfigured',
  'judge_unknown',
  // The deployment had no room: the desk, its slots, or the circuit breaker.
  'judge_capacity',
  'judge_circuit_open',
  // The backend could not be reached or gave no whole reply.
  'judge_timeout',
  'judge_unreachable',
  'judge_interrupted',
  'judge_rate_limited',
  'judge_overloaded',
  'judge_error',
  'judge_unauthorized',
  'judge_request_refused',
  'judge_not_an_api',
  // It gave one, and it is no judgment.
  'judge_prompt_too_long',
  'judge_reply_cut',
  'judge_refusal',
  'judge_reply_invalid',
  'judge_model_mismatch',
  // The same for the sandbox, where programs run and answers are compared.
  'sandbox_unconfigured',
  'sandbox_unreachable',
  'sandbox_timeout',
  'sandbox_overloaded',
  'sandbox_unauthorized',
  'sandbox_error',
  'sandbox_reply_invalid',
  /** The reference is no expression, or comparing took too long: nobody can say whether the answer equals it. */
  'equivalence_undecided',
  'judgment_missing',
  'judgment_skipped',
  'judgment_store_failed',
  'judgment_record_invalid',
] as const;

export type JudgeFailureReason = (typeof JUDGE_FAILURE_REASONS)[number];

/** Why a judgment could not be had. It never turns into a number. */
export type JudgeFailure = {
  readonly reason: JudgeFailureReason;
  /** For people; holds no caller text. */
  readonly detail: string;
  readonly retryable: boolean;
  /** Seconds after which a retry makes sense, where the backend said so. */
  readonly retry_after_s?: number;
};

/** A judgment that was had, or why not. */
export type JudgmentOutcome =
  | { readonly ok: true; readonly judgment: Judgment; readonly cached: boolean; readonly latency_ms: number }
  | { readonly ok: false; readonly failure: JudgeFailure };
