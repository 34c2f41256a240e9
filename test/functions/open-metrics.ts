/** Reads an OpenMetrics page strictly: groups, types, suffixes, buckets, the end. */
import { expect } from 'vitest';

export type Page = {
  /** The type of each family. */
  readonly types: ReadonlyMap<string, string>;
  /** The value of a sample as the page writes it, such as `a_total{b="c"}`; 0 if it is absent. */
  readonly value: (sample: string) => number;
  /** The samples of a family. */
  readonly samplesOf: (family: string) => readonly string[];
};

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
};
const SAMPLE = /^(?<name>[a-z_]+)(?:\{(?<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?<value>[-+.e\d]+)$/;

/** @throws if the page is not valid. */
export function readPage(text: string): Page {
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  const families = new Map<string, string[]>();
  let family = '';
  for (const line of text.slice(0, -'# EOF\n'.length).trimEnd().split('\n')) {
    const [, directive = '', name = '', rest = ''] = /^# (TYPE|HELP) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (directive === 'TYPE') {
      // A family occurs once.
      expect(types.has(name), name).toBe(false);
      types.set(name, rest);
      families.set(name, []);
      family = name;
    } else if (directive === 'HELP') expect(name).toBe(family);
    else {
      const found = SAMPLE.exec(line)?.groups;
      expect(found, line).toBeDefined();
      const sample = line.slice(0, line.lastIndexOf(' '));
      const suffixes = SUFFIXES[types.get(family) ?? ''] ?? [];
      expect(suffixes.map((suffix) => family + suffix)).toContain(found?.['name']);
      expect(values.has(sample), sample).toBe(false);
      values.set(sample, Number(found?.['value']));
      families.get(family)?.push(sample);
    }
  }
  for (const [name, samples] of families) if (types.get(name) === 'histogram') checkHistogram(name, samples, values);
  return {
    types,
    value: (sample) => values.get(sample) ?? 0,
    samplesOf: (name) => families.get(name) ?? [],
  };
}

/** The samples of one label set stand together; buckets grow, and the last one is the count. */
function checkHistogram(name: string, samples: readonly string[], values: ReadonlyMap<string, number>): void {
  const labelsOf = (sample: string): string => sample.slice(sample.indexOf('{')).replace(/,?le="[^"]*"/, '');
  const inOrder = samples.map(labelsOf).filter((labels, n, all) => labels !== all[n - 1]);
  expect(inOrder).toEqual([...new Set(inOrder)]);
  for (const labels of inOrder) {
    const buckets = samples.filter((sample) => sample.startsWith(`${name}_bucket`) && labelsOf(sample) === labels);
    const counts = buckets.map((sample) => values.get(sample) ?? Number.NaN);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toContain('le="+Inf"');
    expect(counts.at(-1)).toBe(values.get(`${name}_count${labels}`));
    expect(values.has(`${name}_sum${labels}`)).toBe(true);
  }
}
