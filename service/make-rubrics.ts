/** Makes criteria for `/v1/rubrics` and for groups whose rubrics evolve: validated input in, criteria or a failure out. */
import { DEFAULT_MOST, type MadeRubrics, makeRubrics, type RubricsToMake } from '../src/rubrics/make-rubrics.ts';
import { judgedText } from '../src/wire/compare.ts';
import type { RubricMaker, ScoringPlatform } from './ports.ts';
import { wireReason } from './problems.ts';
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

/** Makes criteria from the responses of a group, without their thinking. */
export async function makeGroupRubrics(
  { question, responses, persistent, active, retired, generator }: Parameters<RubricMaker>[0],
  platform: ScoringPlatform,
): ReturnType<RubricMaker> {
  const wanted: RubricsToMake = {
    question,
    sources: [],
    reference: null,
    responses: responses.map(judgedText),
    existing: [
      ...persistent.map((one) => ({ state: 'persistent' as const, ...one })),
      ...active.map((one) => ({ state: 'active' as const, ...one })),
      ...retired.map((one) => ({ state: 'inactive' as const, ...one })),
    ],
    most: DEFAULT_MOST,
  };
  const judge = generator === null ? {} : { judge: generator };
  const made = await makeRubricsWith(wanted, { ...judge, judgments: 'use', replicate: 0 }, platform);
  if (!made.ok) return { ok: false, error: { reason: wireReason(made.failure) } };
  const { criteria, obtained, responses: read, rejected } = made.reply;
  if (criteria === null) throw new Error('makeGroupRubrics: a failure was no failure');
  const weighted = criteria.map(({ criterion }) => ({ ...criterion, weight: 1 }));
  const left = rejected.map(({ criterion, reason }) => ({ ...criterion, failed: reason }));
  return { ok: true, value: { criteria: weighted, judgment: obtained.key, read, rejected: left } };
}
