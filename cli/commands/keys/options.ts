/** The flags of `citeward keys add`. */
import { SCOPES, type Scope } from '../../../src/wire/api-keys.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import { didYouMean } from '../../shared/suggest.ts';

/** The secret that lists the keys of a deployment. */
export const VARIABLE = 'API_KEYS';

const DEFAULT_SCOPES: readonly Scope[] = ['verify', 'score'];

export const keysSyntax: CommandSyntax = {
  usage: ['keys add NAME [flags]'],
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
  ],
  details: [
    'Prints the key once, on standard output. Only its SHA-256 is stored and given to the Worker.',
    'With at least one key, the Worker refuses requests without a key.',
  ],
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
