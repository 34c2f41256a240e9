/** docs/reference/commands.md agrees with the declarations of the commands. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

test('the page of commands and flags is the one that the script makes', { timeout: 60_000 }, () => {
  const script = resolve(import.meta.dirname, '../../../scripts/command-docs.ts');
  expect(spawnSync(process.execPath, [script, '--check']).status, 'run node scripts/command-docs.ts').toBe(0);
});
