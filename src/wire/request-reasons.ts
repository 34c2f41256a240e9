/**
 * The reasons for which a request is refused, and their problems (RFC 9457): one row each, from which come the failure's
 * data, the document that callers get, and the list of reasons. Titles and details are constants and numbers of this
 * code. They repeat nothing of the request except the names of unknown fields, and reveal nothing internal.
 */

import { type InputProblem, pathText } from '../input-problem.ts';
import type { JudgmentKind } from '../judgments/kinds/names.ts';
import {
  MAX_FORM_IGNORED_BYTES,
  MAX_FORM_PARTS,
  MAX_PART_HEADER_BYTES,
  MAX_PROBLEM_ERRORS,
  MAX_RUN_GROUP,
  WEBHOOK_TOLERANCE_S,
} from '../limits.ts';
import type { MissingMeasures } from '../runs/replay-lines.ts';
import type { Scope } from './api-keys.ts';
import { DEFAULT_RETRY_AFTER_S, type Entry, entry } from './problem-entry.ts';

/** The fields of a request that only a Worker can grant. */
type WorkerField = 'run' | 'receipt' | 'store_reasons';

/** Why a body is not valid multipart/form-data. */
export type MultipartDefect =
  | 'boundary'
  | 'delimiter'
  | 'not_closed'
  | 'header'
  | 'header_too_long'
  | 'name_missing'
  | 'encoding'
  | 'too_many_parts'
  | 'ignored_too_long'
  | 'field_repeated'
  | 'field_too_long'
  | 'field_not_utf8';

/** The signature of a webhook request is missing or wrong. */
function unsigned(title: string, detail: string): Entry {
  return entry(401, title, detail, { headers: { 'www-authenticate': 'StandardWebhooks realm="citeward"' } });
}

const BEARER = { 'www-authenticate': 'Bearer realm="citeward"' };
const RETRY = { retryable: true, retryAfterS: DEFAULT_RETRY_AFTER_S };

