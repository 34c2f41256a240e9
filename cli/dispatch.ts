/**
 * The command line as a function: finds the command that the arguments name, runs it, and turns expected errors into a
 * message and an exit code. main.ts calls it with the process, a test with streams of its own.
 */

import manifest from 'citeward/package.json' with { type: 'json' };
import { plainLine } from '../src/text/foreign-line.ts';
import { COMMANDS } from './command-list.ts';
import type { CommandEntry, CommandGroup } from './shared/command.ts';
import { CommandError, EXIT_OK, EXIT_USAGE, UsageError } from './shared/exit.ts';
import { readFlags } from './shared/flags.ts';
import { commandHelp, generalHelp, groupHelp } from './shared/help.ts';
import { CITEWARD } from './shared/program.ts';
import { type Shell, writeLine } from './shared/shell.ts';
import { styleFor } from './shared/style.ts';
import { didYouMean } from './shared/suggest.ts';

/** Runs a command line and returns its exit code. @throws Error for a bug. */
export async function main(args: readonly string[], shell: Shell): Promise<number> {
  try {
    return await dispatch(args, shell);
  } catch (error) {
    return report(error, args, shell);
  }
}

async function dispatch(args: readonly string[], shell: Shell): Promise<number> {
  const say = (line: string): void => writeLine(shell.stdout, line);
  const [first, ...rest] = args;
  if (first === undefined) {
    writeLine(shell.stderr, generalHelp(COMMANDS, manifest.version));
    return EXIT_USAGE;
  }
  if (first === '--version' || first === '-v') {
    say(manifest.version);
    return EXIT_OK;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    const [topic, action] = rest;
    say(topic === undefined ? generalHelp(COMMANDS, manifest.version) : await helpFor(topic, action));
    return EXIT_OK;
  }
  const named = commandNamed(first);
  if (!('commands' in named)) return runCommand(named, rest, shell);
  const [action, ...after] = rest;
  if (action === '--help' || action === '-h') {
    say(groupHelp(named));
    return EXIT_OK;
  }
  return runCommand(actionNamed(named, action), after, shell);
}

async function runCommand(entry: CommandEntry, args: readonly string[], shell: Shell): Promise<number> {
  const command = await entry.load();
  const flags = readFlags(entry.name, command.flags, args, shell);
  if (!flags.isOn('help')) return command.run(flags);
  writeLine(shell.stdout, commandHelp(entry.summary, command));
  return EXIT_OK;
}

async function helpFor(topic: string, action: string | undefined): Promise<string> {
  const named = commandNamed(topic);
  if ('commands' in named && action === undefined) return groupHelp(named);
  const entry = 'commands' in named ? actionNamed(named, action) : named;
  return commandHelp(entry.summary, await entry.load());
}

/** @throws UsageError if the group has no such command. */
function actionNamed({ name, commands }: CommandGroup, action: string | undefined): CommandEntry {
  const found = commands.find((command) => command.name === `${name} ${action}`);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name.slice(name.length + 1));
  const expected = `Commands: ${names.map((one) => `${name} ${one}`).join(', ')}. See: ${CITEWARD} help ${name}`;
  if (action === undefined) throw new UsageError(`${name} needs a command`, expected);
  throw new UsageError(`unknown command "${name} ${action}"`, didYouMean(action, names, `${name} `) ?? expected);
}

/** @throws UsageError if there is no such command. */
function commandNamed(name: string): CommandEntry | CommandGroup {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const names = COMMANDS.map((command) => command.name);
  const problem = name.startsWith('-')
    ? `unknown flag ${name}; flags come after the command`
    : `unknown command "${name}"`;
  throw new UsageError(problem, didYouMean(name, names) ?? `Commands: ${names.join(', ')}. See: ${CITEWARD} --help`);
}

/** Prints an expected error and returns its exit code. Any other error is a bug: it is thrown again, with its stack. */
function report(error: unknown, args: readonly string[], { stderr, env }: Shell): number {
  if (!(error instanceof CommandError)) throw error;
  const style = styleFor(stderr, args.includes('--no-color'), env);
  for (const line of error.message.split('\n')) writeLine(stderr, style('red', `citeward: ${plainLine(line)}`));
  if (error.hint !== null) writeLine(stderr, plainLine(error.hint));
  return error.exitCode;
}
