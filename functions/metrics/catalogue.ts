/**
 * Every metric of `GET /metrics`: its name, type, help text and labels. Values of labels are bounded: names of the
 * configuration, routes of the Worker, reasons of the wire contract. docs/guides/operations.md explains them.
 */

type Family = {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Names of the labels, in the order of their values. */
  readonly labels: readonly string[];
};

export const METRICS = {
  citeward_requests: counter('HTTP requests.', ['route', 'status', 'reason']),
  citeward_rollouts: counter('Rollouts of live requests.', ['outcome']),
  citeward_store_errors: counter('Failed calls of a store.', ['store', 'operation']),
  citeward_alarm_failures: counter('Alarms of Durable Objects that threw.', ['object']),
  citeward_dead_letters: counter('Queue messages that ended in the dead-letter queue.', []),
  citeward_task_failures: counter('Tasks of batches that failed for a reason of their own.', ['kind']),
  citeward_webhook_attempts: counter('Attempts to deliver a webhook.', ['outcome']),
  citeward_series_dropped: counter('Increments that were dropped because there are too many series.', []),
  citeward_desk_lookups: counter('Judgments that desks were asked for, by where they came from.', ['source']),
  citeward_judge_calls: counter('Judge calls that desks made or refused.', ['judge', 'outcome']),
  citeward_judge_tokens: counter('Tokens of judge calls.', ['judge', 'direction']),
  citeward_judge_call_seconds: histogram('Duration of judge calls.', ['judge']),
  citeward_judge_header_seconds: histogram('Time from the start of a judge request to its response headers.', [
    'judge',
  ]),
  citeward_judge_slot_wait_seconds: histogram('Time that a judge call waited for a slot.', ['judge']),
  citeward_judge_connection_wait_seconds: histogram('Time that a judge request waited for a connection.', ['judge']),
  citeward_kv_writes: counter('Values written to KV by desks: the judgments of an answer, or one of them.', [
    'outcome',
  ]),
  citeward_desks: gauge('Desks that this request asked.', []),
  citeward_desks_unanswered: gauge('Desks that did not answer this request; their figures are missing.', []),
  citeward_desk_projects_left_out: gauge('Active projects with desks of their own that were not asked.', []),
  citeward_judge_slots: gauge('Slots of a judge that its desks own.', ['judge']),
  citeward_judge_running: gauge('Judge calls that hold a slot.', ['judge']),
  citeward_judge_waiting: gauge('Judge calls that wait for a slot.', ['judge', 'class']),
  citeward_judge_breakers_open: gauge('Desks whose circuit breaker for a judge is open.', ['judge']),
  citeward_desk_connections_waiting: gauge('Judge requests that wait for a connection.', []),
  citeward_desk_prompt_bytes_highest: gauge('Bytes of prompts in the isolate with the most.', []),
  citeward_desk_kv_backlog: gauge('Judgments that KV lacks.', []),
  citeward_desk_kv_backlog_highest: gauge('Judgments that KV lacks at the desk with the most.', []),
  citeward_desk_storage_bytes: gauge('Bytes of SQLite of all desks.', []),
  citeward_queue_backlog: gauge('Messages that wait in a queue.', ['queue']),
  citeward_ledger_shards_active: gauge('Ledger objects of runs that were recorded in during the last 10 minutes.', []),
  citeward_ledger_bytes: gauge('Bytes of SQLite of these objects.', []),
  citeward_ledger_bytes_highest: gauge('Bytes of SQLite of the largest of these objects; an object has 10 GB.', []),
  citeward_ledger_calls_per_second_highest: gauge('Calls per second of the busiest of these objects.', []),
} as const satisfies Readonly<Record<string, Family>>;

export type MetricName = keyof typeof METRICS;
type NamesOf<Type extends Family['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** Upper bounds of the buckets of every histogram, in seconds, without the infinite one. */
export const BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120] as const;

/** The samples of a histogram end in these. */
export const HISTOGRAM_SUFFIXES = ['_bucket', '_count', '_sum'] as const;

/** Returns one sample's name and labels as OpenMetrics writes them. @param suffix of the sample, such as `_total`. */
export function sampleOf(name: MetricName, suffix: string, values: readonly string[], le?: string): string {
  const labels = METRICS[name].labels.map((label, position) => `${label}="${escaped(values[position] ?? '')}"`);
  if (le !== undefined) labels.push(`le="${le}"`);
  return labels.length === 0 ? name + suffix : `${name}${suffix}{${labels.join(',')}}`;
}

/** A number as the label `le` has it: with a decimal point. */
export function boundText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function counter<const Labels extends readonly string[]>(help: string, labels: Labels) {
  return { type: 'counter', help, labels } as const;
}

function gauge<const Labels extends readonly string[]>(help: string, labels: Labels) {
  return { type: 'gauge', help, labels } as const;
}

function histogram<const Labels extends readonly string[]>(help: string, labels: Labels) {
  return { type: 'histogram', help, labels } as const;
}
