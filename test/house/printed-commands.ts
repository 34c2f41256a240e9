/** Collects the shell commands that the project prints: in pages, in help texts, and in the strings of its sources. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { COMMANDS } from '../../cli/command-list.ts';
import type { CommandEntry } from '../../cli/shared/command.ts';
import { CITEWARD } from '../../cli/shared/program.ts';
import { demoRuns } from '../../scripts/demo-run/runs.ts';
import { STATE } from '../../scripts/demo-run/state.ts';

const root = resolve(import.meta.dirname, '../..');

export type PrintedCommand = {
  /** The page or source file, from the repository's root. */
  readonly file: string;
  /** Number of its first line, from 1. */
  readonly line: number;
  /** As printed, without a prompt; may span lines. */
  readonly text: string;
  /** The lines below it that show its output; none if the block has no prompts. */
  readonly shown: readonly string[];
};

function listed(...patterns: readonly string[]): readonly string[] {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  });
  return [...new Set(stdout.split('\n').filter((file) => file !== ''))];
}

/** The pages for people, without the decisions, which are history, and without the page that is made of the help texts. */
export function guidePages(): readonly string[] {
  return listed('README.md', 'CONTRIBUTING.md', 'docs/*.md', '*/README.md').filter(
    (page) => !page.startsWith('docs/decisions/') && !page.startsWith('test/') && page !== 'docs/reference/commands.md',
  );
}

const FENCE = /^(?<indent> *)```(?<language>\w*)/u;

const SHELL_LANGUAGES: ReadonlySet<string> = new Set(['sh', 'bash', 'shell']);

const BEGINS_COMMAND = /^(?:[A-Z_]+=\S+ )*(?:npx citeward|curl|npm run|npm test)(?= |$)/u;

const PROMPT = '$ ';

/** The commands in the blocks of a page, in its order. */
export function pageCommands(page: string, markdown: string): readonly PrintedCommand[] {
  const commands: PrintedCommand[] = [];
  const add = (lines: readonly string[], firstLine: number, isScript: boolean): void => {
    const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/u)));
    const unindented = lines.map((line) => line.slice(indent));
    commands.push(...blockCommands(page, unindented, firstLine, isScript));
  };
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at] ?? '')?.groups;
    if (fence !== undefined) {
      const start = at + 1;
      do at++;
      while (at < lines.length && lines[at]?.trim() !== '```');
      add(lines.slice(start, at), start + 1, SHELL_LANGUAGES.has(fence['language'] ?? ''));
    } else if (isIndented(lines[at]) && (lines[at - 1] ?? '').trim() === '') {
      const start = at;
      while (isIndented(lines[at + 1]) || ((lines[at + 1] ?? '').trim() === '' && isIndented(lines[at + 2]))) at++;
      add(lines.slice(start, at + 1), start + 1, false);
    }
  }
  return commands;
}

function isIndented(line: string | undefined): boolean {
  return line !== undefined && /^ {4,}\S/u.test(line);
}

