/**
 * A sixth judgment kind needs its own folder, its entry in the registry and its name, and moves no key of another kind.
 * All projects are type-checked with it in test/slow/new-kind.test.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CopiedSources } from '../../house/copied-sources.ts';
import { copyWithTone, SCENARIO } from '../../house/new-kind/copy-with-tone.ts';
import { keyOfEachKind } from './kind-keys.ts';

const TIMEOUT_MS = 60_000;

let copy: CopiedSources;
beforeAll(() => {
  copy = copyWithTone(['src', 'test']);
}, TIMEOUT_MS);
afterAll(() => copy.remove());

it('is keyed, judged, stored and read back, and leaves the keys of all other kinds', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { code, stdout, stderr } = copy.run('node', [SCENARIO]);
  expect(code, stderr).toBe(0);
  const { judgment, calls, cached, line, lexical, keys } = JSON.parse(stdout);
  expect(judgment).toMatchObject({
    preimage: {
      kind: 'tone',
      parser: 'none',
      judge: { model: 'm', template: expect.stringMatching(/^[0-9a-f]{64}$/) },
    },
    verdicts: { kind: 'tone', polite: true },
  });
  expect(Object.keys(judgment.preimage.inputs).sort()).toEqual(['answer', 'question']);
  // The first reply was no JSON, so the judge asked again; the second obtain read the store.
  expect({ calls, cached }).toEqual({ calls: 2, cached: true });
  expect(line).toEqual({ ok: true, value: { kind: 'judgment', judgment } });
  expect(lexical).toMatchObject({ ok: false, failure: { reason: 'judge_request_refused' } });
  expect(keys).toEqual(await keyOfEachKind());
});
