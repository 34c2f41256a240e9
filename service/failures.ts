/**
 * Every expected failure of a request, as one tagged union. Services, Durable Objects and routes return or throw these
 * values; `problems.ts` maps them to problem+json. This file imports nothing from the Worker, so everything may
 * import it.
 */

import type { GenerationFailure } from '../src/generation/generator.ts';
import type { InputProblem } from '../src/input-problem.ts';
import type { JudgmentKind } from '../src/judgments/kinds/names.ts';
import type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
import type { MissingMeasures } from '../src/runs/replay-lines.ts';
import type { Scope } from '../src/wire/api-keys.ts';

/** The fields of a failure beside `reason`, by reason; `unknown` = none. */
export type FailureFields = {
  readonly auth_unconfigured: unknown;
  readonly key_missing: unknown;
  readonly key_unknown: unknown;
  readonly key_expired: unknown;
  /** A server without keys was asked under a host name that is not its own. */
  readonly host_not_allowed: unknown;
  /** A web page of another site sent the request. */
  readonly origin_not_allowed: unknown;
  /** The caller's address sent too many keys or endpoints that nobody has, or too many requests look one up. */
  readonly key_attempts_exceeded: { readonly retry_after_s: number };
  /** `needed_by` = what only the operator may do, as the subject of a sentence. */
  readonly operator_needed: { readonly needed_by: string };
  /** The key sends more requests than its tier allows. */
  readonly rate_limited: { readonly retry_after_s: number };
  readonly key_not_found: unknown;
  readonly project_not_found: unknown;
  readonly key_limit_reached: { readonly limit: number };
  /** `needed_by` = what needs the scope, as the subject of a sentence. */
  readonly scope_missing: { readonly scope: Scope; readonly needed_by: string };
  readonly config_invalid: { readonly setting: string };
  readonly route_unknown: unknown;
  readonly method_not_allowed: { readonly allow: readonly string[] };
  readonly content_type_unsupported: { readonly wanted: 'json' | 'form' | 'jsonl' };
  readonly body_too_large: { readonly limit_bytes: number };
  readonly body_interrupted: unknown;
  /** The body stopped arriving, or arrived slower than the least rate. */
  readonly body_too_slow: unknown;
  /** The isolate holds as many bytes of bodies as fit. */
  readonly overloaded: unknown;
  readonly body_not_utf8: unknown;
  /** `position` is the index of the error in the body, in UTF-16 code units; `null` = unknown. */
  readonly body_not_json: { readonly position: number | null };
  readonly input_invalid: { readonly problems: readonly InputProblem[] };
  readonly file_not_found: unknown;
  readonly file_too_large: { readonly limit_bytes: number };
  readonly multipart_malformed: { readonly defect: MultipartDefect };
  readonly range_not_satisfiable: { readonly bytes: number };
  readonly upload_not_found: unknown;
  readonly upload_not_pending: { readonly status: string };
  readonly upload_parts_exceeded: { readonly limit: number };
  /** R2, D1 or a Durable Object failed. */
  readonly storage_failed: unknown;
  readonly batch_not_found: unknown;
  /** The batch has ended or is being finalised. */
  readonly batch_is_over: { readonly status: string };
  readonly signature_missing: unknown;
  readonly signature_malformed: unknown;
  readonly signature_wrong: unknown;
  readonly timestamp_stale: unknown;
  readonly timestamp_future: unknown;
  readonly webhook_not_found: unknown;
  readonly webhook_job_not_found: unknown;
  readonly webhook_delivery_not_found: unknown;
  readonly webhook_disabled: unknown;
  readonly webhook_id_reused: unknown;
  readonly webhook_limit_reached: { readonly of: 'endpoints' | 'secrets'; readonly limit: number };
  readonly webhook_busy: unknown;
  /** The rollout was scored but not recorded: a reward is never returned without its record. */
  readonly ledger_failed: { readonly why: 'storage' | 'deleting' };
  readonly run_not_found: unknown;
  readonly rubrics_not_found: unknown;
  /** The rubric of the prompt has changed since the caller read it. */
  readonly rubrics_stale: unknown;
  /**
   * Replay under the other recipe needs values that were never measured. `can_fill`: the run stores its text, so a
   * judge can measure them.
   */
  readonly measurement_missing: { readonly missing: MissingMeasures; readonly can_fill: boolean };
  /**
   * The judge of a replay needs the text of the run, which was not stored. `missing: null` = the request asks to judge
   * all rollouts again.
   */
  readonly text_not_kept: { readonly missing: MissingMeasures | null };
  /** The run was deleted while it was read, so the lines sent so far are incomplete. */
  readonly run_gone: unknown;
  readonly run_group_too_large: unknown;
  readonly judge_unknown: { readonly configured: readonly string[] };
  /** The request asks for a receipt, and the deployment has no signing key. */
  readonly issuer_unconfigured: unknown;
  /** The host is no Worker, and only a Worker does what the field asks for. */
  readonly needs_worker: { readonly field: WorkerField };
  readonly judgment_missing: { readonly missing: readonly { readonly kind: JudgmentKind; readonly key: string }[] };
  /** A required judgment failed; the problem carries the reason of `failure`. */
  readonly judgment_failed: { readonly failure: JudgeFailure };
  readonly generator_unknown: { readonly configured: readonly string[] };
  /** A generation failed or is incomplete; the problem carries the reason of `failure`. */
  readonly generation_failed: { readonly failure: GenerationFailure };
  readonly internal: unknown;
};

export type RequestFailure = {
  [R in keyof FailureFields]: { readonly reason: R } & FailureFields[R];
}[keyof FailureFields];

export type FailureOf<R extends keyof FailureFields> = { readonly reason: R } & FailureFields[R];

/** The fields of a request that only a Worker can grant. */
export type WorkerField = 'run' | 'receipt' | 'store_reasons';

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

/** Carries a failure from the code that detects it to the app's error handler. */
export class RequestError extends Error {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(failure.reason);
    this.name = 'RequestError';
    this.failure = failure;
  }
}

/** The error for invalid fields of a request. @param path of the field, as problems report it. */
export function invalidInput(path: InputProblem['path'], message: string): RequestError {
  return new RequestError({ reason: 'input_invalid', problems: [{ path, message }] });
}
