/**
 * A newcomer: clones the repository, installs nothing, and types what the README says, in its order. What the commands
 * print must agree with what the README shows.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../scripts/local-worker.ts';
import { pageCommands } from '../house/printed-commands.ts';
import { type Background, runCommands, type Shell, startInBackground, terminalEnvironment } from './shell.ts';

const root = resolve(import.meta.dirname, '../..');
const INSTALL_MS = 400_000;
const COMMAND_MS = 120_000;

/** Started as in a terminal of its own; the output tells that the Worker is ready. */
const STAYS = /^npm run dev(?! --)\b/u;
const READY = /dashboard is at http/u;
/** Stays too; the newcomer looks at its page, and ends it. */
const SHOWS = /^npx citeward view\b/u;
/** It warns, with exit status 3, of cheap answers that the recipe pays for. */
const WARNS = /^npx citeward recipe probe\b/u;

let folder: string;
let shell: Shell;
let readme: string;
/** Another port than that of a Worker which may run on this machine. */
let address: string;
let background: Background | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-newcomer-'));
  const directory = join(folder, 'citeward');
  execFileSync('git', ['clone', '--quiet', root, directory]);
  shell = { directory, env: terminalEnvironment({ npm_config_update_notifier: 'false' }) };
  address = `127.0.0.1:${await freePort()}`;
  readme = readFileSync(join(directory, 'README.md'), 'utf8');
});

afterAll(async () => {
  await background?.stop();
  spawnSync('rm', ['-rf', folder]);
});

/** The JSON that a page shows in its first block of JSON after a line. */
function jsonAfter(line: number): unknown {
  const below = readme.split('\n').slice(line).join('\n');
  const text = /^```json\n(?<json>[\s\S]*?)^```/mu.exec(below)?.groups?.['json'];
  return text === undefined ? null : JSON.parse(text);
}

/** Every value of `shown` is in `printed` too. Lists are as long. */
function expectShown(shown: unknown, printed: unknown, at: string): void {
  if (typeof shown !== 'object' || shown === null) {
    expect(printed, at).toEqual(shown);
    return;
  }
  if (typeof printed !== 'object' || printed === null) throw new Error(`${at} was not printed`);
  if (Array.isArray(shown)) expect(printed, at).toHaveLength(shown.length);
  const members = new Map(Object.entries(printed));
  for (const [name, value] of Object.entries(shown)) expectShown(value, members.get(name), `${at}.${name}`);
}

/** The line with one space between words: tables of other rows may have wider columns. */
const words = (line: string): string => line.trim().replaceAll(/\s+/gu, ' ');

it('follows the README', { timeout: INSTALL_MS + 6 * COMMAND_MS }, async () => {
  const commands = pageCommands('README.md', readme);
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.some(({ text }) => text.startsWith('npm run demo'))).toBe(true);
  expect(commands.some(({ text }) => text.startsWith('npx citeward replay'))).toBe(true);
  for (const { line, text, shown } of commands) {
    const place = `README.md:${line}: ${text}`;
    if (STAYS.test(text)) {
      expect(background, `${place} is started twice`).toBeNull();
      background = await startInBackground(`npm run dev -- --port ${address.split(':')[1]}`, READY, shell, COMMAND_MS);
      continue;
    }
    if (text.startsWith('npm test')) continue;
    if (SHOWS.test(text)) {
      const shown = await startInBackground(text, /http:\S+#\/runs\/rollouts\/0/u, shell, COMMAND_MS);
      await shown.stop();
      continue;
    }
    const [ran] = await runCommands([text.replaceAll('127.0.0.1:8799', address)], shell, INSTALL_MS);
    expect(ran?.status, `${place}\n${ran?.output}`).toBe(WARNS.test(text) ? 3 : 0);
    const printed = ran?.output ?? '';
    if (text.startsWith('curl')) expectShown(jsonAfter(line), JSON.parse(printed), place);
    const lines = printed.split('\n').map(words);
    for (const one of shown.map((each) => words(each.split('…')[0] ?? '')).filter((each) => each !== '')) {
      // A line that is printed may go on, with a time or a note.
      const isPrinted = lines.some((each) => each.startsWith(one));
      expect(isPrinted, `${place} shows: ${one}\n${printed}`).toBe(true);
    }
  }
  expect(background, 'the README starts no Worker').not.toBeNull();
});

it('scores the examples, from the clone and from a folder in it', { timeout: 2 * COMMAND_MS }, async () => {
  const [here] = await runCommands(['npx citeward score examples/rollouts.jsonl'], shell, COMMAND_MS);
  expect(here).toMatchObject({ status: 0, output: expect.stringContaining('19 rows scored') });
  const below = { ...shell, directory: join(shell.directory, 'docs') };
  const [there] = await runCommands(['npx citeward score ../examples/rollouts.jsonl'], below, COMMAND_MS);
  expect(there).toMatchObject({ status: 0, output: expect.stringContaining('19 rows scored') });
});
