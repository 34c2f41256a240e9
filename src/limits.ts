/**
 * Every limit on caller-made input, in one place. They bound time and memory on hostile input; each is far above what
 * the refiners produce (14 claims, 12 sources, 30 KB), and exceeding one is a clear 4xx or a finding, never a crash.
 */

/** Largest JSON request body of a native route. A 128K-token context with its rollout is about 1 MB; 16 MB leaves room. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Longest text of one kind inside a request (question, response, tool output), in UTF-16 code units. */
export const MAX_TEXT_CHARS = 12 * 1024 * 1024;
/** More claims than this in one answer: the request is refused (422), as no judge prompt could hold them. */
export const MAX_CLAIMS = 2_000;
/** Citations (claim and id) of one answer; they bound the reply, which names each with its place. */
export const MAX_CITATIONS = 20_000;
/**
 * Cited text that claims are compared with, summed over all citations, in UTF-16 code units: about half a second of
 * work. Fourteen claims over a typical result are 60,000; a hundred over one 128K-token page are 50 million.
 */
export const MAX_COMPARED_CHARS = 200_000_000;
/** Uncited statements listed for one answer before the request is refused. */
export const MAX_STATEMENTS = 5_000;
/** Sources of one rollout. */
export const MAX_SOURCES = 5_000;
/** Criteria of one polarity in one rollout. */
export const MAX_CRITERIA = 100;
/** A criterion's description, in UTF-16 code units. */
export const MAX_CRITERION_CHARS = 8_000;
/** An id longer than this, in UTF-16 code units, is malformed. */
export const MAX_ID_CHARS = 256;
/** Ids read from one citation; the rest are one `citation_id_malformed` finding. */
export const MAX_IDS_PER_CITATION = 256;
/** Citations opened inside citations: deeper ones are text. */
export const MAX_CITATION_NESTING = 16;
/** Findings listed one by one for one rollout; counts stay exact. */
export const MAX_FINDINGS = 2_000;
/** A claim that cites more sources than this is `ids_shotgun` (REWARDS.md section 2). */
export const SHOTGUN_IDS_PER_CLAIM = 5;
/** A remainder with fewer content tokens than this is connective text, not a statement (REWARDS.md section 2). */
export const MIN_STATEMENT_CONTENT_TOKENS = 4;
/** A claim of several sentences that holds at least this share of the answer's text is `claim_covers_answer`. */
export const COVERING_CLAIM_SHARE = 0.9;

// Requests over HTTP.

/** Of a body that is refused unread, this much is read and thrown away, so that the caller gets to see the refusal. */
export const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
/** Longest name of a recipe or judge in a request, in UTF-16 code units. */
export const MAX_NAME_CHARS = 128;
/** Longest title or url of a source and title of a criterion, in UTF-16 code units. */
export const MAX_TITLE_CHARS = 8_000;
/** Largest `replicate`. */
export const MAX_REPLICATE = 1_000_000;
/** Wrong fields listed in one problem; `detail` says how many there are. */
export const MAX_PROBLEM_ERRORS = 100;
/** A caller's field name is repeated in a problem up to this length, in UTF-16 code units. */
export const MAX_ECHOED_NAME_CHARS = 64;

// Judgments.

/** A judge call ends after this time, whether its caller is still there or not. */
export const JUDGE_DEADLINE_MS = 60_000;
/** What `Retry-After` says where the failure itself does not know better. */
export const DEFAULT_RETRY_AFTER_S = 5;
/** Keys of one KV bulk read (the platform's limit). */
export const MAX_KV_BULK_KEYS = 100;
/** Judgments remembered by one isolate. */
export const MAX_RECENT_JUDGMENTS = 4_096;
/** Size of the judgments remembered by one isolate, in UTF-16 code units of their JSON (8 MB). */
export const MAX_RECENT_JUDGMENT_CHARS = 4 * 1024 * 1024;
