/**
 * Counts events in this isolate. A deployment has many isolates, so the counts are only increments: they are moved to
 * desk 0, which adds them up (figure-totals.ts). Increments of an isolate that ends before are lost.
 */
import { BUCKETS_S, boundText, type CounterName, type HistogramName, type METRICS, sampleOf } from './catalogue.ts';

/** A sample of the page, and by how much it grew. */
export type Increment = { readonly sample: string; readonly value: number };

/** A limit against labels without bound; a deployment has some hundred series. */
export const MAX_SERIES = 4_000;
const MAX_HISTOGRAMS = 200;

type TextsOf<Labels extends readonly string[]> = { readonly [Position in keyof Labels]: string };
type LabelsOf<Name extends CounterName | HistogramName> = TextsOf<(typeof METRICS)[Name]['labels']>;

/** A histogram between two drains. Names of samples are made when it is drained, because that costs more than counting. */
type Histogram = {
  readonly name: HistogramName;
  readonly labels: readonly string[];
  /** How many durations are in each bucket and in no smaller one; the last has those beyond all bounds. */
  readonly counts: number[];
  sum: number;
};

export class Counts {
  #samples = new Map<string, number>();
  #histograms = new Map<string, Histogram>();

  /** Counts events. @param labels values, in the order of the catalogue. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, events = 1): void {
    this.#add(sampleOf(name, '_total', labels), events);
  }

  /** Adds one duration to a histogram. @param seconds the duration. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    const key = [name, ...labels].join('\n');
    let histogram = this.#histograms.get(key);
    if (histogram === undefined) {
      if (this.#histograms.size >= MAX_HISTOGRAMS) return;
      histogram = { name, labels, counts: Array<number>(BUCKETS_S.length + 1).fill(0), sum: 0 };
      this.#histograms.set(key, histogram);
    }
    const found = BUCKETS_S.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BUCKETS_S.length : found;
    histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
    histogram.sum += seconds;
  }

  get isEmpty(): boolean {
    return this.#samples.size === 0 && this.#histograms.size === 0;
  }

  /** Removes and returns everything that was counted. */
  drain(): Increment[] {
    for (const histogram of this.#histograms.values()) this.#addHistogram(histogram);
    this.#histograms = new Map();
    const drained = [...this.#samples].map(([sample, value]) => ({ sample, value }));
    this.#samples = new Map();
    return drained;
  }

  /** Puts back what could not be moved. */
  restore(increments: readonly Increment[]): void {
    for (const { sample, value } of increments) this.#add(sample, value);
  }

  #addHistogram({ name, labels, counts, sum }: Histogram): void {
    let atMost = 0;
    for (const [n, count] of counts.entries()) {
      atMost += count;
      const bound = BUCKETS_S[n];
      // Also 0, so that every bucket exists.
      this.#add(sampleOf(name, '_bucket', labels, bound === undefined ? '+Inf' : boundText(bound)), atMost);
    }
    this.#add(sampleOf(name, '_sum', labels), sum);
    this.#add(sampleOf(name, '_count', labels), atMost);
  }

  #add(sample: string, value: number): void {
    const known = this.#samples.get(sample);
    if (known === undefined && this.#samples.size >= MAX_SERIES) return;
    this.#samples.set(sample, (known ?? 0) + value);
  }
}

/** The counts of this isolate: of its handlers and of its Durable Objects. */
export const isolateCounts = new Counts();
