/**
 * The evolution of criteria. `Buffer` below keeps lists and moves criteria as the published code does (open-instruct
 * e6c3044a, `rubrics/metrics.py` and `evolving_rubric_step.py`), written from its rules; both must hold the same criteria
 * after any scripted run.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applied, checkLog, foldLog, observe, refold, setOf, statisticsOf } from '../../../src/rubrics/evolution.ts';
import {
  type EvolutionEvent,
  evolutionEventSchema,
  type WeightedCriterion,
} from '../../../src/rubrics/evolution-log.ts';
import {
  EVOLUTION_PRESET_NAMES,
  EVOLUTION_PRESETS,
  type EvolutionRules,
  evolutionRulesSchema,
} from '../../../src/rubrics/evolution-rules.ts';
import { criterionId, questionDigest, setId } from '../../../src/rubrics/rubric-set.ts';

const QUESTION = questionDigest('How deep is the lake?');

function criterion(name: string, weight = 1): WeightedCriterion {
  const one = { polarity: 'positive', title: name, description: `States ${name}` } as const;
  return { id: criterionId(QUESTION, one), criterion: one, weight };
}

const nameOf = new Map(Array.from({ length: 40 }, (_, n) => [criterion(`c${n}`).id, `c${n}`]));
const names = (entries: readonly { readonly id: string }[]): string[] => entries.map(({ id }) => nameOf.get(id) ?? id);

const OWN = criterion('c0');
const started: EvolutionEvent = { event: 'started', question: QUESTION, own: [OWN] };

/** A run of one prompt: the log, and the steps of a trainer. */
class Run {
  log: EvolutionEvent[] = [started];
  readonly rules: EvolutionRules;
  constructor(rules: EvolutionRules) {
    this.rules = rules;
  }
  get set() {
    return setOf(foldLog(this.log, this.rules));
  }
  add(event: EvolutionEvent, expected = setId(this.set)): boolean {
    const { events, stale } = observe(this.log, event, this.rules, expected);
    this.log = [...this.log, ...events];
    return stale;
  }
  propose(step: number, ...proposed: string[]): void {
    const criteria = proposed.map((name) => criterion(name));
    this.add({
      event: 'proposed',
      step,
      group: `g${step}`,
      criteria,
      under: setId(this.set),
      judgment: null,
      responses: [],
    });
  }
  /** Scores of a group by criterion; a criterion that is not named has no verdict. */
  score(step: number, scores: Readonly<Record<string, readonly (number | null)[]>>): void {
    const statistics = this.set.map(({ id }) => statisticsOf(id, scores[nameOf.get(id) ?? ''] ?? []));
    this.add({ event: 'scored', step, group: `g${step}`, set: setId(this.set), statistics });
  }
  get active(): string[] {
    return names(foldLog(this.log, this.rules).active);
  }
  get inactive(): string[] {
    return names(foldLog(this.log, this.rules).inactive);
  }
}

const APART = [0, 1];
const ALIKE = [0.5, 0.5];

