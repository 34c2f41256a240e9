/**
 * Limits on input that a caller makes. They bound time and memory for hostile input. Each limit is far above what the
 * refiners produce (14 claims, 12 sources, 30 KB). Input beyond a limit causes a 4xx reply or a finding, never a crash.
 *
 * The suffix of a name is its unit: BYTES, CHARS (UTF-16 code units), TOKENS (of the model), S, MS, MB. A name without
 * a suffix counts things. Constants that tune a service are beside the code that they tune.
 */

// Request bodies.

/** Largest JSON body of a native route. A rollout with a context of 128K tokens has about 1 MB. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/**
 * Bodies that one isolate holds at a time; one beyond it is a retryable 503. Measured with a heap of 128 MB, 112 bodies
 * of 1 MB and a judge of 3 s: with 12 MB the Worker answers all requests, with 24 MB it dies.
 */
export const MAX_BODY_BYTES_IN_FLIGHT = 12 * 1024 * 1024;
/**
 * Bytes that one isolate holds of bodies which are still arriving; beyond it a body waits, or is refused at its start.
 * They are not parsed yet, so they take their own size. Bodies of at most 64 KB do not count: slow senders of large
 * bodies keep no small request out.
 */
export const MAX_ARRIVING_BYTES = 8 * 1024 * 1024;
/**
 * Bytes that one isolate holds of verifications in progress on `/v1/verify/stream`; beyond it a stream is a retryable
 * 503. They are not judged, but last as long as their callers write. Measured with 8 MB: text takes twice its size,
 * sources three times, and nothing but unclosed citations fourteen times.
 */
export const MAX_STREAM_BYTES = 4 * 1024 * 1024;
/**
 * The same as MAX_ARRIVING_BYTES for signed requests, whose callers are unknown until the body is complete: one of the
 * largest.
 */
export const MAX_UNSIGNED_BYTES = 4 * 1024 * 1024;
/**
 * Claims whose parse, verdicts and reports the requests of one isolate hold at a time; a request beyond it is a
 * retryable 503. A group of the largest size has 16,000, and a typical group of 8 has 112. Batches have a limit of their
 * own.
 */
export const MAX_CLAIMS_IN_FLIGHT = 24_000;
/** Part of a refused body that is read and discarded, so that the caller receives the reply. */
export const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
/** The same for a caller without a valid key or signature: enough for a rollout, and no free work. */
export const MAX_UNAUTHENTICATED_DISCARDED_BYTES = 1024 * 1024;
/** Wrong fields listed in one problem. Its `detail` has the exact number. */
export const MAX_PROBLEM_ERRORS = 100;
/** An unknown field's name is repeated in a problem up to this length. */
export const MAX_ECHOED_NAME_CHARS = 64;

// Fields of a rollout.

/** Longest text of one field: question, response, tool output. */
export const MAX_TEXT_CHARS = 12 * 1024 * 1024;
/** Longest text of a judge's template in a recipe: the built-in ones have 1,000. */
export const MAX_TEMPLATE_CHARS = 16_000;
/**
 * Texts that one request has made from others: the filled templates of a grader, or the canned answers of a probe. Four
 * million characters are more than the longest context of a judge holds, and take a tenth of a second.
 */
export const MAX_FILLED_CHARS = 4 * 1024 * 1024;
/** Longest name of a recipe or judge. */
export const MAX_NAME_CHARS = 128;
/** Longest title or url of a source, and longest title of a criterion. */
export const MAX_TITLE_CHARS = 8_000;
/** Largest `replicate`. */
export const MAX_REPLICATE = 1_000_000;
/** Judges that one request may name as fallbacks for one another. */
export const MAX_JUDGES_IN_TURN = 4;
/** Judges whose verdicts one request may combine by a vote. */
export const MAX_PANEL_MEMBERS = 5;
/** Largest seed of a random share of a run. */
export const MAX_SAMPLE_SEED = 1_000_000_000;
/** Responses that one request compares with each other. */
export const MAX_COMPARED = 16;
/** Samples of one group. */
export const MAX_GROUP = 64;
/** Rows of one probe of a recipe. Each has up to 18 canned answers, which are judged like any other. */
export const MAX_PROBE_ROWS = 16;
/** Samples of all rows of one probe. */
export const MAX_PROBE_SAMPLES = 256;
/**
 * Criteria and reference sentences of a row times the sentences of its sources, summed over the rows of one probe: about
 * two seconds of work. 16 rows with 20 criteria and the longest sources that are read have 1,300,000.
 */
