/**
 * The memory that `citeward verify` takes for lines from standard input: four times the lines, about the same peak.
 * Compared with another run on the same machine, since what a Node process keeps before it collects differs between
 * machines.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { root, spawnCiteward } from '../e2e/processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const REPORT_PEAK = 'process.on("exit",()=>console.error("maxrss",process.resourceUsage().maxRSS))';

/** Peak resident memory in MB of a run over so many copies of a line. */
async function peakMb(line: Buffer, lines: number): Promise<number> {
  const ended = await spawnCiteward({
    // The heap holds only a small part of the lines, so a command that collects all lines runs out of memory.
    nodeArgs: ['--max-old-space-size=64', '--import', `data:text/javascript,${encodeURIComponent(REPORT_PEAK)}`],
    args: ['verify', '-'],
    stdin: Array.from({ length: lines }, () => line),
  });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain(`${lines.toLocaleString('en-US')} rows verified`);
  expect(ended.stdout.trimEnd().split('\n').length).toBe(lines + 1);
  return Number(/maxrss (\d+)/.exec(ended.stderr)?.[1]) / 1024;
}

test('memory does not grow with the number of lines', { timeout: 400_000 }, async () => {
  const [first = ''] = (await readFile(resolve(root, EXAMPLES), 'utf8')).split('\n', 1);
  const line = Buffer.from(`${first}\n`);
  const [few, many] = [5_000, 20_000];
  const addedMb = ((many - few) * line.byteLength) / 1e6;
  expect(addedMb).toBeGreaterThan(250);
  const before = await peakMb(line, few);
  expect((await peakMb(line, many)) - before).toBeLessThan(addedMb / 2);
});