describe('dr-tulu', () => {
  const run = (): Run => new Run(EVOLUTION_PRESETS['dr-tulu']);

  it('scores the responses of a step with the criteria made from them', () => {
    const one = run();
    one.propose(1, 'c1', 'c2');
    expect(names(one.set)).toEqual(['c0', 'c1', 'c2']);
    expect(one.set.map(({ type, since_step }) => [type, since_step])).toEqual([
      ['persistent', null],
      ['evolving', 1],
      ['evolving', 1],
    ]);
  });

  it('retires what a group does not tell apart, and never its own criteria', () => {
    const one = run();
    one.propose(1, 'c1', 'c2');
    one.score(1, { c0: ALIKE, c1: ALIKE, c2: APART });
    expect([one.active, one.inactive]).toEqual([['c2'], ['c1']]);
    expect(names(one.set)).toEqual(['c0', 'c2']);
  });

  it('keeps the five of seven that tell most, and one without statistics', () => {
    const one = run();
    one.propose(1, 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8');
    const spread = (by: number): number[] => [0, by];
    one.score(1, {
      c1: spread(0.2),
      c2: spread(1),
      c3: spread(0.4),
      c4: spread(0.6),
      c5: spread(0.8),
      c6: spread(0.1),
      c7: spread(0.9),
    });
    expect(one.active).toEqual(['c2', 'c3', 'c4', 'c5', 'c7', 'c8']);
    expect(one.inactive).toEqual(['c1', 'c6']);
  });

  it('caps nothing without any statistics, where the published code chooses at random', () => {
    const one = run();
    one.propose(1, 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7');
    one.score(1, {});
    expect(one.active).toHaveLength(7);
  });

  it('retires nothing for an outage: a missing verdict is no score', () => {
    const one = run();
    one.propose(1, 'c1', 'c2');
    one.score(1, { c1: [null, null], c2: [0.5, null] });
    expect(one.active).toEqual(['c1', 'c2']);
  });
});

describe('open-instruct', () => {
  it('lets the oldest go after a proposal, scored or not, and retires nothing', () => {
    const one = new Run(EVOLUTION_PRESETS['open-instruct']);
    one.score(1, { c0: APART });
    one.propose(1, 'c1', 'c2', 'c3', 'c4');
    one.score(2, { c0: APART, c1: ALIKE, c2: ALIKE });
    one.propose(2, 'c5', 'c6', 'c7');
    expect([one.active, one.inactive]).toEqual([
      ['c3', 'c4', 'c5', 'c6', 'c7'],
      ['c1', 'c2'],
    ]);
  });

  it('takes back a criterion that is proposed again', () => {
    const one = new Run(EVOLUTION_PRESETS['open-instruct']);
    one.propose(1, 'c1', 'c2', 'c3', 'c4', 'c5', 'c6');
    expect(one.inactive).toEqual(['c1']);
    one.propose(2, 'c1');
    expect([one.active, one.inactive]).toEqual([['c3', 'c4', 'c5', 'c6', 'c1'], ['c2']]);
  });
});

describe('our rules', () => {
  const run = (): Run => new Run(EVOLUTION_PRESETS.citeward);

  it('retire after two visits, do not count a visit without two verdicts, and refuse a retired criterion', () => {
    const one = run();
    one.propose(1, 'c1', 'c2');
    one.score(2, { c1: ALIKE, c2: APART });
    expect(one.active).toEqual(['c1', 'c2']);
    one.score(3, { c1: [0.5, null], c2: APART });
    expect(one.active).toEqual(['c1', 'c2']);
    one.score(4, { c1: ALIKE, c2: ALIKE });
    expect([one.active, one.inactive]).toEqual([['c2'], ['c1']]);
    one.propose(4, 'c1', 'c3');
    expect(one.active).toEqual(['c2', 'c3']);
  });

  it('take an equal criterion once', () => {
    const one = run();
    one.propose(1, 'c1', 'c1', 'c0');
    one.propose(2, 'c1');
    expect(names(one.set)).toEqual(['c0', 'c1']);
  });

  it('say when a log has gone on meanwhile, and count the observation all the same', () => {
    const one = run();
    one.propose(1, 'c1');
    const seen = setId(one.set);
    one.propose(2, 'c2');
    const statistics = [statisticsOf(criterion('c1').id, ALIKE)];
    expect(one.add({ event: 'scored', step: 2, group: 'late', set: seen, statistics }, seen)).toBe(true);
    expect(one.active).toEqual(['c1', 'c2']);
    expect(foldLog(one.log, one.rules).deviations.get(criterion('c1').id)).toEqual([0]);
  });
});

describe.each(EVOLUTION_PRESET_NAMES)('a failed generation under %s', (preset) => {
  it('changes nothing, also where it is between a proposal and its scores', () => {
    const [failed, whole] = [new Run(EVOLUTION_PRESETS[preset]), new Run(EVOLUTION_PRESETS[preset])];
    for (const one of [failed, whole]) {
      one.propose(1, 'c1', 'c2');
      if (one === failed) {
        one.add({ event: 'generation_failed', step: 2, group: 'g2', reason: 'generator_reply_invalid' });
      }
      one.score(2, { c0: APART, c1: ALIKE, c2: APART });
    }
    expect(setId(failed.set)).toBe(setId(whole.set));
    expect([failed.active, failed.inactive]).toEqual([whole.active, whole.inactive]);
  });
});

describe('persistent every n steps', () => {
  it('restores own criteria that went, at each n-th step', () => {
    const one = new Run({ ...EVOLUTION_PRESETS['dr-tulu'], persistent: { every: 10 } });
    one.score(9, { c0: ALIKE });
    expect([one.active, one.inactive]).toEqual([[], ['c0']]);
    one.propose(10, 'c1');
    one.score(10, { c1: APART });
    expect(one.active).toEqual(['c1', 'c0']);
  });
});

/** The lists of the published code, moved as it moves them. */
class Buffer {
  active: string[] = [];
  inactive: string[] = [];

  propose(proposed: readonly string[], fifo: number | null): void {
    for (const name of new Set(proposed)) {
      if (this.active.includes(name) || name === 'c0') continue;
      this.inactive = this.inactive.filter((one) => one !== name);
      this.active.push(name);
    }
    if (fifo !== null && this.active.length > fifo) {
      this.inactive.push(...this.active.slice(0, -fifo));
      this.active = this.active.slice(-fifo);
    }
  }

  filter(std: ReadonlyMap<string, number>, most: number): void {
    const zero = this.active.filter((name) => std.get(name) === 0);
    this.active = this.active.filter((name) => !zero.includes(name));
    this.inactive.push(...zero);
    if (this.active.length <= most) return;
    const pairs = this.active.flatMap((name) => (std.has(name) ? [[name, std.get(name) ?? 0] as const] : []));
    const keep = new Set(
      [...pairs]
        .sort((a, b) => b[1] - a[1])
        .slice(0, most)
        .map(([name]) => name),
    );
    const gone = this.active.filter((name) => std.has(name) && !keep.has(name));
    this.active = this.active.filter((name) => !gone.includes(name));
    this.inactive.push(...gone);
  }
}

const name = fc.integer({ min: 1, max: 14 }).map((n) => `c${n}`);
const scores = fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 2, maxLength: 4 });
const visit = fc.record({ proposed: fc.array(name, { maxLength: 6 }), scores: fc.dictionary(name, scores) });
const visits = fc.array(visit, { maxLength: 8 });

