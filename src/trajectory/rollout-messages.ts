/** The messages of a rollout: what is derived from them, once for each list of messages. */
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import { TextBuilder } from './draft.ts';
import { turnsToAnswer } from './final-turns.ts';
import { type ReadOptions, readTrajectory } from './read.ts';
import type { TracedText, Trajectory, TrajectoryResult } from './trajectory.ts';
import { type PageSources, pageSources } from './url-sources.ts';

/** How a rollout is read from its messages. */
export type TrajectoryOptions = ReadOptions & {
  /**
   * The ids that answers cite. `tagged` (default): those of the tagged pieces in the tool results. `call`: a result is
   * one source, under the id of its call. `url`: a page is one source, under its address.
   */
  readonly source_ids?: SourceIds;
};

export const SOURCE_IDS = ['tagged', 'call', 'url'] as const;
export type SourceIds = (typeof SOURCE_IDS)[number];

/** The fields of a rollout that hold its messages. */
export type RolloutMessages = { readonly messages: Messages; readonly trajectory?: TrajectoryOptions };

/** A list of messages, or a transcript that is one text. */
export type Messages = readonly unknown[] | string;

type Reading = Result<Trajectory, readonly InputProblem[]>;

const readings = new WeakMap<
  readonly unknown[],
  { readonly options: TrajectoryOptions | undefined; readonly reading: Reading }
>();

/** Reads the messages of a rollout, in which the policy wrote something. */
export function readMessages(rollout: RolloutMessages): Reading {
  const read = readConversation(rollout);
  if (!read.ok || read.value.turns.some(({ by_policy }) => by_policy)) return read;
  return { ok: false, error: [{ path: ['messages'], message: NO_POLICY_TURN }] };
}

/** Reads messages, or returns the reading of the same list with the same options. */
export function readConversation({ messages, trajectory: options }: RolloutMessages): Reading {
  const known = typeof messages === 'string' ? undefined : readings.get(messages);
  if (known !== undefined && known.options === options) return known.reading;
  const reading = readTrajectory(messages, options);
  if (typeof messages !== 'string') readings.set(messages, { options, reading });
  return reading;
}

const NO_POLICY_TURN = 'expected a message with the role "assistant" that the policy wrote';

/** The trajectory of a rollout; `null` if the rollout came as a text. @throws Error if the messages were not validated. */
export function trajectoryOf(rollout: Partial<RolloutMessages>): Trajectory | null {
  const { messages, trajectory } = rollout;
  if (messages === undefined) return null;
  const reading = readMessages(trajectory === undefined ? { messages } : { messages, trajectory });
  if (!reading.ok) throw new Error('trajectoryOf: messages that cannot be read, after validation');
  return reading.value;
}

/** The sources of a trajectory, with the way back to its messages. */
type TrajectorySources =
  /** The outputs of all tools, each in a `<tool_output>` element: a piece never runs on into the next output. */
  { readonly tool_output: TracedText } | PageSources;

export function sourcesOfTrajectory(trajectory: Trajectory, ids: SourceIds = 'tagged'): TrajectorySources {
  // A policy must not cite first and search afterwards.
  const turns = turnsToAnswer(trajectory);
  const results = turns.flatMap((turn) => turn.results);
  switch (ids) {
    case 'tagged': {
      const builder = new TextBuilder();
      for (const { output } of results) {
        if (!builder.isEmpty()) builder.addOwn('\n');
        addOutput(builder, output);
      }
      return { tool_output: builder.build() };
    }
    case 'call': {
      const named = results.map((result) => ({
        id: callId(result, turns),
        text: result.output.text,
        path: result.path,
        call: result.call,
      }));
      return {
        sources: named.flatMap(({ id, ...source }) => (id === null ? [] : [{ id, ...source }])),
        unplaced: named.flatMap(({ id, path }) => (id === null ? [path] : [])),
      };
    }
    case 'url':
      return pageSources(turns);
  }
}

/** Adds one output between `<tool_output>` tags, unless the tool wrote them itself. */
function addOutput(builder: TextBuilder, output: TracedText): void {
  if (output.text.trimStart().startsWith('<tool_output>')) {
    builder.addText(output);
    return;
  }
  builder.addOwn('<tool_output>\n');
  builder.addText(output);
  builder.addOwn('\n</tool_output>');
}

function callId({ call_id, call }: TrajectoryResult, turns: Trajectory['turns']): string | null {
  return call_id ?? (call === null ? null : (turns[call.turn]?.calls[call.call]?.id ?? null));
}
