/**
 * Puts labelled rows to a judge: in the measured way, and unless the check is quick in other ways and again with other
 * seeds. Keeps the verdicts; src/labels/ computes the figures.
 */
import { createHash } from 'node:crypto';
import type { CallOptions } from '../../../src/judgments/connections.ts';
import type { Verdicts } from '../../../src/judgments/kinds/registry.ts';
import { rubricCalls } from '../../../src/judgments/kinds/rubric/rubric-calls.ts';
import { type Way, type WayOfAsking, waysOfAsking } from '../../../src/labels/label-probes.ts';
import { labelRequest, levelOfVerdict } from '../../../src/labels/label-request.ts';
import type { LabelledRow } from '../../../src/labels/labelled-row.ts';
import { type MissingProbability, verdictProbability } from '../../../src/labels/verdict-probability.ts';
import type { CheckedJudge } from './judges.ts';
import { isDeterministic } from './judges.ts';
import type { JudgingReport, MeasuredJudge } from './measured-judge.ts';

/** The levels of one row's verdicts; `null` = the judge gave none. */
export type RowVerdicts = {
  readonly verdict: number | null;
  /**
   * The probability of the highest level: what a classifier gives a claim, or the log-probabilities of a language model
   * say; `null` = there is none.
   */
  readonly score: number | null;
  /** Why the log-probabilities that were asked for say none; `null` = they say one, or were not asked for. */
  readonly missing: MissingProbability | null;
  /** The tier of a cascade that decided a claim; `null` = there is none. */
  readonly tier: number | null;
  /** Ways that do not apply to the row are absent. */
  readonly ways: Readonly<Partial<Record<Way, number | null>>>;
  /** One entry for each repetition. */
  readonly again: readonly (number | null)[];
};

export type LabelledRowEnd = { readonly cut: boolean; readonly anyVerdict: boolean; readonly verdicts: RowVerdicts };

export type LabelledJudging = {
  /** The measured way: what a deployment pays for these questions. */
  readonly measured: JudgingReport;
  readonly ways: Readonly<Partial<Record<Way, JudgingReport>>>;
  readonly again: readonly JudgingReport[];
  /** The judge's quotes for supported claims in the measured way; `null` = no claim got support. */
  readonly quotes: QuoteCounts | null;
};

/** `unverified`: no cited source contains the quote, it leaves out what changes its meaning, or it is empty. */
type QuoteCounts = { readonly supported: number; readonly unverified: number; readonly share: number };

export class LabelledCheck {
  readonly #judge: CheckedJudge;
  readonly #quick: boolean;
  readonly #measured: MeasuredJudge;
  readonly #ways = new Map<Way, MeasuredJudge>();
  readonly #again: readonly MeasuredJudge[];
  #supported = 0;
  #unverified = 0;

  /**
   * @param replicates how many times a row is judged again; a deterministic judge gets no repetition.
   * @param quick asks in the measured way only.
   */
  constructor(judge: CheckedJudge, { replicates, quick }: { readonly replicates: number; readonly quick: boolean }) {
    this.#judge = judge;
    this.#quick = quick;
    this.#measured = judge.measured(0);
    const again = quick || isDeterministic(judge) ? 0 : replicates;
    this.#again = Array.from({ length: again }, (_, position) => judge.measured(position + 1));
  }