const deviations = (
  given: Readonly<Record<string, readonly number[]>>,
  active: readonly string[],
): Map<string, number> =>
  new Map(
    active.flatMap((one) => {
      const known = given[one];
      if (known === undefined) return [];
      const { std } = statisticsOf('x', known);
      return std === null ? [] : [[one, std] as const];
    }),
  );

describe('any scripted run', () => {
  it('holds the criteria that the published lists hold under dr-tulu', () => {
    fc.assert(
      fc.property(visits, (script) => {
        const one = new Run(EVOLUTION_PRESETS['dr-tulu']);
        const buffer = new Buffer();
        script.forEach(({ proposed, scores: given }, step) => {
          one.propose(step, ...proposed);
          buffer.propose(proposed, null);
          expect(one.active).toEqual(buffer.active);
          const std = deviations(given, buffer.active);
          one.score(step, given);
          buffer.filter(std, 5);
          expect(one.active).toEqual(buffer.active);
          expect(one.inactive).toEqual(buffer.inactive);
        });
      }),
    );
  });

  it('holds them, in order, under open-instruct', () => {
    fc.assert(
      fc.property(visits, (script) => {
        const one = new Run(EVOLUTION_PRESETS['open-instruct']);
        const buffer = new Buffer();
        script.forEach(({ proposed }, step) => {
          one.propose(step, ...proposed);
          buffer.propose(proposed, 5);
          expect(one.active).toEqual(buffer.active);
          expect(one.inactive).toEqual(buffer.inactive);
        });
      }),
    );
  });

  const rules: fc.Arbitrary<EvolutionRules> = fc.constantFrom(
    ...Object.values(EVOLUTION_PRESETS),
    evolutionRulesSchema.parse({ ...EVOLUTION_PRESETS['dr-tulu'], cap: { rule: 'none' }, persistent: { every: 2 } }),
  );

  function played(
    script: readonly { readonly proposed: string[]; readonly scores: Record<string, number[]> }[],
    by: EvolutionRules,
  ): Run {
    const one = new Run(by);
    script.forEach(({ proposed, scores: given }, step) => {
      one.propose(step, ...proposed);
      one.score(step, given);
    });
    return one;
  }

  it('folds to the same set from its log as JSON, event by event, and from any checkpoint', () => {
    fc.assert(
      fc.property(visits, rules, fc.nat(8), (script, by, step) => {
        const one = played(script, by);
        const log = one.log.map((event) => evolutionEventSchema.parse(JSON.parse(JSON.stringify(event))));
        expect(setId(setOf(foldLog(log, by)))).toBe(setId(one.set));
        const until = played(script.slice(0, step + 1), by);
        expect(setId(setOf(foldLog(log, by, step)))).toBe(setId(until.set));
        let state = foldLog([], by);
        for (const event of log) state = applied(state, event, by);
        expect(names(state.active)).toEqual(one.active);
      }),
    );
  });

  it('has decisions that follow from its observations, and none that do not', () => {
    fc.assert(
      fc.property(visits, rules, (script, by) => {
        const { log } = played(script, by);
        expect(checkLog(log, by)).toEqual({ ok: true, value: null });
        expect(refold(log, by)).toEqual({ events: log, missing: [] });
        const last = log.findIndex(({ event }) => event === 'activated');
        if (last === -1) return;
        expect(checkLog(log.toSpliced(last, 1), by)).toMatchObject({ ok: false, error: { index: last } });
      }),
    );
  });

  it('never has a criterion twice, and loses none', () => {
    fc.assert(
      fc.property(visits, rules, (script, by) => {
        const { persistent, active, inactive, criteria } = foldLog(played(script, by).log, by);
        const all = [...persistent, ...active, ...inactive].map(({ id }) => id);
        expect(new Set(all).size).toBe(all.length);
        expect([...criteria.keys()].sort()).toEqual(all.sort());
      }),
    );
  });
});

