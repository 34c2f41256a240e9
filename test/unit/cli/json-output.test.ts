/** Each command with --json declares what it prints, with names of schemas that the API description has. */
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import { SCHEMAS } from '../../../src/wire/openapi/document.ts';

const entries = COMMANDS.flatMap((command) => ('commands' in command ? command.commands : [command]));
const commands = await Promise.all(entries.map(async ({ name, load }) => ({ name, ...(await load()) })));

test('of every command with --json, and of no other', () => {
  for (const { name, json, flags } of commands) {
    expect(json !== undefined, name).toBe(flags.some((flag) => flag.name === 'json'));
  }
});

test('schemas that the document has', () => {
  const named = commands.flatMap(({ json = '' }) => [...json.matchAll(/`([A-Z]\w+)`/gu)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(12);
  for (const name of named) expect(SCHEMAS.replies).toHaveProperty(name);
});
