/** The completion scripts: bash runs its own, and each names every command and flag. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import { completionScript, SHELLS } from '../../../cli/commands/completion/script.ts';

test('bash completes commands, commands of a group and flags', async () => {
  const script = await completionScript('bash', COMMANDS);
  const typed = [['ju'], ['runs', 'e'], ['score', '--judgm'], ['runs', 'list', '--js'], ['runs', 'list', 'x']];
  const asked = typed.map(
    (words) =>
      `COMP_WORDS=(citeward ${words.join(' ')}); COMP_CWORD=${words.length}; _citeward; echo "\${COMPREPLY[@]}"`,
  );
  const ended = spawnSync('bash', ['--norc'], { input: `${script}\n${asked.join('\n')}\n`, encoding: 'utf8' });
  expect([ended.stderr, ended.stdout.split('\n')]).toEqual([
    '',
    ['judge judgments', 'export', '--judgments', '--json', '', ''],
  ]);
});

test.each(SHELLS)('%s: every command and a flag of each', async (shell) => {
  const script = await completionScript(shell, COMMANDS);
  for (const { name } of COMMANDS) expect(script).toContain(name);
  expect(script).toContain(shell === 'fish' ? '-l no-color -d' : '--no-color');
  expect(script).not.toContain('undefined');
});
