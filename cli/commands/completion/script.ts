/** The completion script of a shell, from the table of commands: names, their commands, and the flags of each. */
import type { CommandEntry, CommandGroup } from '../../shared/command.ts';
import { COMMON_FLAGS, type FlagDescription } from '../../shared/flags.ts';

/** The values of a flag that are known beforehand. */
function valuesOf({ value = '', values }: FlagDescription): readonly string[] {
  if (values !== undefined) return values;
  return /^[a-z0-9_]+(?:\|[a-z0-9_]+)+$/u.test(value) ? value.split('|') : [];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Word = { readonly name: string; readonly help: string };

type Completed = Word & {
  /** What its first word may be: the commands of a group, the shells of `completion`, each command after `help`. */
  readonly actions: readonly Word[];
};

type Table = {
  readonly commands: readonly Completed[];
  /** The flags of each command by its full name, such as `runs list`. */
  readonly flags: readonly { readonly command: string; readonly flags: readonly FlagDescription[] }[];
};

export async function completionScript(
  shell: (typeof SHELLS)[number],
  commands: readonly (CommandEntry | CommandGroup)[],
): Promise<string> {
  const entries = commands.flatMap((command) => ('commands' in command ? command.commands : [command]));
  const words = commands.map(({ name, summary }) => ({ name, help: summary }));
  const actionsOf = (command: CommandEntry | CommandGroup): readonly Word[] => {
    if (command.name === 'completion') return SHELLS.map((name) => ({ name, help: `The script for ${name}.` }));
    if (!('commands' in command)) return [];
    return command.commands.map(({ name, summary }) => ({ name: name.slice(command.name.length + 1), help: summary }));
  };
  const table: Table = {
    commands: [
      ...commands.map((command) => ({ name: command.name, help: command.summary, actions: actionsOf(command) })),
      { name: 'help', help: 'Show the help of a command.', actions: words },
    ],
    flags: await Promise.all(
      entries.map(async ({ name, load }) => ({ command: name, flags: [...(await load()).flags, ...COMMON_FLAGS] })),
    ),
  };
  switch (shell) {
    case 'bash':
      return bashScript(table);
    case 'zsh':
      return zshScript(table);
    case 'fish':
      return fishScript(table);
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const groupsOf = ({ commands }: Table): readonly Completed[] => commands.filter(({ actions }) => actions.length > 0);

/** A pattern of the first two words: a command without a group ends at its name. */
const patternOf = (command: string): string => (command.includes(' ') ? quoted(command) : `${quoted(`${command} `)}*`);

/** The cases of bash and zsh for the word behind a flag. @param set the statement that offers values. */
const valueCases = ({ flags }: Table, set: (values: string) => string): string =>
  flags
    .flatMap(({ command, flags: own }) =>
      own.flatMap((flag) => {
        const values = valuesOf(flag).join(' ');
        return values === '' ? [] : [`    ${patternOf(command)}' --${flag.name}') ${set(values)};;`];
      }),
    )
    .join('\n');

function bashScript(table: Table): string {
  const names = (words: readonly Word[]): string => words.map(({ name }) => name).join(' ');
  return `_citeward() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words=''
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]} \${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases(table, (values) => `words=${quoted(values)}`)}
  esac
  if [ -n "$words" ]; then :
  elif [ "$COMP_CWORD" -eq 1 ]; then words=${quoted(names(table.commands))}
  elif [[ "$cur" == -* ]]; then case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${table.flags
  .map(
    ({ command, flags }) =>
      `    ${patternOf(command)}) words=${quoted(flags.map(({ name }) => `--${name}`).join(' '))};;`,
  )
  .join('\n')}
  esac
  elif [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
${groupsOf(table)
  .map(({ name, actions }) => `    ${name}) words=${quoted(names(actions))};;`)
  .join('\n')}
  esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _citeward citeward
`;
}

function zshScript(table: Table): string {
  const described = (words: readonly Word[]): string =>
    words.map(({ name, help }) => quoted(`${name}:${help}`)).join(' ');
  return `#compdef citeward
_citeward() {
  local -a found
  case "$words[2] $words[3] $words[CURRENT-1]" in
${valueCases(table, (values) => `found=(${values})`)}
  esac
  if (( \${#found} )); then :
  elif (( CURRENT == 2 )); then
    found=(${described(table.commands)})
  elif [[ "$PREFIX" == -* ]]; then case "$words[2] $words[3]" in
${table.flags
  .map(
    ({ command, flags }) =>
      `    ${patternOf(command)}) found=(${described(flags.map(({ name, help }) => ({ name: `--${name}`, help })))});;`,
  )
  .join('\n')}
  esac
  elif (( CURRENT == 3 )); then case "$words[2]" in
${groupsOf(table)
  .map(({ name, actions }) => `    ${name}) found=(${described(actions)});;`)
  .join('\n')}
  esac
  fi
  if (( \${#found} )); then _describe citeward found; else _files; fi
}
compdef _citeward citeward
`;
}

function fishScript(table: Table): string {
  const fishQuoted = (text: string): string => `'${text.replaceAll(/['\\]/gu, '\\$&')}'`;
  const offer = (condition: string, { name, help }: Word): string =>
    `complete -c citeward -n ${fishQuoted(condition)} -f -a ${name} -d ${fishQuoted(help)}`;
  const seen = (name: string): string => `__fish_seen_subcommand_from ${name}`;
  const noGroup = `not ${seen(
    groupsOf(table)
      .map(({ name }) => name)
      .join(' '),
  )}`;
  return [
    ...table.commands.map((word) => offer('__fish_use_subcommand', word)),
    ...groupsOf(table).flatMap(({ name, actions }) => {
      const none = `not ${seen(actions.map((action) => action.name).join(' '))}`;
      return actions.map((action) => offer(`${seen(name)}; and ${none}`, action));
    }),
    ...table.flags.flatMap(({ command, flags }) => {
      const words = command.split(' ').map(seen);
      const condition = (words.length === 1 ? [...words, noGroup] : words).join('; and ');
      return flags.map((flag) => {
        const { name, kind, help } = flag;
        const values = valuesOf(flag).join(' ');
        const value = kind === 'switch' ? '' : values === '' ? ' -r' : ` -x -a ${fishQuoted(values)}`;
        return `complete -c citeward -n ${fishQuoted(condition)} -l ${name}${value} -d ${fishQuoted(help)}`;
      });
    }),
    '',
  ].join('\n');
}
