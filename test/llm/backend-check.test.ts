/** The conformance check against a fake backend: a correct backend passes, and the check reports each fault. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../gpu-backend/check/finding.ts';
import { parseMetrics } from '../../gpu-backend/check/metrics.ts';
import { findingText, summaryText } from '../../gpu-backend/check/report.ts';
import { type CheckReport, runChecks } from '../../gpu-backend/check/run-checks.ts';
import { FAKE_KEY, type FakeBackend, type Fault, startFakeBackend } from './fake-backend.ts';

let backend: FakeBackend | null = null;

afterEach(async () => {
  await backend?.stop();
  backend = null;
});

async function check(
  faults: readonly Fault[],
  more: Partial<Parameters<typeof runChecks>[0]> = {},
): Promise<CheckReport> {
  backend = await startFakeBackend(...faults);
  return runChecks({
    target: { url: backend.url, key: FAKE_KEY, headers: {}, timeout_ms: 10_000 },
    model: null,
    min_context_tokens: 16_384,
    metrics_url: null,
    limit_ms: 60_000,
    ...more,
  });
}

function named(report: CheckReport, outcome: Outcome): string[] {
  return report.findings.filter((finding) => finding.outcome === outcome).map(({ id }) => id);
}

function finding(report: CheckReport, id: string): CheckReport['findings'][number] {
  const found = report.findings.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no finding ${id}`);
  return found;
}

describe('a backend that does everything right', () => {
  it('passes every requirement, in fewer than 100 requests', async () => {
    const report = await check([]);
    expect(named(report, 'fail')).toEqual([]);
    expect(named(report, 'not_reported')).toEqual([]);
    expect(report).toMatchObject({ ok: true, model: 'judge' });
    expect(report.findings).toHaveLength(21);
    expect(report.findings.every(({ change }) => change === null)).toBe(true);
    expect(backend?.requests()).toBeLessThan(100);
    expect(summaryText(report)).toBe('21 pass, 0 fail, 0 not reported. The backend can be used.');
  });
});

const FAULTS: readonly (readonly [Fault, readonly string[]])[] = [
  ['open_without_key', ['key']],
  ['unguarded_paths', ['closed_paths']],
  ['short_context', ['context']],
  ['ignores_schema', ['schema', 'reason_first', 'schema_constrained']],
  ['cuts_replies', ['schema', 'reason_first', 'schema_constrained']],
  ['verdict_first', ['reason_first']],
  ['thinks', ['thinking_off']],
  ['no_finish_reason', ['stream', 'latency']],
  ['error_in_stream', ['stream', 'latency']],
  ['resets_streams', ['stream', 'dropped_stream', 'latency']],
  // A buffering proxy continues to read after its caller has disconnected.
  ['buffers', ['stream', 'dropped_stream']],
  ['keeps_generating', ['dropped_stream']],
  ['no_usage', ['usage']],
  ['wrong_sum', ['usage']],
  ['echoes_another_model', ['model_echo']],
  ['ignores_seeds', ['seed', 'seed_under_load']],
  ['seeds_fail_under_load', ['seed_under_load']],
  ['no_prefix_cache', ['prefix_cache']],
  ['one_choice', ['choices']],
  ['answers_for_any_model', ['unknown_model']],
  ['server_error_for_bad_request', ['bad_request']],
];

describe('one fault', () => {
  it.each(FAULTS)('%s fails %j and nothing else', async (fault, expected) => {
    const report = await check([fault]);
    expect(new Set(named(report, 'fail'))).toEqual(new Set(expected));
    expect(report.ok).toBe(false);
    for (const id of expected) expect(finding(report, id).change).not.toBeNull();
  });
});

describe('what the backend does not show', () => {
  it('is neither pass nor fail', async () => {
    const report = await check(['no_health', 'context_not_said', 'cache_not_said', 'metrics_closed']);
    expect(named(report, 'fail')).toEqual([]);
    expect(named(report, 'not_reported')).toEqual(['health', 'context', 'dropped_stream', 'prefix_cache']);
    expect(report.ok).toBe(true);
    expect(finding(report, 'prefix_cache').change).toContain('--enable-prompt-tokens-details');
    expect(finding(report, 'dropped_stream').change).toContain('--metrics');
  });

  it('is seen in latency where load shows there', async () => {
    const freed = finding(await check(['metrics_closed', 'load_shows']), 'dropped_stream');
    expect(freed).toMatchObject({ outcome: 'pass', saw: expect.stringContaining('by latency') });
    await backend?.stop();
    const kept = finding(await check(['metrics_closed', 'load_shows', 'keeps_generating']), 'dropped_stream');
    expect(kept).toMatchObject({ outcome: 'fail', saw: expect.stringContaining('by latency') });
  });
});

describe('a backend that is not there', () => {
  it.each([
    ['dead', '503'],
    ['login_page', '302'],
  ] as const)('%s ends the run at the first line', async (fault, status) => {
    const report = await check([fault]);
    expect(report).toMatchObject({ ok: false, model: null, findings: [{ id: 'health', outcome: 'fail' }] });
    expect(report.findings[0]?.saw).toContain(status);
  });

  it('refused, with what to do', async () => {
    backend = await startFakeBackend();
    const { url } = backend;
    await backend.stop();
    const target = { url, key: null, headers: {}, timeout_ms: 1_000 };
    const report = await check([], { target });
    expect(named(report, 'fail')).toEqual(['health']);
    expect(report.findings[0]?.saw).toContain('ECONNREFUSED');
  });

  it('a model that is not served is named with those that are', async () => {
    const report = await check([], { model: 'other' });
    expect(finding(report, 'model')).toMatchObject({ outcome: 'fail', saw: 'served are: judge' });
  });
});

describe('the report', () => {
  it('stops starting checks when the time is over, and says so', async () => {
    const report = await check([], { limit_ms: 0 });
    expect(report.ok).toBe(false);
    expect(finding(report, 'latency').saw).toContain('not checked');
    expect(report.findings).toHaveLength(21);
  });

  it('shows what was seen and what to change, and no control characters', async () => {
    const report = await check(['short_context']);
    expect(findingText(finding(report, 'context'), false)).toBe(
      [
        'FAIL          the context holds a judge prompt',
        '              4096 tokens; 16384 are needed',
        '              -> Start vLLM with --max-model-len 32768.',
      ].join('\n'),
    );
  });

  it('adds up the engines of one metrics page', () => {
    const page = 'vllm:num_requests_running{engine="0"} 2\nvllm:num_requests_running{engine="1"} 1.0\n# HELP x\n';
    expect(parseMetrics(page)).toEqual({ requests: 3, generated_tokens: null, cached_tokens: null });
    expect(parseMetrics('up 1\n')).toBeNull();
  });
});
