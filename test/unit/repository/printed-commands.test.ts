/** Every printed command begins with npx citeward, and names a command and flags that exist. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import { UsageError } from '../../../cli/shared/exit.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import { CITEWARD } from '../../../cli/shared/program.ts';
import {
  ENTRIES,
  guidePages,
  type PrintedCommand,
  pageCommands,
  sourceCommands,
  sourceTexts,
  usageCommands,
} from '../../house/printed-commands.ts';

const root = resolve(import.meta.dirname, '../../..');

const pages = guidePages().map((page) => ({ page, text: readFileSync(resolve(root, page), 'utf8') }));
const inBlocks = pages.flatMap(({ page, text }) => pageCommands(page, text));
const inProse = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/`(?<command>npx citeward [^`]*)`/gu)].map(({ groups, index }) => ({
    file: page,
    line: text.slice(0, index).split('\n').length,
    text: groups?.['command'] ?? '',
    shown: [],
  })),
);

const NAMES = COMMANDS.map(({ name }) => name).join('|');

/** Returns the arguments of each `npx citeward` in a command line. The argument `…` stands for any arguments. */
function argumentsIn(text: string): readonly (readonly string[])[] {
  return [...text.replaceAll(/\\\n/gu, ' ').matchAll(/npx citeward(?<rest>(?:"[^"]*"|'[^']*'|[^'"|&;>#\n)])*)/gu)].map(
    ({ groups }) =>
      [...(groups?.['rest'] ?? '').matchAll(/(?:"[^"]*"|'[^']*'|[^\s'"])+/gu)]
        .map(([word]) => word.replaceAll(/['"]/gu, ''))
        .filter((word) => word !== '…' && word !== '<'),
  );
}

/** Why the program would refuse the arguments, or `null`. */
async function problemOf(args: readonly string[]): Promise<string | null> {
  const [first, second] = args;
  if (first === undefined || first === '--help' || first === '--version' || first === 'COMMAND') return null;
  const named = first === 'help' ? args.slice(1).join(' ') : first;
  if (first === 'help' && COMMANDS.some(({ name }) => name === named)) return null;
  const entry = ENTRIES.find(({ name }) => name === first || name === `${first} ${second}` || name === named);
  if (entry === undefined) return COMMANDS.some(({ name }) => name === first) ? null : `no command ${args.join(' ')}`;
  if (first === 'help') return null;
  const { flags } = await entry.load();
  try {
    readFlags(entry.name, flags, args);
    return null;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

async function problemsOf(commands: readonly PrintedCommand[]): Promise<readonly string[]> {
  const problems = commands.flatMap(({ file, line, text }) =>
    argumentsIn(text).map(async (args) => {
      const problem = await problemOf(args);
      return problem === null ? [] : [`${file}:${line}: ${problem}`];
    }),
  );
  return (await Promise.all(problems)).flat();
}

describe('a command that is printed', () => {
  it('by a program names a command and its flags', { timeout: 60_000 }, async () => {
    const commands = [...sourceCommands(), ...(await usageCommands())];
    expect(commands.length).toBeGreaterThan(60);
    expect(await problemsOf(commands)).toEqual([]);
  });

  it('by a page names a command and its flags', async () => {
    expect(inBlocks.length).toBeGreaterThan(60);
    expect(await problemsOf([...inBlocks, ...inProse])).toEqual([]);
  });

  it(`by a program begins with ${CITEWARD}`, () => {
    const bare = new RegExp(`(?<!npx )\\bciteward (?:--|help|${NAMES})\\b|npm run citeward`, 'u');
    const found = [...sourceTexts()].flatMap(([file, text]) =>
      text.split('\n').flatMap((line, at) => (bare.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it('by npm is a script of package.json', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(resolve(root, 'package.json'), 'utf8'),
    );
    const texts = [...sourceTexts(), ...pages.map(({ page, text }) => [page, text] as const)];
    const unknown = texts.flatMap(([file, text]) =>
      [...text.matchAll(/\bnpm run (?<script>[a-z][a-z:-]*[a-z])/gu)].flatMap(({ groups }) =>
        Object.hasOwn(scripts, groups?.['script'] ?? '') ? [] : [`${file}: ${groups?.['script']}`],
      ),
    );
    expect(unknown).toEqual([]);
  });

  it('is refused if it misspells a command or a flag', async () => {
    const at = { file: 'page', line: 1, shown: [] };
    const wrong = [
      'npx citeward scroe x',
      'npx citeward score x --ulr URL',
      'A=b npx citeward batch list --all | wc -l',
    ];
    expect(await problemsOf(wrong.map((text) => ({ ...at, text })))).toHaveLength(wrong.length);
  });
});
