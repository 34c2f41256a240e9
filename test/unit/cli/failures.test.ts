/** What a failure of the client means for the run: this row, this result, or everything. */

import { describe, expect, test } from 'vitest';
import { RunError, UsageError } from '../../../cli/shared/exit.ts';
import { outcomeOfFailure } from '../../../cli/shared/worker-failures.ts';

describe('what a failure means for the run', () => {
  const of = (status: number, reason: string, errors?: { path: string; message: string }[]) =>
    outcomeOfFailure(
      {
        kind: 'problem',
        status,
        problem: { reason, detail: 'why', request_id: 'r1', ...(errors === undefined ? {} : { errors }) },
      },
      new Set(['recipe']),
    );

  test('wrong fields are the row’s', () => {
    expect(of(422, 'input_invalid', [{ path: 'positive_rubrics', message: 'm' }])).toEqual({
      kind: 'refused',
      problems: [{ field: 'positive_rubrics', message: 'm' }],
    });
    expect(of(413, 'body_too_large')).toEqual({ kind: 'refused', problems: [{ field: null, message: 'why' }] });
  });

  test('wrong fields that a flag set are wrong for every row', () => {
    expect(() => of(422, 'input_invalid', [{ path: 'recipe.mix', message: 'm' }])).toThrow(
      new UsageError('recipe.mix: m'),
    );
  });

  test('judgments that could not be had leave the row without a number', () => {
    expect(of(409, 'judgment_missing')).toEqual({ kind: 'failed', reason: 'judgment_missing', detail: 'why' });
    expect(of(503, 'judge_unconfigured')).toMatchObject({ kind: 'failed' });
    expect(of(500, 'internal')).toMatchObject({ kind: 'failed', detail: 'why (request r1)' });
  });

  test('no key, no Worker, no API: the run ends', () => {
    expect(() => of(401, 'key_missing')).toThrow(RunError);
    expect(() => of(404, 'route_unknown')).toThrow(RunError);
    expect(() => outcomeOfFailure({ kind: 'unreachable', why: 'x' }, new Set())).toThrow(RunError);
  });
});
