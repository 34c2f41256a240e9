/** The completion scripts: bash runs its own, and each names every command and flag. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import { completionScript, SHELLS } from '../../../cli/commands/completion/script.ts';

/** What is typed, and what is offered for its last word. */
const OFFERED: readonly (readonly [typed: readonly string[], offered: string])[] = [
  [['ju'], 'judge judgments'],
  [['runs', 'e'], 'export'],
  [['score', '--judgm'], '--judgments'],
  [['runs', 'list', '--js'], '--json'],
  [['runs', 'list', 'x'], ''],
  [['score', 'rows.jsonl', '--judgments', 'o'], 'only'],
  [['score', '--recipe', 'refiner-g'], 'refiner-gpt54-instance-rubric refiner-gpt54-instance-only refiner-guarded'],
  [['runs', 'sync', 'RUN', '--to', 'ml'], 'mlflow'],
  [['completion', 'z'], 'zsh'],
  [['help', 'ru'], 'runs rubrics'],
];
const words = (text: string): readonly string[] =>
  text
    .split(/\s+/u)
    .filter((word) => word !== '')
    .toSorted();

test('bash completes commands, commands of a group, flags and values', async () => {
  const script = await completionScript('bash', COMMANDS);
  const typed = OFFERED.map(([each]) => each);
  const asked = typed.map(
    (words) =>
      `COMP_WORDS=(citeward ${words.join(' ')}); COMP_CWORD=${words.length}; _citeward; echo "\${COMPREPLY[@]}"`,
  );
  const ended = spawnSync('bash', ['--norc'], { input: `${script}\n${asked.join('\n')}\n`, encoding: 'utf8' });
  expect(ended.stderr).toBe('');
  expect(ended.stdout.split('\n').slice(0, -1).map(words)).toEqual(OFFERED.map(([, offered]) => words(offered)));
});

test.runIf(spawnSync('fish', ['--version']).status === 0)('fish completes the same', async () => {
  const script = await completionScript('fish', COMMANDS);
  const asked = OFFERED.map(([typed]) => `complete -C 'citeward ${typed.join(' ')}'; echo ---`);
  const folder = mkdtempSync(join(tmpdir(), 'citeward-fish-'));
  const file = join(folder, 'asked.fish');
  writeFileSync(file, `${script}\n${asked.join('\n')}\n`);
  const ended = spawnSync('fish', ['--no-config', file], { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const offered = ended.stdout.split('---\n').slice(0, -1);
  const first = offered.map((lines) => words(lines.replaceAll(/\t.*$/gmu, '')));
  expect([ended.stderr, first]).toEqual(['', OFFERED.map(([, each]) => words(each))]);
});

test.each(SHELLS)('%s: every command and a flag of each', async (shell) => {
  const script = await completionScript(shell, COMMANDS);
  for (const { name } of COMMANDS) expect(script).toContain(name);
  expect(script).toContain(shell === 'fish' ? '-l no-color -d' : '--no-color');
  expect(script).not.toContain('undefined');
});
