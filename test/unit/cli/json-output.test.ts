/** The command line's page names the schema of what each command prints with --json. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import { SCHEMAS } from '../../../src/wire/openapi/document.ts';

const page = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8');
const rows = [...(page.split('\n## JSON\n')[1] ?? '').matchAll(/^\| `([a-z ]+)` \| [^|]+ \| (.+) \|$/gmu)];

test('of every command with --json, and of no other', async () => {
  const entries = COMMANDS.flatMap((command) => ('commands' in command ? command.commands : [command]));
  const printing = await Promise.all(
    entries.map(async ({ name, load }) => ((await load()).flags.some((flag) => flag.name === 'json') ? [name] : [])),
  );
  expect(rows.map(([, command]) => command)).toEqual(printing.flat());
});

test('schemas that the document has', () => {
  const named = rows.flatMap(([, , text = '']) => [...text.matchAll(/`([A-Z]\w+)`/gu)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(12);
  for (const name of named) expect(SCHEMAS.replies).toHaveProperty(name);
});
