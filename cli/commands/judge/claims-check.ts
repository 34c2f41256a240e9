/** Compares the verdicts of a judge on labelled claims (full, partial, none) with the labels. */

import type { CitationsRequest, Support } from '../../../src/judgments/kinds/citations/citations.ts';
import { type AgreementTable, PairCounter } from '../../../src/judgments/rater-agreement.ts';
import { type ClaimLabel, LABELS, type LabelledClaim } from './check-rows.ts';
import type { CheckedJudge } from './judges.ts';
import type { JudgingReport, MeasuredJudge } from './measured-judge.ts';

/** Verdicts in the order of the corresponding labels. */
export const VERDICTS = ['none', 'partial', 'full'] as const;

/** The counts of one set of claims. */
export type ClaimCounts = {
  readonly claims: number;
  /** Claims without a verdict, by label. */
  readonly failed: Readonly<Record<ClaimLabel, number>>;
  /** Counts of claims. Rows: labels from unsupported to supported; columns: verdicts from none to full. */
  readonly table: AgreementTable;
};

export type ClaimsReport = {
  readonly judging: JudgingReport;
  /** The counts of each set, in the order of the first claim of each set. */
  readonly sets: ReadonlyMap<string, ClaimCounts>;
};

type ClaimRow = { readonly cut: boolean; readonly anyVerdict: boolean };

/** Counts the verdicts of one set. */
class SetCounts {
  readonly #pairs = new PairCounter(LABELS.length);
  readonly #failed: Record<ClaimLabel, number> = { unsupported: 0, partial: 0, supported: 0 };
  #claims = 0;

  add(label: ClaimLabel, support: Support | null): void {
    this.#claims++;
    if (support === null) this.#failed[label]++;
    else this.#pairs.add(LABELS.indexOf(label), support * 2);
  }

  get counts(): ClaimCounts {
    return { claims: this.#claims, failed: { ...this.#failed }, table: this.#pairs.table };
  }
}

export class ClaimsCheck {
  readonly #judge: MeasuredJudge;
  readonly #sets = new Map<string, SetCounts>();

  constructor(judge: CheckedJudge) {
    this.#judge = judge.measured(0);
  }

  async check(claim: LabelledClaim): Promise<ClaimRow> {
    const fitted = this.#judge.fit(claimRequest(claim), new Set([0]));
    if (!fitted.ok) {
      this.#judge.fail(fitted.failure.reason);
      this.#add(claim, null);
      return { cut: false, anyVerdict: false };
    }
    const verdicts = await this.#judge.ask(fitted.request);
    const verdict = verdicts?.kind === 'citations' ? verdicts.claims[0] : undefined;
    this.#add(claim, verdict?.support ?? null);
    return { cut: fitted.cuts.length > 0, anyVerdict: verdict !== undefined };
  }

  #add({ set, label }: LabelledClaim, support: Support | null): void {
    const counts = this.#sets.get(set) ?? new SetCounts();
    this.#sets.set(set, counts);
    counts.add(label, support);
  }

  get report(): ClaimsReport {
    return {
      judging: this.#judge.report,
      sets: new Map([...this.#sets].map(([name, set]) => [name, set.counts])),
    };
  }
}

/** A request in which an answer makes the claim and cites the evidence. The question is unknown. */
function claimRequest({ claim, evidence }: LabelledClaim): CitationsRequest {
  return {
    kind: 'citations',
    question: '(not known)',
    sources: [{ id: 'evidence', text: evidence }],
    claims: [{ claim: 0, text: claim, sources: [0] }],
    statements: [],
  };
}
