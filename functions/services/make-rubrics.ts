/** Makes criteria for `/v1/rubrics` and for groups whose rubrics evolve: validated input in, criteria or a failure out. */
import { type MadeRubrics, makeRubrics, type RubricsToMake } from '../../src/rubrics/make-rubrics.ts';
import type { ScoringPlatform } from './ports.ts';
import { type JudgedReply, type JudgingOptions, withJudges } from './score.ts';

/** Asks the first judge that can. @param options the judge, and whether stored generations are enough. */
export function makeRubricsWith(
  wanted: RubricsToMake,
  options: Pick<JudgingOptions, 'judge' | 'judgments' | 'replicate'>,
  platform: ScoringPlatform,
): Promise<JudgedReply<MadeRubrics>> {
  return withJudges({ ...options, on_judge_failure: 'error' }, platform, async (obtain) => {
    const made = await makeRubrics(wanted, obtain);
    const { kind, key, outcome } = made.obtained;
    if (!outcome.ok && outcome.failure.reason === 'judgment_missing' && key !== null) {
      return { status: 'missing', judgments: [{ kind, key }] };
    }
    return { status: 'done', value: made, failure: outcome.ok ? null : outcome.failure, timings: made.timings };
  });
}
