/** Where a trainer's sample is recorded: what is told, what is inferred, and when a prompt's next visit begins. */
import { describe, expect, it } from 'vitest';
import { type PromptVisit, visitId, visitOf, wantedPlace } from '../../../src/wire/adapters/run-place.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const MINUTE = 60 * 1000;

const visit = (fields: Partial<PromptVisit> = {}): PromptVisit => ({
  number: 4,
  samples: 3,
  recorded_at: NOW - MINUTE,
  own: 'absent',
  unscored: null,
  ...fields,
});

describe('the next visit of a prompt', () => {
  it('begins when the latest has all its samples, has the sample with other content, or paused', () => {
    expect(visitOf(null, 8, NOW)).toBe(0);
    expect(visitOf(visit(), 8, NOW)).toBe(4);
    expect(visitOf(visit({ samples: 8 }), 8, NOW)).toBe(5);
    expect(visitOf(visit({ samples: 8 }), null, NOW)).toBe(4);
    expect(visitOf(visit({ own: 'different' }), null, NOW)).toBe(5);
    expect(visitOf(visit({ recorded_at: NOW - 10 * MINUTE }), 8, NOW)).toBe(4);
    expect(visitOf(visit({ recorded_at: NOW - 10 * MINUTE - 1 }), 8, NOW)).toBe(5);
  });

  it('does not begin with a request that is repeated', () => {
    expect(visitOf(visit({ own: 'equal', samples: 8 }), 8, NOW)).toBe(4);
    expect(visitOf(visit({ unscored: 'a', samples: 8, recorded_at: NOW - 20 * MINUTE }), 8, NOW)).toBe(4);
  });

  it('has an id after those before it', () => {
    const ids = [0, 1, 9, 10, 99, 100, 99_999].map((number) => visitId('p', number));
    expect([...ids].sort()).toEqual(ids);
  });
});

describe('the place', () => {
  const known = { prompt: 'How long is the Aare?' };

  it('is nowhere unless the query or the label names a run', () => {
    expect(wantedPlace(undefined, undefined, known)).toBeNull();
    expect(wantedPlace(undefined, { step: 3 }, known)).toBeNull();
    expect(wantedPlace(undefined, 'told', known)).toMatchObject({ run: 'told' });
    expect(wantedPlace('named', { id: 'told' }, known)).toMatchObject({ run: 'told' });
  });

  it('is given where the label has the group and the step or the sample, and inferred elsewhere', () => {
    const place = (told: Parameters<typeof wantedPlace>[1]) => wantedPlace('r', told, known);
    expect(place({ group: 'p', step: 2 })).toMatchObject({ group: 'p', isVisited: false, grouping: 'given' });
    expect(place({ group: 'p', sample: 2 })).toMatchObject({ sample: '2', isVisited: false, grouping: 'given' });
    // A data set names its rows, and each epoch has the same names.
    expect(place({ group: 'p' })).toMatchObject({ group: 'p', sample: null, isVisited: true, grouping: 'inferred' });
    expect(place({ step: 2 })).toMatchObject({ step: 2, isVisited: false, grouping: 'inferred' });
    expect(place(undefined)).toMatchObject({ step: null, isVisited: true, grouping: 'inferred' });
  });

  it('of evaluation is in a run of its own, whoever says that it is evaluation', () => {
    expect(wantedPlace('r', { split: 'eval' }, known)).toMatchObject({ run: 'r-eval' });
    expect(wantedPlace('r', undefined, { ...known, split: 'eval' })).toMatchObject({ run: 'r-eval' });
    expect(wantedPlace('r', { split: 'train' }, { ...known, split: 'eval' })).toMatchObject({ run: 'r' });
  });

  it('has one group for equal prompts, whatever the order of their keys', () => {
    const groupOf = (prompt: unknown) => wantedPlace('r', undefined, { prompt })?.group;
    expect(groupOf({ role: 'user', content: 'x' })).toBe(groupOf({ content: 'x', role: 'user' }));
    expect(groupOf('x')).not.toBe(groupOf('y'));
    expect(groupOf([Number.POSITIVE_INFINITY])).toEqual(expect.any(String));
  });
});
