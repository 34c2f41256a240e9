/**
 * Reads the flags of a command. node:util's parseArgs splits the command line into tokens. Unknown flags and missing or
 * repeated values, which it lets pass, are errors here.
 */

import { parseArgs } from 'node:util';
import { UsageError } from './exit.ts';
import { CITEWARD } from './program.ts';
import type { Shell } from './shell.ts';
import { didYouMean } from './suggest.ts';

export type FlagDescription = {
  readonly name: string;
  /** `switch` takes no value; `text` takes one value, and repeating it is an error; `list` may be repeated. */
  readonly kind: 'switch' | 'text' | 'list';
  /** Placeholder of the value in the help text; `a|b` is a choice of these. */
  readonly value?: string;
  /** Values that a shell completes, if the placeholder does not list them. */
  readonly values?: readonly string[];
  readonly help: string;
};

/** Flags of every command. */
export const COMMON_FLAGS: readonly FlagDescription[] = [
  { name: 'no-color', kind: 'switch', help: 'Print without colours, as with NO_COLOR=1 or to a file.' },
  { name: 'help', kind: 'switch', help: 'Show this text.' },
];

/** The parsed command line and the shell that it came from. A command reads each flag by its name and kind. */
export class Flags {
  readonly positionals: readonly string[];
  readonly shell: Shell;
  readonly #switches: ReadonlySet<string>;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #lists: ReadonlyMap<string, readonly string[]>;

  constructor(
    positionals: readonly string[],
    switches: ReadonlySet<string>,
    texts: ReadonlyMap<string, string>,
    lists: ReadonlyMap<string, readonly string[]>,
    shell: Shell,
  ) {
    this.positionals = positionals;
    this.shell = shell;
    this.#switches = switches;
    this.#texts = texts;
    this.#lists = lists;
  }

  isOn(name: string): boolean {
    return this.#switches.has(name);
  }

  text(name: string): string | null {
    return this.#texts.get(name) ?? null;
  }

  list(name: string): readonly string[] {
    return this.#lists.get(name) ?? [];
  }

  /** A variable of the environment; `null` if it is absent or empty. */
  variable(name: string): string | null {
    const value = this.shell.env[name];
    return value === undefined || value === '' ? null : value;
  }

  /** One of the choices; `null` without the flag. @throws UsageError for another value. */
  choice<const C extends readonly string[]>(name: string, choices: C): C[number] | null {
    const given = this.text(name);
    if (given === null) return null;
    const found = choices.find((one) => one === given);
    if (found !== undefined) return found;
    throw new UsageError(`--${name}: "${given}" is not one of ${choices.join(', ')}`, didYouMean(given, choices));
  }

  /** An integer in the range, both ends included; `null` without the flag. @throws UsageError for another value. */
  count(name: string, range: { readonly min: number; readonly max: number }): number | null {
    const given = this.text(name);
    if (given === null) return null;
    const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    throw new UsageError(`--${name}: expected an integer from ${range.min} to ${range.max}, got "${given}"`);
  }

  /** A decimal number that `isAllowed` accepts; `null` without the flag. @throws UsageError for another value. */
  number(name: string, expected = 'a number', isAllowed: (value: number) => boolean = () => true): number | null {
    const given = this.text(name);
    if (given === null) return null;
    const value = Number(given);
    if (/^\d{1,9}(\.\d{1,9})?$/.test(given) && isAllowed(value)) return value;
    throw new UsageError(`--${name}: expected ${expected}, got "${given}"`);
  }
}

/** Reads the arguments of a command against the description of its flags. @throws UsageError */
export function readFlags(
  command: string,
  described: readonly FlagDescription[],
  args: readonly string[],
  shell: Shell = process,
): Flags {
  const known = new Map([...described, ...COMMON_FLAGS].map((flag) => [flag.name, flag]));
  const switches = new Set<string>();
  const texts = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const positionals: string[] = [];

  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      [...known.values()].map(({ name, kind }) => [
        name,
        {
          type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
          multiple: true,
          ...(name === 'help' ? { short: 'h' } : {}),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    if (flag === undefined) throw unknownFlag(command, token.rawName, token.name, [...known.keys()]);
    if (flag.kind === 'switch') {
      if (token.value !== undefined) throw new UsageError(`--${flag.name} takes no value`);
      switches.add(flag.name);
      continue;
    }
    const value = flagValue(flag, token);
    if (flag.kind === 'list') lists.set(flag.name, [...(lists.get(flag.name) ?? []), value]);
    else if (texts.has(flag.name)) throw new UsageError(`--${flag.name} is given twice`);
    else texts.set(flag.name, value);
  }
  return new Flags(positionals, switches, texts, lists, shell);
}

type OptionToken = { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined };

/** The value of a flag. A value that looks like a flag counts as missing, unless it is written with `=`. */
function flagValue(flag: FlagDescription, token: OptionToken): string {
  const { value, inlineValue } = token;
  const looksLikeFlag = value !== undefined && inlineValue !== true && value.startsWith('-') && value !== '-';
  if (value !== undefined && value !== '' && !looksLikeFlag) return value;
  const hint = looksLikeFlag ? `If "${value}" is meant as the value, write --${flag.name}=${value}` : null;
  throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value ?? 'VALUE'}`, hint);
}

function unknownFlag(command: string, raw: string, name: string, known: readonly string[]): UsageError {
  return new UsageError(`unknown flag ${raw}`, didYouMean(name, known, '--') ?? `See: ${CITEWARD} help ${command}`);
}
