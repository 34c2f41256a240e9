/**
 * `npm run fuzz [rounds] [first seed]`: runs the property tests with another seed in each round (10 rounds unless
 * told), and stops at the first seed that fails, which it names. `npm test` always draws the same cases.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'test/unit';
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => join(folder, name))
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('fc.assert'));
const rounds = Number(process.argv[2] ?? 10);
const first = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
if (!(Number.isInteger(rounds) && rounds > 0 && Number.isInteger(first))) {
  console.error('usage: npm run fuzz [rounds] [first seed]; expected whole numbers');
  process.exit(2);
}
for (let round = 0; round < rounds; round++) {
  const seed = first + round;
  const { status, stdout } = spawnSync('vitest', ['run', '--project', 'unit', ...files], {
    env: { ...process.env, FUZZ_SEED: String(seed) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) {
    console.error(`${stdout}\nFailed with the seed ${seed}. Repeat it: npm run fuzz 1 ${seed}`);
    process.exit(1);
  }
  console.log(`seed ${seed}: ${files.length} files hold (${round + 1} of ${rounds})`);
}
