/** Edits by hand: what a person decides holds under every preset, and is the same when the log is read again. */
import { describe, expect, it } from 'vitest';
import { appendEdit, type HandEdit } from '../../../src/rubrics/append.ts';
import { checkLog, foldLog, refold, setOf } from '../../../src/rubrics/evolution.ts';
import type { EvolutionEvent, WeightedCriterion } from '../../../src/rubrics/evolution-log.ts';
import { EVOLUTION_PRESET_NAMES, EVOLUTION_PRESETS } from '../../../src/rubrics/evolution-rules.ts';
import { criterionId, questionDigest, setId } from '../../../src/rubrics/rubric-set.ts';

const QUESTION = questionDigest('How deep is the lake?');

function criterion(name: string, weight = 1): WeightedCriterion {
  const one = { polarity: 'positive', description: `States ${name}` } as const;
  return { id: criterionId(QUESTION, one), criterion: one, weight };
}

const [OWN, MADE] = [criterion('own'), criterion('made')];
const LOG: readonly EvolutionEvent[] = [
  { event: 'started', question: QUESTION, own: [OWN] },
  {
    ...{ event: 'proposed', step: 0, group: 'g', criteria: [MADE], under: QUESTION, judgment: null, responses: [] },
  },
  { event: 'activated', step: 0, group: 'g', ids: [MADE.id] },
];

describe.each(EVOLUTION_PRESET_NAMES)('%s', (preset) => {
  const rules = EVOLUTION_PRESETS[preset];

  function edited(log: readonly EvolutionEvent[], edit: Partial<HandEdit>): readonly EvolutionEvent[] {
    const before = foldLog(log, rules);
    const none = { step: 1, set: setId(setOf(before)), retire: [], restore: [], add: [] };
    const result = appendEdit(before, rules, { ...none, ...edit });
    if (!result.ok) throw new Error(result.error.why);
    const after = [...log, ...result.value.events];
    expect(foldLog(after, rules)).toEqual(result.value.state);
    expect(checkLog(after, rules)).toEqual({ ok: true, value: null });
    return after;
  }

  it.each([OWN, MADE])('changes the weight of a criterion in its place', (one) => {
    const log = edited(LOG, { add: [{ ...one, weight: 3 }] });
    const before = setOf(foldLog(LOG, rules));
    const after = before.map((entry) => (entry.id === one.id ? { ...entry, weight: 3 } : entry));
    expect(setOf(foldLog(log, rules))).toEqual(after);
    // The end of the step before the edit has the old weight.
    expect(setOf(foldLog(log, rules, 0))).toEqual(before);
  });

  it('brings a retired criterion back if it is added again, with the weight that the person gives', () => {
    const retired = edited(LOG, { retire: [MADE.id] });
    const log = edited(retired, { add: [{ ...MADE, weight: 2 }] });
    expect(foldLog(log, rules).active).toEqual([{ id: MADE.id, weight: 2, type: 'evolving', since_step: 0 }]);
    expect(log.at(-2)).toEqual({ event: 'restored', step: 1, group: '', ids: [MADE.id], reason: 'by_hand' });
    for (const other of EVOLUTION_PRESET_NAMES) {
      expect(setOf(foldLog(refold(log, EVOLUTION_PRESETS[other]).events, EVOLUTION_PRESETS[other]))).toHaveLength(2);
    }
  });

  it('lets a restored criterion of the row be one that no rule retires, as before', () => {
    const log = edited(edited(LOG, { retire: [OWN.id] }), { restore: [OWN.id] });
    expect(foldLog(log, rules).persistent.map(({ id }) => id)).toEqual([OWN.id]);
  });
});