export const MAX_PROBE_COMPARISONS = 4_000_000;
/** Groups of one training step, in `POST /v1/advantages`. */
export const MAX_STEP_GROUPS = 4_096;
/** Criteria of one polarity (positive or negative) of one rollout. */
export const MAX_CRITERIA = 100;
/** Largest weight of a criterion, in size. Rewards divide by sums of weights, which must stay finite and exact. */
export const MAX_CRITERION_WEIGHT = 1_000_000;
/** Longest description of a criterion. */
export const MAX_CRITERION_CHARS = 8_000;
/** Criteria of one polarity that a model writes for a prompt at once. */
export const MAX_MADE_CRITERIA = 20;
/** Gold entities. */
export const MAX_ENTITIES = 256;
/** Longest gold entity. The search automaton takes 50 bytes for each unit. */
export const MAX_ENTITY_CHARS = 512;
/** Gold chunk ids. */
export const MAX_USEFUL_CHUNKS = 10_000;
/** Tests of one program. */
export const MAX_TESTS = 200;
/** Longest input, output or assertion of a test. */
export const MAX_TEST_CHARS = 1024 * 1024;
/**
 * Number of tests times the time limit of each, in seconds. Eight tests run at once, so a program that loops on every
 * test is judged within about a minute, if the sandbox and the desk have room for all eight.
 */
export const MAX_TEST_SECONDS = 360;

// Messages of a trajectory.

/** Messages of one trajectory. Agents that search take up to a few hundred turns. */
export const MAX_MESSAGES = 10_000;
/** Content parts, tool calls and outputs of all messages together. */
export const MAX_MESSAGE_PARTS = 100_000;
/** Nesting of one message, and of the arguments of a tool call that are JSON text. */
export const MAX_MESSAGE_DEPTH = 64;

// Parsed responses and sources.

/** Sources of one rollout. */
export const MAX_SOURCES = 5_000;
/** Claims of one answer. No judge prompt could hold more. */
export const MAX_CLAIMS = 2_000;
/** Citations (pairs of claim and id) of one answer. The reply lists each. */
export const MAX_CITATIONS = 20_000;
/** Uncited statements of one answer. */
export const MAX_STATEMENTS = 5_000;
/**
 * Length of the cited texts that claims are compared with, summed over all citations, where a claim counts too
 * (`comparedChars`): about a second of work. Fourteen claims on typical search results have 100,000; a hundred claims on
 * one page of 128K tokens have 50 million.
 */
export const MAX_COMPARED_CHARS = 200_000_000;
/**
 * Answers of one request that may each reach the four limits above. More samples get equal shares of as much, so 64
 * samples get 250 claims each: the most that a heap of 128 MB and a reply of a few megabytes can hold.
 */
export const MAX_FULL_ANSWERS = 8;
/** Samples of one request times the sources that they share: each member of the reply lists its sources. */
export const MAX_GROUP_SOURCES = MAX_FULL_ANSWERS * MAX_SOURCES;
/** Longest well-formed id. A longer one is malformed. */
export const MAX_ID_CHARS = 256;
/** Ids read from one citation. The rest is one `citation_id_malformed` finding. */
export const MAX_IDS_PER_CITATION = 256;
/** Depth of citations inside citations. A deeper one is text. */
export const MAX_CITATION_NESTING = 16;
/** Findings listed for one rollout. Counts are exact. */
export const MAX_FINDINGS = 2_000;

// Refining.

/** Tokens of one candidate. */
export const MAX_GENERATED_TOKENS = 16_384;
/** Tokens of a prompt: the longest context of the refiners' base models. */
export const MAX_PROMPT_TOKENS = 262_144;
/** Largest seed. Seed plus candidate number fits into 32 bits, the least that servers support. */
export const MAX_SEED = 2_147_483_000;

// The tool agent.

/** Messages of the prompt. */
export const MAX_AGENT_MESSAGES = 64;
/** Assistant turns of one trajectory. The GRPO-TCR models were trained with 16. */
export const MAX_AGENT_TURNS = 64;
/** Tokens of the agent's prompt. The GRPO-TCR models were trained with 2,560. */
export const MAX_AGENT_PROMPT_TOKENS = 131_072;
/** Tokens of all turns together. The training script of Open-AgentRL has 20,480. */
export const MAX_AGENT_RESPONSE_TOKENS = 131_072;
/** Part of one tool output that the policy may see. Open-AgentRL has 256. */
export const MAX_TOOL_RESPONSE_CHARS = 65_536;
/** Time limit of one program of the policy. Open-AgentRL has 30. */
export const MAX_TOOL_TIME_LIMIT_S = 60;
/** Memory limit of one program of the policy. Open-AgentRL has 2,048. */
export const MAX_TOOL_MEMORY_LIMIT_MB = 16_384;

// Export and import of judgments.

/** Keys of one export: a thousandth of what one invocation may read in bulk. */
export const MAX_EXPORT_KEYS = 50_000;
/** One line of an import. A judgment with the most claims and statements of an answer has 700 KB. */
export const MAX_IMPORT_LINE_BYTES = 1024 * 1024;
/** Lines of one import. Callers split larger files. */
export const MAX_IMPORT_LINES = 100_000;
/** Refused lines that the reply to an import lists. Their number is exact. */
export const MAX_REFUSED_LINES_LISTED = 100;

// Files, uploads and multipart bodies.

/** Largest file, as OpenAI has it: enough for MAX_BATCH_REQUESTS lines of 10 KB. */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** Largest part of an upload, as OpenAI has it. On most plans the platform caps a body at 100 MB. */
export const MAX_UPLOAD_PART_BYTES = 64 * 1024 * 1024;
/**
 * Parts of one upload. Completing an upload reads each part once, one after the other, at about 30 ms, and a proxy
 * waits 120 s for the reply. One R2 listing returns this many. The largest file can have parts of 0.5 MB.
 */
