/** What a reply says about the trajectory of a rollout: what was derived, and where each text comes from. */
import * as z from 'zod';
import { pathText } from '../input-problem.ts';
import { MAX_FINDINGS } from '../limits.ts';
import { endOf } from './final-turns.ts';
import { type RolloutMessages, sourcesOfTrajectory, trajectoryOf } from './rollout-messages.ts';
import { type TextPiece, TRAJECTORY_FINDING_REASONS, type Trajectory, type TrajectoryFinding } from './trajectory.ts';
import { hasMarkup, type Markup } from './transcript.ts';

const offset = z.int().min(0);

const pieceSchema = z
  .strictObject({
    start: offset,
    end: offset,
    path: z.string().describe('The string of the request that the piece is copied from: messages[3].content.'),
    from: offset.describe('Offset of the piece in that string.'),
  })
  .describe('Text outside the pieces is a separator.');

export const trajectoryReportSchema = z
  .strictObject({
    policy_turns: z.int().min(1),
    calls: z.int().min(0).describe('Tool calls of the policy.'),
    num_turns: z.int().min(2).describe('As verl counts; used if the request has no num_turns.'),
    finish_reason: z.string().nullable().describe('null = the messages do not say; used if the request has none.'),
    findings: z.array(z.strictObject({ reason: z.enum(TRAJECTORY_FINDING_REASONS), path: z.string() })),
    finding_count: z.int().min(0),
    response: z.array(pieceSchema).describe('Where the final answer comes from: spans in `response` point into it.'),
    tool_output: z
      .array(pieceSchema)
      .describe('Where the tool output comes from: spans in `tool_output` point into it. Empty with other sources.'),
    sources: z
      .array(z.string())
      .describe('The path of each source, if the request asks for source_ids other than tagged.'),
  })
  .describe('What was read from `messages`. Offsets are UTF-16 code units.');

export type TrajectoryReport = z.infer<typeof trajectoryReportSchema>;

/** Markup that counts only where the policy writes it. */
const POLICY_MARKUP: Markup = { tags: ['answer', 'cite', 'think'], texts: ['\\boxed{'] };

/** Reports on the trajectory of a rollout; `null` if the rollout came as a text. */
export function trajectoryReport(rollout: Partial<RolloutMessages>): TrajectoryReport | null {
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) return null;
  const { answer, calls, num_turns, finish_reason, findings } = endOf(trajectory);
  const origin = sourcesOfTrajectory(trajectory, rollout.trajectory?.source_ids);
  const more = [...findings, ...foreignMarkup(trajectory)];
  return {
    policy_turns: trajectory.turns.filter(({ by_policy }) => by_policy).length,
    calls,
    num_turns,
    finish_reason,
    findings: [...trajectory.findings, ...more]
      .slice(0, MAX_FINDINGS)
      .map(({ reason, path }) => ({ reason, path: pathText(path) })),
    finding_count: trajectory.finding_count + more.length,
    response: answer.pieces.map(reportPiece),
    tool_output: 'tool_output' in origin ? origin.tool_output.pieces.map(reportPiece) : [],
    sources: 'sources' in origin ? origin.sources.map(({ path }) => pathText(path)) : [],
  };
}

/** Answers, citations and thinking in what a tool, a user or another model wrote after the policy's first turn. */
function foreignMarkup({ turns }: Trajectory): TrajectoryFinding[] {
  const begun = Math.max(
    0,
    turns.findIndex(({ by_policy }) => by_policy),
  );
  return turns.slice(begun).flatMap(({ by_policy, text, results, path }): TrajectoryFinding[] => {
    const texts = by_policy || text === null ? [] : [{ path, text: text.text }];
    const outputs = results.map((result) => ({ path: result.path, text: result.output.text }));
    return [...texts, ...outputs].flatMap((one) =>
      hasMarkup(one.text, POLICY_MARKUP) ? [{ reason: 'policy_markup_in_context', path: one.path }] : [],
    );
  });
}

function reportPiece({ start, end, path, from }: TextPiece): TrajectoryReport['response'][number] {
  return { start, end, path: pathText(path), from };
}
