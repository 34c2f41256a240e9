/** `npm run demo` ends by itself, says what it should, and leaves nothing behind. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from './processes.ts';

/** Running processes whose environment carries the mark; Linux only, elsewhere none are found. */
function processesMarked(mark: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
      } catch {
        // It has ended since the listing, or belongs to somebody else.
        return false;
      }
    });
}

test('the demo', async () => {
  const mark = `CITEWARD_DEMO_TEST=${process.pid}-${Date.now()}`;
  const [name = '', value = ''] = mark.split('=');
  const temporary = mkdtempSync(join(tmpdir(), 'citeward-test-'));
  const demo = await runScript('scripts/demo.ts', { args: [], env: { [name]: value, TMPDIR: temporary } });
  expect(demo.stderr).toBe('');
  expect(demo.code).toBe(0);
  expect(demo.stdout).toMatch(/19 rows scored · mean reward [\d.]+ · \d+ judge calls/);
  expect(demo.stdout).toMatch(/ 0 judge calls: all \d+ judgments came from the store/);
  expect(demo.stdout).toContain('citation_weight 0.5');
  expect(demo.stdout).toMatch(/✓ .*\[pl-2\]\n(.*\n)+ {3}reward [\d.]+, by citeward-extractive-1/);
  expect(demo.stdout).toMatch(/no\s+model/);
  for (const line of demo.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
  expect(processesMarked(mark)).toEqual([]);
  expect(readdirSync(temporary).filter((entry) => entry.startsWith('citeward-'))).toEqual([]);
  rmSync(temporary, { recursive: true });
});
