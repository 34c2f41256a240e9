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

/** Judges that one request can name, to be tried in turn. */
export const MAX_JUDGES_IN_TURN = 4;
/** All judges of one request together end after this time: trainers give up after 120 s, proxies after 100. */
export const SCORING_DEADLINE_MS = 95_000;
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

// The JudgeDesk: where judge calls of all isolates meet.

/** Desks of a deployment; keys are spread over them. A few can count, and one object takes some hundred calls a second. */
export const JUDGE_DESKS = 4;
/** A finished judgment is kept by its desk this long: ten times the age that a miss of KV can have. */
export const FINISHED_JUDGMENT_MS = 10 * 60 * 1000;
/** A judgment that KV did not take is offered to it again this often, and given up after `MAX_UNSTORED_MS`. */
export const STORE_RETRY_MS = 60 * 1000;
export const MAX_UNSTORED_MS = 24 * 60 * 60 * 1000;
/** A failed judgment is answered with its failure for this long, so that retries do not become calls. */
export const FAILURE_MEMORY_MS = 5_000;
/** Failures remembered by one desk. */
export const MAX_REMEMBERED_FAILURES = 10_000;
/** Text of the requests that wait or run in one desk, in bytes of UTF-8; an object has 128 MB. */
export const MAX_PROMPT_BYTES_IN_FLIGHT = 32 * 1024 * 1024;
/** The share of slots and prompt memory that batches leave to callers who wait. */
export const LIVE_RESERVE_SHARE = 1 / 4;
/** After so many live calls in a row, one waiting batch call gets its turn, so that a batch never stands still. */
export const LIVE_CALLS_PER_BATCH_TURN = 16;
/** Failures in a row after which a backend is left alone. */
export const BREAKER_FAILURES = 5;
/** How long it is left alone at first; doubled with each failed probe up to the maximum. */
export const BREAKER_REST_MS = 5_000;
export const BREAKER_MAX_REST_MS = 60_000;
/** Longest time that a caller may wait for a judgment: a batch that queues. */
export const MAX_DESK_WAIT_MS = 15 * 60 * 1000;
/** What a caller waits beyond its deadline before it gives up on the desk itself. */
export const DESK_GRACE_MS = 5_000;

// Export and import of judgments.

/** Keys of one export: a thousandth of what one invocation may read in bulk. */
export const MAX_EXPORT_KEYS = 50_000;
/** One line of an import, in bytes. A judgment with every claim and statement that an answer may have is 700 KB. */
export const MAX_IMPORT_LINE_BYTES = 1024 * 1024;
/** Lines of one import. Larger files are imported in parts. */
export const MAX_IMPORT_LINES = 100_000;
/** Refused lines that an import names; the count is exact. */
export const MAX_REFUSED_LINES_LISTED = 100;
/** Judgments that are checked and stored together by an import. */
export const IMPORT_CHUNK_LINES = 100;
