/** Writes samples as an OpenMetrics page (text format 1.0). */
import { HISTOGRAM_SUFFIXES, METRICS, type MetricName } from './catalogue.ts';
import type { Increment } from './counts.ts';

export const OPEN_METRICS_MEDIA = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Samples of names that the catalogue does not have are left out: another version of the Worker counted them. */
export function openMetricsPage(samples: readonly Increment[]): string {
  const byName = Map.groupBy(samples, ({ sample }) => /^\w+/.exec(sample)?.[0] ?? '');
  const lines = METRIC_NAMES.flatMap((name) => {
    const { type, help, labels } = METRICS[name];
    const head = [`# TYPE ${name} ${type}`, `# HELP ${name} ${help}`];
    const own = suffixesOf(type).flatMap((suffix) => byName.get(name + suffix) ?? []);
    // A counter without labels begins at 0, so that its first event counts as growth.
    if (type === 'counter' && labels.length === 0 && own.length === 0) own.push({ sample: `${name}_total`, value: 0 });
    // The samples of one histogram stand together, in the order of its suffixes and buckets.
    const groups = Map.groupBy(own, ({ sample }) => labelsOf(sample));
    return [...head, ...[...groups.values()].flat().map(({ sample, value }) => `${sample} ${value}`)];
  });
  return `${[...lines, '# EOF'].join('\n')}\n`;
}

const METRIC_NAMES = Object.keys(METRICS).filter((name): name is MetricName => name in METRICS);

/** The labels of a sample without the bound of its bucket. */
function labelsOf(sample: string): string {
  const start = sample.indexOf('{');
  return start < 0 ? '' : sample.slice(start).replace(/,?le="[^"]*"\}$/, '}');
}

function suffixesOf(type: (typeof METRICS)[MetricName]['type']): readonly string[] {
  switch (type) {
    case 'counter':
      return ['_total'];
    case 'gauge':
      return [''];
    case 'histogram':
      return HISTOGRAM_SUFFIXES;
  }
}