/** A row takes the data of its failure. */
export const REQUEST_REASONS = {
  auth_unconfigured: () =>
    entry(
      403,
      'No API key is configured',
      'This deployment refuses all requests: set the secret API_KEYS, or ALLOW_ANONYMOUS=true for local use.',
    ),
  key_missing: () =>
    entry(401, 'API key missing', 'Send the header "Authorization: Bearer <key>".', { headers: BEARER }),
  key_unknown: () =>
    entry(
      401,
      'API key unknown',
      'This deployment does not have the key in the Authorization header; send a configured key.',
      { headers: BEARER },
    ),
  key_expired: () =>
    entry(401, 'API key expired', 'The key in the Authorization header has expired; make a new one.', {
      headers: BEARER,
    }),
  /**
   * Too many requests from the caller's address named unknown keys or endpoints, or too many requests wait until the
   * store has looked up theirs.
   */
  key_attempts_exceeded: ({ retry_after_s }: { readonly retry_after_s: number }) =>
    entry(
      429,
      'Too many unknown keys',
      'Too many requests name a key or a webhook endpoint that does not exist; correct yours, and retry.',
      { retryable: true, retryAfterS: retry_after_s },
    ),
  /** A server without keys was asked under a host name that is not its own. */
  host_not_allowed: () =>
    entry(
      403,
      'Host not allowed',
      'This server needs no key, so it answers under localhost, under its IP address, and under the host names of the setting ALLOWED_HOSTS; add the name there, or configure keys.',
    ),
  /** A web page of another site sent the request. */
  origin_not_allowed: () =>
    entry(
      403,
      'Origin not allowed',
      'A web page of another site sent the request. To allow pages of a host, add its name to the setting ALLOWED_HOSTS.',
    ),
  /** `needed_by` = what only the operator may do, as the subject of a sentence. */
  operator_needed: ({ needed_by }: { readonly needed_by: string }) =>
    entry(403, 'Operator key needed', `${needed_by} needs a key of the secret API_KEYS.`),
  /** The key sends more requests than its tier allows. */
  rate_limited: ({ retry_after_s }: { readonly retry_after_s: number }) =>
    entry(429, 'Too many requests', `The key sends too many requests; retry in ${retry_after_s} s.`, {
      retryable: true,
      retryAfterS: retry_after_s,
    }),
  project_not_found: () => entry(404, 'Project not found', 'The key has no access to a project of this name.'),
  key_not_found: () => entry(404, 'Key not found', 'No API key has this id.'),
  key_limit_reached: ({ limit }: { readonly limit: number }) =>
    entry(409, 'Limit reached', `The project has its maximum of ${limit} API keys; revoke one first.`),
  /** `needed_by` = what needs the scope, as the subject of a sentence. */
  scope_missing: ({ scope, needed_by }: { readonly scope: Scope; readonly needed_by: string }) =>
    entry(403, 'Scope missing', `${needed_by} needs the scope "${scope}"; use a key that has it.`),
  config_invalid: ({ setting }: { readonly setting: string }) =>
    entry(
      500,
      'The deployment is misconfigured',
      `The setting ${setting} is malformed, and requests are refused until the operator corrects it. The Worker's log names the fields.`,
    ),
  route_unknown: () => entry(404, 'Route unknown', 'This path has no route; GET /openapi.json lists all routes.'),
  method_not_allowed: ({ allow }: { readonly allow: readonly string[] }) =>
    entry(405, 'Method not allowed', `This route accepts ${allow.join(', ')}.`, {
      headers: { allow: allow.join(', ') },
    }),
  content_type_unsupported: ({ wanted }: { readonly wanted: 'json' | 'form' | 'jsonl' }) =>
    entry(415, 'Content type unsupported', CONTENT_TYPES[wanted]),
  body_too_large: ({ limit_bytes }: { readonly limit_bytes: number }) =>
    entry(413, 'Body too large', `The body exceeds the limit of ${limit_bytes} bytes; send a smaller one.`),
  body_interrupted: () =>
    entry(400, 'Body interrupted', 'The connection closed before the body was complete; send the request again.', {
      retryable: true,
    }),
  /** The body stopped arriving, or arrived slower than the least rate. */
  body_too_slow: () =>
    entry(
      408,
      'Body too slow',
      'The body stopped arriving, or arrived too slowly; send the request again over a faster connection.',
      { retryable: true, headers: { connection: 'close' } },
    ),
  /** The isolate holds as many bytes of bodies as fit. */
  overloaded: () => entry(503, 'Overloaded', 'Too many large requests are in progress; retry the request.', RETRY),
  body_not_utf8: () =>
    entry(400, 'Body is not UTF-8', 'The body contains bytes that are not valid UTF-8; encode it as UTF-8.'),
  /** `position` is the index of the error in the body, in UTF-16 code units; `null` = unknown. */
  body_not_json: ({ position }: { readonly position: number | null }) =>
    entry(
      400,
      'Body is not JSON',
      position === null
        ? 'The body is not valid JSON (NaN and Infinity are not JSON).'
        : `The body is not valid JSON at position ${position} (UTF-16 code units).`,
    ),
  input_invalid: ({ problems }: { readonly problems: readonly InputProblem[] }) =>
    entry(
      422,
      'Invalid input',
      problems.length > MAX_PROBLEM_ERRORS
        ? `${problems.length} fields are invalid; "errors" lists the first ${MAX_PROBLEM_ERRORS} with what was expected.`
        : 'Some fields are invalid; "errors" lists each with what was expected.',
      { extra: { errors: wireErrors(problems) } },
    ),
  file_not_found: () => entry(404, 'File not found', 'No file has this id.'),
  file_too_large: ({ limit_bytes }: { readonly limit_bytes: number }) =>
    entry(413, 'File too large', `The file exceeds the limit of ${limit_bytes} bytes; split it.`),
  multipart_malformed: ({ defect }: { readonly defect: MultipartDefect }) =>
    entry(400, 'Malformed form', MULTIPART_DEFECTS[defect]),
  range_not_satisfiable: ({ bytes }: { readonly bytes: number }) =>
    entry(
      416,
      'Range not satisfiable',
      `The requested range starts after the end of the file, which has ${bytes} bytes.`,
      { headers: { 'content-range': `bytes */${bytes}` } },
    ),
  upload_not_found: () => entry(404, 'Upload not found', 'No upload has this id.'),
  upload_not_pending: ({ status }: { readonly status: string }) =>
    entry(409, 'Upload not pending', `The upload is ${status} and accepts no more changes; create a new upload.`),
  upload_parts_exceeded: ({ limit }: { readonly limit: number }) =>
    entry(413, 'Too many parts', `The upload has reached the limit of ${limit} parts; send larger parts.`),
  /** R2, D1 or a Durable Object failed. */
  storage_failed: () =>
    entry(503, 'Storage failed', 'The storage of this deployment failed; retry the request.', RETRY),
  batch_not_found: () => entry(404, 'Batch not found', 'No batch has this id.'),
  /** The batch has ended or is being finalised. */
  batch_is_over: ({ status }: { readonly status: string }) =>
    entry(409, 'Batch has ended', `The batch is ${status}, so it cannot be cancelled.`),
  signature_missing: () =>
    unsigned(
      'Signature missing',
      'Send the headers webhook-id, webhook-timestamp and webhook-signature, or the same with svix-.',
    ),
  signature_malformed: () =>
    unsigned(
      'Signature malformed',
      'webhook-id must be printable ASCII without a full stop; webhook-timestamp must be seconds since 1970.',
    ),
  signature_wrong: () =>
    unsigned(
      'Signature wrong',
      'No v1 signature matches the id, timestamp and body; sign the exact body with a valid secret of the endpoint.',
    ),
  timestamp_stale: () =>
    unsigned(
      'Timestamp too old',
      `webhook-timestamp is older than the ${WEBHOOK_TOLERANCE_S / 60}-minute tolerance; sign again with the current time.`,
    ),
  timestamp_future: () =>
    unsigned(
      'Timestamp in the future',
      `webhook-timestamp is ahead by more than the ${WEBHOOK_TOLERANCE_S / 60}-minute tolerance; check the sender's clock.`,
    ),
  webhook_not_found: () => entry(404, 'Webhook not found', 'No webhook endpoint has this id.'),
  webhook_job_not_found: () =>
    entry(404, 'Job not found', 'The endpoint has no job with this id: it never existed or its retention has ended.'),
  webhook_delivery_not_found: () =>
    entry(
      404,
      'Delivery not found',
      'The endpoint has no delivery with this id: it never existed or its retention has ended.',
    ),
  webhook_disabled: () =>
    entry(403, 'Webhook disabled', 'The endpoint is disabled; enable it with PATCH /v1/webhooks/{endpoint}.'),
  webhook_id_reused: () =>
    entry(
      409,
      'webhook-id reused',
      'An earlier message with another body has this webhook-id; send each message with a new id.',
    ),
  webhook_limit_reached: ({ of, limit }: { readonly of: 'endpoints' | 'secrets'; readonly limit: number }) =>
    entry(
      409,
      'Limit reached',
      of === 'endpoints'
        ? `This project has its maximum of ${limit} webhook endpoints; delete one first.`
        : `The endpoint has its maximum of ${limit} valid secrets; wait for one to expire, or rotate with "grace_s": 0.`,
    ),
  webhook_busy: () => entry(503, 'Webhook busy', 'The endpoint cannot accept more messages now; retry later.', RETRY),
  /** The rollout was scored but not recorded: a reward is never returned without its record. */
  ledger_failed: ({ why }: { readonly why: 'storage' | 'deleting' }) =>
    entry(
      503,
      'Not recorded',
      why === 'storage'
        ? 'The rollout was scored, but the ledger of its run could not be written; retry. Its judgments are stored.'
        : 'The run is being deleted; retry when the deletion is complete.',
      RETRY,
    ),
  run_not_found: () => entry(404, 'Run not found', 'No run has this id.'),
  rubrics_not_found: () =>
    entry(404, 'Prompt not found', 'The run has no prompt of this digest; GET /v1/runs/{id}/rubrics lists them.'),
  /** The rubric of the prompt has changed since the caller read it. */
  rubrics_stale: () =>
    entry(
      409,
      'Rubric changed',
      'The rubric of the prompt has changed since the set that the request names; read it again, then edit it.',
    ),
  /**
   * Replay under the other recipe needs values that were never measured. `can_fill`: the run stores its text, so a
   * judge can measure them.
   */
  measurement_missing: ({ missing, can_fill }: { readonly missing: MissingMeasures; readonly can_fill: boolean }) =>
    entry(
      409,
      'Measurements missing',
      `The recipe reads values that were not measured: ${missingText(missing)}. ${
        can_fill
          ? 'Send "fill": true to have a judge measure them.'
          : 'The text of this run was not stored (store_text), so no judge can measure them: score the rollouts again.'
      }`,
      { extra: { unobserved: { ...missing.missing } } },
    ),
  /**
   * The judge of a replay needs the text of the run, which was not stored. `missing: null` = the request asks to judge
   * all rollouts again.
   */
  text_not_kept: ({ missing }: { readonly missing: MissingMeasures | null }) =>
    entry(
      409,
      'Text not stored',
      `The text of this run was not stored (store_text), so no judge can read it${
        missing === null ? '' : `: ${missingText(missing)}`
      }. Score the rollouts again.`,
      { extra: missing === null ? {} : { unobserved: { ...missing.missing } } },
    ),
  /** The run was deleted while it was read, so the lines sent so far are incomplete. */
  run_gone: () =>
    entry(409, 'Run deleted', 'The run was deleted while it was read; the lines sent so far are incomplete.'),
  run_group_too_large: () =>
    entry(
      409,
      'Group too large',
      `A group of the run exceeds the limit of ${MAX_RUN_GROUP} rollouts that can be normalised together.`,
    ),
  judge_unknown: ({ configured }: { readonly configured: readonly string[] }) =>
    unknownName('judge', 'Judge unknown', configured),
  /** The request asks for a receipt, and the deployment has no signing key. */
  issuer_unconfigured: () =>
    entry(422, 'No issuer key is configured', 'This deployment signs no receipts: it has no ISSUER_KEY.', {
      extra: { errors: [{ path: 'receipt', message: 'expected false: this deployment has no signing key' }] },
    }),
  /** The host is no Worker, and only a Worker does what the field asks for. */
  needs_worker: ({ field }: { readonly field: WorkerField }) =>
    entry(422, 'A Worker is needed', `Only a Worker ${WORKER_DOES[field]}; ${START_WORKER}`, {
      extra: { errors: [{ path: field, message: `only a Worker ${WORKER_DOES[field]}; ${START_WORKER}` }] },
    }),
  judgment_missing: ({
    missing,
  }: {
    readonly missing: readonly { readonly kind: JudgmentKind; readonly key: string }[];
  }) =>
    entry(
      409,
      'Judgment missing',
      'The store lacks some judgments, and the request accepts stored ones only; "missing" lists them.',
      { extra: { missing: missing.map(({ kind, key }) => ({ kind, key })) } },
    ),
  generator_unknown: ({ configured }: { readonly configured: readonly string[] }) =>
    unknownName('generator', 'Generator unknown', configured),
  internal: () =>
    entry(500, 'Internal error', 'The Worker failed on this request because of a bug; report it with the request id.'),
} as const;

