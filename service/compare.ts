/** Compares answers in pairs for `/v1/compare` and its adapter: validated input in, win rates or a failure out. */
import { type Compared, type Comparing, compareAnswers } from '../src/scoring/compare.ts';
import type { ScoringPlatform } from './ports.ts';
import { type JudgedReply, type JudgingOptions, withJudges } from './score.ts';

/** Compares the answers with the first judge that can; a fallback judge compares all pairs. */
export function compareTogether(
  comparing: Comparing,
  options: JudgingOptions,
  platform: ScoringPlatform,
): Promise<JudgedReply<Compared>> {
  return withJudges(options, platform, async (obtain) => {
    const compared = await compareAnswers(comparing, obtain);
    if (compared.missing.length > 0) return { status: 'missing', judgments: compared.missing };
    const failed = compared.answers.flatMap(({ failure }) => failure ?? []);
    const failure = failed.find(({ reason }) => reason !== 'judgment_skipped') ?? null;
    return { status: 'done', value: compared, failure, timings: compared.timings };
  });
}
