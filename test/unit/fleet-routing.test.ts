/** What a router does with the judge calls of groups: load and prefix reuse, simulated for three ways to choose. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';

const GROUPS = 1_000;
const GROUP_SIZE = 8;
/** Points of an engine on the hash ring. */
const RING_POINTS = 160;
/** Groups whose prompts arrive at the same time. */
const TOGETHER = 50;

type Call = { readonly group: number; readonly session: string };
type Route = (call: Call, engines: readonly Engine[], position: number) => number;
type Engine = { calls: number; readonly prefixes: Set<number> };

function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}

function ringOf(engines: number): (session: string) => number {
  const points = Array.from({ length: engines }, (_, engine) =>
    Array.from({ length: RING_POINTS }, (_, n) => ({ engine, at: hashOf(`http://engine-${engine}:8000/${n}`) })),
  )
    .flat()
    .sort((a, b) => a.at - b.at);
  return (session) => {
    const place = hashOf(session);
    return (points.find(({ at }) => at >= place) ?? points[0])?.engine ?? 0;
  };
}

function simulated(engineCount: number, route: Route) {
  const engines: Engine[] = Array.from({ length: engineCount }, () => ({ calls: 0, prefixes: new Set() }));
  let reused = 0;
  let position = 0;
  for (let first = 0; first < GROUPS; first += TOGETHER) {
    for (let sample = 0; sample < GROUP_SIZE; sample++) {
      for (let group = first; group < first + TOGETHER; group++) {
        const engine = engines[route({ group, session: hashOf(`group ${group}`).toString(16) }, engines, position++)];
        if (engine === undefined) throw new Error('the route names no engine');
        engine.calls++;
        if (engine.prefixes.has(group)) reused++;
        engine.prefixes.add(group);
      }
    }
  }
  const mean = (GROUPS * GROUP_SIZE) / engineCount;
  return {
    reuse: reused / (GROUPS * GROUP_SIZE),
    spread: Math.max(...engines.map(({ calls }) => Math.abs(calls / mean - 1))),
  };
}

/** All judge prompts share their beginning: the engine that got the first one has the longest prefix of the others. */
const longestPrefix: Route = ({ group }, engines) => {
  const withGroup = engines.findIndex(({ prefixes }) => prefixes.has(group));
  return withGroup >= 0
    ? withGroup
    : Math.max(
        0,
        engines.findIndex(({ calls }) => calls > 0),
      );
};

it.each([2, 3, 4, 8])(
  'the session of a group keeps its prompts on one of %i engines, and spreads groups',
  (engines) => {
    const ring = ringOf(engines);
    const { reuse, spread } = simulated(engines, ({ session }) => ring(session));
    expect(reuse).toBe(1 - 1 / GROUP_SIZE);
    expect(spread).toBeLessThan(0.2);
  },
);

it('the longest prefix sends everything to one engine, and round robin reuses less', () => {
  expect(simulated(4, longestPrefix)).toEqual({ reuse: 1 - 1 / GROUP_SIZE, spread: 3 });
  const roundRobin = simulated(4, (_call, engines, position) => position % engines.length);
  expect(roundRobin.spread).toBe(0);
  expect(roundRobin.reuse).toBeLessThan(0.8);
});
