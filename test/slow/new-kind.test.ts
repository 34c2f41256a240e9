/** With a sixth judgment kind every project still type-checks, and the frozen records keep every byte. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CopiedSources } from '../house/copied-sources.ts';
import { copyWithTone } from '../house/new-kind/copy-with-tone.ts';

let copy: CopiedSources;
beforeAll(() => {
  copy = copyWithTone();
});
afterAll(() => copy.remove());

it('all projects type-check', () => {
  const { code, stdout, stderr } = copy.run('node', ['scripts/typecheck.ts']);
  expect(code, `${stdout}${stderr}`).toBe(0);
});

it.each(['test/unit/frozen', 'test/unit/judgments/template.test.ts'])('%s passes', (tests) => {
  const { code, stdout, stderr } = copy.run('vitest', ['run', '--project', 'unit', tests]);
  expect(code, `${stdout}${stderr}`).toBe(0);
});
