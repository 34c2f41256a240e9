/** What a reply says about the trajectory of a rollout: what was derived, and where each text comes from. */
import * as z from 'zod';
import { Offsets, type OffsetUnit } from '../citations/offset-units.ts';
import { pathText } from '../input-problem.ts';
import { MAX_FINDINGS } from '../limits.ts';
import { endOf } from './final-turns.ts';
import { type RolloutMessages, sourcesOfTrajectory, trajectoryOf } from './rollout-messages.ts';
import {
  type MessagePath,
  TRAJECTORY_FINDING_REASONS,
  type TracedText,
  type Trajectory,
  type TrajectoryFinding,
} from './trajectory.ts';
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
  .describe('What was read from `messages`.');

export type TrajectoryReport = z.infer<typeof trajectoryReportSchema>;

/** Markup that counts only where the policy writes it. */
const POLICY_MARKUP: Markup = { tags: ['answer', 'cite', 'think'], texts: ['\\boxed{'] };

/** Reports on the trajectory of a rollout, with offsets in a unit; `null` if the rollout came as a text. */
export function trajectoryReport(
  rollout: Partial<RolloutMessages>,
  unit: OffsetUnit = 'utf16',
): TrajectoryReport | null {
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) return null;
  const { answer, calls, num_turns, finish_reason, findings } = endOf(trajectory);
  const origin = sourcesOfTrajectory(trajectory, rollout.trajectory?.source_ids);
  const unplaced = 'unplaced' in origin ? origin.unplaced : [];
  const more = [
    ...findings,
    ...foreignMarkup(trajectory),
    ...unplaced.map((path): TrajectoryFinding => ({ reason: 'result_without_source', path })),
  ];
  return {
    policy_turns: trajectory.turns.filter(({ by_policy }) => by_policy).length,
    calls,
    num_turns,
    finish_reason,
    findings: [...trajectory.findings, ...more]
      .slice(0, MAX_FINDINGS)
      .map(({ reason, path }) => ({ reason, path: pathText(path) })),
    finding_count: trajectory.finding_count + more.length,
    response: reportPieces(answer, rollout, unit),
    tool_output: 'tool_output' in origin ? reportPieces(origin.tool_output, rollout, unit) : [],
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

function reportPieces(
  { text, pieces }: TracedText,
  rollout: Partial<RolloutMessages>,
  unit: OffsetUnit,
): TrajectoryReport['response'] {
  const offsets = new Offsets(text, unit);
  const ofStrings = new Map<string, Offsets>();
  return pieces.map(({ start, end, path, from }) => {
    const name = pathText(path);
    const inString = ofStrings.get(name) ?? new Offsets(stringAt(rollout, path), unit);
    ofStrings.set(name, inString);
    return { ...offsets.span({ start, end }), path: name, from: inString.at(from) };
  });
}

/** The string of a request that a piece is copied from. @throws Error if there is none. */
function stringAt(rollout: Partial<RolloutMessages>, path: MessagePath): string {
  let value: unknown = rollout;
  for (const step of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  if (typeof value !== 'string') throw new Error(`stringAt: ${pathText(path)} is no string`);
  return value;
}
