/** Finds the generation of the policy whose tool call returned each source, and the one that wrote the answer. */
import { parseSources } from '../citations/sources.ts';
import { answerIndex, turnsToAnswer } from './final-turns.ts';
import { type SourceIds, sourcesOfTrajectory } from './rollout-messages.ts';
import type { Trajectory, TrajectoryResult } from './trajectory.ts';

/** The generations of a policy. A generation is a row of turns that the policy wrote without an answer between them. */
export type Generations = {
  /** The index of the first message of each generation, in order; at least one. */
  readonly messages: readonly number[];
  /** The generation that wrote the end of the answer; the last one if there is no answer. */
  readonly answer: number;
  /** The generation whose call returned a source first, by the source's id. Absent: no call of the policy did. */
  readonly ofSource: ReadonlyMap<string, number>;
};

/** Takes time linear in the trajectory. */
export function generationsOf(trajectory: Trajectory, ids: SourceIds = 'tagged'): Generations {
  const { turns } = trajectory;
  const messages: number[] = [];
  const ofTurn = turns.map(({ by_policy, message }, n) => {
    if (by_policy && turns[n - 1]?.by_policy !== true) messages.push(message);
    return messages.length - 1;
  });
  const wrote = answerIndex(turns);
  const ofSource = new Map<string, number>();
  const results = turnsToAnswer(trajectory).flatMap(({ results }) => results);
  const add = (id: string, { call }: Pick<TrajectoryResult, 'call'>): void => {
    const turn = call === null ? undefined : turns[call.turn];
    const generation = call === null ? undefined : ofTurn[call.turn];
    if (turn?.by_policy === true && generation !== undefined && !ofSource.has(id)) ofSource.set(id, generation);
  };
  if (ids === 'tagged') {
    for (const result of results) for (const { id } of parseSources(result.output.text).list) add(id, result);
  } else {
    const origin = sourcesOfTrajectory(trajectory, ids);
    for (const source of 'sources' in origin ? origin.sources : []) add(source.id, source);
  }
  return { messages, answer: wrote === -1 ? messages.length - 1 : (ofTurn[wrote] ?? 0), ofSource };
}
