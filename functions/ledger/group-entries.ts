/**
 * The entries of a group: which attempt of its sample a rollout is, which record of it counts, and the form in which a
 * record stores them.
 */
import type * as z from 'zod';
import type { RecordingOutcome } from '../../service/ledger-port.ts';
import type { AnswerCounts } from '../../src/runs/rollout-counts.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import { compareBytes } from './byte-order.ts';
import { type Entry, entriesSchema, type NewEntry, type PageCall } from './ledger-messages.ts';

/** An entry with the number of its record. */
export type Numbered = { readonly seq: number; readonly entry: Entry };

/** A sample with this content that has no reward; `null` = there is none. A sample that was scored later has one. */
export function unscoredSample(entries: readonly Entry[], content: string): string | null {
  const equal = entries.filter((entry) => entry.content === content);
  const scored = new Set(equal.flatMap(({ sample, reward }) => (reward === null ? [] : [sample])));
  return equal.find(({ sample }) => !scored.has(sample))?.sample ?? null;
}

/** The attempts at each place of a group, while rollouts are added. */
export class AttemptsOfGroup {
  readonly #samples = new Map<string, { content: string; attempt: number; lacking: number }[]>();

  constructor(entries: readonly Numbered[]) {
    for (const { entry } of entries) this.#note(entry);
  }

  #note({ sample, content, attempt, lacking }: Pick<Entry, 'sample' | 'content' | 'attempt' | 'lacking'>): void {
    const there = this.#samples.get(sample) ?? [];
    this.#samples.set(sample, there);
    const same = there.find((one) => one.content === content);
    if (same === undefined) there.push({ content, attempt, lacking });
    else same.lacking = Math.min(same.lacking, lacking);
  }

  /**
   * Finds the attempt of a rollout. Other content at the same place is the next attempt; equal content counts again only
   * with fewer missing measurements, and an imported rollout replaces nothing. `isNew`: the content is new at its place.
   */
  place(entry: NewEntry): { readonly outcome: RecordingOutcome; readonly isNew: boolean } {
    const { sample, content, lacking, attempt: imported } = entry;
    const there = this.#samples.get(sample) ?? [];
    const same = there.find((one) => one.content === content);
    if (same !== undefined) {
      const { attempt } = same;
      const isBetter = imported === null && lacking < same.lacking;
      if (isBetter) same.lacking = lacking;
      return { outcome: { attempt, status: isBetter ? 'recorded' : 'unchanged' }, isNew: false };
    }
    if (imported !== null && there.some((one) => one.attempt === imported)) {
      return { outcome: { attempt: imported, status: 'taken' }, isNew: false };
    }
    const attempt = imported ?? there.reduce((last, one) => Math.max(last, one.attempt + 1), 0);
    this.#note({ sample, content, attempt, lacking });
    return { outcome: { attempt, status: 'recorded' }, isNew: true };
  }
}

/**
 * The rollouts of a group by sample, then attempt, in byte order. Of several records of one attempt the one with the
 * fewest missing measurements counts, of those the last.
 */
export function rolloutsOf(entries: readonly Numbered[], attempts: PageCall['attempts']): Numbered[] {
  const best = new Map<string, Numbered>();
  for (const one of entries) {
    const { sample, attempt, lacking } = one.entry;
    const place = attempts === 'all' ? `${attempt} ${sample}` : sample;
    const other = best.get(place)?.entry;
    if (other === undefined || attempt > other.attempt || (attempt === other.attempt && lacking <= other.lacking))
      best.set(place, one);
  }
  return [...best.values()].sort(
    (one, other) => compareBytes(one.entry.sample, other.entry.sample) || one.entry.attempt - other.entry.attempt,
  );
}

type StoredEntry = z.infer<typeof entriesSchema>[number];

export function entriesText(entries: readonly Entry[]): string {
  return JSON.stringify(entries.map(storedEntry));
}

function storedEntry(one: Entry): StoredEntry {
  const always = [
    one.sample,
    one.content,
    one.attempt,
    one.lacking,
    one.line,
    one.inferred,
    one.reward,
    one.reason,
    { ...one.components },
    one.judgments,
    one.cached,
    countsArray(one.counts),
  ] as const;
  const { answer, outcome, metrics } = one.counts;
  const words: StoredAnswer = answer === undefined ? [] : answer === null ? null : answerArray(answer);
  if (outcome === undefined && metrics === undefined) return answer === undefined ? [...always] : [...always, words];
  const reported = { ...(outcome === undefined ? {} : { outcome }), ...(metrics === undefined ? {} : { metrics }) };
  return [...always, words, reported];
}

/** @throws UnknownForm if a later version wrote them. */
export function entriesOf(text: string): Entry[] {
  const read = entriesSchema.safeParse(JSON.parse(text));
  if (!read.success) throw new UnknownForm('entries of a record');
  return read.data.map(
    ([
      sample,
      content,
      attempt,
      lacking,
      line,
      inferred,
      reward,
      reason,
      components,
      judgments,
      cached,
      numbers,
      words,
      reported,
    ]) => ({
      sample,
      content,
      attempt,
      lacking,
      line,
      inferred,
      reward,
      reason,
      components,
      judgments,
      cached,
      counts: { ...countsOf(numbers), ...answerOf(words), ...reported },
    }),
  );
}

function countsArray(counts: Entry['counts']): StoredEntry[11] {
  const { claims, citations, chars, tokens, criteria, agreement, persistent_reward, judged_by } = counts;
  const findings = counts.findings === null ? null : { ...counts.findings };
  // Every rollout has these; the others are stored up to the last one that is there.
  const always = [claims, citations, chars, tokens, findings, criteria] as const;
  if (judged_by !== undefined) return [...always, agreement ?? null, persistent_reward ?? null, judged_by];
  if (persistent_reward !== undefined) return [...always, agreement ?? null, persistent_reward];
  return agreement === undefined ? [...always] : [...always, agreement];
}

function countsOf(numbers: StoredEntry[11]): Entry['counts'] {
  const [claims, citations, chars, tokens, findings, criteria, agreement = null, persistent = null, judge] = numbers;
  return {
    ...{ claims, citations, chars, tokens, findings, criteria },
    ...(agreement === null ? {} : { agreement }),
    ...(persistent === null ? {} : { persistent_reward: persistent }),
    ...(judge === undefined ? {} : { judged_by: judge }),
  };
}

type StoredAnswer = NonNullable<StoredEntry[12]> | null;

function answerArray(answer: AnswerCounts): StoredAnswer {
  const { words, copied, shared, best, sources, cited, hash, structure } = answer;
  const always = [words, copied, shared, best, sources, cited, hash] as const;
  if (structure === undefined) return [...always];
  const { claims, ids, repeated, place, hedges } = structure;
  return [...always, claims, ids, repeated, place, hedges ? 1 : 0];
}

function answerOf(stored: StoredEntry[12]): Pick<Entry['counts'], 'answer'> {
  if (stored === undefined) return {};
  if (stored === null) return { answer: null };
  if (stored.length === 0) return {};
  const [words, copied, shared, best, sources, cited, hash, ...of] = stored;
  const answer = { words, copied, shared, best, sources, cited, hash };
  if (of.length === 0) return { answer };
  const [claims, ids, repeated, place, hedges] = of;
  return { answer: { ...answer, structure: { claims, ids, repeated, place, hedges: hedges === 1 } } };
}
