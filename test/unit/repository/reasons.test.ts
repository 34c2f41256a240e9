/** docs/reference/troubleshooting.md has one entry for every machine-readable reason of the code, and no other. */
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TASK_FAILURE_REASONS } from '../../../functions/batches/batch-messages.ts';
import { backendFault, generationFailureOf, judgeFailureOf } from '../../../lib/model-servers/calls/failures.ts';
import type { RequestFailure } from '../../../service/failures.ts';
import { problemOf } from '../../../service/problems.ts';
import { ANSWER_FINDING_REASONS } from '../../../src/citations/formats/names.ts';
import { FINDING_REASONS } from '../../../src/citations/types.ts';
import { TRAJECTORY_FINDING_REASONS } from '../../../src/trajectory/trajectory.ts';
import { BATCH_ERROR_CODES } from '../../../src/wire/batches/request-line.ts';
import { buildOpenApi } from '../../../src/wire/openapi/document.ts';
import { ATTEMPT_REASONS } from '../../../src/wire/webhooks-reply.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const page = read('docs/reference/troubleshooting.md');

const ENTRY =
  /^\* \*\*`(?<reason>\w+)`\*\* \((?<who>caller|operator|receiver|nobody), (?<retry>retry|no retry|see reply)\):/gmu;
const entries = [...page.matchAll(ENTRY)].map(({ groups }) => ({
  reason: groups?.['reason'] ?? '',
  retry: groups?.['retry'] ?? '',
}));
const rows = [...page.matchAll(/^\| `(?<reason>\w+)` \|/gmu)].map(({ groups }) => groups?.['reason'] ?? '');

/** The values of every property `reason` or `disabled_reason` of the OpenAPI document. */
function reasonsOf(schema: unknown, isReason = false): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one: unknown) => reasonsOf(one, isReason));
  return Object.entries(schema).flatMap(([name, member]: [string, unknown]) => {
    if (name === 'example' || name === 'examples') return [];
    if (isReason && (name === 'enum' || name === 'const')) return [member].flat().map(String);
    return reasonsOf(member, isReason || name === 'reason' || name === 'disabled_reason');
  });
}

const findings: ReadonlySet<string> = new Set([
  ...FINDING_REASONS,
  ...TRAJECTORY_FINDING_REASONS,
  ...ANSWER_FINDING_REASONS,
]);

const inReplies = reasonsOf(buildOpenApi('0')).filter((reason) => !findings.has(reason));
/** Those that replies carry as text, and the two codes of unsent lines. */
const inText = [...TASK_FAILURE_REASONS, ...ATTEMPT_REASONS, ...BATCH_ERROR_CODES, 'batch_expired', 'batch_cancelled'];

/** Failures whose retryability does not depend on their data. */
const constantProblems: readonly RequestFailure[] = [
  { reason: 'auth_unconfigured' },
  { reason: 'key_missing' },
  { reason: 'key_unknown' },
  { reason: 'key_expired' },
  { reason: 'key_not_found' },
  { reason: 'project_not_found' },
  { reason: 'route_unknown' },
  { reason: 'body_interrupted' },
  { reason: 'overloaded' },
  { reason: 'body_not_utf8' },
  { reason: 'file_not_found' },
  { reason: 'upload_not_found' },
  { reason: 'storage_failed' },
  { reason: 'batch_not_found' },
  { reason: 'signature_missing' },
  { reason: 'signature_malformed' },
  { reason: 'signature_wrong' },
  { reason: 'timestamp_stale' },
  { reason: 'timestamp_future' },
  { reason: 'webhook_not_found' },
  { reason: 'webhook_job_not_found' },
  { reason: 'webhook_delivery_not_found' },
  { reason: 'webhook_disabled' },
  { reason: 'webhook_id_reused' },
  { reason: 'webhook_busy' },
  { reason: 'run_not_found' },
  { reason: 'rubrics_not_found' },
  { reason: 'rubrics_stale' },
  { reason: 'run_gone' },
  { reason: 'run_group_too_large' },
  { reason: 'issuer_unconfigured' },
  { reason: 'internal' },
  { reason: 'key_attempts_exceeded', retry_after_s: 1 },
  { reason: 'rate_limited', retry_after_s: 1 },
  { reason: 'ledger_failed', why: 'storage' },
  { reason: 'config_invalid', setting: 'BACKENDS' },
  { reason: 'input_invalid', problems: [] },
  { reason: 'judgment_missing', missing: [] },
];

/** Failures of model servers that judges and generators share. */
const SHARED_FAULTS = [
  'timeout',
  'unreachable',
  'interrupted',
  'rate_limited',
  'overloaded',
  'error',
  'unauthorized',
  'request_refused',
  'not_an_api',
  'prompt_too_long',
  'refusal',
] as const;

const modelFailures = [
  ...SHARED_FAULTS.map((kind) => judgeFailureOf(backendFault(kind, ''))),
  ...SHARED_FAULTS.map((kind) => generationFailureOf(backendFault(kind, ''))),
  judgeFailureOf(backendFault('reply_cut', '')),
  judgeFailureOf(backendFault('reply_invalid', '')),
  generationFailureOf(backendFault('reply_too_large', '')),
];

it('a reason of a request is declared in one row', () => {
  const sources = globSync('{src,service,functions,hosts,lib,cli,dashboard}/**/*.{ts,tsx}', { cwd: root });
  const texts = sources.map((path) => [path, read(path)] as const);
  const row = /^ {2}(?<reason>\w+): \(/gmu;
  const ROWS = 'src/wire/request-reasons.ts';
  const [, table = ''] = read(ROWS).split('REQUEST_REASONS = {\n');
  const reasons = [...table.slice(0, table.indexOf('\n}')).matchAll(row)].map(({ groups }) => groups?.['reason'] ?? '');
  expect(reasons.length).toBeGreaterThan(50);
  for (const reason of reasons) {
    // The key of a type or of a table.
    const declared = new RegExp(`^ {2}(?:readonly )?${reason}: (?:unknown|\\{ readonly|\\()`, 'mu');
    const places = texts.flatMap(([path, text]) => (declared.test(text) ? [path] : []));
    expect(places, reason).toEqual([ROWS]);
  }
});

describe('the page of reasons', () => {
  it('has one entry for every reason, and no other', () => {
    const named = entries.map(({ reason }) => reason);
    expect(named.toSorted()).toEqual([...new Set([...inReplies, ...inText])].toSorted());
  });

  it('has every finding about an answer; the pages of messages and formats have theirs', () => {
    expect(rows.toSorted()).toEqual(FINDING_REASONS.toSorted());
    const messages = read('docs/guides/messages.md');
    for (const reason of TRAJECTORY_FINDING_REASONS) expect(messages).toContain(`\`${reason}\``);
    const formats = read('docs/guides/answer-formats.md');
    for (const reason of ANSWER_FINDING_REASONS) expect(formats).toContain(`\`${reason}\``);
  });

  const problems = constantProblems.map((failure) => problemOf(failure, 'request'));
  it.each([...problems, ...modelFailures].map(({ reason, retryable }) => [reason, retryable] as const))(
    'says whether %s can be retried',
    (reason, retryable) => {
      const entry = entries.find((one) => one.reason === reason);
      expect(entry?.retry).toBe(retryable ? 'retry' : 'no retry');
    },
  );
});
