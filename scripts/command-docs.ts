/**
 * `node scripts/command-docs.ts`: writes docs/reference/commands.md from the declarations of the commands. `--check`
 * writes nothing and fails if the page differs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { COMMANDS } from '../cli/command-list.ts';
import type { Command } from '../cli/shared/command.ts';
import { COMMON_FLAGS, type FlagDescription } from '../cli/shared/flags.ts';
import { code, escaped, item, wrapped, writeOrCheck } from './markdown.ts';

/** A flag that so many commands describe in the same words is described once. */
const SHARED_BY = 3;
/** The anchor of their section. */
const SHARED = 'flags-of-several-commands';

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
const path = resolve(import.meta.dirname, '..', 'docs/reference/commands.md');
const entries = COMMANDS.flatMap((command) => ('commands' in command ? command.commands : [command]));
const commands = await Promise.all(
  entries.map(async ({ name, summary, load }) => ({ name, summary, ...(await load()) })),
);
const found = existsSync(path) ? readFileSync(path, 'utf8') : '';
writeOrCheck(path, found, page(), values.check === true, 'scripts/command-docs.ts');

function page(): string {
  const shared = sharedFlags();
  return `${[
    '<!-- made by scripts/command-docs.ts from the declarations in cli/commands -->',
    '# Commands and flags',
    'Every command of `npx citeward`, as `npx citeward help COMMAND` prints it. [The command line](cli.md) shows how to use\nthem.',
    commands.map(({ name, summary }) => item(`[${name}](#${anchor(name)}): ${escaped(summary)}`)).join('\n'),
    '## Flags of several commands',
    'The sections below name these flags only.',
    [...shared, ...COMMON_FLAGS].map(flagItem).join('\n'),
    ...commands.flatMap((command) => section(command, shared)),
  ].join('\n\n')}\n`;
}

/** For each name the words that most commands use, if enough of them do; in the order of their first commands. */
function sharedFlags(): FlagDescription[] {
  const byName = Map.groupBy(
    commands.flatMap(({ flags }) => flags),
    ({ name }) => name,
  );
  return [...byName.values()].flatMap((flags) => {
    const [most = []] = [...Map.groupBy(flags, flagItem).values()].toSorted((a, b) => b.length - a.length);
    return most.length >= SHARED_BY ? most.slice(0, 1) : [];
  });
}

function section(command: Command & { name: string; summary: string }, shared: readonly FlagDescription[]): string[] {
  const { name, summary, usage, json, flags, details } = command;
  const known = new Set(shared.map(flagItem));
  const own = flags.filter((flag) => !known.has(flagItem(flag))).map(flagItem);
  const others = flags.filter((flag) => known.has(flagItem(flag))).map((flag) => code(`--${flag.name}`));
  const also = others.length === 0 ? [] : [item(`[Of several commands](#${SHARED}): ${others.join(', ')}`)];
  return [
    `## ${name}`,
    wrapped(`${escaped(summary)} Usage: ${usage.map(usageText).join(', ')}.`),
    [...own, ...also, ...(json === undefined ? [] : [item(`Lines of ${code('--json')}: ${json}`)])].join('\n'),
    ...(details.length === 0 ? [] : [`\`\`\`text\n${details.join('\n')}\n\`\`\``]),
  ];
}

/** A usage line as code, with the remark behind it. */
function usageText(line: string): string {
  const [command = '', remark] = line.split(/ {2,}/u);
  return `${code(command)}${remark === undefined ? '' : ` ${escaped(remark)}`}`;
}

function flagItem({ name, kind, value, help }: FlagDescription): string {
  return item(`${code(kind === 'switch' ? `--${name}` : `--${name} ${value ?? 'VALUE'}`)}: ${escaped(help)}`);
}

function anchor(name: string): string {
  return name.replaceAll(' ', '-');
}
