/** Findings about the conversion of a cited answer: where the vendor's data contradict each other or the sources. */
import type { InputProblem } from '../../input-problem.ts';
import { MAX_FINDINGS } from '../../limits.ts';
import type { Span } from '../../text/span.ts';
import type { AnswerFindingReason } from './names.ts';
import type { Reading } from './readings.ts';

/** One finding of a conversion. */
export type AnswerFinding = {
  readonly reason: AnswerFindingReason;
  /** Place in `cited_answer`, as field names and indexes. */
  readonly path: InputProblem['path'];
  /** Place in the answer's text, if there is one. */
  readonly span?: Span;
  /** The reading of the offsets that was taken, if it is not the usual one. */
  readonly reading?: Reading;
};

/** Lists up to MAX_FINDINGS findings and counts all. */
export class AnswerFindings {
  readonly list: AnswerFinding[] = [];
  count = 0;

  add(finding: AnswerFinding): void {
    this.count++;
    if (this.list.length < MAX_FINDINGS) this.list.push(finding);
  }
}
