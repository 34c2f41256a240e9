/** A failure of the client ends the row, its result or the whole run. */

import { describe, expect, test } from 'vitest';
import { RunError, UsageError } from '../../../cli/shared/exit.ts';
import { outcomeOfFailure } from '../../../cli/shared/worker-failures.ts';

describe('outcome of a failure', () => {
  const of = (status: number, reason: string, errors?: { path: string; message: string }[]) =>
    outcomeOfFailure(
      {
        kind: 'problem',
        status,
        problem: { reason, detail: 'why', request_id: 'r1', ...(errors === undefined ? {} : { errors }) },
      },
      new Set(['recipe']),
    );

  test('wrong fields refuse the row', () => {
    expect(of(422, 'input_invalid', [{ path: 'positive_rubrics', message: 'm' }])).toEqual({
      kind: 'refused',
      problems: [{ field: 'positive_rubrics', message: 'm' }],
    });
    expect(of(413, 'body_too_large')).toEqual({ kind: 'refused', problems: [{ field: null, message: 'why' }] });
  });

  test('wrong fields that a flag set end the run', () => {
    expect(() => of(422, 'input_invalid', [{ path: 'recipe.mix', message: 'm' }])).toThrow(
      new UsageError('recipe.mix: m'),
    );
  });

  test('missing judgments leave the row without a reward', () => {
    expect(of(409, 'judgment_missing')).toEqual({ kind: 'failed', reason: 'judgment_missing', detail: 'why' });
    expect(of(503, 'judge_unconfigured')).toMatchObject({ kind: 'failed' });
    expect(of(500, 'internal')).toMatchObject({ kind: 'failed', detail: 'why (request r1)' });
  });

  test('a missing key, Worker or route ends the run', () => {
    expect(() => of(401, 'key_missing')).toThrow(RunError);
    expect(() => of(404, 'route_unknown')).toThrow(RunError);
    expect(() => outcomeOfFailure({ kind: 'unreachable', why: 'x' }, new Set())).toThrow(RunError);
  });

  test('texts of a Worker begin no line and command no terminal', () => {
    const forged = 'x\n\u001B[32mok\u001B[0m  done';
    expect(() => of(401, forged, [{ path: forged, message: forged }])).toThrow(
      new RunError('the Worker refused the request: 401 x ok  done: why\nx ok  done: x ok  done'),
    );
    expect(() => of(422, 'input_invalid', [{ path: 'recipe', message: forged }])).toThrow(
      new UsageError('--recipe: x ok  done'),
    );
    expect(() => outcomeOfFailure({ kind: 'unreachable', why: forged }, new Set())).toThrow(/: x ok {2}done$/);
  });
});
