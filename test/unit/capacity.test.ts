/** The simulation of a deployment: what is simulated agrees with arithmetic, and a limit that is met is named. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { costOf, storesAfter } from '../../scripts/capacity/cost.ts';
import type { Load } from '../../scripts/capacity/load.ts';
import { planOf } from '../../scripts/capacity/plan.ts';
import { type Simulated, simulate } from '../../scripts/capacity/simulated-desks.ts';
import { VirtualClock } from '../../scripts/capacity/virtual-clock.ts';
import { randomOf } from './seeded-random.ts';

const LOAD: Load = {
  rollouts_per_s: 20,
  group: 8,
  judgments: 2,
  stored: 0,
  judge_s: 2,
  header_s: 0.1,
  slots: 256,
  desks: 4,
  desks_per_isolate: 1,
  prompt_bytes: 40_000,
  kv_put_ms: 50,
  judgment_retention_days: null,
  seconds: 40,
  outage_s: 0,
};

function under(load: Partial<Load>, seed = 1): Promise<Simulated> {
  return simulate({ ...LOAD, ...load }, new VirtualClock(), randomOf(seed));
}

describe('simulated desks', () => {
  it('score a load that all parts can carry', async () => {
    const simulated = await under({});
    expect(simulated.failures).toEqual(new Map());
    expect(simulated.scored_per_s).toBeGreaterThan(14);
    expect(simulated.scored_per_s).toBeLessThan(26);
    expect(Math.max(...simulated.waits_ms)).toBeLessThan(2000);
  });

  it('repeat themselves with the same seed, and differ with another', async () => {
    const [first, again, other] = [await under({}), await under({}), await under({}, 2)];
    expect(again).toEqual(first);
    expect(other.waits_ms).not.toEqual(first.waits_ms);
  });

  it('score no more than the slots allow, and name what refused the rest', async () => {
    const simulated = await under({ slots: 20, seconds: 240 });
    // 20 slots, 2 s a call, 2 calls a rollout.
    expect(simulated.scored_per_s).toBeLessThan(5.5);
    expect([...simulated.failures.keys()]).toContain('judge_running');
    expect(simulated.waiting).toBeGreaterThan(100);
  });

  it('need no judge for stored judgments', async () => {
    const simulated = await under({ slots: 20, stored: 1 });
    expect(simulated).toMatchObject({ judgments: 0, failures: new Map(), waits_ms: [] });
    expect(simulated.scored_per_s).toBeGreaterThan(14);
  });

  it('are held up by calls that await their headers', async () => {
    const quick = await under({ header_s: 0.1 });
    const late = await under({ header_s: 2 });
    expect(late.scored_per_s).toBeLessThan(0.6 * quick.scored_per_s);
  });

  it('open their circuit in an outage and score again after it', async () => {
    const { failures, scored_per_s, judgments } = await under({ outage_s: 20, seconds: 160 });
    const unscored = [...failures.values()].reduce((sum, count) => sum + count, 0);
    expect([...failures.keys()].sort()).toEqual(['judge_circuit_open', 'judge_unreachable']);
    expect(failures.get('judge_circuit_open')).toBeGreaterThan(failures.get('judge_unreachable') ?? 0);
    expect(unscored).toBeLessThan(judgments / 2);
    expect(scored_per_s).toBeGreaterThan(8);
  });

  it('go on while KV takes writes slowly', async () => {
    const { backlog, failures } = await under({ judge_s: 0.05, header_s: 0.01, kv_put_ms: 20_000, seconds: 60 });
    expect(backlog).toBeGreaterThan(50);
    expect(failures).toEqual(new Map());
  });

  it('make as many writes at a time as slow writes need, so that no backlog grows', async () => {
    // Five rollouts/s for each desk, so 3.5 writes of 0.7 s at a time.
    const { backlog, failures } = await under({ header_s: 0.02, kv_put_ms: 700, seconds: 160 });
    expect(backlog).toBeLessThan(250);
    expect(failures).toEqual(new Map());
  });

  it('share the thread of their isolate', async () => {
    const load = { judgments: 8, slots: 1_024, header_s: 0.02, seconds: 60 };
    const apart = await under(load);
    const together = await under({ ...load, desks_per_isolate: 4 });
    expect(apart.failures).toEqual(new Map());
    expect(together.scored_per_s).toBeLessThan(0.8 * apart.scored_per_s);
  });
});

describe('the cost of a million rollouts', () => {
  it('has no KV writes and no judge calls for stored judgments', () => {
    const lines = new Map(costOf({ ...LOAD, stored: 1 }, 0, 1).map((line) => [line.what, line]));
    expect(lines.get('KV writes')).toMatchObject({ perMillion: 0, dollars: 0 });
    expect(lines.get('KV reads')?.perMillion).toBe(1_000_000);
    expect(lines.get('requests to objects')?.perMillion).toBe(125_000);
  });

  it('has one write and one read of KV for each rollout, and one more of each for a judgment that is made later', () => {
    const perMillion = (stored: number): (number | undefined)[] => {
      const lines = new Map(costOf({ ...LOAD, judgments: 2, stored }, 0, 1).map((line) => [line.what, line]));
      return [lines.get('KV writes')?.perMillion, lines.get('KV reads')?.perMillion];
    };
    expect(perMillion(0)).toEqual([1_000_000, 1_000_000]);
    // Of four rollouts one has no judgment, two have one, and one has both.
    expect(perMillion(0.5)).toEqual([750_000, 1_500_000]);
  });

  it('grows by a row for each further judgment of a rollout', () => {
    const dollars = (judgments: number): number =>
      costOf({ ...LOAD, judgments }, 4, 1).reduce((sum, line) => sum + line.dollars, 0);
    expect(dollars(4) - dollars(2)).toBeCloseTo(2);
  });
});

describe('the plan for a rate', () => {
  const planned = (rollouts_per_s: number) => planOf({ ...LOAD, rollouts_per_s, judge_s: 6, header_s: 0.2 }, 64);

  it('has slots for the calls under way, engines for the slots, and desks and shards by their rules', () => {
    // 1,000 x 2 calls of 6 s are 12,000 at a time, in 80 % of the slots.
    expect(planned(1_000)).toMatchObject({ slots: 15_000, engines: 235, desks: 118, run_shards: 1 });
    expect(planned(10)).toMatchObject({ slots: 150, engines: 3, desks: 4, run_shards: 1 });
    expect(planned(5_000)).toMatchObject({ run_shards: 5 });
  });

  it('says that a low rate costs more a rollout, because objects stay awake', () => {
    expect(planned(1).dollars_per_million).toBeGreaterThan(2 * planned(100).dollars_per_million);
  });

  it('has a bill for KV that stops growing if judgments expire', () => {
    const kv = (days: number | null, rollouts: number) =>
      storesAfter(rollouts, { ...LOAD, rollouts_per_s: 100, judgment_retention_days: days }, 1)[0]?.dollarsPerMonth;
    // 10 days of 100/s are 86.4 million rollouts, of 4 KB at half a dollar a GB.
    expect(kv(10, 1e9)).toBeCloseTo(172.8);
    expect(kv(10, 2e9)).toBe(kv(10, 1e9));
    expect(kv(null, 1e9)).toBeCloseTo(2_000);
    expect(kv(10, 1e6)).toBe(kv(null, 1e6));
  });

  it('costs what the simulation of its settings costs', async () => {
    const { slots, desks, dollars_per_million } = planned(20);
    const load = { judge_s: 6, header_s: 0.2, slots, desks, seconds: 120 };
    const { turns_per_s, failures } = await under(load);
    const dollars = costOf({ ...LOAD, ...load }, turns_per_s, 1).reduce((sum, line) => sum + line.dollars, 0);
    expect(failures).toEqual(new Map());
    expect(dollars_per_million / dollars).toBeGreaterThan(0.95);
    expect(dollars_per_million / dollars).toBeLessThan(1.05);
  });
});

/** The cells of the tables of a page, by line. */
function tableRows(page: string): string[][] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs', page), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