const WORKER_DOES: Readonly<Record<WorkerField, string>> = {
  run: 'records runs',
  receipt: 'signs receipts',
  store_reasons: "keeps the judge's reasons",
};

const START_WORKER = 'to start one on this machine: npx citeward serve';

const CONTENT_TYPES: Readonly<Record<'json' | 'form' | 'jsonl', string>> = {
  json: 'Send JSON in UTF-8 with "content-type: application/json" and no content-encoding.',
  form: 'Send a form with "content-type: multipart/form-data" and no content-encoding.',
  jsonl: 'Send JSON lines in UTF-8 with "content-type: application/jsonl" and no content-encoding.',
};

const MULTIPART_DEFECTS: Readonly<Record<MultipartDefect, string>> = {
  boundary: 'The content type lacks a valid boundary (RFC 2046: 1 to 70 characters).',
  delimiter: 'A boundary is not followed by a line end.',
  not_closed: 'The closing boundary, which ends in "--", is missing.',
  header: 'The header of a part is malformed.',
  header_too_long: `The header of a part exceeds ${MAX_PART_HEADER_BYTES} bytes.`,
  name_missing: 'A part has no name.',
  encoding: 'A part has a transfer encoding; send its bytes unencoded.',
  too_many_parts: `The form exceeds ${MAX_FORM_PARTS} parts.`,
  ignored_too_long: `Unknown fields and text around the parts exceed ${MAX_FORM_IGNORED_BYTES} bytes.`,
  field_repeated: 'A field occurs more than once.',
  field_too_long: 'A field is too long.',
  field_not_utf8: 'A field is not UTF-8.',
};

function unknownName(field: 'judge' | 'generator', title: string, configured: readonly string[]): Entry {
  const message = `expected one of ${configured.join(', ')}`;
  return {
    status: 422,
    title,
    detail: `No ${field} of this name is configured; ${message}.`,
    extra: { errors: [{ path: field, message }] },
  };
}

function wireErrors(problems: readonly InputProblem[]): { path: string; message: string }[] {
  return problems.slice(0, MAX_PROBLEM_ERRORS).map(({ path, message }) => ({ path: pathText(path), message }));
}

/** Names are fields of recipes and requests, as this API defines them. */
function missingText({ rollouts, open, missing }: MissingMeasures): string {
  const named = Object.entries(missing).map(([name, count]) => `${name} in ${count}`);
  return `${named.join(', ')} (${open} of ${rollouts} rollouts)`;
}