export const MAX_UPLOAD_PARTS = 1_000;
/** Shortest time after which a file may expire, as OpenAI has it. */
export const MIN_FILE_LIFETIME_S = 60 * 60;
/** Longest time after which a file may expire, as OpenAI has it. */
export const MAX_FILE_LIFETIME_S = 30 * 24 * 60 * 60;
/** Longest file name: the limit of most file systems. */
export const MAX_FILE_NAME_CHARS = 255;
/** Files on one page of a list: OpenAI's limit and default. */
export const MAX_FILES_LISTED = 10_000;
/** Header of one part of a form: a name and a file name, each in two spellings. */
export const MAX_PART_HEADER_BYTES = 8 * 1024;
/** Parts of one form. OpenAI's forms have two to four. */
export const MAX_FORM_PARTS = 64;
/** Value of one form field other than the file. */
export const MAX_FORM_FIELD_BYTES = 64 * 1024;
/** Ignored bytes of one form: unknown fields, and the text before the first and after the last part. */
export const MAX_FORM_IGNORED_BYTES = 1024 * 1024;

// Batches.

/** Requests of one batch, as OpenAI has it. */
export const MAX_BATCH_REQUESTS = 50_000;
/** One line of a batch's input: a request body and its envelope. */
export const MAX_BATCH_LINE_BYTES = MAX_BODY_BYTES;
/** Errors of a batch's input that its status lists. */
export const MAX_BATCH_ERRORS = 100;
/** Longest `custom_id` of a request. */
export const MAX_CUSTOM_ID_CHARS = 512;
/** Metadata pairs of one batch, as OpenAI has it. */
export const MAX_METADATA_PAIRS = 16;

// Webhooks.

/** Body of a signed scoring request, which is stored until it is scored. A rollout of 128K tokens has about 1 MB. */
export const MAX_WEBHOOK_BODY_BYTES = 4 * 1024 * 1024;
/** Registered endpoints of a deployment. */
export const MAX_WEBHOOK_ENDPOINTS = 100;
/** Longest url of an endpoint. */
export const MAX_WEBHOOK_URL_CHARS = 2_048;
/** Longest description of an endpoint. */
export const MAX_WEBHOOK_DESCRIPTION_CHARS = 512;
/** Longest `webhook-id` of a sender. */
export const MAX_WEBHOOK_ID_CHARS = 128;
/** Signatures read from one `webhook-signature` header. */
export const MAX_WEBHOOK_SIGNATURES = 16;
/** Valid secrets of one endpoint at one time. */
export const MAX_WEBHOOK_SECRETS = 4;
/** Largest difference between a `webhook-timestamp` and the current time, as Standard Webhooks recommends. */
export const WEBHOOK_TOLERANCE_S = 5 * 60;
/** Longest time for which a secret may remain valid after its rotation. */
export const MAX_SECRET_GRACE_S = 7 * 24 * 60 * 60;
/** Deliveries on one page of a list. */
export const MAX_DELIVERY_PAGE = 100;

// Runs and replay.

/** Longest id of a group or sample. */
export const MAX_RUN_PLACE_CHARS = 256;
/** Metrics of one rollout, and distinct names of metrics that the figures of a step have. */
export const MAX_METRICS = 32;
/** Largest step of a run. */
export const MAX_RUN_STEP = 1_000_000_000;
/** Longest title of a run, in UTF-16 code units: a line of a list. */
export const MAX_RUN_TITLE_CHARS = 200;
/** Runs on one page of a list. */
export const MAX_RUN_PAGE = 100;
/** Steps on one page of a list. */
export const MAX_RUN_STEPS_PAGE = 1_000;
/** Rollouts on one page of a list: as rows, and with their details. */
export const MAX_RUN_ROLLOUT_PAGE = { rows: 200, detail: 20 } as const;
/** Lines of a run file. An import reads it in chunks, so this bounds only its time. */
export const MAX_RUN_IMPORT_LINES = 10_000_000;
/** Recipes of a run file. */
export const MAX_RUN_IMPORT_RECIPES = 1_000;
/** One line of a run file: the facts of 1,000 claims. */
export const MAX_RUN_IMPORT_LINE_BYTES = 256 * 1024;
/** Rollouts of one group of a run. A group is normalised as a whole, in memory. */
export const MAX_RUN_GROUP = 10_000;
/** Values of one sweep: 0 to 1 in hundredths. Each value scores every rollout of the run again. */
export const MAX_SWEEP_POINTS = 101;

/** Keys and uses of admin routes on one page of a list. */
export const MAX_ADMIN_PAGE = 100;
/** Longest lifetime of a stored key: ten years. */
export const MAX_KEY_LIFETIME_S = 10 * 365 * 24 * 60 * 60;
/** Keys of one project that are not revoked. */
export const MAX_PROJECT_KEYS = 1_000;
/** Largest daily budget of a project: judge calls or tokens. */
export const MAX_BUDGET = 1_000_000_000_000;
