/** The alert rules and the dashboard in ops/ name metrics that exist, with labels that they have. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { METRICS } from '../../../functions/metrics/catalogue.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

const SUFFIXES = { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_count', '_sum'] } as const;

/** The labels of each sample of GET /metrics, by name. test/functions/metrics.test.ts compares page and catalogue. */
const OWN = new Map(
  Object.entries(METRICS).flatMap(([name, { type, labels }]) =>
    SUFFIXES[type].map((suffix) => [name + suffix, suffix === '_bucket' ? [...labels, 'le'] : [...labels]] as const),
  ),
);

/** Names of vLLM's page "Production metrics", version 0.32, as Prometheus stores them. */
const VLLM: ReadonlySet<string> = new Set([
  'vllm:num_requests_running',
  'vllm:num_requests_waiting',
  'vllm:kv_cache_usage_perc',
  'vllm:prefix_cache_hits_total',
  'vllm:prefix_cache_queries_total',
  'vllm:prompt_tokens_total',
  'vllm:generation_tokens_total',
  'vllm:time_to_first_token_seconds_bucket',
  'vllm:request_queue_time_seconds_bucket',
]);
/** Prometheus adds these labels to every series. */
const SCRAPED = ['job', 'instance'];

const alerts = read('ops/alerts.yaml');
/** Each rule as its name and expression; an expression is folded over lines that are indented by ten spaces. */
const RULES = [...alerts.matchAll(/- alert: (?<name>\w+)\n {8}expr: >-\n(?<lines>(?: {10}.+\n)+)/gu)].map(
  ({ groups }) => [groups?.['name'] ?? '', (groups?.['lines'] ?? '').replaceAll(/\n {10}/gu, ' ').trim()] as const,
);

const dashboardSchema = z.object({
  panels: z.array(
    z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })).optional() }),
  ),
});
const PANELS = dashboardSchema
  .parse(JSON.parse(read('ops/grafana.json')))
  .panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));

const metricsIn = (expression: string): string[] => expression.match(/\b(?:citeward_|vllm:)\w+/gu) ?? [];

/** What an expression has wrong; empty = nothing. */
function faultsOf(expression: string): string[] {
  const metrics = metricsIn(expression);
  const unknown = metrics.filter((name) => !OWN.has(name) && !VLLM.has(name));
  const known = new Set([...metrics.flatMap((name) => OWN.get(name) ?? []), ...SCRAPED, 'le']);
  const selected = [...expression.matchAll(/[{,]\s*(?<label>\w+)\s*(?:=|!=|=~)"/gu)].map(
    (m) => m.groups?.['label'] ?? '',
  );
  const grouped = [...expression.matchAll(/\bby \((?<labels>[^)]*)\)/gu)].flatMap(
    ({ groups }) => groups?.['labels']?.split(/,\s*/u) ?? [],
  );
  const open = expression.split('(').length - expression.split(')').length;
  return [
    ...unknown.map((name) => `unknown metric ${name}`),
    ...[...selected, ...grouped].filter((label) => !known.has(label)).map((label) => `unknown label ${label}`),
    ...(open === 0 ? [] : ['unbalanced brackets']),
  ];
}

describe('ops/alerts.yaml', () => {
  it('has rules, each with a duration, a severity, a summary and a section of the runbook', () => {
    expect(RULES.length).toBeGreaterThan(15);
    expect(RULES.length).toBe(alerts.split('- alert: ').length - 1);
    for (const field of ['for:', 'labels: { severity:', 'summary:', 'runbook:']) {
      expect(alerts.split(field).length - 1, field).toBe(RULES.length);
    }
    const headings = read('docs/guides/operations.md').match(/^#+ .+$/gmu) ?? [];
    const anchors = headings.map((heading) => heading.replace(/^#+ /u, '').toLowerCase().replaceAll(' ', '-'));
    for (const [, anchor = ''] of alerts.matchAll(/docs\/guides\/operations\.md#(\S+)/gu))
      expect(anchors).toContain(anchor);
  });

  it.each(RULES)('%s asks for metrics that exist', (_, expression) => {
    expect(expression).not.toBe('');
    expect(faultsOf(expression)).toEqual([]);
  });
});

describe('ops/grafana.json', () => {
  it.each(PANELS)('%s: %s', (_, expression) => {
    expect(faultsOf(expression)).toEqual([]);
  });
});

it('every metric has an alert or a panel', () => {
  const shown = new Set([...RULES, ...PANELS].flatMap(([, expression]) => metricsIn(expression)));
  const unseen = Object.entries(METRICS).filter(
    ([name, { type }]) => !SUFFIXES[type].some((suffix) => shown.has(name + suffix)),
  );
  expect(unseen.map(([name]) => name)).toEqual([]);
});

it('finds wrong names', () => {
  expect(faultsOf('rate(citeward_requests[5m]')).toEqual(['unknown metric citeward_requests', 'unbalanced brackets']);
  expect(faultsOf('sum by (desk) (citeward_requests_total{run="x"})')).toEqual([
    'unknown label run',
    'unknown label desk',
  ]);
  expect(faultsOf('vllm:gpu_cache_usage')).toEqual(['unknown metric vllm:gpu_cache_usage']);
});
