/** `citeward keys`: makes API keys, for the setting API_KEYS or in a Worker; lists and revokes those of a Worker. */

import { chmod, readFile, writeFile } from 'node:fs/promises';
import { type ApiKeys, KEY_NAME } from '../../../src/wire/api-keys.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { isMissingFile, readError } from '../../shared/input.ts';
import { CITEWARD } from '../../shared/program.ts';
import { writeLine } from '../../shared/shell.ts';
import { entryOf, makeKey, readApiKeys } from './api-keys.ts';
import { addSyntax, auditSyntax, listSyntax, readScopes, revokeSyntax, VARIABLE } from './options.ts';
import { readVariable, withVariable } from './vars-file.ts';
import { addToWorker, listKeys, listUses, revokeKey } from './worker-keys.ts';

export const addCommand: Command = { ...addSyntax, run: addKey };
export const listCommand: Command = { ...listSyntax, run: listKeys };
export const revokeCommand: Command = { ...revokeSyntax, run: revokeKey };
export const auditCommand: Command = { ...auditSyntax, run: listUses };

/** Flags of `keys add` that only a Worker or only a file understands. */
const WORKER_ONLY = ['project', 'expires', 'tier', 'key'] as const;

async function addKey(flags: Flags): Promise<number> {
  const [name, ...more] = flags.positionals;
  if (name === undefined || more.length > 0) throw new UsageError(`expected one name: ${CITEWARD} keys add NAME`);
  if (!KEY_NAME.test(name)) {
    throw new UsageError(
      `"${name}" is not a valid name: expected 1 to 64 letters, digits, dots, hyphens and underscores`,
    );
  }
  const scopes = readScopes(flags.text('scopes'));
  if (flags.text('url') !== null) {
    if (flags.text('file') !== null || flags.isOn('replace')) {
      throw new UsageError('--url and --file', 'Give one of them: the Worker stores the key, or the file does.');
    }
    return addToWorker(flags, name, scopes);
  }
  for (const flag of WORKER_ONLY) {
    if (flags.text(flag) !== null) throw new UsageError(`--${flag} needs --url URL`, 'A Worker stores such keys.');
  }
  const file = flags.text('file');
  const text = file === null ? null : await readFileIfThere(file);
  const existing = text === null || file === null ? {} : existingKeys(text, file);
  if (Object.hasOwn(existing, name) && !flags.isOn('replace')) {
    throw new UsageError(
      `${file} has a key "${name}" already`,
      'Choose another name, or replace the key with --replace.',
    );
  }

  const key = makeKey();
  const keys: ApiKeys = { ...existing, [name]: entryOf(key, scopes) };
  const value = JSON.stringify(keys);
  if (file !== null && text !== null) await writeKeys(file, text, value);

  const { stdout, stderr } = flags.shell;
  writeLine(stderr, `Key "${name}" (${scopes.join(', ')}), shown only once:`);
  writeLine(stdout, key);
  writeLine(stderr, `\nValue of ${VARIABLE} that admits the key:`);
  writeLine(stderr, value);
  if (file === null) {
    writeLine(stderr, '\nTo use it in a deployment (this replaces all keys of the deployment):');
  } else {
    writeLine(stderr, `\nWritten to ${file}. To use the same keys in a deployment:`);
  }
  writeLine(stderr, `  npx wrangler secret put ${VARIABLE}\nand paste the line above.`);
  writeLine(stderr, `To send the key: CITEWARD_KEY=KEY ${CITEWARD} score FILE.jsonl --url URL`);
  return EXIT_OK;
}

/** The text of the file; empty if there is none. */
async function readFileIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return '';
    throw readError(file, error);
  }
}

function existingKeys(text: string, file: string): ApiKeys {
  const read = readApiKeys(readVariable(text, VARIABLE) ?? '');
  if (read.ok) return read.value;
  throw new UsageError(`${VARIABLE} in ${file} is malformed: ${read.error.join('; ')}`);
}

/** Writes the file. It may hold other secrets, so only its owner may read it. */
async function writeKeys(file: string, text: string, value: string): Promise<void> {
  const changed = withVariable(text, VARIABLE, value);
  if (changed === null) {
    throw new UsageError(`${VARIABLE} in ${file} is set twice or over several lines`, 'Write it on one line first.');
  }
  await writeFile(file, changed, { mode: 0o600 });
  await chmod(file, 0o600);
}
