/**
 * Counts events in this isolate. A deployment has many isolates, so the counts are only increments: they are moved to
 * desk 0, which adds them up (figure-totals.ts). Increments of an isolate that ends before are lost.
 */
import { BUCKETS_S, boundText, type CounterName, type FAMILIES, type HistogramName, sampleOf } from './catalogue.ts';

/** A sample of the page, and by how much it grew. */
export type Increment = { readonly sample: string; readonly value: number };

/** A limit against labels without bound; a deployment has some hundred series. */
export const MAX_SERIES = 4_000;

type TextsOf<Labels extends readonly string[]> = { readonly [Position in keyof Labels]: string };
type LabelsOf<Name extends CounterName | HistogramName> = TextsOf<(typeof FAMILIES)[Name]['labels']>;

export class Counts {
  #samples = new Map<string, number>();

  /** Counts events. @param labels values, in the order of the catalogue. */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, events = 1): void {
    this.#add(sampleOf(name, '_total', labels), events);
  }

  /** Adds one duration to a histogram. @param seconds the duration. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    for (const bound of BUCKETS_S) this.#bucket(name, labels, boundText(bound), seconds <= bound);
    this.#bucket(name, labels, '+Inf', true);
    this.#add(sampleOf(name, '_sum', labels), seconds);
    this.#add(sampleOf(name, '_count', labels), 1);
  }

  get isEmpty(): boolean {
    return this.#samples.size === 0;
  }

  /** Removes and returns everything that was counted. */
  drain(): Increment[] {
    const drained = [...this.#samples].map(([sample, value]) => ({ sample, value }));
    this.#samples = new Map();
    return drained;
  }

  /** Puts back what could not be moved. */
  restore(increments: readonly Increment[]): void {
    for (const { sample, value } of increments) this.#add(sample, value);
  }

  /** Counts 0, too, so that every bucket exists. */
  #bucket(name: HistogramName, labels: readonly string[], le: string, counts: boolean): void {
    this.#add(sampleOf(name, '_bucket', labels, le), counts ? 1 : 0);
  }

  #add(sample: string, value: number): void {
    const known = this.#samples.get(sample);
    if (known === undefined && this.#samples.size >= MAX_SERIES) return;
    this.#samples.set(sample, (known ?? 0) + value);
  }
}

/** The counts of this isolate: of its handlers and of its Durable Objects. */
export const isolateCounts = new Counts();