/** @param isScript every line is shell; else those after a prompt, or those that begin with a known program. */
function blockCommands(file: string, lines: readonly string[], firstLine: number, isScript: boolean): PrintedCommand[] {
  const hasPrompts = lines.some((line) => line.startsWith(PROMPT));
  const commands: PrintedCommand[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const begins = hasPrompts
      ? line.startsWith(PROMPT)
      : isScript
        ? !/^\s*(?:#|$)/u.test(line)
        : BEGINS_COMMAND.test(line);
    if (!begins) continue;
    const start = at;
    let text = hasPrompts ? line.slice(PROMPT.length) : line;
    while (!isComplete(text) && at + 1 < lines.length) text += `\n${lines[++at] ?? ''}`;
    const shown: string[] = [];
    while (hasPrompts && at + 1 < lines.length && !lines[at + 1]?.startsWith(PROMPT)) shown.push(lines[++at] ?? '');
    commands.push({ file, line: firstLine + start, text, shown });
  }
  return commands;
}

/** Whether bash reads the text as complete commands. */
function isComplete(text: string): boolean {
  if (text.endsWith('\\')) return false;
  if (/^[\w\s./:=,@>|&#-]*$/u.test(text)) return true;
  const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
  // An open here-document is only a warning.
  return status === 0 && stderr === '';
}

/** All commands of the command line, those of groups included. */
export const ENTRIES: readonly CommandEntry[] = COMMANDS.flatMap((one) => ('commands' in one ? one.commands : [one]));

/** The usage lines of all commands, without `[flags]` and remarks. */
export async function usageCommands(): Promise<readonly PrintedCommand[]> {
  const loaded = await Promise.all(ENTRIES.map(async ({ name, load }) => ({ name, command: await load() })));
  return loaded.flatMap(({ name, command }) =>
    command.usage.map((usage) => ({
      file: `${CITEWARD} help ${name}`,
      line: 1,
      text: `${CITEWARD} ${usage.replace(/ {2,}\(.*\)$/u, '').replace(/ \[flags\]/u, '')}`,
      shown: [],
    })),
  );
}

const SOURCES = ['cli', 'scripts', 'dashboard/src', 'functions', 'service', 'hosts'];

/** A command in a string, a template or JSX text. It ends with its literal or its line. */
const IN_LITERAL = /(?<quote>['`"]|>)?(?<before>[^'`">\n]*)(?:npx citeward|\$\{CITEWARD\})(?<rest> [^\n]*)?/gu;

/** The source files of programs that people see output of, with comments blanked out. */
export function sourceTexts(): ReadonlyMap<string, string> {
  const files = listed(...SOURCES.flatMap((folder) => [`${folder}/*.ts`, `${folder}/*.tsx`]));
  return new Map(
    files.map((file) => [
      file,
      readFileSync(resolve(root, file), 'utf8')
        .replaceAll(/\/\*[\s\S]*?\*\//gu, (comment) => comment.replaceAll(/[^\n]/gu, ' '))
        .replaceAll(/^\s*\/\/.*$/gmu, ''),
    ]),
  );
}

/**
 * What the programs print for commands that they fill in, by their text in the source. The form of a command has none,
 * as the usage lines of all commands are collected.
 */
function filledCommands(): ReadonlyMap<string, readonly string[]> {
  const batch = (...names: readonly string[]): readonly string[] =>
    names.map((name) => `${CITEWARD} batch ${name} BATCH --url URL`);
  const replay = (run: string): string => `${CITEWARD} replay ${run} \\\n  --set citation_weight=0.5`;
  const groups = COMMANDS.filter((one) => 'commands' in one);
  return new Map([
    [`${CITEWARD} COMMAND [flags]`, []],
    [`${CITEWARD} help COMMAND`, []],
    [`${CITEWARD} \${name} COMMAND [flags]`, []],
    [`${CITEWARD} help \${name} COMMAND`, []],
    [`${CITEWARD} \${line}`, []],
    [`${CITEWARD} \${example}`, exampleInputs()],
    [`${CITEWARD} help \${name}`, groups.map(({ name }) => `${CITEWARD} help ${name}`)],
    [`${CITEWARD} help \${command}`, ENTRIES.map(({ name }) => `${CITEWARD} help ${name}`)],
    [`${CITEWARD} batch \${command} BATCH --url URL`, batch('status', 'wait', 'fetch', 'cancel', 'redrive')],
    [`${CITEWARD} batch \${action} \${id} --url \${urlOf(flags)}`, batch('wait', 'fetch')],
    [
      `${CITEWARD} \${shown} --url \${url}`,
      ['', ' --log'].map((log) => `${CITEWARD} rubrics show RUN PROMPT${log} --url URL`),
    ],
    [`${CITEWARD} replay \${run}\${flags.join('')}`, [replay('RUN --url URL'), replay('--file RUN.jsonl')]],
    [`${CITEWARD} serve --state \${options.state}/worker`, [`${CITEWARD} serve --state .citeward/red-team/worker`]],
    [
      `${CITEWARD} replay --file \${exportPath(run)} --set \${run.change}`,
      demoRuns().map(({ id, change }) => `${CITEWARD} replay --file ${STATE}/${id}.jsonl --set ${change}`),
    ],
  ]);
}

/** The examples that commands without an input print (openInput of cli/shared/input.ts). */
function exampleInputs(): readonly string[] {
  return [...sourceTexts().values()].flatMap((text) =>
    [...text.matchAll(/openInput\([^,)]+, '(?<example>[^']+)'\)/gu)].map(
      ({ groups }) => `${CITEWARD} ${groups?.['example'] ?? ''}`,
    ),
  );
}

/** The commands in the strings of the sources. @throws Error for a filled-in command without an example here. */
export function sourceCommands(): readonly PrintedCommand[] {
  const filled = filledCommands();
  const unused = new Set(filled.keys());
  const collected = [...sourceTexts()].flatMap(([file, text]) =>
    [...text.matchAll(IN_LITERAL)].flatMap(({ groups, index }) => {
      const { quote = '<', before = '', rest = '' } = groups ?? {};
      if (rest === '') return [];
      const isTemplate = text.slice(index).startsWith(`${quote}${before}\${CITEWARD}`);
      const end = rest.indexOf(isTemplate ? '`' : quote === '>' ? '<' : quote);
      const literal = `${CITEWARD}${end === -1 ? rest : rest.slice(0, end)}`;
      unused.delete(literal);
      const line = text.slice(0, index).split('\n').length;
      const printed = filled.get(literal) ?? [literal.replaceAll(/\$?\{location\.origin\}/gu, 'URL')];
      return printed.map((command) => ({ file, line, text: command, shown: [] }));
    }),
  );
  const unfilled = collected.find(({ text }) => text.includes('${'));
  if (unfilled !== undefined) throw new Error(`${unfilled.file}: give examples of ${unfilled.text}`);
  if (unused.size > 0) throw new Error(`no source prints ${[...unused].join(', ')}`);
  return collected;
}
