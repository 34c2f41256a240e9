/** `citeward completion`: prints a script that completes commands and flags in bash, zsh or fish. */
import type { Command, CommandEntry, CommandGroup, CommandSyntax } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { completionScript, SHELLS } from './script.ts';

const syntax: CommandSyntax = {
  usage: ['completion SHELL'],
  flags: [],
  details: [
    `SHELL: ${SHELLS.join(', ')}.`,
    'The script completes the installed command citeward (npm install --global). In bash and zsh, let the file',
    'that the shell reads at its start evaluate the script, in zsh after compinit. In fish, write the script to',
    '$__fish_config_dir/completions/citeward.fish.',
    `Try: ${CITEWARD} completion bash`,
  ],
};

/** @param commands the table of all commands, this one among them. */
export function completionCommand(commands: readonly (CommandEntry | CommandGroup)[]): Command {
  return { ...syntax, run: (flags) => run(flags, commands) };
}

async function run(flags: Flags, commands: readonly (CommandEntry | CommandGroup)[]): Promise<number> {
  const [name = '', ...others] = flags.positionals;
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined || others.length > 0) {
    throw new UsageError(`expected one shell: ${SHELLS.join(', ')}`, didYouMean(name, SHELLS));
  }
  await new Screen(flags).result((await completionScript(shell, commands)).trimEnd());
  return EXIT_OK;
}
