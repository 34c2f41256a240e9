/** The `citeward` command: finds the command, runs it, and turns what went wrong into a message and an exit code. */
import manifest from 'citeward/package.json' with { type: 'json' };
import { didYouMean, readFlags } from './arguments/flags.ts';
import {
  type Command,
  type CommandGroup,
  EXIT_INCOMPLETE,
  EXIT_OK,
  EXIT_USAGE,
  RunError,
  UsageError,
} from './command.ts';
import { agentCommand } from './commands/agent.ts';
import { batchCommands } from './commands/batch.ts';
import { judgeCommand } from './commands/judge.ts';
import { judgmentsCommand } from './commands/judgments.ts';
import { keysCommand } from './commands/keys.ts';
import { receiptCommands } from './commands/receipt.ts';
import { refineCommand } from './commands/refine.ts';
import { replayCommand } from './commands/replay.ts';
import { runsCommands } from './commands/runs.ts';
import { scoreCommand } from './commands/score.ts';
import { verifyCommand } from './commands/verify.ts';
import { commandHelp, generalHelp, groupHelp } from './help.ts';
import { styleFor } from './output/style.ts';
import { plainLine } from './output/text-width.ts';

const COMMANDS: readonly (Command | CommandGroup)[] = [
  scoreCommand,
  verifyCommand,
  refineCommand,
  agentCommand,
  batchCommands,
  judgeCommand,
  judgmentsCommand,
  keysCommand,
  receiptCommands,
  runsCommands,
  replayCommand,
];

async function dispatch(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined) {
    console.error(generalHelp(COMMANDS, manifest.version));
    return EXIT_USAGE;
  }
  if (first === '--version' || first === '-v') {
    console.log(manifest.version);
    return EXIT_OK;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    const [topic, action] = rest;
    console.log(topic === undefined ? generalHelp(COMMANDS, manifest.version) : helpOf(commandNamed(topic), action));
    return EXIT_OK;
  }
  const named = commandNamed(first);
  if (!('commands' in named)) return runCommand(named, rest);
  const [action, ...after] = rest;
  if (action === '--help' || action === '-h') {
    console.log(groupHelp(named));
    return EXIT_OK;
  }
  return runCommand(actionNamed(named, action), after);
}

async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  const flags = readFlags(command, args);
  if (flags.isOn('help')) {
    console.log(commandHelp(command));
    return EXIT_OK;
  }
  return command.run(flags);
}

function helpOf(named: Command | CommandGroup, action: string | undefined): string {
  if (!('commands' in named)) return commandHelp(named);
  return action === undefined ? groupHelp(named) : commandHelp(actionNamed(named, action));
}

/** @throws UsageError where the group has no such command. */
function actionNamed({ name, commands }: CommandGroup, action: string | undefined): Command {
  const found = commands.find((command) => command.name === `${name} ${action}`);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name.slice(name.length + 1));
  const expected = `Commands: ${names.map((one) => `${name} ${one}`).join(', ')}. See: citeward help ${name}`;
  if (action === undefined) throw new UsageError(`${name}: no command`, expected);
  throw new UsageError(`unknown command ${name} ${action}`, didYouMean(action, names, `${name} `) ?? expected);
}

function commandNamed(name: string): Command | CommandGroup {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const names = COMMANDS.map((command) => command.name);
  const what = name.startsWith('-') ? `unknown flag ${name}: flags come after the command` : `unknown command ${name}`;
  throw new UsageError(what, didYouMean(name, names) ?? `Commands: ${names.join(', ')}. See: citeward --help`);
}

/** Expected errors are shown as they are; anything else is a bug and keeps its stack. */
function report(error: unknown): number {
  if (!(error instanceof UsageError) && !(error instanceof RunError)) throw error;
  const style = styleFor(process.stderr, process.argv.includes('--no-color'));
  for (const line of error.message.split('\n')) console.error(style('red', `citeward: ${plainLine(line)}`));
  if (error.hint !== null) console.error(plainLine(error.hint));
  return error instanceof UsageError ? EXIT_USAGE : EXIT_INCOMPLETE;
}

// The reader of our output has gone (`citeward … | head`): nobody is left to write for.
process.stdout.on('error', (error: Error & { readonly code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT_OK);
});

try {
  process.exitCode = await dispatch(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
