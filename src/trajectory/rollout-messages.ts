/** The messages of a rollout: what is derived from them, once for each list of messages. */
import type { SourceInput } from '../citations/sources.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import { TextBuilder } from './draft.ts';
import { type ReadOptions, readTrajectory } from './read.ts';
import type { MessagePath, TracedText, Trajectory, TrajectoryResult } from './trajectory.ts';

/** How a rollout is read from its messages. */
export type TrajectoryOptions = ReadOptions & {
  /**
   * The ids that answers cite. `tagged` (default): those of the tagged pieces in the tool results. `call`: a result is
   * one source, under the id of its call.
   */
  readonly source_ids?: SourceIds;
};

export const SOURCE_IDS = ['tagged', 'call'] as const;
type SourceIds = (typeof SOURCE_IDS)[number];

/** The fields of a rollout that hold its messages. */
export type RolloutMessages = { readonly messages: Messages; readonly trajectory?: TrajectoryOptions };

/** A list of messages, or a transcript that is one text. */
export type Messages = readonly unknown[] | string;

type Reading = Result<Trajectory, readonly InputProblem[]>;

const readings = new WeakMap<
  readonly unknown[],
  { readonly options: TrajectoryOptions | undefined; readonly reading: Reading }
>();

/** Reads the messages, or returns the reading of the same list with the same options. */
export function readMessages({ messages, trajectory: options }: RolloutMessages): Reading {
  const known = typeof messages === 'string' ? undefined : readings.get(messages);
  if (known !== undefined && known.options === options) return known.reading;
  const read = readTrajectory(messages, options);
  const reading =
    read.ok && !read.value.turns.some(({ by_policy }) => by_policy)
      ? ({ ok: false, error: [{ path: ['messages'], message: NO_POLICY_TURN }] } as const)
      : read;
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
  | { readonly tool_output: TracedText }
  | { readonly sources: readonly (SourceInput & { readonly path: MessagePath })[] };

export function sourcesOfTrajectory({ turns }: Trajectory, ids: SourceIds = 'tagged'): TrajectorySources {
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
    case 'call':
      return {
        sources: results.flatMap((result) => {
          const id = callId(result, turns);
          const { path, output } = result;
          return id === null ? [] : [{ id, text: output.text, path }];
        }),
      };
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
