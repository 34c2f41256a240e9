/** Help texts, made from the commands' own descriptions. */
import { COMMON_FLAGS } from './arguments/flags.ts';
import type { Command, FlagDescription } from './command.ts';

const MAX_FLAG_WIDTH = 30;

/** `citeward --help` */
export function generalHelp(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    `citeward ${version}: scores cited answers`,
    '',
    'Usage: citeward COMMAND [flags]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Flags:',
    '  --help       This text; after a command, or citeward help COMMAND: its own.',
    '  --version    The version.',
    '',
    'Try: citeward score examples/rollouts.jsonl',
  ].join('\n');
}

/** `citeward help COMMAND` */
export function commandHelp({ summary, usage, flags, details }: Command): string {
  return [
    summary,
    '',
    ...usage.map((line, position) => `${position === 0 ? 'Usage:' : '      '} citeward ${line}`),
    '',
    'Flags:',
    ...[...flags, ...COMMON_FLAGS].map(flagLine),
    '',
    ...details,
  ].join('\n');
}

function flagLine({ name, kind, value, help }: FlagDescription): string {
  const left = kind === 'switch' ? `--${name}` : `--${name} ${value ?? 'VALUE'}`;
  return `  ${left.padEnd(MAX_FLAG_WIDTH)} ${help}`;
}
