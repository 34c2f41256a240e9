/** Converts the offsets of a score to the unit that its request asks for, once, before the reply is sent. */
import { citedAnswerReport } from '../citations/formats/report.ts';
import { validatedAnswer } from '../citations/formats/requested-answer.ts';
import { type Offsets, type OffsetUnit, offsetsOf, type SpannedStrings } from '../citations/offset-units.ts';
import { sourcesOf } from '../citations/sources.ts';
import { familyOf } from '../families/registry.ts';
import { sourcesOfRollout } from '../family/requirements.ts';
import type { Rollout } from '../family/rollout.ts';
import { trajectoryReport } from '../trajectory/report.ts';
import type { ScoreResponse } from './score.ts';

/** Returns a score with every offset in another unit. Takes time linear in the rollout. */
export function scoreWithOffsets(unit: OffsetUnit, score: ScoreResponse, rollout: Rollout): ScoreResponse {
  const answer = validatedAnswer(rollout);
  if (unit === 'utf16' && answer === null) return score;
  const { withOffsets } = familyOf(score).reply;
  const trajectory = trajectoryReport(rollout, unit);
  return {
    ...score,
    ...(withOffsets === undefined ? {} : withOffsets(score, offsetsOf(unit, stringsOf(rollout)))),
    ...(trajectory === null ? {} : { trajectory }),
    ...(answer === null ? {} : { cited_answer: citedAnswerReport(answer, unit) }),
  };
}

/** Converts spans in the response of a rollout. */
export function responseOffsets(unit: OffsetUnit, rollout: Rollout): Offsets {
  return offsetsOf(unit, { ...responseOf(rollout), sources: [] }).response;
}

function responseOf(rollout: Rollout): Pick<SpannedStrings, 'response' | 'original'> {
  const answer = validatedAnswer(rollout);
  return {
    response: rollout.response,
    ...(answer === null ? {} : { original: { text: answer.text, map: answer.map } }),
  };
}

/** The strings of a rollout that the spans of a reply refer to. */
function stringsOf(rollout: Rollout): SpannedStrings {
  const response = responseOf(rollout);
  const origin = sourcesOfRollout(rollout);
  if (origin === null) return { ...response, sources: [] };
  const sources = sourcesOf(origin).list.map(({ text }) => text);
  return { ...response, ...('tool_output' in origin ? { tool_output: origin.tool_output } : {}), sources };
}
