/** The flags of the `citeward keys` commands. */
import { SCOPES, type Scope } from '../../../src/wire/api-keys.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { FlagDescription } from '../../shared/flags.ts';
import { LIMIT_FLAG } from '../../shared/paging.ts';
import { didYouMean } from '../../shared/suggest.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';

/** The secret that lists the keys of a deployment. */
export const VARIABLE = 'API_KEYS';

const DEFAULT_SCOPES: readonly Scope[] = ['verify', 'score'];

const PROJECT_FLAG: FlagDescription = {
  name: 'project',
  kind: 'text',
  value: 'PROJECT',
  help: 'The project; with --url only.',
};

export const addSyntax: CommandSyntax = {
  usage: ['keys add NAME [flags]', 'keys add NAME --url URL [flags]'],
  flags: [
    {
      name: 'scopes',
      kind: 'text',
      value: 'A,B',
      help: `Permissions: ${SCOPES.join(', ')} (default ${DEFAULT_SCOPES.join(',')}).`,
    },
    {
      name: 'file',
      kind: 'text',
      value: '.dev.vars',
      help: `Add the key to ${VARIABLE} in this file.`,
    },
    { name: 'replace', kind: 'switch', help: 'Replace the key of that name; the old key stops working.' },
    PROJECT_FLAG,
    { name: 'expires', kind: 'text', value: '90d', help: 'Lifetime: a number and h, d, w or y; with --url only.' },
    { name: 'tier', kind: 'text', value: 'standard|high', help: 'The rate limit; with --url only.' },
    ...WORKER_FLAGS.map((flag) =>
      flag.name === 'url' ? { ...flag, help: 'Make the key in this Worker. --key needs the scope admin.' } : flag,
    ),
  ],
  details: [
    'Prints the key once, on standard output. Only its SHA-256 is stored.',
    `Without --url it prints the value of ${VARIABLE} that admits the key, for the project "default".`,
    `With at least one key in ${VARIABLE}, the Worker refuses requests without a key.`,
  ],
};

export const listSyntax: CommandSyntax = {
  json: 'a key: an entry of `ApiKeyList`',
  usage: ['keys list --url URL [flags]'],
  flags: [
    { ...PROJECT_FLAG, help: 'Only the keys of this project.' },
    LIMIT_FLAG,
    { name: 'json', kind: 'switch', help: 'Print one key a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: ['Lists the keys that the Worker stores. Needs a key with the scope admin.'],
};

export const revokeSyntax: CommandSyntax = {
  usage: ['keys revoke KEY_ID --url URL'],
  flags: [...WORKER_FLAGS],
  details: ['The key stops working everywhere within a minute. Needs a key with the scope admin.'],
};

export const auditSyntax: CommandSyntax = {
  json: 'a use: an entry of `Audit`',
  usage: ['keys audit --url URL [flags]'],
  flags: [
    { ...PROJECT_FLAG, help: 'Only the uses by keys of this project.' },
    LIMIT_FLAG,
    { name: 'json', kind: 'switch', help: 'Print one use a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: ['Lists the uses of routes that need the scope admin, of the last 90 days. Needs such a key.'],
};

/** The scopes of `--scopes`. @throws UsageError */
export function readScopes(text: string | null): readonly Scope[] {
  if (text === null) return DEFAULT_SCOPES;
  const scopes = text.split(',').map((one) => {
    const given = one.trim();
    const scope = SCOPES.find((known) => known === given);
    if (scope !== undefined) return scope;
    throw new UsageError(`--scopes: "${given}" is not one of ${SCOPES.join(', ')}`, didYouMean(given, SCOPES));
  });
  return [...new Set(scopes)];
}
