/** Checks a text against sources for the drop-ins of grounding APIs: validated input in, verdicts or a failure out. */
import type { ObtainedJudgment } from '../src/judgments/obtain.ts';
import { checkGrounding, type Grounding, type GroundingRequest } from '../src/scoring/grounding.ts';
import type { ScoringPlatform } from './ports.ts';
import { type JudgedReply, withJudges } from './score.ts';

/** What a check gave, with its judgments for the log. */
export type Grounded = { readonly grounding: Grounding; readonly judgments: readonly ObtainedJudgment[] };

/** Checks with the deployment's default judge. @param keepReasons whether the judge's reasons are wanted. */
export async function ground(
  request: GroundingRequest,
  keepReasons: boolean,
  platform: ScoringPlatform,
): Promise<JudgedReply<Grounded>> {
  const options = { judgments: 'use', replicate: 0, on_judge_failure: 'error', store_reasons: keepReasons } as const;
  const reply = await withJudges(options, platform, async (obtain) => {
    const { value, judgments, failure, timings } = await checkGrounding(request, obtain);
    return { status: 'done', value: { grounding: value, judgments }, failure, timings };
  });
  if (!reply.ok) return reply;
  const { grounding, judgments } = reply.reply;
  if (grounding === null) throw new Error('ground: a failure was taken for a result');
  return { ...reply, reply: { grounding, judgments } };
}
