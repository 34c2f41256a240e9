/** The command lines of `citeward batch`: errors before anything is read or sent, and help. */

import { describe, expect, test } from 'vitest';
import { BATCH_COMMANDS } from '../../../cli/command-list.ts';
import { RESULT_FLAGS, resultPaths } from '../../../cli/commands/batch/options.ts';
import type { CommandEntry } from '../../../cli/shared/command.ts';
import { UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import { commandHelp, groupHelp } from '../../../cli/shared/help.ts';

const EXAMPLES = 'examples/rollouts.jsonl';

function command(name: string): CommandEntry {
  const found = BATCH_COMMANDS.commands.find((one) => one.name === `batch ${name}`);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}

async function refusal(name: string, args: readonly string[]): Promise<string> {
  const entry = command(name);
  const { flags, run } = await entry.load();
  try {
    await run(readFlags(entry.name, flags, args));
  } catch (error) {
    if (error instanceof UsageError) return `${error.message}\n${error.hint ?? ''}`;
    throw error;
  }
  throw new Error('it was not refused');
}

test.each([
  ['submit', [EXAMPLES], 'give its --url'],
  ['submit', [EXAMPLES], 'npx citeward batch run'],
  ['submit', ['--url', 'http://h'], 'no input'],
  ['submit', [EXAMPLES, '--url', 'u', '--window', '2d'], '--window: expected the format'],
  ['submit', [EXAMPLES, '--url', 'u', '--window', '500h'], '--window: expected 1h to 168h'],
  ['submit', [EXAMPLES, '--url', 'u', '--metadata', 'a'], '--metadata: expected key=value'],
  ['submit', [EXAMPLES, '--url', 'u', '--metadata', 'a=1', '--metadata', 'a=2'], 'given twice'],
  ['submit', [EXAMPLES, '--url', 'u', '--metadata', `${'k'.repeat(65)}=1`], '--metadata'],
  ['submit', [EXAMPLES, '--url', 'u', '--part-size', '65'], 'from 1 to 64'],
  ['submit', [EXAMPLES, '--url', 'u', '--fetch', '--output', 'package.json'], 'package.json exists already'],
  ['submit', [EXAMPLES, '--dry-run', '--recipe', 'x'], '--recipe: unknown recipe'],
  ['submit', [EXAMPLES, '--dry-run', '--set', 'citation_wieght=1'], 'Did you mean citation_weight?'],
  ['submit', [EXAMPLES, '--dry-run', '--endpoint', '/v1/scor'], 'Did you mean /v1/score?'],
  ['run', [EXAMPLES], 'Give --output FILE'],
  ['run', [EXAMPLES, '--output', EXAMPLES], 'exists already'],
  ['run', [EXAMPLES, '--output', 'x', '--errors', './x'], 'the same file'],
  ['run', [EXAMPLES, '--output', 'x', '--resume', '--force'], 'not both'],
  ['run', [EXAMPLES, '--output', 'x', '--judge', 'gpt'], 'Give a model with --judge-url'],
  ['run', [EXAMPLES, '--output', 'x', '--judgments', 'only'], 'stores no judgments'],
  ['status', ['--url', 'http://h'], 'expected one batch'],
  ['wait', ['a', 'b', '--url', 'http://h'], 'expected one batch'],
  ['wait', ['a'], 'give its --url'],
  ['fetch', ['a', '--url', 'localhost'], 'expected http://'],
  ['list', ['a', '--url', 'http://h'], 'takes no batch'],
  ['list', ['--url', 'http://h', '--limit', '0'], '--limit'],
  ['cancel', ['a', '--ulr', 'http://h'], 'Did you mean --url?'],
])('%s %j is refused', async (name, args, said) => expect(await refusal(name, args)).toContain(said));

describe('the files of the results', () => {
  const paths = (...args: string[]) => resultPaths(readFlags('batch fetch', RESULT_FLAGS, args), 'batch_1.jsonl');

  test.each([
    [[], 'batch_1.jsonl', 'batch_1.errors.jsonl'],
    [['--output', 'a/scores.json'], 'a/scores.json', 'a/scores.errors.json'],
    [['--output', 'scores'], 'scores', 'scores.errors.jsonl'],
    [['--errors', 'bad'], 'batch_1.jsonl', 'bad'],
  ])('%j', (args, output, errors) => expect(paths(...args)).toEqual({ output, errors }));
});

test('help fits into 100 columns and lists the exit codes', async () => {
  for (const { summary, load } of BATCH_COMMANDS.commands) {
    const help = commandHelp(summary, await load());
    expect(help).toContain('Exit code: 0');
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  }
  const overview = groupHelp(BATCH_COMMANDS);
  for (const { name } of BATCH_COMMANDS.commands) expect(overview).toContain(`  ${name}`);
});