describe('the figures of the pages', () => {
  const whole = (value: number): string => Math.round(value).toLocaleString('en');

  it('for a rate are those of the plan', () => {
    for (const rate of [1, 10, 100, 1_000]) {
      const load = { ...LOAD, rollouts_per_s: rate, judge_s: 6, header_s: 0.2, desks_per_isolate: 4 };
      const plan = planOf(load, 64);
      const counts = [plan.rollouts_per_s, plan.slots, plan.engines, plan.desks, plan.run_shards].map(whole);
      const dollars = [plan.dollars_per_month, plan.kv_dollars_per_month].map((value) => `$${whole(value)}`);
      const expected = [...counts, `$${plan.dollars_per_million.toFixed(2)}`, ...dollars];
      expect(tableRows('guides/deploy.md')).toContainEqual(expected);
    }
  });

  it('of the benchmarks are those of the capacity page', () => {
    const simulated = tableRows('reference/capacity.md').filter((cells) => cells.length === 8 && cells[6] === 'yes');
    const costs = tableRows('reference/benchmarks.md').filter(([load = '']) => /^[\d,]+\/s$/.test(load));
    expect(costs).toHaveLength(3);
    for (const [load, stored, dollars] of costs) {
      const same = simulated.filter((cells) => cells[0] === load && cells[2] === stored);
      expect(
        same.map((cells) => cells[7]),
        load,
      ).toEqual([dollars]);
    }
  });
});
