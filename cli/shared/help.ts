/** Formats the help texts from the descriptions of the commands. */

import type { CommandEntry, CommandGroup, CommandSyntax } from './command.ts';
import { COMMON_FLAGS, type FlagDescription } from './flags.ts';
import { CITEWARD } from './program.ts';

const MAX_FLAG_WIDTH = 30;

export const HELP_WIDTH = 100;

/** `citeward --help` */
export function generalHelp(commands: readonly (CommandEntry | CommandGroup)[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    `citeward ${version}: scores cited answers`,
    '',
    `Usage: ${CITEWARD} COMMAND [flags]`,
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Flags:',
    '  --help       Show this text.',
    '  --version    Show the version.',
    '',
    `The flags of a command: ${CITEWARD} help COMMAND`,
    `Try: ${CITEWARD} score examples/rollouts.jsonl`,
  ].join('\n');
}

/** `citeward help GROUP` */
export function groupHelp({ name, summary, commands, details }: CommandGroup): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    summary,
    '',
    `Usage: ${CITEWARD} ${name} COMMAND [flags]`,
    '',
    'Commands:',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    `The flags of a command: ${CITEWARD} help ${name} COMMAND`,
    '',
    ...details,
  ].join('\n');
}

/** `citeward help COMMAND` */
export function commandHelp(summary: string, { usage, flags, details }: CommandSyntax): string {
  return [
    summary,
    '',
    ...usage.map((line, position) => `${position === 0 ? 'Usage:' : '      '} ${CITEWARD} ${line}`),
    '',
    'Flags:',
    ...[...flags, ...COMMON_FLAGS].map(flagLine),
    '',
    ...details,
  ].join('\n');
}

function flagLine({ name, kind, value, help }: FlagDescription): string {
  const left = kind === 'switch' ? `--${name}` : `--${name} ${value ?? 'VALUE'}`;
  const indent = MAX_FLAG_WIDTH + 3;
  return `  ${left.padEnd(MAX_FLAG_WIDTH)} ${wrapped(help, HELP_WIDTH - indent).join(`\n${' '.repeat(indent)}`)}`;
}

/** Breaks a text into lines of at most `width` characters, at spaces. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