  async check(row: LabelledRow): Promise<LabelledRowEnd> {
    const { request: usual, cited } = labelRequest(row);
    const { template } = this.#judge;
    const [call] =
      usual.kind === 'rubric' && template !== null ? rubricCalls(usual, { judging: 'joint', template }) : [];
    const request = call?.request ?? usual;
    const { measured, others } = waysOfAsking(row, request, this.#judge);
    let tokens: readonly unknown[] = [];
    const keep = (reply: readonly unknown[]): void => {
      tokens = reply;
    };
    const onLogprobs = this.#judge.logprobs === true ? keep : undefined;
    const { verdict, verdicts: given, cut } = await this.#ask(this.#measured, row, measured, cited, onLogprobs);
    for (const { support, quote, score } of given?.kind === 'citations' ? given.claims : []) {
      // A classifier, which gives a score, quotes nothing.
      if (support === 0 || score !== undefined) continue;
      this.#supported++;
      if (quote === 'unverified') this.#unverified++;
    }
    const ways: Partial<Record<Way, number | null>> = {};
    // Ways of asking see the same sources only if nothing is cut.
    for (const other of this.#quick || cut ? [] : others) {
      const judge = this.#ways.get(other.way) ?? this.#judge.measured(0);
      this.#ways.set(other.way, judge);
      ways[other.way] = (await this.#ask(judge, row, other, cited)).verdict;
    }
    const again: (number | null)[] = [];
    for (const judge of this.#again) again.push((await this.#ask(judge, row, measured, cited)).verdict);
    const [claim] = given?.kind === 'citations' ? given.claims : [];
    const said =
      onLogprobs === undefined || verdict === null
        ? null
        : verdictProbability(row.asked.kind, tokens, measured.position);
    const score = claim?.score ?? (typeof said === 'number' ? said : null);
    const missing = typeof said === 'string' ? said : null;
    const verdicts = { verdict, score, missing, tier: claim?.tier ?? null, ways, again };
    const anyVerdict = [verdict, ...Object.values(ways), ...again].some((level) => level !== null);
    return { cut, anyVerdict, verdicts };
  }

  async #ask(
    judge: MeasuredJudge,
    row: LabelledRow,
    { request, position }: WayOfAsking,
    cited: ReadonlySet<number>,
    onLogprobs?: CallOptions['onLogprobs'],
  ): Promise<{ readonly verdict: number | null; readonly verdicts: Verdicts | null; readonly cut: boolean }> {
    const fitted = judge.fit(request, cited);
    if (!fitted.ok) {
      judge.fail(fitted.failure.reason);
      return { verdict: null, verdicts: null, cut: false };
    }
    const verdicts = await judge.ask(fitted.request, onLogprobs);
    const verdict = verdicts === null ? null : levelOfVerdict(row, verdicts, position);
    return { verdict, verdicts, cut: fitted.cuts.length > 0 };
  }

  get judging(): LabelledJudging {
    return {
      measured: this.#measured.report,
      ways: Object.fromEntries([...this.#ways].map(([way, judge]) => [way, judge.report])),
      again: this.#again.map(({ report }) => report),
      quotes:
        this.#supported === 0
          ? null
          : { supported: this.#supported, unverified: this.#unverified, share: this.#unverified / this.#supported },
    };
  }
}

/** A labelled row without the text of its sources, so that memory holds many. */
export type KeptRow = Omit<LabelledRow, 'sources' | 'context' | 'reason' | 'ratings'> & {
  /** Rows of one question, or without a question of the same sources, share a cluster. */
  readonly cluster: number;
  /** Ids. */
  readonly sources: readonly string[];
  readonly sources_digest: string;
};

/** Keeps rows, and numbers their clusters in the order of their first row. */
export class LabelledRows {
  readonly #clusters = new Map<string, number>();
  readonly #rows: KeptRow[] = [];

  add({ context: _context, reason: _reason, ratings: _ratings, sources, ...row }: LabelledRow): void {
    const sources_digest = digestOf(JSON.stringify(sources));
    const question = row.question === null ? null : digestOf(row.question.trim());
    const together = question ?? (sources.length > 0 ? sources_digest : `row ${this.#rows.length}`);
    const cluster = this.#clusters.get(together) ?? this.#clusters.size;
    this.#clusters.set(together, cluster);
    this.#rows.push({ ...row, cluster, sources: sources.map(({ id }) => id), sources_digest });
  }

  get rows(): readonly KeptRow[] {
    return this.#rows;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