describe('refold', () => {
  it('names the groups that have no verdicts on a criterion that other rules keep', () => {
    const one = new Run(EVOLUTION_PRESETS['dr-tulu']);
    one.propose(1, 'c1', 'c2');
    one.score(1, { c1: ALIKE, c2: APART });
    one.score(2, { c2: APART });
    const kept = refold(one.log, { ...EVOLUTION_PRESETS['dr-tulu'], retire: { rule: 'never' } });
    expect(kept.missing).toEqual([{ step: 2, group: 'g2', ids: [criterion('c1').id] }]);
    expect(names(setOf(foldLog(kept.events, EVOLUTION_PRESETS['dr-tulu'])))).toEqual(['c0', 'c1', 'c2']);
  });

  it('keeps edits by hand', () => {
    const rules = EVOLUTION_PRESETS.citeward;
    const one = new Run(rules);
    one.propose(1, 'c1', 'c2');
    const edit: EvolutionEvent = {
      event: 'retired',
      step: 1,
      group: 'g1',
      ids: [criterion('c1').id, OWN.id],
      reason: 'by_hand',
    };
    one.log = [...one.log, edit];
    expect(names(one.set)).toEqual(['c2']);
    expect(refold(one.log, rules).events).toEqual(one.log);
  });
});

describe('statisticsOf', () => {
  it.each([
    [[], { n: 0, mean: null, std: null }],
    [[null, null], { n: 0, mean: null, std: null }],
    [[0.5], { n: 1, mean: 0.5, std: null }],
    [[0.1, 0.1, 0.1, null], { n: 3, mean: 0.10000000000000002, std: 0 }],
    [[0, 1], { n: 2, mean: 0.5, std: 0.5 }],
  ] as const)('%j', (given, expected) => {
    expect(statisticsOf('x', given)).toEqual({ id: 'x', ...expected });
  });
});

describe('identity', () => {
  it('depends on question, polarity, title and description, and not on weight', () => {
    const base = { polarity: 'positive', description: 'States 1,642 m' } as const;
    const ids = [
      criterionId(QUESTION, base),
      criterionId(questionDigest('other'), base),
      criterionId(QUESTION, { ...base, polarity: 'negative' }),
      criterionId(QUESTION, { ...base, title: 'Depth' }),
      criterionId(QUESTION, { ...base, description: 'States 1,642 metres' }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(criterionId(QUESTION, { ...base })).toBe(ids[0]);
  });

  it('of a set depends on order, weight, type and step', () => {
    const entry = { id: OWN.id, weight: 1, type: 'persistent', since_step: null } as const;
    const other = { ...entry, id: criterion('c1').id };
    const sets = [
      [entry, other],
      [other, entry],
      [entry],
      [{ ...entry, weight: 2 }],
      [{ ...entry, type: 'evolving' as const }],
      [{ ...entry, since_step: 1 }],
    ];
    expect(new Set(sets.map(setId)).size).toBe(sets.length);
  });
});
